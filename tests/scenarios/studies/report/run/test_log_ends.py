"""Where logs end, from written events."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from emulator.protocol.events import Appended, HighWatermark, LogLoaded, ReplicaStopped, Truncated
from scenarios.runs.dataset.events import event_row
from scenarios.runs.dataset.table_schemas import SCHEMAS
from scenarios.studies.report.run import log_ends


def rows(events: list[Any]) -> pa.Table:
    return pa.Table.from_pylist([event_row(event)._asdict() for event in events], schema=SCHEMAS["events"])


def appended(t_us: int, next_offset: int) -> Appended:
    return Appended(t_us, t_us, 0, 1, "orders", 0, True, 0, next_offset - 1, next_offset, 1, 10)


def test_an_end_follows_appends_truncations_restarts_and_deletion() -> None:
    table = rows([
        LogLoaded(1, 1, 0, 1, "orders", 0, 0, 0, 0), appended(2, 5), HighWatermark(3, 3, 0, 1, "orders", 0, True, 0, 4),
        Truncated(4, 4, 0, 1, "orders", 0, 1, 4, 4), ReplicaStopped(9, 9, 0, 1, "orders", 0, True),
        appended(2, 7)._replace(topic="other"),
    ])  # fmt: skip
    assert log_ends.ends(table, ["orders-0"], 10) == {
        "orders-0": {1: {"leo": ([1, 2, 4, 9], [0, 5, 4, -1]), "hw": ([1, 3, 9], [0, 4, -1])}}
    }


def test_a_long_log_is_read_at_equal_distances_and_its_last_value_is_kept() -> None:
    table = rows([appended(t_us, t_us) for t_us in range(1, 2_001)])
    times, offsets = log_ends.ends(table, ["orders-0"], 4_000)["orders-0"][1]["leo"]
    assert len(times) <= log_ends.MOST_POINTS
    assert all(offset == t_us for t_us, offset in zip(times[:-1], offsets[:-1], strict=True))
    assert offsets[-1] == 2_000


def test_nothing_traced_is_nothing_shown() -> None:
    assert log_ends.ends(rows([]), ["orders-0"], 10) == {}
