"""Harms agree on the page, in the figures and in what ``run`` prints, in drawn runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import asdict
from hypothesis import given, settings

from emulator.protocol.events import Fault
from scenarios.language import Scenario
from scenarios.observe.measures.figures import Figures
from scenarios.observe.measures.harms import HARMS, Harm, harms
from scenarios.runs.headlines import headlines
from scenarios.runs.run import Run
from scenarios.runs.runner import Stage, conclude, prepare
from scenarios.studies.report.run.faults import Recovery, recoveries, shades
from scenarios.studies.report.run.run_page import _recovered
from tests.scenarios.runs.random_cases import histories
from tests.scenarios.runs.test_random import EVEN

ANY = {
    "offline": "offline_any_us",
    "under_min_isr": "under_min_isr_any_us",
    "under_replicated_final": "under_replicated_any_us",
}


def played(wanted: Scenario) -> tuple[Run, Figures, list[Mapping[str, Any]]]:
    stage = Stage(prepare(wanted), keep_rows=True)
    stage.play()
    run, figures = conclude(stage, wanted, 0.0)
    return run, figures, [row._asdict() for row in stage.measures.tables()["isr_events"]]


def at_the_end(rows: list[Mapping[str, Any]], kind: str) -> int:
    """How many partitions are in that state when the run ends, by their last rows alone."""
    return sum(row[kind] for row in {(row["topic"], row["partition"]): row for row in rows}.values())


def holds(rows: list[Mapping[str, Any]], kind: str, t_us: int) -> bool:
    return any(row[kind] and row["t_us"] <= t_us < row["t_us"] + row["w_us"] for row in rows)


@settings(EVEN, max_examples=5)
@given(histories(faults=2))
def test_page_and_figures_and_screen_agree(wanted: Scenario) -> None:
    check_harms(wanted)


@pytest.mark.slow
@settings(EVEN, max_examples=200)
@given(histories(faults=2))
def test_they_agree_in_many_runs(wanted: Scenario) -> None:
    check_harms(wanted)


def check_harms(wanted: Scenario) -> None:
    run, figures, rows = played(wanted)
    end_us = round(run.virtual_s * 1e6)
    whole = {harm.kind: harm for harm in harms(rows, [0], end_us)[0]}
    for kind, figure in ANY.items():
        found = whole.get(kind)
        assert (found.held_us if found else 0) == figures[figure]
        assert (found.left if found else 0) == at_the_end(rows, kind)
    assert run.leaderless == at_the_end(rows, "offline")
    followed = recoveries(shades([event for event in run.control_plane if type(event) is Fault]), rows, end_us)
    for one in followed:
        check_sentence(one)
        for harm in one.harms:
            assert harm.earlier == (holds(rows, harm.kind, one.t_us - 1) and holds(rows, harm.kind, one.t_us))
    check_recoveries(followed, figures)
    check_screen(whole.get("under_replicated_final"), run)


def check_sentence(one: Recovery) -> None:
    """Each harm is said with what is so of it, and of no other."""
    told = _recovered(asdict(one))
    parts = told.split("; ")
    assert ("still at the end" in told) == any(harm.left for harm in one.harms)
    assert ("all well" in told) == (bool(one.harms) and not any(harm.left for harm in one.harms))
    for harm, part in zip(one.harms, parts, strict=False):
        assert HARMS[harm.kind] in part
        assert ("still at the end" in part) == bool(harm.left)
        assert part.startswith("a partition was" if harm.partitions == 1 else f"{harm.partitions} partitions were")


def check_recoveries(found: list[Recovery], figures: Figures) -> None:
    """The figures of recovery go by KIP-352's rule alone."""
    by_kip_352 = [
        (harm.until_us - one.t_us, harm.left)
        for one in found
        for harm in one.harms
        if harm.kind == "under_replicated_final"
    ]
    assert max((took_us for took_us, _ in by_kip_352), default=0) == figures["recovery_max_us"]
    assert sum(left > 0 for _, left in by_kip_352) == figures.whole("unrecovered_faults")


def check_screen(harm: Harm | None, run: Run) -> None:
    """``run`` prints that the cluster has not recovered where a partition is under-replicated at the end."""
    [text, *_] = [headline.text for headline in headlines(run) if headline.label == "under-replicated"]
    assert ("not recovered when the run ended" in text) == (harm is not None and harm.left > 0)
    assert (text == "0 s") == (harm is None)
