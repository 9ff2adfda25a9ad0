"""Sizes and rates, from what ``kafka-log-dirs`` prints."""

import json
from pathlib import Path

from benchmarks.reality.folder import next_folder
from benchmarks.reality.sizes import rates_csv, sizes


def _answer(*replicas: tuple[int, str, int]) -> str:
    """The text that the tool prints of replicas: broker, partition, bytes."""
    brokers = [
        {"broker": broker, "logDirs": [{"logDir": "/data/0", "partitions": [{"partition": name, "size": size}]}]}
        for broker, name, size in replicas
    ]
    return f"Querying brokers\nReceived information\n{json.dumps({'brokers': brokers})}\n"


def test_a_partition_is_as_large_as_its_largest_replica() -> None:
    found = sizes(_answer((0, "orders-0", 100), (1, "orders-0", 90), (1, "in-out-1", 7)))
    assert found == {"orders-0": 100, "in-out-1": 7}


def test_a_rate_is_what_was_written_between_two_looks() -> None:
    earlier = _answer((0, "in-out-0", 1_000), (0, "in-out-1", 5_000))
    later = _answer((0, "in-out-0", 21_000), (0, "in-out-1", 5_000))
    assert rates_csv(earlier, later, 20.0) == "topic,partition,bytes_per_s\nin-out,0,1000\nin-out,1,0\n"


def test_another_recording_of_a_move_gets_the_next_number(tmp_path: Path) -> None:
    assert next_folder(tmp_path, "skewed").name == "skewed.1"
    (tmp_path / "skewed.1").mkdir()
    (tmp_path / "skewed.2").mkdir()
    assert next_folder(tmp_path, "skewed").name == "skewed.3"
