"""How rows are spread over events with columns makes no difference to checkers and measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.protocol.events import Violated
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import encode_topic, state_path, topic_path
from emulator.trace import Trace
from emulator.trace.columns import COLUMNS_OF
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers import Checkers
from scenarios.observe.measures import Figures, Measured, Measures
from tests.scenarios.observe.checkers.ideal import NODES, TRANSITIONS, Ideal, Move
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory
from tests.scenarios.observe.columns import emit_columns

PARTITIONS = 4
MOVES = st.lists(st.tuples(st.sampled_from(TRANSITIONS), st.sampled_from(NODES)), min_size=10, max_size=50)
LOST = st.frozensets(st.tuples(st.integers(0, 150), st.integers(0, PARTITIONS - 1)), max_size=4)
"""Rows that are left out, by the event and the partition: the histories of the partitions differ, and are broken."""
WIDTHS = st.lists(st.integers(1, PARTITIONS), min_size=1, max_size=8)
Found = tuple[list[tuple[str, int, str]], Figures]


def replayed(events: Sequence[Any], lost: frozenset[tuple[int, int]], widths: Iterator[int]) -> Found:
    """The violations and figures of a history in which every event of ``orders-0`` happens to ``PARTITIONS``
    partitions, with ``widths`` rows at a time."""
    world = SimpleNamespace(now=0)
    trace = Trace(cast("Any", world))
    measures = Measures(trace, Measured(min_isr={"orders": 2}))
    checkers = Checkers(trace, past=measures.past)
    assignment = encode_topic(dict.fromkeys(range(PARTITIONS), NODES))
    for at, event in enumerate(events):
        world.now, kind = event.t_us, type(event)
        if at == 1:  # the first event is the controller's election
            trace.emit(ZkWritten, 3, "create", topic_path("orders"), 0, 0, assignment)
        rows = [
            event[3:] if name is None else event._replace(**name)[3:]
            for partition, name in enumerate(_names(event))
            if kind not in COLUMNS_OF or (at, partition) not in lost
        ]
        if kind not in COLUMNS_OF:
            for row in rows:
                trace.emit(kind, *row)
        while kind in COLUMNS_OF and rows:
            width = next(widths)
            emit_columns(trace, kind, rows[:width])
            rows = rows[width:]
    violations = [(found.invariant, found.t_us, found.state) for found in checkers.finish()]
    return violations, measures.finish(world.now)


def _names(event: Any) -> list[dict[str, Any] | None]:
    """The part of an event that differs between partitions; one None for an event that is not of a partition."""
    if hasattr(event, "partition"):
        return [{"partition": partition} for partition in range(PARTITIONS)]
    if isinstance(event, ZkWritten) and event.path == state_path(ORDERS_0):
        return [{"path": state_path(TopicPartition("orders", partition))} for partition in range(PARTITIONS)]
    return [None]


def history(moves: list[Move]) -> list[Any]:
    ideal = Ideal(WrittenHistory())
    ideal.run(moves)
    return [event for event in ideal.written.events_so_far() if not isinstance(event, Violated)]


@given(MOVES, LOST, WIDTHS)
@settings(max_examples=60, deadline=None)
def test_the_widths_of_events_change_no_violation_and_no_figure(
    moves: list[Move], lost: frozenset[tuple[int, int]], widths: list[int]
) -> None:
    events = history(moves)
    one_by_one = replayed(events, lost, cycle([1]))
    assert replayed(events, lost, cycle([PARTITIONS])) == one_by_one
    assert replayed(events, lost, cycle(widths)) == one_by_one


def test_what_is_left_out_is_found() -> None:
    events = history([("produce", 0), ("fetch", 1), ("fetch", 2), ("produce", 0), ("fetch", 1), ("fetch", 2)])
    first = next(at for at, event in enumerate(events) if type(event) in COLUMNS_OF)
    violations, _ = replayed(events, frozenset({(first, 1), (first, 3)}), cycle([PARTITIONS]))
    misplaced = [state for invariant, _, state in violations if invariant == "append_shape"]
    assert [state.split(",")[1].split(":")[0] for state in misplaced[:2]] == [" orders-1", " orders-3"]
