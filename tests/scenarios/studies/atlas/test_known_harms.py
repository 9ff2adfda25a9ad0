"""The known causes of harms are shown where they apply, and nowhere else."""

from __future__ import annotations

import pytest
from attrs import evolve

from controller.procedures import PROCEDURES
from scenarios.studies.atlas.cells import Cell
from scenarios.studies.atlas.known_harms import explained, leader_moved
from scenarios.studies.atlas.outcome import HARMS, CellFinding
from scenarios.studies.atlas.plans import DEFAULT, AtlasPlan


def cell(protocol: str, step: str, edge: str = "after", actor: str = "controller") -> Cell:
    return Cell(
        protocol=protocol,
        plan=DEFAULT,
        step=step,
        edge=edge,
        hop=0,
        occurrence=1,
        actor=actor,
        broker=6,
        controller=6,
        fault="crash",
    )


def told(where: Cell, *harms: str, stuck: str = "") -> str:
    return explained(where, CellFinding(dict.fromkeys(harms, "so"), stuck=stuck))


def test_a_finished_cell_needs_no_reason() -> None:
    assert told(cell("wiki", "wiki.7")) == ""


@pytest.mark.parametrize(("protocol", "known"), [("kafka-42", True), ("wiki", False)])
def test_truncation_to_the_high_watermark_is_0_8_s(protocol: str, known: bool) -> None:
    found = "truncate_safety: orders-0: broker 2, in the ISR [1, 2], truncates to 668"
    finding = CellFinding({}, unsafe=found, broken="truncate_safety")
    assert ("KAFKA-1211" in explained(cell(protocol, f"{protocol}.3"), finding)) is known


@pytest.mark.parametrize("step", ["wiki.7", "wiki.9"])
def test_acks_1_after_the_election_is_the_old_leader_s(step: str) -> None:
    assert told(cell("wiki", step), "acks-1-loss").startswith("between the election and StopReplica")


@pytest.mark.parametrize(("step", "edge"), [("wiki.7", "before"), ("wiki.3", "after")])
def test_acks_1_before_the_election_is_acks_1_s_own(step: str, edge: str) -> None:
    assert told(cell("wiki", step, edge, "leader"), "acks-1-loss").startswith("acks=1 is acknowledged before")


def test_the_new_leader_s_losses_are_not_the_old_one_s() -> None:
    assert told(cell("wiki", "wiki.9", actor="leader"), "acks-1-loss").startswith("acks=1 is acknowledged before")


def test_a_leader_that_stays_leads_on() -> None:
    reason = told(cell("wiki", "wiki.3", actor="leader"), "acks-1-loss", "stray")
    assert "goes on acknowledging acks=1 to clients with old metadata" in reason
    assert "acks=1 is acknowledged before" not in reason


def test_a_replica_left_behind_is_kafka_s_stop_replica() -> None:
    assert "StopReplica to live brokers only" in told(cell("wiki", "wiki.9"), "stray")


@pytest.mark.parametrize("strategy", ["kafka-6794", "grow-then-shrink"])
def test_kafka_6794_writes_too_early_whatever_its_width(strategy: str) -> None:
    where = cell(strategy, "kafka-6794.6")
    reason = told(where, "leader-outside-assignment", "stray")
    assert reason.startswith("KAFKA-6794 writes the assignment (step 5)")
    assert "StopReplica" not in reason
    assert "step 6 has raised the epoch" in told(where, "leader-outside-assignment", stuck="nobody follows")


def test_a_move_that_only_adds_looks_done() -> None:
    adds = evolve(cell("wiki", "wiki.1"), plan=AtlasPlan((0, 1), (0, 1, 2)))
    assert "takes it for done" in told(adds, stuck="the ISR lacks 2")
    assert told(cell("wiki", "wiki.1"), stuck="the ISR lacks 3") == ""


def test_the_reasons_of_one_protocol_are_not_another_s() -> None:
    assert "KAFKA-6794" not in told(cell("wiki", "wiki.9"), *HARMS)


@pytest.mark.parametrize("protocol", [name for name, found in PROCEDURES.items() if found.reassignment])
def test_every_protocol_knows_when_its_leader_has_moved(protocol: str) -> None:
    spans = PROCEDURES[protocol].phases
    assert not leader_moved(cell(protocol, spans["move.leader"].last, "before"))
    assert leader_moved(cell(protocol, spans["move.leader"].last))
    assert leader_moved(cell(protocol, spans["move.stop"].first, "before"))
