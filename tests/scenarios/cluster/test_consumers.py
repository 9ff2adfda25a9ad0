"""Consumers on a whole cluster: positions, pace, and what they do when leaders change."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.protocol.events import Consumed, ConsumerFailed, HighWatermark, LeaderElected, PositionReset, Truncated
from scenarios.cluster.cluster import FIRST_CONSUMER
from scenarios.language import Scenario
from tests.scenarios.runs.building import HEAL, Played, Table, play, scenario


def consumed(*method: Table, readers: list[Table], brokers: int = 4, **more: Any) -> Scenario:
    """orders-0 on brokers 0, 1, 2, led by 0, with 64 messages at the start; 20 more every 100 ms for 8 s."""
    load = {"topic": "orders", "producerRate": 200, "stop": "8s", **more.pop("load", {})}
    return scenario(
        brokers=brokers, controller=brokers - 1, assignment=[[0, 1, 2]], method=[*method, idle()], workloads=[load],
        config={"replica.lag.time.max.ms": 4000}, horizon="3m", rollbacks=HEAL, rate=0,
        consumers=[{"topic": "orders", **reader} for reader in readers], **more,
    )  # fmt: skip


def idle() -> Table:
    """An entry without effect: the run goes on until its time."""
    return {"at": "12s", "action": "link.heal", "target": 3}


def read(played: Played, number: int = 0) -> list[Consumed]:
    return played.of(Consumed, lambda event: event.node == FIRST_CONSUMER - number)


def assert_contiguous(events: list[Consumed]) -> None:
    assert events
    assert [e.offset for e in events[1:]] == [e.next_offset for e in events[:-1]]


def committed(played: Played) -> int:
    return max(e.high_watermark for e in played.of(HighWatermark))


@pytest.mark.parametrize(("policy", "begins"), [("earliest", 0), ("latest", 64)])
def test_where_a_consumer_begins(policy: str, begins: int) -> None:
    played = play(consumed(readers=[{"offset_reset": policy}], load={"start": "2s"}))
    assert played.run.passed, played.run.explanation
    [reset] = played.of(PositionReset)
    assert (reset.before, reset.offset, reset.reason) == (-1, begins, "start")
    events = read(played)
    assert_contiguous(events)
    assert (events[0].offset, events[-1].next_offset) == (begins, committed(played))


def test_without_a_policy_a_consumer_does_not_begin() -> None:
    played = play(consumed(readers=[{"offset_reset": "none"}]))
    assert [(e.offset, e.reason) for e in played.of(ConsumerFailed)] == [(-1, "start")]
    assert not read(played)


def test_a_poll_gives_max_poll_records_at_most_and_the_next_comes_when_the_application_is_done() -> None:
    reader = {"offset_reset": "earliest", "poll": "100ms", "config": {"max.poll.records": 15}}
    played = play(consumed(readers=[reader]))
    events = read(played)
    assert_contiguous(events)
    assert max(e.next_offset - e.offset for e in events) == 15
    assert min(later.t_us - e.t_us for e, later in pairwise(events)) == 100_000
    assert max(e.high_watermark - e.next_offset for e in events) > 300, "150 a second of 200: it falls behind"


def test_two_consumers_know_nothing_of_each_other() -> None:
    played = play(consumed(readers=[{"offset_reset": "earliest"}, {"start": "3s", "stop": "5s"}]))
    assert read(played)[-1].next_offset == committed(played)
    second = read(played, 1)
    assert_contiguous(second)
    assert 3_000_000 < second[0].t_us < second[-1].t_us < 5_000_000


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-1.1"])
def test_a_leader_dies_and_the_consumer_goes_on_with_the_next(profile: str) -> None:
    """With epochs or without: acks=all, so nothing that it has read is lost."""
    crash = {"at": "3s", "action": "broker.crash", "target": "leader(orders-0)", "duration": "5s"}
    played = play(consumed(crash, readers=[{"offset_reset": "earliest"}], profile=profile))
    assert played.run.violations == ()
    assert [e.leader for e in played.of(LeaderElected)] == [0, 1]
    events = read(played)
    assert_contiguous(events)
    assert [e.leader for e in (events[0], events[-1])] == [0, 1]
    assert len(played.of(PositionReset)) == 1, "the position was validated, and is good"
    assert events[-1].next_offset == committed(played)


CUT = {"at": "3s", "action": "link.cut", "target": "leader(orders-0)", "peer": [1, 2], "duration": "20s"}
CRASH = {"at": "12s", "action": "broker.crash", "target": 0}
ANYBODY = {"unclean.leader.election.enable": True}
UNCLEAN: Table = {"topics": [{"name": "orders", "assignment": [[0, 1, 2]], "config": ANYBODY}]}


def test_kip_320_a_consumer_finds_out_that_what_it_has_read_is_gone() -> None:
    """The old leader, alone in its ISR, exposes what the next one never had."""
    load = {"stop": "40s", "acks": "1"}
    late = {"at": "42s", "action": "link.heal", "target": 3}
    played = play(consumed(CUT, CRASH, late, readers=[{"offset_reset": "earliest"}], load=load, **UNCLEAN))
    truncated = [e for e in played.of(PositionReset) if e.reason == "truncated"]
    [reset] = truncated
    assert reset.offset < reset.before
    before = [e for e in read(played) if e.t_us < reset.t_us]
    after = [e for e in read(played) if e.t_us > reset.t_us]
    assert_contiguous(before)
    assert_contiguous(after)
    assert (before[-1].next_offset, after[0].offset) == (reset.before, reset.offset)


def test_before_kip_320_a_consumer_cannot_know() -> None:
    """It goes on at its offset, out of range or not: without an epoch in its fetches the leader cannot detect the
    loss."""
    load = {"stop": "40s", "acks": "1"}
    late = {"at": "42s", "action": "link.heal", "target": 3}
    reader = {"offset_reset": "earliest"}
    played = play(consumed(CUT, CRASH, late, readers=[reader], load=load, profile="kafka-1.1", **UNCLEAN))
    assert "truncated" not in {e.reason for e in played.of(PositionReset)}
    assert played.of(LeaderElected, lambda e: e.unclean)


IDEMPOTENT: Table = {"config": {"enable.idempotence": True}}
fault_times = st.integers(1000, 7500)
faults = st.one_of(
    st.builds(
        lambda t, kind: {"at": f"{t}ms", "action": "broker.crash", "target": "leader(orders-0)", "kind": kind,
                         "duration": "4s"},
        fault_times, st.just("process"),
    ),
    st.builds(
        lambda t, peer: {"at": f"{t}ms", "action": "link.cut", "target": "leader(orders-0)", "peer": peer,
                         "duration": "4s"},
        fault_times, st.sampled_from(([1], [1, 2], "zookeeper")),
    ),
    st.builds(
        lambda t: {"at": f"{t}ms", "action": "broker.pause", "target": "leader(orders-0)", "duration": "7s"},
        fault_times,
    ),
    st.builds(
        lambda t: {"when": {"message": "Fetch", "response": True, "since": f"{t}ms"}, "action": "message.cut"},
        fault_times,
    ),
)  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(st.lists(faults, min_size=1, max_size=3), st.integers(1, 1000), st.sampled_from((1, 7, 500)))
def test_a_consumer_sees_exactly_what_is_committed(method: list[Table], seed: int, most: int) -> None:
    reader = {"offset_reset": "earliest", "poll": "1ms", "config": {"max.poll.records": most}}
    played = play(consumed(*method, readers=[reader], seed=seed, load={"linger": "50ms", **IDEMPOTENT}))
    assert played.run.violations == ()
    events = read(played)
    assert_contiguous(events)
    leader = played.stage.cluster.brokers[played.state().leader].replicas.partitions
    [partition] = leader.values()
    assert partition.log is not None
    seen = dict.fromkeys(id for e in events for id in e.ids)
    batches = [b for b in partition.log.batches if b.base_offset < events[-1].next_offset]
    assert list(seen) == [b.id for b in batches]
    if not played.of(Truncated) and most > 1:
        assert events[-1].next_offset == partition.high_watermark
