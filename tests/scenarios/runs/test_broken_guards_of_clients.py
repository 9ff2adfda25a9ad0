"""A guard that clients depend on is taken out of the whole cluster: the checker for it reports the violation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from brokers.log.producer_state_manager import ProducerStateManager
from brokers.requests import consumer_reads
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchedFields
from emulator.protocol.produce import IdempotentBatch
from emulator.protocol.types import TopicPartition
from scenarios.language import Scenario
from scenarios.runs import Run
from tests.scenarios.runs.building import HEAL, Table, play, scenario

if TYPE_CHECKING:
    from brokers.partition.partition import Partition

LOST_ANSWER: Table = {"when": {"message": "Produce", "response": True, "since": "4s"}, "action": "message.cut"}
CUT: Table = {"at": "3s", "action": "link.cut", "target": "leader(orders-0)", "peer": [1, 2]}
CRASH: Table = {"at": "5s", "action": "broker.crash", "target": 0}


def clients(*method: Table, **load: object) -> Scenario:
    """An idempotent producer unless ``load`` says otherwise, and a consumer from the beginning on."""
    load = {"config": {"enable.idempotence": True}, **load}
    load = {"topic": "orders", "producerRate": 200, "stop": "20s", **load}
    late = {"at": "22s", "action": "link.heal", "target": 3}
    return scenario(
        brokers=4, controller=3, assignment=[[0, 1, 2]], method=[*method, late], rollbacks=HEAL, horizon="1m",
        workloads=[load], rate=0, consumers=[{"topic": "orders", "offset_reset": "earliest"}],
    )  # fmt: skip


def broken(run: Run) -> list[str]:
    assert run.verdict == "failed", "no checker noticed"
    return list(dict.fromkeys(violation.invariant for violation in run.violations))


def test_a_leader_that_gives_consumers_what_is_not_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the leader has the record, and it dies: the next leader has another one at that offset."""

    def all_there_is(partition: Partition, _isolation: int) -> int:
        return partition.log_end_offset

    wanted = clients(CUT, CRASH, acks="1", config={})
    assert play(wanted).run.violations == ()
    monkeypatch.setattr(consumer_reads, "readable_end", all_there_is)
    assert {"reads_committed", "reads_consistent"} <= set(broken(play(wanted).run))


def test_a_leader_that_does_not_detect_repeated_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = clients(LOST_ANSWER)
    assert play(wanted).run.violations == ()

    def nothing_is_known(*_: object) -> None:
        return None

    def anything_goes(_self: ProducerStateManager, _produced: IdempotentBatch, **_: object) -> Errors:
        return Errors.NONE

    monkeypatch.setattr(ProducerStateManager, "repeated", nothing_is_known)
    monkeypatch.setattr(ProducerStateManager, "check", anything_goes)
    assert broken(play(wanted).run) == ["no_batch_twice"]


def test_a_leader_that_refuses_positions_above_its_high_watermark(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next leader does not know yet up to where its predecessor had committed, and no follower reaches it."""
    read = consumer_reads.ConsumerReads._read

    def up_to_the_high_watermark(
        self: consumer_reads.ConsumerReads, tp: TopicPartition, leader_epoch: int, offset: int, *limits: int
    ) -> FetchedFields:
        answer = read(self, tp, leader_epoch, offset, *limits)
        above = not answer[1] and offset > answer[2]
        return consumer_reads.refused(tp, Errors.OFFSET_OUT_OF_RANGE) if above else answer

    apart: Table = {"at": "4.9s", "action": "link.cut", "target": 1, "peer": 2, "duration": "6s"}
    wanted = clients(apart, CRASH, acks="all")
    assert play(wanted).run.violations == ()
    monkeypatch.setattr(consumer_reads.ConsumerReads, "_read", up_to_the_high_watermark)
    run = play(wanted).run
    assert "polls_go_on" in broken(run)
    assert "gives up its position" in next(v.state for v in run.violations if v.invariant == "polls_go_on")
