"""``why`` answers from the events of a run what an engineer asks about a moment."""

from __future__ import annotations

import pytest

from emulator.protocol.types import TopicPartition
from scenarios.observe.why.leader_reasons import leader
from scenarios.observe.why.move_reasons import move
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.observe.why.replica_reasons import replica
from tests.scenarios.observe.why.answers import CASES, GOLDEN, Case, asked, events, text


def test_the_answers_are_the_golden_ones() -> None:
    assert text() == GOLDEN.read_text()


@pytest.mark.parametrize("case", CASES)
def test_an_answer_names_only_what_has_happened(case: Case) -> None:
    answer = asked(case)
    assert answer.sentence.endswith(".")
    assert all(event.t_us <= case.at_s * 1e6 for event in answer.events)
    assert [event.seq for event in answer.events] == sorted({event.seq for event in answer.events})
    assert answer.to_json()["sentence"] == answer.sentence


@pytest.mark.parametrize("at_s", range(0, 80, 2))
def test_every_moment_has_answers(at_s: int) -> None:
    """Also before the partition exists, and while nothing is wrong."""
    past = PartitionPast(events("leader-dies-mid-move", ""), TopicPartition.of("orders", 0), at_s * 1_000_000)
    answers = [leader(past), move(past), *(replica(past, broker) for broker in range(7))]
    assert all(answer.sentence and list(answer.lines()) for answer in answers)


def test_a_partition_that_is_not_there_yet() -> None:
    past = PartitionPast(events("leader-dies-mid-move", ""), TopicPartition.of("orders", 0), 1_000)
    assert leader(past).sentence == "orders-0 does not exist at 0.001 s."
    assert replica(past, 1).sentence == "orders-0 does not exist at 0.001 s."
    assert move(past).sentence == "No move of orders-0 was requested by 0.001 s."
