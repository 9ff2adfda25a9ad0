"""The bytes of real clients' batches: in memory, then in a file without a name, then refused."""

import errno
import os
import tempfile
from pathlib import Path

import pytest

from emulator.disks import DiskError
from emulator.protocol.records import InMemory
from emulator.protocol.types import TopicPartition
from scenarios.wire import storage
from scenarios.wire.storage import ClientBatches, Spooled

ONE, TWO = TopicPartition("t", 1), TopicPartition("t", 2)


def test_each_partition_has_its_share_of_the_memory() -> None:
    batches = ClientBatches(memory_bytes=10)
    kept = [batches.keep(ONE, b"123456"), batches.keep(ONE, b"abcdef"), batches.keep(TWO, b"xyz")]
    assert [type(each) for each in kept] == [InMemory, Spooled, InMemory]
    assert [each.read() for each in kept] == [b"123456", b"abcdef", b"xyz"]


def test_many_batches_are_read_from_the_file_where_they_were_written() -> None:
    batches = ClientBatches(memory_bytes=0)
    kept = [batches.keep(ONE, bytes([number]) * number) for number in range(1, 100)]
    assert [each.read() for each in reversed(kept)] == [bytes([n]) * n for n in range(99, 0, -1)]


def test_the_file_is_not_there_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    batches = ClientBatches(memory_bytes=0)
    assert batches.keep(ONE, b"data").read() == b"data"
    assert os.listdir(tmp_path) == []


def test_beyond_the_file_there_is_no_room_which_is_said_once() -> None:
    lines: list[str] = []
    batches = ClientBatches(memory_bytes=0, file_bytes=10, log=lines.append)
    batches.keep(ONE, b"123456")
    for _ in range(2):
        with pytest.raises(DiskError, match="10 bytes of records"):
            batches.keep(TWO, b"abcdef")
    assert batches.keep(TWO, b"abcd").read() == b"abcd"
    why = "10 bytes of records beyond those in memory are the most that is kept"
    assert lines == [f"no room for more records: producers get KAFKA_STORAGE_ERROR ({why})"]


def test_a_full_disk_is_an_error_of_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    batches = ClientBatches(memory_bytes=0)
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(DiskError, match="No space left"):
        batches.keep(ONE, b"data")


def test_ids_are_counted() -> None:
    batches = ClientBatches()
    assert [batches.next_id() - storage.FIRST_ID for _ in range(3)] == [0, 1, 2]
