"""The raw trace as a table: what comes back is what went in."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.runs.dataset.events import KINDS, EventRows, read_events
from scenarios.runs.dataset.table_schemas import SCHEMAS
from tests.scenarios.observe.measures.streams import Stream
from tests.scenarios.studies.spark.synthetic import random_event


def test_the_kinds_are_the_events_of_both_modules() -> None:
    assert {"ZkWritten", "ZkSession", "Step", "Appended", "MoveFinished", "Violated"} <= set(KINDS)
    assert "NamedTuple" not in KINDS


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_events_survive_the_table(seed: int) -> None:
    stream, draw = Stream(), random.Random(seed)
    sink = EventRows()
    seen: list[Any] = []
    stream.trace.sink(sink)
    stream.trace.sink(seen.extend)
    for _ in range(30):
        random_event(stream, draw)
    stream.trace.flush()
    schema = SCHEMAS["events"]
    table = pa.Table.from_pylist([{"run_id": "r", **row._asdict()} for row in sink.rows], schema=schema)
    again = list(read_events(table))
    assert again == seen
    assert [type(event) for event in again] == [type(event) for event in seen]
