"""Sentences are for people: whatever they say, a run has the same findings for the same reasons."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest
from attrs import evolve

from scenarios.chaos.draw import concrete
from scenarios.observe import findings as room
from scenarios.observe.checkers import REGISTRY
from scenarios.observe.findings.convergence_facts import FetcherDead
from scenarios.observe.findings.facts import Part
from scenarios.runs import Run, known_findings, run_scenario
from scenarios.runs.known_findings import explained_findings
from tests.scenarios.chaos.earlier_swarm import earlier_swarm

SEEDS = [
    ("kafka-0.8", 70184),
    ("kafka-1.1", 70294),
    ("kafka-2.4", 70246),
]
"""Seeds of the earlier swarm whose runs have findings, known and new, of many kinds."""
SLOW_SEEDS = [
    ("kafka-0.8", 70323),
    ("kafka-1.1", 70763),
    ("kafka-2.4", 70501),
    ("kip-461", 70874),
    ("wiki-text", 70333),
]
MORE = [pytest.param(profile, seed, marks=pytest.mark.slow) for profile, seed in SLOW_SEEDS]


def drawn(profile: str, seed: int) -> Run:
    return run_scenario(evolve(concrete(earlier_swarm(profile), seed), source=""), figures=False)


def verdict(run: Run) -> object:
    """The findings, and which of them are known, without a word of them."""
    found = explained_findings(run)
    known = [(reason.ticket, reason.text, [(one.checker, one.part) for one in of_it]) for reason, of_it in found.known]
    violations = [(one.invariant, one.part, one.seq, one.partition, one.brokers, one.facts) for one in run.violations]
    return run.reason, violations, known, [(one.checker, one.part) for one in found.new]


def change_all_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence of every checker becomes another one, which names another partition."""
    for module in iter_modules(room.__path__):
        for kind in vars(import_module(f"{room.__name__}.{module.name}")).values():
            if isinstance(kind, type) and hasattr(kind, "in_words"):
                monkeypatch.setattr(kind, "in_words", lambda _self, _tp: "other-7: is dead, as leader 1 of epoch 2")
    monkeypatch.setattr(Part, "words", property(lambda _self: "something else"))
    for checker in REGISTRY.values():
        monkeypatch.setattr(checker, "statement", "x: something else")


@pytest.mark.parametrize(("profile", "seed"), [*SEEDS, *MORE])
def test_other_words_change_no_verdict(profile: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn(profile, seed)
    told, judged = [str(one) for one in before.violations], verdict(before)
    assert told
    change_all_words(monkeypatch)
    after = drawn(profile, seed)
    assert verdict(after) == judged
    assert not set(told) & {str(one) for one in after.violations}


def test_a_reason_that_reads_words_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    run = drawn("kafka-1.1", 56)
    assert any(isinstance(one.facts, FetcherDead) for one in run.violations)
    reads = [
        evolve(reason, shows=lambda _past, violation: violation is not None and "has died" in violation.state)
        for reason in known_findings.KNOWN
        if reason.ticket == "KIP-461"
    ]
    monkeypatch.setattr(known_findings, "KNOWN", tuple(reads))
    judged = verdict(run)
    change_all_words(monkeypatch)
    assert verdict(run) != judged
