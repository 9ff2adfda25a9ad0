"""Wrong behaviour of releases with logs, from runs in which it happens."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol import events as e
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS, broker_path, encode_config, state_path
from emulator.trace.events import ZkWritten
from scenarios.observe.findings.log_facts import AckedRecordsLost
from scenarios.runs import Run, run_scenario
from scenarios.runs.findings import findings
from tests.scenarios.runs.building import TP, Table, scenario
from tests.scenarios.runs.stated import COMMITTED, FETCHED, IN_SYNC, NOTHING_ASKED, stated
from tests.scenarios.runs.test_known_findings import AHEAD, assigned, elected, kept, quiet, tickets, told

__all__ = ["quiet"]

IGNORED = "FetchSessionHandler.build (1.1.0 to 2.7.2)"
EMPTIED = "LeaderEpochFileCache.truncateFromEnd (2.3.1 to 2.7.2)"

BOTH_CRASH: tuple[Table, ...] = (
    {"at": "6200ms", "action": "broker.crash", "target": 1, "kind": "host", "duration": "1s"},
    {"at": "7200ms", "action": "broker.crash", "target": 0, "kind": "host", "duration": "25s"},
)
"""Broker 0 leads. What it has is deleted after 6.1 s, so its machine comes back with an empty log. That of broker 1
comes back with less, and is elected first."""


LOADS: tuple[Table, ...] = (
    {"topic": "orders", "producerRate": 5, "stop": "4s"},
    {"topic": "orders", "producerRate": 5, "start": "26s", "stop": "27s"},
)


@pytest.fixture(scope="module")
def emptied() -> Run:
    written = scenario(
        brokers=2, controller=0, assignment=[[0, 1]], rate=0, size="0B", method=BOTH_CRASH, horizon="40s",
        profile="kafka-2.5", strategy="kip-455", workloads=LOADS, topic_config={"retention.ms": 1000},
        cluster={"config": {"log.retention.check.interval.ms": 7000}},
    )  # fmt: skip
    return run_scenario(written)


def test_an_empty_log_goes_on_from_where_it_was(emptied: Run) -> None:
    assert findings(emptied)
    assert set(tickets(emptied)) == {EMPTIED}


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-2.7"])
def test_in_each_release_with_leader_epochs(emptied: Run, profile: str) -> None:
    assert set(tickets(told(emptied, profile, kept(emptied), *emptied.violations))) == {EMPTIED}


def test_a_log_that_is_not_empty_or_is_cut_to_the_start_of_the_epoch_excuses_nothing(emptied: Run) -> None:
    events = kept(emptied)
    loaded = [event._replace(log_start_offset=3) if is_loaded_full(event) else event for event in events]
    assert len([one for one, two in zip(events, loaded, strict=True) if one != two]) == 1
    assert EMPTIED not in tickets(told(emptied, emptied.profile, loaded, *emptied.violations))
    cut = [event._replace(log_end_offset=0) if type(event) is e.Truncated else event for event in events]
    assert EMPTIED not in tickets(told(emptied, emptied.profile, cut, *emptied.violations))


def test_another_broker_may_have_led_in_the_epoch_that_an_empty_log_does_not_know(quiet: Run) -> None:
    """kafka-2.4, seed 43020: by an unclean election; the leader that the log comes to has followed in that epoch."""
    found = stated("isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 ends at 20 …", brokers=(1,))
    cut = led(2, 2, 2)._replace(log_end_offset=5)
    knew, followed = follows(1, 0, 1), follows(3, 2, 2)._replace(node=0)
    leads, loaded = led(4, 0, 3)._replace(log_end_offset=18), e.LogLoaded(5, 5, 0, 1, *TP, 14, 14, 14)
    comes = follows(6, 0, 3)
    marks = [knew, cut, followed, leads, loaded, comes]
    assert tickets(told(quiet, "kafka-2.4", marks, found)) == [EMPTIED]
    assert tickets(told(quiet, "kafka-0.8", marks, found)) == [None]
    for events in (
        [knew, cut, leads, loaded, comes],
        [knew, cut._replace(log_end_offset=14), *marks[2:]],
        [knew, cut, followed._replace(leader_epoch=1), *marks[3:]],
        [knew._replace(leader_epoch=2), *marks[1:]],
        [*marks[:4], loaded._replace(log_start_offset=3), comes],
        [*marks[:5], comes._replace(node=2)],
    ):
        assert EMPTIED not in tickets(told(quiet, "kafka-2.4", events, found))


def test_a_log_that_is_cut_below_its_start_is_empty(quiet: Run) -> None:
    ticket = "Log.truncateTo (0.8.0 to 2.7.2)"
    found = stated(
        "isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 ends at 13 and lacks …", brokers=(1,)
    )
    deleted, cut = e.LogStartMoved(1, 1, 0, 1, *TP, 14, "time"), e.Truncated(3, 3, 0, 1, *TP, 1, 13, 12)
    for profile in ("kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.7"):
        assert ticket in tickets(told(quiet, profile, [deleted, cut], found))
    for events in (
        [cut],
        [deleted],
        [deleted, cut._replace(log_end_offset=14)],
        [deleted, cut._replace(node=0)],
        [deleted, cut._replace(seq=10)],
        [deleted, deleted._replace(seq=2, log_start_offset=12), cut],
    ):
        assert tickets(told(quiet, "kafka-2.3", events, found)) == [None]


def is_loaded_full(event: Any) -> bool:
    return type(event) is e.LogLoaded and event.log_end_offset > 0


def follows(seq: int, leader: int, epoch: int, end: int = 14) -> e.BecameFollower:
    return e.BecameFollower(seq, seq, 0, 1, *TP, epoch, leader, end, 13)


def test_a_session_does_not_repeat_a_high_watermark_that_was_ignored(quiet: Run) -> None:
    state = "orders-0: the high watermark of broker 1 is 13, its log ends at 14; leader 0, isr [0, 1]"
    found = stated("converged", COMMITTED, 9, 9, state, brokers=(1,))
    for profile, ticket in (("kafka-0.8", None), ("kafka-1.1", IGNORED), ("kafka-2.4", IGNORED), ("kafka-2.5", None)):
        assert tickets(told(quiet, profile, [follows(1, 0, 1), follows(2, 0, 2)], found)) == [ticket]
    leads = led(3, 0, 2)._replace(log_end_offset=14, high_watermark=14)
    for profile, ticket in (("kafka-2.5", IGNORED), ("kafka-2.6", IGNORED), ("kafka-2.7", None)):
        assert tickets(told(quiet, profile, [follows(1, 0, 1), follows(2, 0, 2), leads], found)) == [ticket]
    for other in (leads._replace(high_watermark=13), leads._replace(leader_epoch=1), leads._replace(node=2)):
        assert tickets(told(quiet, "kafka-2.6", [follows(1, 0, 1), follows(2, 0, 2), other], found)) == [None]
    for events in (
        [follows(1, 0, 1)],
        [follows(1, 2, 1), follows(2, 0, 2)],
        [follows(1, 0, 1), follows(2, 0, 2, end=13)],
        [follows(1, 0, 1), follows(2, 0, 2)._replace(high_watermark=12)],
        [follows(1, 0, 1), follows(2, 0, 2)._replace(partition=1)],
        [follows(1, 0, 1), follows(2, 0, 2)._replace(node=2)],
        [follows(1, 0, 1), e.NodeCrashed(2, 2, 0, 1, 1, "process"), follows(3, 0, 2)],
    ):
        assert tickets(told(quiet, "kafka-1.1", events, found)) == [None]


def test_a_change_of_the_number_of_fetchers_explains_a_high_watermark_until_the_next_role(quiet: Run) -> None:
    state = "orders-0: the high watermark of broker 1 is 12, its log ends at 14; leader 0, isr [0, 1]"
    found = stated("converged", COMMITTED, 9, 9, state, brokers=(1,))

    def sets(seq: int, entity: str, fetchers: str) -> ZkWritten:
        config = encode_config({"num.replica.fetchers": fetchers, "min.insync.replicas": str(seq)})
        return ZkWritten(seq, seq, 0, -2, "setData", f"/config/{entity}", 0, seq, config)

    for entity in ("brokers/1", ALL_BROKERS):
        changes = [sets(1, entity, "1"), follows(2, 0, 1), sets(3, entity, "2")]
        for profile, expected in (
            ("kafka-0.8", None),
            ("kafka-2.3", IGNORED),
            ("kafka-2.6", IGNORED),
            ("kafka-2.7", None),
        ):
            assert tickets(told(quiet, profile, changes, found)) == [expected]
        for events in (
            [changes[0], changes[1], sets(3, entity, "1")],
            [changes[0], sets(2, entity, "2"), follows(3, 0, 1)],
            [*changes, e.NodeCrashed(4, 4, 0, 1, 1, "process")],
            [changes[0], changes[1], sets(10, entity, "2")],
            [changes[0], changes[1], sets(3, "brokers/0", "2")],
        ):
            assert tickets(told(quiet, "kafka-2.3", events, found)) == [None]


def test_before_kip_461_a_move_waits_for_a_replica_whose_thread_has_died(quiet: Run) -> None:
    found = stated("converged", NOTHING_ASKED, 9, 9, "/admin/reassign_partitions is still there")
    asks = e.MoveStarted(2, 2, 0, *TP, (1,))
    dies = e.FetcherStopped(3, 3, 0, 1, "ReplicaFetcherThread-0-0", 0, "died", *TP, AHEAD)
    marks: list[Any] = [elected(1, 0), asks, dies]
    for profile in ("kafka-0.8", "kafka-1.1"):
        assert tickets(told(quiet, profile, marks, found)) == ["KIP-461"]
    assert tickets(told(quiet, "kafka-2.3", marks, found)) == [None]
    for events in (
        marks[:2],
        [elected(1, 0, 1), *marks[1:]],
        [*marks[:2], dies._replace(leader=2)],
        [*marks[:2], dies._replace(reason="idle", error="")],
        [*marks[:2], dies._replace(error="KeyError")],
        [*marks, e.NodeCrashed(4, 4, 0, 1, 1, "process")],
        [*marks, asks._replace(seq=4, partition=1)],
    ):
        assert tickets(told(quiet, "kafka-1.1", events, found)) == [None]


BY_THE_CLOCK = "DelayedItem.getDelay (0.8.0 to 3.9.0)"


def test_a_fetcher_waits_by_a_clock_that_is_set_back() -> None:
    """While its clock is ahead it asks a leader that does not know of its leader epoch yet."""
    late = {"message": "LeaderAndIsr", "to": [0], "since": "5s"}
    method: list[Table] = [
        {"at": "4s", "action": "broker.clock", "target": 1, "offset": "200s"},
        {"at": "5s", "action": "broker.crash", "target": 1, "duration": "1s"},
        {"when": late, "action": "message.delay", "delay": {"latency": "20s"}, "duration": "4s"},
        {"at": "14s", "action": "broker.clock_sync", "target": 1},
    ]
    run = run_scenario(
        scenario(
            brokers=3, controller=2, assignment=[[0, 1]], method=method, config={"replica.socket.timeout.ms": 3000},
            horizon="70s",
        )
    )  # fmt: skip
    assert [finding.checker for finding in findings(run)] == ["followed_in_time"]
    assert tickets(run) == [BY_THE_CLOCK]
    assert tickets(told(run, run.profile, kept(run), *run.violations)) == [None]  # without the witnesses


def test_a_replica_stays_outside_while_its_fetcher_waits_by_the_clock(quiet: Run) -> None:
    """Seed 224 of kafka-2.7 and kafka-3.9: the follower had a position at the leader, which did not know it yet."""
    found = stated("converged", IN_SYNC, 90_000_000, 9, "orders-0: isr [0], assignment [0, 1], leader 0", brokers=(1,))
    role = follows(1, 0, 4)
    waits = Deviated(88_500_000, 8, 0, 1, "DelayedItem.getDelay", *TP, 1)
    for profile in ("kafka-0.8", "kafka-2.6", "kafka-3.9"):
        assert tickets(told(quiet, profile, [role, waits], found)) == [BY_THE_CLOCK]
    for events in (
        [role],
        [role, waits._replace(t_us=87_900_000)],  # it has looked again since
        [role, waits._replace(seq=10)],
        [role, waits._replace(node=2, replica=2)],
        [role, waits._replace(topic="t1")],
        [waits._replace(seq=1), follows(6, 0, 4)],  # what is followed since then does not wait
    ):
        assert tickets(told(quiet, "kafka-2.6", events, found)) == [None]


def led(seq: int, node: int, epoch: int) -> e.BecameLeader:
    return e.BecameLeader(seq, seq, 0, node, *TP, epoch, 14, 14, (node, 1), (0, 1, 2), (), ())


def test_a_follower_that_leads_before_it_has_dropped_what_was_deleted_serves_it(quiet: Run) -> None:
    """kafka-2.3, seed 61695: its leader's log, emptied by retention, begins where its own ends, and knows no epoch from
    before. A request of the controller ends the fetch whose answer would have moved the start of its log."""
    found = stated("reads_consistent", "…", 9, 9, "client -1 has read batch 11 of orders-0 from …", brokers=(1,))
    emptied = e.LogLoaded(1, 1, 0, 0, *TP, 14, 14, 14)
    marks = [emptied, joins(2, 14, 14), led(4, 1, 2)]
    for profile in ("kafka-2.3", "kafka-2.7"):
        assert tickets(told(quiet, profile, marks, found)) == ["LeaderEpochFileCache.endOffsetFor (2.3.1 to 2.7.2)"]
    assert tickets(told(quiet, "kafka-1.1", marks, found)) == [None]
    assert tickets(told(quiet, "kafka-2.3", marks, evolve(found, brokers=(0,)))) == [None]
    for events in (
        marks[:2],
        [emptied, marks[2]],
        [emptied._replace(log_start_offset=13), *marks[1:]],
        [emptied, joins(2, 13, 14), marks[2]],
        [*marks[:2], e.LogStartMoved(3, 3, 0, 1, *TP, 14, "leader"), marks[2]],
        [emptied, joins(5, 14, 14), marks[2]],
    ):
        assert tickets(told(quiet, "kafka-2.3", events, found)) == [None]


def joins(seq: int, end: int, leader_end: int) -> e.IsrProposed:
    """Broker 0, which leads, takes broker 1 into the ISR, whose log ends at ``end`` as it knows."""
    return e.IsrProposed(
        seq, seq, 0, 0, *TP, 1, "expand", (0, 1), leader_end, 0, leader_end, (1,), (end,), (1,), (0,), 1, -1
    )


def test_kafka_15608_a_copy_without_records_makes_a_follower_of_2_7_begin_again(quiet: Run) -> None:
    """Seed 10239 of the default swarm."""
    found = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0], assignment [0, 1], leader 0", brokers=(1,))
    deleted = e.LogStartMoved(1, 1, 0, 0, *TP, 28, "time")
    copied = e.LogReplaced(3, 3, 0, 0, *TP, "/data/0", "/data/1", 28)
    fetches, again = (e.FetchPosition(seq, seq, 0, 1, *TP, 0, 7, 28) for seq in (5, 6))
    marks: list[Any] = [elected(0, 0), deleted, copied, fetches, again]
    assert tickets(told(quiet, "kafka-2.7", marks, found)) == ["KAFKA-15608"]
    assert tickets(told(quiet, "kafka-2.6", marks, found)) == [None]  # its followers ask first
    for events in (
        [marks[0], *marks[2:]],
        [*marks[:2], *marks[3:]],
        marks[:4],
        [*marks[:3], fetches._replace(offset=27), again],
        [*marks[:3], fetches, again._replace(leader_epoch=8)],
        [*marks[:2], copied._replace(node=2), fetches, again],
    ):
        assert tickets(told(quiet, "kafka-2.7", events, found)) == [None]


def test_kafka_1382_a_leader_that_takes_its_write_for_failed_commits_without_a_member_of_the_isr(quiet: Run) -> None:
    lacks = stated(
        "isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 ends at 4 and lacks …", brokers=(1,)
    )
    written = elected(4, 0, 1)
    wish = joins(3, 5, 5)._replace(leader_epoch=3)
    marks: list[Any] = [wish, written, e.IsrUpdateFailed(5, 5, 0, 0, *TP, 3)]
    assert tickets(told(quiet, "kafka-0.8", marks, lacks)) == ["KAFKA-1382"]
    assert tickets(told(quiet, "kafka-1.1", marks, lacks)) == [None]
    for events in (
        marks[:2],
        [marks[0], marks[2]],
        marks[1:],
        [wish._replace(replicas=(2,)), *marks[1:]],
        [wish, elected(4, 0), marks[2]],
        [*marks[:2], e.IsrChanged(5, 5, 0, 0, *TP, 3, "expand", (0, 1), 4), marks[2]._replace(seq=6)],
        [*marks, elected(6, 0), elected(7, 0, 1)],
    ):
        assert tickets(told(quiet, "kafka-0.8", events, lacks)) == [None]


ENDED = "KafkaZkClient.conditionalUpdatePath (1.1.1 to 2.6.3)"


def written_as_the_session_ended(tp: TopicPartition) -> list[Any]:
    """Broker 0 adds broker 1 to the ISR, and has no answer before its session ends."""
    wish = joins(3, 5, 5)._replace(leader_epoch=3, topic=tp.topic, partition=tp.partition)
    return [
        wish,
        elected(4, 0, 1)._replace(path=state_path(tp)),
        ZkWritten(5, 5, 0, -1, "delete", broker_path(0), 0, 5, ""),
        e.IsrUpdateFailed(6, 6, 0, 0, *tp, 3),
    ]


def test_a_leader_whose_session_ends_commits_without_a_member_of_the_isr_that_it_has_written(quiet: Run) -> None:
    """kafka-1.1, seed 2307 of the default swarm."""
    lacks = stated(
        "isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 ends at 4 and lacks …", brokers=(1,)
    )
    marks = written_as_the_session_ended(TP)
    other = evolve(lacks, seq=10, brokers=(2,))
    for profile in ("kafka-1.1", "kafka-2.6"):
        assert tickets(told(quiet, profile, marks, lacks)) == [ENDED]
        assert tickets(told(quiet, profile, marks, lacks, other))[-1] == ENDED, "what follows"
    assert tickets(told(quiet, "kafka-1.1", marks, other)) == [None]
    assert tickets(told(quiet, "kafka-2.7", marks, lacks)) == [None]
    for events in (
        [*marks[:2], marks[3]],
        [*marks[:2], marks[2]._replace(path=broker_path(1)), marks[3]],
        [*marks[:2], marks[2]._replace(seq=7), marks[3]],
        marks[:3],
        [marks[0], *marks[2:]],
        [*marks, elected(7, 0), elected(8, 0, 1)],
    ):
        assert tickets(told(quiet, "kafka-1.1", events, lacks)) == [None]


def test_the_next_coordinator_gives_an_epoch_again_that_was_lost_so(quiet: Run) -> None:
    """kafka-1.1, seed 2307: the leader takes the first batch of another instance for one that it has."""
    log = TopicPartition(TRANSACTION_STATE_TOPIC, 0)
    lacks = evolve(stated("isr_complete", "…", 7, 7, "…", brokers=(1,)), partition=log)
    facts = AckedRecordsLost(1, 4, 100, 1, 1, 77, 50)
    found = evolve(stated("no_acked_record_lost", "…", 11, 11, "…", brokers=(1,)), partition=TP, facts=facts)
    first = e.TransactionStateChanged(7, 7, 0, 0, "writer", 12, 2, "Empty", (), ())
    again = first._replace(seq=8, node=1)
    repeated = e.BatchRepeated(10, 10, 0, 1, *TP, 12, 0, 77, 50)
    marks = [*written_as_the_session_ended(log), first, again, repeated]
    assert tickets(told(quiet, "kafka-1.1", marks, lacks, found)) == [ENDED] * 2
    assert tickets(told(quiet, "kafka-1.1", marks, found)) == [None]
    for events in (
        [*marks[:4], again, repeated],
        [*marks[:5], again._replace(producer_epoch=3), repeated],
        [*marks[:5], again._replace(node=0), repeated],
        marks[:6],
        [*marks[:6], repeated._replace(id=76)],
    ):
        assert set(tickets(told(quiet, "kafka-1.1", events, lacks, found))) == {ENDED, None}


def test_a_replica_that_was_deleted_while_it_was_the_isr_comes_back_empty(quiet: Run) -> None:
    """2.6, seed 22 of the default swarm: a move to broker 4 is changed once that is the whole ISR, then asked for."""
    lost = stated(
        "leader_completeness",
        "",
        9,
        9,
        "orders-0: broker 4, leader of epoch 13, has a log that ends at 0",
        brokers=(4,),
    )
    marks: list[Any] = [
        assigned(1, 1, 4), elected(2, 4), assigned(4, 1), e.ReplicaStopped(5, 5, 0, 4, *TP, True), assigned(6, 1, 4),
        e.LogLoaded(7, 7, 0, 4, *TP, 0, 0, 0),
    ]  # fmt: skip
    dropped = "KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)"
    assert tickets(told(quiet, "kafka-2.6", marks, lost)) == [dropped]
    assert tickets(told(quiet, "kafka-2.3", marks, lost)) == [None]
    for without in (2, 3, 5):
        assert tickets(told(quiet, "kafka-2.6", marks[:without] + marks[without + 1 :], lost)) == [None]
    full = marks[-1]._replace(log_end_offset=10)
    assert tickets(told(quiet, "kafka-2.6", [*marks[:-1], full], lost)) == [None]
    left = [*marks[:4], elected(5, 1), *marks[4:]]
    assert tickets(told(quiet, "kafka-2.6", left, lost)) == [None]


def test_kafka_9654_a_copy_that_its_own_broker_has_fenced_fails_for_good(quiet: Run) -> None:
    """2.4, seed 9 of the copies of the default swarm: a leader is elected while its log is copied."""
    found = stated("converged", FETCHED, 9, 9, "orders-0: its copy to another log directory has failed", brokers=(0,))
    fenced = e.CopyFailed(4, 4, 0, 0, "copies", *TP, 3, "FENCED_LEADER_EPOCH", "FENCED_LEADER_EPOCH")
    for profile in ("kafka-1.1", "kafka-2.3", "kafka-2.4"):
        assert tickets(told(quiet, profile, [fenced], found)) == ["KAFKA-9654"]
    assert tickets(told(quiet, "kafka-2.5", [fenced], found)) == [None]
    for other in (fenced._replace(node=1), fenced._replace(error="KafkaStorageException"), fenced._replace(seq=10)):
        assert tickets(told(quiet, "kafka-2.4", [other], found)) == [None]


def test_a_copy_does_not_know_where_the_epoch_of_its_leader_begins(quiet: Run) -> None:
    """2.6, seed 244 of the default swarm: after an unclean election the new leader's log is replaced by its copy at
    once, and the followers keep what only the old leader had committed."""
    ticket = "KAFKA-15608"
    lacks = stated(
        "isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 ends at 22 and lacks …", brokers=(1,)
    )
    later = stated("log_matching", "…", 10, 10, "orders-0, broker 1, epoch 3: below its high watermark …", brokers=(1,))
    leads, copy = led(1, 0, 3), e.LogReplaced(2, 2, 0, 0, *TP, "d0", "d1", 14)
    marks: list[Any] = [leads, copy, follows(3, 0, 3, end=22), e.Truncated(4, 4, 0, 1, *TP, 3, 20, 20)]
    for profile in ("kafka-1.1", "kafka-2.3", "kafka-2.6", "kafka-2.7"):
        assert tickets(told(quiet, profile, marks, lacks, later)) == [ticket, ticket]
        assert tickets(told(quiet, profile, marks[:3], lacks)) == [ticket]
    assert ticket not in tickets(told(quiet, "kafka-0.8", marks, lacks))
    for others in (
        [leads, *marks[2:]],
        marks[1:],
        marks[:2],
        [leads, copy._replace(node=1), *marks[2:]],
        [leads, copy._replace(log_end_offset=15), *marks[2:]],
        [copy._replace(seq=0), *marks[:1], *marks[2:]],
        [leads._replace(leader_epoch=2), *marks[1:]],
        [leads, copy, follows(3, 0, 3, end=14)],
        [leads, copy, follows(3, 2, 3, end=22)],
        [*marks, e.Truncated(5, 5, 0, 1, *TP, 3, 14, 14)],
    ):
        assert tickets(told(quiet, "kafka-2.6", others, lacks)) == [None]


def test_a_log_that_ends_at_its_high_watermark_is_not_cut_by_0_8_and_differs(quiet: Run) -> None:
    follows, behind = (e.BecameFollower(8, 8, 0, 1, *TP, 1, 0, 10, high_watermark) for high_watermark in (10, 5))
    found = stated(
        "log_matching", "…", 9, 9, "orders-0, broker 1, epoch 3: below its high watermark 20 …", brokers=(1,)
    )
    led = e.BecameLeader(7, 7, 0, 0, *TP, 1, 8, 8, (0, 1), (0, 1), (), ())
    assert tickets(told(quiet, "kafka-0.8", [led, follows], found)) == ["KIP-101"]
    for events in (
        [led, behind],
        [follows],
        [led._replace(log_end_offset=10), follows],
        [led._replace(node=2), follows],
    ):
        assert tickets(told(quiet, "kafka-0.8", events, found)) == [None]
