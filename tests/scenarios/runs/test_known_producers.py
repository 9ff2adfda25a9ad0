"""Idempotent producers that leaders do not know any more: recognized by the marks in the trace, and by nothing less."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from attrs import evolve

from brokers.log.producer_state_manager import ProducerStateManager
from emulator.protocol import events as e
from emulator.protocol.errors import Errors
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from scenarios.language import Scenario
from scenarios.observe.checkers import Violation
from scenarios.observe.findings.coordination_facts import CommitLost, GroupCommit
from scenarios.observe.findings.memory_facts import BrokerRemembers
from scenarios.runs import Run, run_scenario
from scenarios.runs.findings import findings
from scenarios.runs.known.known_producers import _left_without_assignment, _taken_for_deleted
from scenarios.runs.known_findings import explained
from tests.scenarios.runs.building import TP, Table, play, scenario
from tests.scenarios.runs.stated import stated
from tests.scenarios.runs.test_known_findings import bounced, kept, quiet, tickets, told
from tests.scenarios.runs.test_known_logs import follows, led

__all__ = ["bounced", "quiet"]


def twice(batch: int = 7, first: int = 7, end: int = 14, epoch: int = 1) -> Violation:
    its = f"batches {first} to 9, up to offset {end}"
    state = (
        f"orders-0: batch {batch} is committed again, at offset 14 in epoch {epoch}; before it its producer has {its}"
    )
    return stated("no_batch_twice", "…", 9, 9, state)


FORGETS, UNKNOWN, ADMITS = "KAFKA-7190", "ProducerAppendInfo.checkSequence (2.4.1)", "KIP-360"


def answered_too_late(profile: str) -> Run:
    """The answer to the only batch of a producer is lost. When it is sent again retention has deleted it."""
    load: Table = {"topic": "orders", "producerRate": 1, "start": "3s", "stop": "4s"}
    load["config"] = {"enable.idempotence": True, "retry.backoff.ms": 8000}
    lost: Table = {"when": {"message": "Produce", "response": True}, "action": "message.cut"}
    written = scenario(
        brokers=3, controller=2, assignment=[[0, 1]], rate=0, size="0B", method=[lost], horizon="30s", profile=profile,
        workloads=[load], topic_config={"retention.ms": 1000},
        cluster={"config": {"log.retention.check.interval.ms": 3000}},
    )  # fmt: skip
    return run_scenario(written)


def test_a_producer_whose_records_are_deleted_writes_its_batch_again_before_2_4(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert tickets(answered_too_late("kafka-2.3")) == [FORGETS]
    assert answered_too_late("kafka-2.4").verdict == "passed"
    monkeypatch.setattr(ProducerStateManager, "repeated", lambda *_: None)
    monkeypatch.setattr(ProducerStateManager, "check", lambda *_, **_known: Errors.NONE)
    assert tickets(answered_too_late("kafka-2.4")) == [None]


def took(seq: int, node: int, id: int = 7, producer: int = 5, at: int = 14) -> e.UnknownProducerAppended:
    """A leader appends a batch of a producer that it does not know."""
    return e.UnknownProducerAppended(seq, seq, 0, node, *TP, producer, 0, id, at)


def test_a_leader_forgets_a_producer_with_its_last_record(quiet: Run) -> None:
    first, deleted, leads, again = (
        took(1, 0, at=0),
        e.LogStartMoved(3, 3, 0, 0, *TP, 14, "time"),
        led(4, 0, 1),
        took(5, 0),
    )
    marks: list[Any] = [first, deleted, leads, again]
    for profile in ("kafka-1.1", "kafka-2.3"):
        assert tickets(told(quiet, profile, marks, twice())) == [FORGETS]
    for profile in ("kafka-2.4", "kafka-2.5", "kafka-2.7"):  # these remember it
        assert tickets(told(quiet, profile, marks, twice())) == [None]
    renewed = [first, took(2, 0, 8, producer=6, at=1), deleted, leads, took(5, 0, 8, producer=6)]
    assert tickets(told(quiet, "kafka-2.3", renewed, twice(batch=8))) == [FORGETS]  # another id began with 0 again
    next_one = twice(batch=8, end=15)  # that the leader takes once it knows the producer again
    assert tickets(told(quiet, "kafka-2.3", marks, next_one)) == [FORGETS]
    for found in (twice(epoch=2), twice(first=8, batch=8)):
        assert tickets(told(quiet, "kafka-2.3", marks, found)) == [None]
    for events in (
        marks[:3],  # the leader knew the producer, and has appended its batch all the same
        marks[1:],
        [first, leads, again],
        [*marks[:2], again],
        [*marks[:2], led(4, 2, 1), again],
        [first, took(2, 0), deleted, leads],  # before anything was deleted
        [first._replace(producer_id=6), *marks[1:]],  # another producer was forgotten
        [*marks[:3], took(5, 2)],
        [*marks[:3], took(5, 0, 8)],
        [*marks[:3], took(10, 0)],
    ):
        assert tickets(told(quiet, "kafka-2.3", events, twice())) == [None]
    not_all_deleted = [first, deleted, leads, took(5, 0, at=20)]
    assert tickets(told(quiet, "kafka-2.3", not_all_deleted, twice(end=15))) == [None]


def test_a_leader_never_knew_a_producer_whose_records_were_deleted_before_its_log_began(quiet: Run) -> None:
    began, first = e.Truncated(3, 3, 0, 1, *TP, 0, 14, 14), took(0, 0, at=0)
    loaded, leads, again = e.LogLoaded(1, 1, 0, 1, *TP, 0, 0, 0), led(4, 1, 1), took(5, 1)
    marks: list[Any] = [first, loaded, follows(2, 0, 0, end=0), began, leads, again]
    for profile, ticket in (("kafka-2.4", UNKNOWN), ("kafka-2.5", ADMITS), ("kafka-2.7", ADMITS)):
        assert tickets(told(quiet, profile, marks, twice())) == [ticket]
        assert tickets(told(quiet, profile, marks, twice(epoch=2))) == [None]
        assert tickets(told(quiet, profile, [*marks[:5], took(5, 1, at=20)], twice(end=15))) == [None]
        cut_only, begun_before = follows(2, 0, 0, end=20), began._replace(log_end_offset=13)
        for events in (
            [*marks[:4], again],
            [*marks[:3], *marks[4:]],
            [*marks[:2], cut_only, *marks[3:]],
            [*marks[:3], begun_before, leads, again],
            [*marks[:3], begun_before, e.LogStartMoved(3, 3, 0, 1, *TP, 14, "time"), leads, again],
            [*marks[:4], led(4, 2, 1), again],
            marks[:5],
            marks[1:],
            [*marks[:5], took(5, 1, producer=6)],
        ):
            assert tickets(told(quiet, profile, events, twice())) == [None]
    assert tickets(told(quiet, "kafka-2.4", marks, twice(batch=8))) == [UNKNOWN]
    assert tickets(told(quiet, "kafka-2.5", marks, twice(batch=8))) == [ADMITS]  # any sequence number


def test_a_broker_that_starts_with_an_empty_log_does_not_know_it(quiet: Run) -> None:
    """Kafka drops the snapshot that is at the start of the log (truncateAndReload, 2.4.1)."""
    first, deleted = took(0, 0, at=0), e.LogStartMoved(1, 1, 0, 0, *TP, 14, "time")
    loaded, later = e.LogLoaded(2, 2, 0, 0, *TP, 14, 14, 14), [led(4, 0, 1), took(5, 0)]
    assert tickets(told(quiet, "kafka-2.7", [first, deleted, loaded, *later], twice())) == [ADMITS]
    not_empty = loaded._replace(log_end_offset=15)
    assert tickets(told(quiet, "kafka-2.7", [first, deleted, not_empty, *later], twice())) == [None]
    alone = [later[0], took(10, 0)._replace(t_us=9)]  # it commits the batch at once (kafka-2.7, seed 97)
    assert tickets(told(quiet, "kafka-2.7", [first, deleted, loaded, *alone], twice())) == [ADMITS]


def test_nor_does_it_know_that_what_comes_late_is_before_what_it_had(quiet: Run) -> None:
    """kafka-2.7, seed 40286: a producer's first batches wait for a dead leader. What it sends to the next one is taken,
    with any sequence number, and deleted. Then they come to one that began after that."""
    later, deleted = took(0, 0, 8, at=0), e.LogStartMoved(1, 1, 0, 0, *TP, 14, "time")
    loaded, late = e.LogLoaded(2, 2, 0, 0, *TP, 14, 14, 14), [led(4, 0, 1), took(5, 0, 7)]
    assert tickets(told(quiet, "kafka-2.7", [later, deleted, loaded, *late], twice(first=8))) == [ADMITS]
    for events in (
        [deleted, loaded, *late],
        [later._replace(producer_id=6), deleted, loaded, *late],
        [later, deleted, *late],
        [later, deleted, loaded, late[0], took(5, 0, 9)],
        [later, deleted, loaded, late[0], took(5, 0, 6)],
    ):
        assert tickets(told(quiet, "kafka-2.7", events, twice(first=8))) == [None]
    events, next_one = [later, deleted, loaded, late[0], took(5, 0, 7, at=16)], twice(first=8, end=17)
    assert tickets(told(quiet, "kafka-2.7", events, twice(first=8), next_one)) == [ADMITS]
    for found in ([next_one], [twice(first=8, epoch=2), next_one], [twice(first=7), next_one]):
        assert tickets(told(quiet, "kafka-2.7", events, *found)) == [None]


def test_a_copy_in_another_directory_never_knew_it_either(quiet: Run) -> None:
    deleted, begins = e.LogStartMoved(1, 1, 0, 0, *TP, 14, "time"), e.CopyStarted(2, 2, 0, 0, *TP, "d0", "d1", 0)
    replaced, first, later = (
        e.LogReplaced(3, 3, 0, 0, *TP, "d0", "d1", 20),
        took(0, 0, at=0),
        [led(4, 0, 1), took(5, 0)],
    )
    assert tickets(told(quiet, "kafka-2.7", [first, deleted, begins, replaced, *later], twice())) == [ADMITS]
    for events in ([deleted, begins], [begins, deleted._replace(seq=2), replaced]):
        assert tickets(told(quiet, "kafka-2.7", [first, *events, *later], twice())) == [None]


def test_a_leader_that_has_lost_batches_takes_them_again(bounced: Run) -> None:
    """KIP-966 (kafka-2.7, seed 44511; kafka-1.1, seed 44537): the leader of the next epoch has what others do not
    have, and is followed with what it lacks in between."""
    last = bounced.violations[-1].seq
    again = stated("no_batch_twice", "…", last + 1, last + 1, twice().state)
    assert set(tickets(told(bounced, bounced.profile, kept(bounced), again))) == {"KIP-966"}
    elsewhere = stated("no_batch_twice", "…", last + 1, last + 1, twice().state.replace("orders-0", "orders-1"))
    killed: list[Any] = [event for event in kept(bounced) if type(event) is not e.LogRecovered]
    killed = [event._replace(kind="process") if type(event) is e.NodeCrashed else event for event in killed]
    assert set(tickets(told(bounced, bounced.profile, kept(bounced), elsewhere))) == {None}
    assert set(tickets(told(bounced, bounced.profile, killed, again))) == {None}


@pytest.mark.parametrize(("profile", "found"), [("kafka-2.3", True), ("kafka-2.4", False)])
def test_a_transaction_coordinator_that_goes_on_is_known_before_kafka_9235(profile: str, found: bool) -> None:
    """The partition of its transactional ids moves away from its broker, with the leadership."""
    one = {"transaction.state.log.num.partitions": 1, "offsets.topic.num.partitions": 1}
    moves = [{"topic": "__transaction_state", "partition": 0, "replicas": [1, 2]}]
    table = {
        "title": "the coordinator moves",
        "profile": profile,
        "horizon": "2m",
        "strategy": {"name": "wiki"},
        "cluster": {"brokers": 4, "controller": 3, "config": one},
        "topics": [
            {"name": "orders", "assignment": [[0, 1, 2]]},
            {"name": "__transaction_state", "assignment": [[0, 1]]},
        ],
        "clients": [{"behaviour": "transactional", "id": "writer", "partitions": ["orders-0"]}],
        "plan": {"version": 1, "partitions": moves},
        "method": [{"at": "10s", "action": "reassign.execute"}],
        "expect": [{"converged": True}],
    }
    run = play(Scenario.from_table(table)).run
    seen = explained(run, findings(run))
    assert not seen.new
    assert [(str(reason).split(":")[0], [one.checker for one in of_it]) for reason, of_it in seen.known] == (
        [("KAFKA-9235", ["coordinators_lead", "coordinators_remember", "requests_answered"])] if found else []
    )


@pytest.mark.parametrize(("broker", "found"), [(0, True), (1, False)])
def test_a_group_that_waits_for_an_assignment_is_known_where_one_is_missing(broker: int, found: bool) -> None:
    """kafka-1.1, seed 42 of the default swarm with record deletions: the clients of a group end while it waits."""
    left = Deviated(1, 1, 0, 0, "KAFKA-9801", "__consumer_offsets", 0, 0)
    past = SimpleNamespace(run=SimpleNamespace(witnesses=(left,)))
    violation = SimpleNamespace(brokers=(broker,), seq=2)
    assert _left_without_assignment(cast("Any", past), cast("Any", violation)) is found
    assert not _left_without_assignment(cast("Any", past), cast("Any", SimpleNamespace(brokers=(broker,), seq=0)))


def test_an_offset_comes_back_with_its_transaction_where_it_was_removed_before(quiet: Run) -> None:
    """kafka-2.7, seed 604: the topic is deleted while the transaction is open."""
    facts = BrokerRemembers(0, "coordinated", "group readers's offset of used-0-0", "nothing", "4")
    found = evolve(stated("coordinators_remember", "…", 9, 9, "…"), facts=facts, partition=None, brokers=(0,))
    removed = Deviated(5, 5, 0, 0, "GroupMetadata.removeOffsets", "used-0", 0, 0)
    assert tickets(told(quiet, "kafka-2.7", [removed], found)) == ["GroupMetadata.removeOffsets (0.11 to 3.9)"]
    later = facts._replace(kept="3", wanted="3, and 4 in a transaction of 0")
    assert tickets(told(quiet, "kafka-2.7", [removed], evolve(found, facts=later))) != [None]
    others = facts._replace(kept="3"), facts._replace(broker=1), facts._replace(of="group readers's offset of used-0-1")
    for one in others:
        assert tickets(told(quiet, "kafka-2.7", [removed], evolve(found, facts=one))) == [None]
    for events in ([], [removed, e.NodeCrashed(6, 6, 0, 0, 1, "process")]):
        assert tickets(told(quiet, "kafka-2.7", events, found)) == [None]


def test_a_first_offset_is_answered_for_after_it_was_removed(quiet: Run) -> None:
    """kafka-2.4, seed 2203: the topic is deleted while the commit waits for a follower."""
    facts = CommitLost(0, "readers", GroupCommit(-1), GroupCommit(1), ())
    found = evolve(stated("offsets_read_back", "…", 9, 9, "…"), facts=facts, partition=TopicPartition("used-1", 1))
    removed = Deviated(5, 5, 0, 0, "GroupMetadata.removeOffsets", "used-1", 1, 0)
    topics, partitions, offsets = ("t0", "used-1"), (1, 1), (4, 1)
    committed = e.OffsetsCommitted(7, 7, 0, 0, "readers", "anne", 1, "NONE", topics, partitions, offsets)
    marks: list[Any] = [removed, committed]
    for profile in ("kafka-2.4", "kafka-3.9"):
        assert tickets(told(quiet, profile, marks, found)) == ["GroupMetadata.removeOffsets (0.11 to 3.9)"]
    others = (
        facts._replace(offset=GroupCommit(0)),
        facts._replace(committed=GroupCommit(2)),
        facts._replace(broker=1),
        facts._replace(group="b"),
    )
    for one in others:
        assert tickets(told(quiet, "kafka-2.4", marks, evolve(found, facts=one))) == [None]
    for events in (
        [removed],
        [committed],
        [committed._replace(seq=4), removed],
        [*marks, committed._replace(seq=8)],
        [removed._replace(partition=0), committed],
        [removed, committed._replace(error="NOT_COORDINATOR")],
        [removed, e.NodeCrashed(6, 6, 0, 0, 1, "process"), committed],
    ):
        assert tickets(told(quiet, "kafka-2.4", events, found)) == [None]


@pytest.mark.parametrize(("partition", "seq", "found"), [(1, 2, True), (0, 2, False), (1, 0, False)])
def test_a_missing_marker_is_known_where_the_partition_was_taken_for_deleted(
    partition: int, seq: int, found: bool
) -> None:
    taken = Deviated(1, 1, 0, 0, "TransactionMarkerChannelManager", "orders", partition, 0)
    past = SimpleNamespace(run=SimpleNamespace(witnesses=(taken,)))
    violation = SimpleNamespace(partition=TopicPartition("orders", 1), brokers=(0,), seq=seq)
    assert _taken_for_deleted(cast("Any", past), cast("Any", violation)) is found
