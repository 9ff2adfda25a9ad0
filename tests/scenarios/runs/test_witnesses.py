"""Witnesses: a broker or controller that does what a ticket is about shows it, and a finding goes by that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol.shown import Deviated
from emulator.trace import as_bytes
from scenarios.chaos.draw import concrete
from scenarios.museum.exhibits import exhibit
from scenarios.observe.checkers.checkers import REGISTRY
from scenarios.observe.findings.convergence_facts import Condition
from scenarios.observe.findings.violation import Violation
from scenarios.profiles import PROFILES
from scenarios.profiles.tickets import BUGS, TICKETS
from scenarios.runs import Run, run_scenario
from scenarios.runs.control_plane_log import ControlPlaneLog
from scenarios.runs.finding import EXPECTATION, UNFINISHED
from scenarios.runs.findings import findings
from scenarios.runs.known.ledger import in_isr_since
from scenarios.runs.known_findings import KNOWN, explained_findings, known
from scenarios.runs.past import KeptEvents
from tests.scenarios.chaos.earlier_swarm import earlier_swarm
from tests.scenarios.runs.building import TP
from tests.scenarios.runs.stated import stated
from tests.scenarios.runs.test_known_findings import elected, quiet, told

__all__ = ["quiet"]
ROOT = Path(__file__).parents[3]
SHOWN = re.compile(r'(?:show\(|_show\(|mark\(Deviated, [\w.]+, |ticket=|LIVE_ALONE = )"([\w.-]+)"')
OF_MUSEUM = [key for key, ticket in BUGS.items() if ticket.witness and key != "KIP-320"]
"""KIP-320 is shown where a leader of another epoch says where an epoch ends; its case is about fetches."""


def named_in_the_core() -> set[str]:
    """The tickets that brokers and controllers show."""
    files = [file for room in ("brokers", "controller", "fetchers") for file in (ROOT / room).rglob("*.py")]
    return {found for file in files for found in SHOWN.findall(file.read_text(encoding="utf-8"))}


def test_what_the_core_shows_is_declared_and_what_is_declared_is_shown() -> None:
    declared = [ticket.witness for ticket in TICKETS.values() if ticket.witness]
    assert sorted(declared) == sorted(named_in_the_core())


def test_every_effect_of_a_ticket_has_one_reason() -> None:
    effects = [(key, place) for key, ticket in TICKETS.items() for place in range(len(ticket.effects))]
    assert sorted((reason.ticket, reason.effect) for reason in KNOWN) == sorted(effects)


def test_every_effect_names_what_there_is_and_some_release_has_it() -> None:
    for reason in KNOWN:
        effect = reason.declared.effects[reason.effect]
        assert set(effect.checkers) <= {*REGISTRY, EXPECTATION, UNFINISHED}, reason
        assert set(effect.parts) <= set(Condition.__members__), reason
        assert any(reason.applies(profile) for profile in PROFILES.values()), reason


@pytest.mark.parametrize("ticket", OF_MUSEUM)
def test_the_case_of_a_bug_has_its_witness_and_none_without_it(ticket: str) -> None:
    case = exhibit(ticket)
    assert TICKETS[ticket].witness in {one.ticket for one in case.run_broken().witnesses}
    fixed = run_scenario(evolve(case.scenario, bugs=()))
    assert TICKETS[ticket].witness not in {one.ticket for one in fixed.witnesses}


OF_CAMPAIGNS = [
    ("kafka-1.1", 12043, "KAFKA-3143"),
    ("kafka-1.1", 70013, "KAFKA-2334"),
    ("kafka-1.1", 12037, "KAFKA-7482"),
    ("kafka-1.1", 70313, "KIP-320"),
    ("kafka-1.1", 70108, "KIP-279"),
    ("kafka-0.8", 10009, "KafkaController.onPartitionReassignment (0.8.0)"),
]
"""Seeds of the earlier swarm."""


@pytest.mark.parametrize(("profile", "seed", "ticket"), OF_CAMPAIGNS)
def test_a_seed_whose_findings_a_witness_explains(profile: str, seed: int, ticket: str) -> None:
    run = run_scenario(evolve(concrete(earlier_swarm(profile), seed, {}), source=""))
    explained = explained_findings(run)
    assert ticket in [reason.ticket for reason, _ in explained.known]
    assert not explained.new
    log = ControlPlaneLog(run.log.kinds)
    log.take(list(run.control_plane), as_bytes(list(run.control_plane)))
    unseen = evolve(run, log=log)  # without its witnesses
    assert ticket not in {reason.ticket for finding in findings(unseen) for reason in known(unseen, finding)}


JOINED = Deviated(1, 1, 0, 0, "KAFKA-7128", *TP, 1)
LACKS = stated("isr_complete", "…", 90, 90, "orders-0, ISR [0, 1]: the log of broker 1 ends at 0 and lacks …", (1,))


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_witness_lasts_while_its_replica_stays_in_the_isr(stays: list[bool]) -> None:
    writes = [elected(2 + place, 0, 1) if stay else elected(2 + place, 0) for place, stay in enumerate(stays)]
    log = ControlPlaneLog({type(event).__name__: type(event) for event in writes})
    log.take(writes, as_bytes(writes))
    log.witnesses.append(JOINED)
    assert in_isr_since("KAFKA-7128")(KeptEvents(_Judged(log)), LACKS, TP, 1) is all(stays)


class _Judged:
    """As much of a run as is asked for."""

    def __init__(self, log: ControlPlaneLog) -> None:
        self.control_plane = log.events()
        self.violations: tuple[Violation, ...] = (LACKS,)
        self.witnesses = tuple(log.witnesses)


def test_a_witness_is_one_of_its_ticket_partition_and_replica_in_a_release_that_has_it(quiet: Run) -> None:
    def reasons(profile: str, witness: Deviated) -> list[str]:
        run = told(quiet, profile, [witness, elected(2, 0, 1)], LACKS)
        return [reason.ticket for finding in findings(run) for reason in known(run, finding)]

    assert reasons("kafka-1.1", JOINED) == ["KAFKA-7128"]
    assert reasons("kafka-2.3", JOINED) == []
    for other in (JOINED._replace(replica=0), JOINED._replace(partition=1), JOINED._replace(ticket="KAFKA-2334")):
        assert reasons("kafka-1.1", other) == []
