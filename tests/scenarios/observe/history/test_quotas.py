"""Exhausted quotas: what is said of one agrees with the trace, and with the brokers' own meter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.metrics.metric_events import GaugeSet
from emulator.protocol.events import Appended, FetchPosition
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr, state_path_partition
from emulator.trace.events import ZkWritten
from scenarios.observe.history.quotas import WINDOW_US
from scenarios.observe.timeline.moment import at
from scenarios.observe.timeline.moment_words import lines
from scenarios.observe.timeline.quota_words import exhausted, summaries
from scenarios.observe.why.move_reasons import move
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.observe.why.replica_reasons import replica
from scenarios.runs.headlines import headlines
from tests.scenarios.runs.building import EXECUTE, Played, play, scenario

TP = TopicPartition("orders", 0)
RATES = st.sampled_from((20_000, 40_000, 80_000, 150_000))


@cache
def throttled(rate: int, throttle: int, followers: int = 2, seconds: int = 30) -> Played:
    """A move of orders-0, to which ``rate`` messages of 1,000 bytes are written each second, at ``throttle`` bytes/s;
    its leader has so many followers."""
    old = list(range(followers + 1))
    return play(
        scenario(
            brokers=7,
            assignment=[old],
            plan={0: [*old[:-1], 5]},
            rate=0,
            size="4MB",
            config={"replica.fetch.max.bytes": 10_000},
            method=[{**EXECUTE, "throttle": f"{throttle}B/s"}],
            horizon=f"{seconds}s",
            workloads=[{"topic": "orders", "producerRate": rate, "messageSize": 1000}],
        )
    )


def in_isr(events: Sequence[Any], until: int, broker: int) -> bool:
    """Whether ZooKeeper has a broker in the ISR of orders-0 before an event."""
    isr: tuple[int, ...] = ()
    for event in events:
        if event.seq >= until:
            break
        if type(event) is ZkWritten and state_path_partition(event.path) == TP:
            isr = LeaderAndIsr.decode(event.data, event.version).isr
    return broker in isr


def got(events: Sequence[Any], at_us: int) -> list[Appended]:
    """The records that followers got in the ten seconds before a moment, from the first throttle on."""
    set_us = next(event.t_us for event in events if type(event) is ZkWritten and "throttled.rate" in event.data)
    since_us = max(at_us - WINDOW_US, set_us)
    return [
        event for event in events
        if type(event) is Appended and not event.leader and since_us < event.t_us <= at_us
    ]  # fmt: skip


@given(rate=st.integers(10, 60), throttle=RATES, followers=st.integers(0, 2), at_s=st.integers(4, 30))
@settings(max_examples=12, deadline=None)
def test_a_moment_and_the_run_say_what_the_trace_shows(rate: int, throttle: int, followers: int, at_s: int) -> None:
    """The sums of a moment are those of the events; the run itself, which folds columns, comes to the same; and where
    more goes to followers in sync than the throttle allows, no move is done."""
    played = throttled(rate, throttle, followers)
    end_us = played.stage.world.now
    at_us = min(at_s * 1_000_000, end_us)
    assert at(played.events, end_us).quotas == played.run.quotas
    for use in at(played.events, at_us).quotas:
        rows = [row for row in got(played.events, at_us) if use.side == "leader" or row.node == use.broker]
        sums = {True: 0, False: 0}
        for row in rows:
            sums[in_isr(played.events, row.seq, row.node)] += row.size
        assert (use.in_sync, use.others) == tuple(sums[each] * 1_000_000 // use.window_us for each in (True, False))
        for held in use.held:
            ends = {row.node: row.next_offset for row in played.events if type(row) is Appended and row.t_us <= at_us}
            assert held.lacks == ends[0] - ends.get(held.broker, 0)
            own = [row.t_us for row in played.events if type(row) is Appended and row.node == held.broker]
            before = [t_us for t_us in own if t_us <= at_us]
            began = next(e.t_us for e in played.events if type(e) is FetchPosition and e.node == held.broker)
            assert held.since_us == (before[-1] if before else began)
    if any(use.used_up and use.held for use in played.run.quotas):
        assert played.run.metrics["moves_finished"] == 0


def test_the_sums_are_those_of_the_brokers_own_meter() -> None:
    """``byte-rate`` of kafka.server:type=LeaderReplication, which the broker writes once a second."""
    played = throttled(40, 40_000)
    meters = played.of(GaugeSet, lambda event: event.node == 0 and "LeaderReplication" in event.metric)
    [use] = [use for use in played.run.quotas if use.side == "leader"]
    assert abs(meters[-1].value - use.in_sync - use.others) <= 0.15 * meters[-1].value


def test_every_screen_says_what_uses_the_throttle_up() -> None:
    played = throttled(40, 40_000)
    now_us = played.stage.world.now
    [leaders] = [use for use in played.run.quotas if use.side == "leader"]
    assert leaders.used_up
    said = exhausted(leaders)
    assert said.startswith("leader 0's throttle of 40 kB/s is used up by followers in sync, which got 80.")
    assert any(said in line for line in lines(at(played.events, now_us)))
    past = PartitionPast(played.events, TP, now_us)
    for answer in (replica(past, 5), move(past)):
        assert said in answer.sentence
        assert {ZkWritten, FetchPosition} <= {type(event) for event in answer.events}
    [summary] = summaries([leaders], now_us)
    assert ("throttle", summary) in [(line.label, line.text) for line in headlines(played.run)]
    assert f"throttle of {summary}" in " ".join(played.run.explanation.split())
    assert "what is waited for:" in played.run.explanation
    assert "its causes" not in played.run.explanation


def test_no_screen_says_it_where_the_throttle_is_wide() -> None:
    played = throttled(10, 150_000)
    assert played.run.passed
    assert not any("throttle" in line.label for line in headlines(played.run))
    assert not at(played.events, played.stage.world.now).quotas
