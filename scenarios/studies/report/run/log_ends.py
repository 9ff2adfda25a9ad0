"""Ends of the logs of replicas and their high watermarks, over time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

MOST_POINTS = 250
"""The most points of one replica. Where it has more, points at equal distances of time are taken."""
GONE = -1
"""The replica was deleted."""
_END = {
    "Appended": "next_offset",
    "LogLoaded": "log_end_offset",
    "LogRecovered": "log_end_offset",
    "Truncated": "log_end_offset",
}
_HIGH = dict.fromkeys(("HighWatermark", "LogLoaded", "Truncated"), "high_watermark")

Points = tuple[list[int], list[int]]
"""Times in us, and the offsets from then on."""


def ends(rows: pa.Table, partitions: Collection[str], end_us: int) -> dict[str, dict[int, dict[str, Points]]]:
    """Partition to broker to the log's end (``leo``) and its high watermark (``hw``). ``rows``: the events
    ``recorded.OF_LOGS``, in their order."""
    names: Any = pc.binary_join_element_wise(rows["topic"], pc.cast(rows["partition"], pa.string()), pa.scalar("-"))  # type: ignore[call-overload]
    rows = rows.append_column("name", names)
    rows = rows.filter(pc.is_in(names, pa.array(list(partitions), pa.string())))
    found: dict[str, dict[int, dict[str, Points]]] = {}
    for what, fields in (("leo", _END), ("hw", _HIGH)):
        for name, broker, points in _series(rows, fields, end_us):
            found.setdefault(name, {}).setdefault(broker, {})[what] = points
    return found


def _series(rows: pa.Table, fields: dict[str, str], end_us: int) -> Iterator[tuple[str, int, Points]]:
    known = [_offsets(rows, kind, key) for kind, key in fields.items()]
    whole = pa.concat_tables([*known, _deleted(rows)]).sort_by(
        [("name", "ascending"), ("node", "ascending"), ("seq", "ascending")]
    )
    if not whole.num_rows:
        return
    codes = whole["name"].combine_chunks().dictionary_encode()
    indices = codes.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    node, t_us, offset = (whole[name].to_numpy() for name in ("node", "t_us", "offset"))
    changes = (np.diff(indices) != 0) | (np.diff(node) != 0)
    begins = np.concatenate(([0], np.flatnonzero(changes) + 1, [len(node)]))
    for first, last in pairwise(begins):
        yield (
            codes.dictionary[int(indices[first])].as_py(),
            int(node[first]),
            _thinned(t_us[first:last], offset[first:last], end_us),
        )


def _offsets(rows: pa.Table, kind: str, key: str) -> pa.Table:
    own = rows.filter(pc.equal(rows["kind"], pa.scalar(kind)))
    offset = pc.struct_field(pc.extract_regex(own["fields"], rf'"{key}":(?P<offset>-?\d+)'), "offset")
    return _columns(own, pc.cast(offset, pa.int64()))


def _deleted(rows: pa.Table) -> pa.Table:
    stopped = rows.filter(pc.equal(rows["kind"], pa.scalar("ReplicaStopped")))
    own = stopped.filter(pc.match_substring(stopped["fields"], '"deleted":true'))
    return _columns(own, pa.chunked_array([pa.array([GONE] * own.num_rows, pa.int64())]))


def _columns(rows: pa.Table, offset: Any) -> pa.Table:
    return rows.select(["name", "node", "t_us", "seq"]).append_column("offset", offset)


def _thinned(t_us: NDArray[np.int64], offset: NDArray[np.int64], end_us: int) -> Points:
    """The last value of each time; of too many those at equal distances."""
    last = np.concatenate((t_us[1:] != t_us[:-1], [True]))
    t_us, offset = t_us[last], offset[last]
    if len(t_us) > MOST_POINTS:
        grid = np.linspace(t_us[0], end_us, MOST_POINTS).astype(np.int64)
        places = np.searchsorted(t_us, grid, side="right") - 1
        t_us, offset = grid, offset[places]
    news = np.concatenate(([True], offset[1:] != offset[:-1]))
    return t_us[news].tolist(), offset[news].tolist()
