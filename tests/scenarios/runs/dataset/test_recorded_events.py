"""Columns of a recorded run, read up to a moment, have what all of its events come to."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.protocol.events import Appended, Produced, Unfinished
from emulator.protocol.types import TopicPartition
from scenarios.language.files import load
from scenarios.observe.timeline.moment import at
from scenarios.observe.why.answer import Answer
from scenarios.observe.why.batches import batch
from scenarios.observe.why.leader_reasons import leader
from scenarios.observe.why.move_reasons import move
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.observe.why.replica_reasons import replica
from scenarios.runs import run_scenario
from scenarios.runs.dataset.events import read_events
from scenarios.runs.dataset.reader import open_data_set, read_events_table
from scenarios.runs.dataset.recorded_events import RecordedEvents

RUNS = (
    "leader-dies-mid-move",
    "follower-cut-off",
    "unclean-election",
    "throttle-left-behind",
    "topic-deleted-while-a-broker-is-down",
)


@cache
def recorded(name: str) -> tuple[pa.Table, tuple[Any, ...]]:
    """The events of a run of the library as a table, and one by one."""
    with TemporaryDirectory() as folder:
        run = run_scenario(load(name), trace_dir=Path(folder))
        table = read_events_table(open_data_set(Path(folder)), run.run_id)
    return table, tuple(read_events(table))


def answers(past: PartitionPast) -> list[Answer]:
    found = [leader(past), move(past), batch(past)]
    return found + [replica(past, broker) for broker in past.brokers]


@given(name=st.sampled_from(RUNS), share=st.floats(0, 1), data=st.data())
@settings(max_examples=12, deadline=None)
def test_a_moment_and_all_answers_are_those_of_all_events(name: str, share: float, data: st.DataObject) -> None:
    table, events = recorded(name)
    columns = RecordedEvents(table)
    at_us = round(share * columns.end_us)
    happened = columns.up_to(at_us)
    moment = at(happened.events, at_us, happened.appended())
    assert moment == at(events, at_us)
    if moment.partitions:
        one = data.draw(st.sampled_from(moment.partitions))
        tp = TopicPartition.of(one.topic, one.partition)
        some = answers(PartitionPast(happened.events, tp, at_us, by_seq=happened.by_seq))
        assert some == answers(PartitionPast(events, tp, at_us))


@pytest.mark.parametrize("name", RUNS)
def test_before_each_fault(name: str) -> None:
    table, events = recorded(name)
    columns = RecordedEvents(table)
    for event in [event for event in columns.control if type(event).__name__ == "Fault"]:
        happened = columns.before(event.seq)
        before = [one for one in events if one.seq < event.seq]
        assert at(happened.events, event.t_us, happened.appended()) == at(before, event.t_us)


@pytest.mark.parametrize("name", RUNS)
def test_the_batches_of_a_partition(name: str) -> None:
    table, events = recorded(name)
    columns = RecordedEvents(table)
    for tp in (TopicPartition.of("orders", 0), TopicPartition.of("orders", 99)):
        own = [e for e in events if type(e) in (Appended, Produced, Unfinished) and (e.topic, e.partition) == tp]
        assert columns.batches(tp) == sorted({event.id for event in own})
        for event in own[:: max(1, len(own) // 5)]:
            fates = [one for one in own if type(one) is Produced and one.id == event.id]
            assert columns.outcome(tp, event.id) == fates


def test_few_events_are_made() -> None:
    table, events = recorded("leader-dies-mid-move")
    happened = RecordedEvents(table).up_to(events[-1].t_us)
    kinds = [type(event).__name__ for event in happened.events]
    replicas = {(event.node, event.topic, event.partition) for event in events if type(event) is Appended}
    assert kinds.count("Appended") == len(replicas)
    assert not {"HighWatermark", "GaugeSet", "MeterMarked"} & {*kinds}
