"""The memory of long runs: batches that retention has deleted from every log are forgotten."""

from __future__ import annotations

from emulator.protocol import events as e
from emulator.protocol.shown import SegmentsDeleted
from emulator.protocol.types import TopicPartition
from scenarios.language import Scenario
from scenarios.observe.checkers.segments_expire import SegmentsExpire
from scenarios.observe.history.commit import Commit
from scenarios.observe.history.replica_logs import FORGOTTEN, NEXT_OFFSET, ReplicaLogs
from scenarios.runs.runner import Stage, prepare


def loaded(seconds: int, *, retention_bytes: int = 20_000) -> Stage:
    """A run under a steady load, some of whose followers die and come back."""
    scenario = Scenario.from_table({
        "title": "a steady load", "horizon": "2m",
        "cluster": {
            "brokers": 3,
            "config": {"log.retention.check.interval.ms": 500, "log.segment.delete.delay.ms": 500},
        },
        "topics": [{
            "name": "orders", "assignment": [[0, 1, 2]],
            "config": {"segment.bytes": 10_000, "retention.bytes": retention_bytes, "min.insync.replicas": 2},
        }],
        "workloads": [{"topic": "orders", "producerRate": 20, "messageSize": 1000, "linger": "20ms"}],
        "consumers": [{"topic": "orders"}],
        "method": [
            {"at": "4s", "action": "broker.crash", "target": 2, "duration": "1s"},
            {"at": f"{seconds}s", "action": "election.preferred"},
        ],
    })  # fmt: skip
    stage = Stage(prepare(scenario))
    stage.play()
    assert not stage.checkers.violations
    return stage


def remembered(stage: Stage) -> tuple[int, int, int]:
    """The batches that the history of logs has, those acknowledged, and those whose age a checker keeps."""
    history = stage.checkers.history
    [lines] = history.logs.on(0, "orders")[0].lines.values()
    kept = sum(entry is not FORGOTTEN for line in lines for entry in line)
    partition = history.acknowledged._topics["orders"][0]
    [expire] = [one for one in stage.checkers._checkers if isinstance(one, SegmentsExpire)]
    return kept, len(partition.acked_by_all), len(expire._written)


def test_memory_of_a_steady_load_follows_what_the_disks_have() -> None:
    """A broker that has been started again looks for old segments after 30 s for the first time."""
    short, long = loaded(37), loaded(45)
    appended = long.checkers.history.logs.on(0, "orders")[0].size
    assert appended > 600
    for before, after in zip(remembered(short), remembered(long), strict=True):
        assert before < 80
        assert after < 80
    kept, acked, written = remembered(loaded(18, retention_bytes=10_000_000))
    assert min(kept, acked, written) > 300  # without a retention nothing is forgotten


def test_a_log_that_is_cut_below_what_is_forgotten_is_not_known() -> None:
    log = (logs := loaded(8).checkers.history.logs).on(1, "orders")[0]
    start, end = log.start_offset, log.end_offset
    assert start > 100
    forgotten = log.line.index(FORGOTTEN)
    log.cut(50)
    assert (log.end_offset, log.known, forgotten) == (50, False, 1)
    other = logs.on(0, "orders")[0]
    assert other.known
    assert other.line[other.covered(start)][NEXT_OFFSET] == start
    assert other.end_offset == end


def test_a_commit_that_starts_over_where_only_what_is_forgotten_was_shared() -> None:
    """kafka-2.3, seed 25106: the leader of an unclean election has all of it, and other batches after it."""
    logs = ReplicaLogs()
    first, other = (logs.on(broker, "orders")[0] for broker in range(2))
    for log, id in ((first, 20), (other, 30)):
        for place in range(5):
            log.append(10 * (place + 1), 0, place + 1)
        log.append(60, 1, id)
    for line in (first.line, other.line):
        line[1:6] = [FORGOTTEN] * 5
    commit = Commit(TopicPartition("orders", 0), line=first.line, size=7, offset=60)
    assert not commit.held_by(other)
    commit.restart(other)
    assert (commit.offset, commit.unknown_below) == (50, True)
    assert commit.held_by(other)
    assert not commit.held_by(logs.on(2, "orders")[0])


def test_a_log_that_begins_within_a_segment_may_begin_earlier_after_a_crash() -> None:
    """kafka-2.5, seeds 508 and 523: what a client had deleted came back, and a new replica copied it."""
    logs, at = ReplicaLogs(), (0, 0, 0)
    for broker in range(2):
        for place in range(10):
            logs.on(broker, "orders")[0].append(place + 1, 0, place + 1)
        logs.on_start_moved(e.LogStartMoved(*at, broker, "orders", 0, 8, "request"))
    logs.on_loaded(e.LogLoaded(*at, 0, "orders", 0, 0, 10, 10))
    ten = tuple(range(10))
    ends = tuple(place + 1 for place in ten)
    logs.on_appended(e.BatchesAppended(*at, 2, "orders", False, (0,) * 10, (0,) * 10, ten, ends, ends, (1,) * 10))
    assert logs.on(2, "orders")[0].holds(logs.on(0, "orders")[0].last)
    for broker in range(3):
        logs.on_segments_deleted(SegmentsDeleted(*at, broker, "orders", 0, 6))
    assert logs.on(0, "orders")[0].find(2, 3) is None


def test_a_replica_that_begins_within_a_batch_has_the_history_of_its_leader() -> None:
    """It truncates to where the leader's log begins, and then to where that batch begins (wiki-text, seed 1127: another
    replica took a deleted log of its own broker for its history, and acknowledged batches seemed to be lost)."""
    logs, at = ReplicaLogs(), (0, 0, 0)
    leader = logs.on(0, "orders")[0]
    for place in range(10):
        leader.append(10 * (place + 1), 0, place + 1)
    logs.on_start_moved(e.LogStartMoved(*at, 0, "orders", 0, 55, "request"))
    for end in (55, 50):
        logs.on_truncated(e.Truncated(*at, 1, "orders", 0, 0, end, end))
    logs.on_appended(e.BatchesAppended(*at, 1, "orders", False, (0,), (0,), (50,), (60,), (6,), (1,)))
    follower = logs.on(1, "orders")[0]
    assert follower.known
    assert follower.holds(leader.line[6])
    assert not follower.holds(leader.line[7])


def test_an_empty_log_that_begins_at_0_is_known() -> None:
    logs, at = ReplicaLogs(), (0, 0, 0)
    logs.on_truncated(e.Truncated(*at, 0, "orders", 0, 0, 50, 50))
    logs.on_loaded(e.LogLoaded(*at, 0, "orders", 0, 0, 0, 0))
    logs.on_appended(e.BatchesAppended(*at, 0, "orders", True, (0,), (1,), (0,), (10,), (1,), (1,)))
    assert logs.on(0, "orders")[0].known


def test_a_log_that_is_behind_keeps_what_it_has() -> None:
    logs = ReplicaLogs()
    for broker in range(2):
        for place in range(10):
            logs.on(broker, "orders")[0].append(place + 1, 0, place + 1)
    told: list[tuple[int, int]] = []
    logs.forgot.append(lambda topic, partition, offset, gone: told.append((offset, len(gone))))
    logs.on(0, "orders")[0].disk_start = 8
    logs._forget("orders", 0)
    assert told == []  # broker 1 has all of it
    logs.on(1, "orders")[0].disk_start = 6
    logs._forget("orders", 0)
    assert told == [(5, 5)]
    assert logs.on(1, "orders")[0].find(5, 6) is not None
    assert logs.on(1, "orders")[0].find(2, 3) is None


def test_a_leader_that_begins_again_does_not_have_what_is_forgotten() -> None:
    """Nor has a follower that copies it (0.8, seed 558)."""
    logs = ReplicaLogs()
    first = logs.on(0, "orders")[0]
    for place in range(10):
        first.append(place + 1, 0, place + 1)
    first.disk_start = 6
    logs._forget("orders", 0)
    leader, follower = logs.on(1, "orders")[0], logs.on(2, "orders")[0]
    for place in range(10):
        assert leader.append(place + 1, 1, 100 + place)
    for place in range(10):
        assert not follower.append(place + 1, 1, 100 + place)
    assert follower.holds(leader.last)
    assert not leader.holds(first.last)
