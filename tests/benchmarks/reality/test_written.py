"""Times of a move, from ZooKeeper's transaction log."""

import json
import struct
from pathlib import Path

import pytest

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.transactions import SET
from benchmarks.reality.written import written


def _log(folder: Path, *writes: tuple[int, str, dict[str, object]]) -> Path:
    """A transaction log of ``setData``: milliseconds, path and data of each."""
    (folder / "version-2").mkdir()
    records = b""
    for time_ms, path, data in writes:
        texts = [text.encode() for text in (path, json.dumps(data))]
        body = b"".join(struct.pack(">i", len(text)) + text for text in texts) + struct.pack(">i", 1)
        record = struct.pack(">qiqqi", 1, 0, 0, time_ms, SET) + body
        records += struct.pack(">qi", 0, len(record)) + record + b"B"
    (folder / "version-2" / "log.1").write_bytes(bytes(16) + records + bytes(64))
    return folder


def test_a_move_lasts_from_the_znode_that_adds_replicas_to_the_one_that_has_none_left(tmp_path: Path) -> None:
    state = "/brokers/topics/orders/partitions/1/state"
    folder = _log(
        tmp_path,
        (1_000, state, {"leader": 0, "isr": [0]}),
        (1_500, "/config/topics/orders", {"config": {}}),
        (2_000, "/brokers/topics/orders", {"adding_replicas": {"0": [2], "1": [2]}, "removing_replicas": {}}),
        (3_000, "/brokers/topics/other", {"adding_replicas": {"0": [2]}, "removing_replicas": {}}),
        (9_000, state, {"leader": 0, "isr": [0, 2]}),
        (9_500, "/brokers/topics/orders", {"adding_replicas": {"0": [2]}, "removing_replicas": {}}),
        (12_250, "/brokers/topics/orders", {"adding_replicas": {}, "removing_replicas": {}}),
    )
    found = written(folder, ["orders"])
    assert (found.began_s, found.ended_s) == (2.0, 12.25)
    assert found.ends == {"orders-1": 9.5, "orders-0": 12.25}
    assert found.states == [(9.0, "orders-1", 0, (0, 2))]


def test_a_move_that_has_not_ended_is_refused(tmp_path: Path) -> None:
    folder = _log(tmp_path, (2_000, "/brokers/topics/orders", {"adding_replicas": {"0": [2]}, "removing_replicas": {}}))
    with pytest.raises(CannotRecord, match="no partition's move has ended"):
        written(folder, ["orders"])
