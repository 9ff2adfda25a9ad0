"""Records deleted on request, on a whole cluster: what every replica, a new one, and one that comes back make of it."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol.events import Fault, LogReplaced, LogStartMoved, Truncated
from tests.scenarios.runs.building import EXECUTE, TP, Played, Table, play, scenario

END = "end"


def delete(at: str = "10s", before: int | str = END, **more: Any) -> Table:
    return {"at": at, "action": "records.delete", "topic": "orders", "before": before, **more}


def played(*entries: Table, profile: str = "kafka-2.4", **more: Any) -> Played:
    found = play(scenario(method=entries, profile=profile, brokers=5, controller=4, **more))
    assert found.run.passed, found.run.explanation
    return found


def starts(found: Played) -> dict[int, int]:
    """Where the log of each broker that has one begins, at the end."""
    brokers = found.stage.cluster.brokers.items()
    return {
        node: each.replicas.partitions[TP].log_start_offset for node, each in brokers if TP in each.replicas.partitions
    }


def moved(found: Played, reason: str) -> list[tuple[int, int]]:
    """Which broker's log has begun where, for that reason."""
    return [(event.node, event.log_start_offset) for event in found.of(LogStartMoved, lambda e: e.reason == reason)]


@pytest.mark.parametrize("profile", ["kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7", "kafka-3.0"])
def test_each_replica_begins_where_the_leader_does(profile: str) -> None:
    found = played(delete(), profile=profile, consumers=[{"topic": "orders"}])
    [(leader, start)] = moved(found, "request")
    assert leader == 0
    assert start > 0
    assert sorted(moved(found, "leader")) == [(1, start), (2, start)]
    assert starts(found) == {0: start, 1: start, 2: start}


def test_the_leaders_answer_comes_within_a_fetch_or_two() -> None:
    """An idle follower's fetch waits for half a second (replica.fetch.wait.max.ms); the next one tells its start."""
    found = played(delete(), rate=0)
    [told] = found.of(Fault)
    last = max(event.t_us for event in found.of(LogStartMoved))
    assert 0 < last - told.t_us < 600_000
    deletion = found.stage.cluster.brokers[0].replicas.deletion
    assert deletion is not None
    assert not deletion.waiting


def test_a_leader_waits_for_a_paused_follower_as_long_as_it_is_asked_to() -> None:
    paused = {"at": "9999ms", "action": "broker.pause", "target": 1, "duration": "5s"}
    found = played(paused, delete(timeout="2s", expect_error="REQUEST_TIMED_OUT"))
    assert sorted(moved(found, "leader")), "the followers follow all the same"
    late = played(paused, delete(timeout="8s"))
    assert starts(late) == {broker: moved(late, "request")[0][1] for broker in (0, 1, 2)}


def test_what_is_not_committed_is_out_of_range() -> None:
    found = played(delete(before=10_000_000, expect_error="OFFSET_OUT_OF_RANGE"))
    assert moved(found, "request") == []


def test_some_partitions_alone() -> None:
    entry = {"at": "10s", "action": "records.delete", "partitions": ["orders-1"], "before": 5}
    found = play(scenario(method=[entry], assignment=[[0, 1], [1, 2]], profile="kafka-2.4"))
    assert found.run.passed, found.run.explanation
    assert [(e.node, e.partition, e.log_start_offset) for e in found.of(LogStartMoved)] == [(1, 1, 5), (2, 1, 5)]


def test_a_new_replica_begins_in_the_middle_of_the_leaders_batch() -> None:
    """KAFKA-6975: it begins at the leader's start, and then where the batch begins that holds it."""
    execute = {**EXECUTE, "at": "20s"}
    load = {"topic": "orders", "producerRate": 200, "linger": "1s", "stop": "8s"}
    found = played(delete(before=303), execute, plan={0: [0, 1, 3]}, size="0B", workloads=[load], rate=0)
    log = found.stage.cluster.brokers[0].replicas.partitions[TP].log
    [(base, end)] = [(b.base_offset, b.next_offset) for b in log.batches if b.base_offset < 303 < b.next_offset]
    cuts = [event.log_end_offset for event in found.of(Truncated, lambda event: event.node == 3)]
    assert cuts[-2:] == [303, base]
    copy = found.stage.cluster.brokers[3].replicas.partitions[TP].log
    assert copy.batches[0].base_offset == base < end
    assert starts(found) == {0: 303, 1: 303, 3: 303}


def test_so_does_a_copy_in_another_log_directory() -> None:
    """It is filled from the log whose start is in the middle of a batch, and takes its place with that start."""
    moves = [{"topic": "orders", "partition": 0, "replicas": [0, 1, 2], "log_dirs": ["/data/1", "any", "any"]}]
    execute = {**EXECUTE, "at": "20s", "plan": {"version": 1, "partitions": moves}}
    load = {"topic": "orders", "producerRate": 200, "linger": "1s", "stop": "8s"}
    found = played(
        delete(before=303), execute, size="0B", workloads=[load], rate=0, cluster={"log_dirs": 2}, strategy="kip-455"
    )
    assert [(event.node, event.log_end_offset) for event in found.of(LogReplaced)] == [(0, 1600)]
    assert starts(found) == {0: 303, 1: 303, 2: 303}


def test_a_follower_that_was_away_takes_it_over_when_it_is_back() -> None:
    away = {"at": "9s", "action": "broker.crash", "target": 1, "duration": "30s"}
    found = played(away, delete("25s"), horizon="3m")
    [(_, start)] = moved(found, "request")
    assert starts(found) == {0: start, 1: start, 2: start}
    assert [node for node, _ in moved(found, "leader")] == [2], "its log ended before that, so it began again"


def test_a_leader_that_dies_at_once_takes_it_over_from_the_next_one() -> None:
    """Its own start was not in the checkpoint yet, and is lost with the process; its followers have it."""
    dies = {"at": "11s", "action": "broker.crash", "target": 0, "duration": "20s"}
    found = played(delete(), dies, horizon="3m")
    [(_, start)] = moved(found, "request")
    assert moved(found, "leader") == [(1, start), (2, start), (0, start)]
    assert starts(found) == {0: start, 1: start, 2: start}


def test_a_deletion_is_forgotten_where_all_replicas_die_before_their_checkpoints() -> None:
    """As Kafka says of itself (Log.maybeIncrementLogStartOffset): the records are back."""
    die = [{"at": "11s", "action": "broker.crash", "target": broker, "duration": "10s"} for broker in (0, 1, 2)]
    found = played(delete(), *die, horizon="3m")
    assert moved(found, "request")
    assert set(starts(found).values()) == {0}


def test_a_deletion_that_is_in_the_checkpoints_survives() -> None:
    die = [{"at": "100s", "action": "broker.crash", "target": broker, "duration": "10s"} for broker in (0, 1, 2)]
    found = played(delete(), *die, horizon="4m", config={"log.flush.interval.messages": 1})
    [(_, start)] = moved(found, "request")
    assert set(starts(found).values()) == {start}
