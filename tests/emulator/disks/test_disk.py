"""Disks keep what was flushed; a process crash keeps the page cache too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.disks import Disk, DiskError, DiskFault


def test_a_host_crash_loses_what_was_not_flushed() -> None:
    disk = Disk()
    log = disk.open("log")
    log.append("a")
    log.flush()
    log.append("b")
    disk.lose_unflushed()
    assert disk.open("log") is log
    assert log.entries == ["a"]


OPERATIONS = st.lists(
    st.one_of(st.sampled_from(("append", "flush", "crash", "replace", "amend")), st.integers(0, 6)),
    max_size=30,
)


@given(OPERATIONS)
def test_against_a_model_of_two_lists(operations: list[str | int]) -> None:
    disk = Disk()
    file = disk.open("log")
    cache: list[int] = []
    durable: list[int] = []
    for number, operation in enumerate(operations):
        if operation == "append":
            file.append(number)
            cache.append(number)
        elif operation == "flush":
            file.flush()
            durable = list(cache)
        elif operation == "crash":
            disk.lose_unflushed()
            cache = list(durable)
        elif operation == "replace":
            file.replace(number)
            cache = [number]
            durable = [number]
        elif operation == "amend":
            file.amend({0: number} if cache else {}, [number])
            cache = [number, *cache[1:], number] if cache else [number]
            durable = list(cache)
        else:
            assert isinstance(operation, int)
            file.truncate(operation)
            cache = cache[:operation]
            durable = durable[:operation]
        assert file.entries == cache
        assert file.entries[: file.flushed] == durable


def test_a_failing_disk_refuses_and_changes_nothing() -> None:
    file = Disk().open("log")
    file.append("a")
    file.fault = DiskFault("I/O error")
    with pytest.raises(DiskError, match="log: I/O error"):
        file.append("b")
    with pytest.raises(DiskError, match="log: I/O error"):
        file.truncate(0)
    assert file.entries == ["a"]


def test_paths() -> None:
    disk = Disk()
    for path in ("b/2", "a/1", "b/1"):
        disk.open(path)
    assert disk.list("b/") == ["b/1", "b/2"]
    assert disk.exists("a/1")
    disk.delete("a/1")
    disk.delete("a/1")
    assert not disk.exists("a/1")
    assert disk.list() == ["b/1", "b/2"]
