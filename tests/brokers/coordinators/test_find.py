"""Which broker coordinates a group."""

import pytest

from emulator.protocol.errors import Errors
from emulator.protocol.groups.find_coordinator import CoordinatorType, FindCoordinatorRequest, FoundCoordinator
from emulator.protocol.java_hash import java_hash, partition_of
from tests.brokers.groups.bench import GROUP, OFFSETS, GroupBench


def find(bench: GroupBench, *keys: str, key_type: int = CoordinatorType.GROUP) -> tuple[FoundCoordinator, ...]:
    found: tuple[FoundCoordinator, ...] = bench.send(FindCoordinatorRequest(keys, key_type)).last.coordinators
    return found


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("a", 97),
        ("console-consumer", -648006740),
        ("Bücher", 2125303756),
        ("😀", 1772899),
        ("orders", -1008770331),
    ],
)
def test_a_text_has_the_hash_that_java_gives_it(text: str, code: int) -> None:
    assert java_hash(text) == code


def test_a_hash_can_be_negative_or_the_lowest_of_all() -> None:
    assert java_hash("polygenelubricants") == -(2**31)
    assert partition_of("polygenelubricants", 50) == 0
    assert partition_of("orders", 50) == 31


def test_the_coordinator_is_the_leader_of_the_groups_partition_by_the_metadata() -> None:
    bench = GroupBench()
    assert find(bench, GROUP, "other") == (
        FoundCoordinator(GROUP, Errors.NONE, 0),
        FoundCoordinator("other", Errors.NONE, 0),
    )
    bench.learn(OFFSETS, 1)
    assert find(bench, GROUP)[0].node == 1
    bench.learn(OFFSETS, -1)
    assert find(bench, GROUP)[0].error is Errors.COORDINATOR_NOT_AVAILABLE


def test_too_few_brokers_do_not_create_the_topic() -> None:
    bench = GroupBench(elected=False, replication_factor=5)
    assert find(bench, GROUP)[0].error is Errors.COORDINATOR_NOT_AVAILABLE


def test_there_are_two_types_of_coordinators() -> None:
    bench = GroupBench()
    assert find(bench, "x", key_type=9)[0].error is Errors.INVALID_REQUEST
