"""AdminRackAwareTest (1.1.1 to 3.9.0): leaders and replicas are spread evenly, those of a partition over racks."""

from collections import Counter
from collections.abc import Sequence

import pytest

from emulator.protocol.placement import Replicas, alternate_racks, place_replicas

R3 = {0: "rack1", 1: "rack2", 2: "rack2", 3: "rack3", 4: "rack3", 5: "rack1"}
UNEVEN = {0: "rack1", 1: "rack1", 2: "rack2", 3: "rack3", 4: "rack3", 5: "rack1"}
MORE = {0: "rack1", 1: "rack2", 2: "rack2", 3: "rack3", 4: "rack3", 5: "rack2"}
LARGE = dict(enumerate(f"rack{number}" for number in (1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 1, 3)))
EXPANDED = {broker + 6: rack for broker, rack in R3.items()}


def spread(placed: Sequence[Replicas], racks: dict[int, str]) -> tuple[bool, bool, int]:
    """Whether all brokers lead as many partitions, whether they have as many replicas, the fewest racks of a
    partition."""
    leads = Counter(replicas[0] for replicas in placed)
    holds = Counter(broker for replicas in placed for broker in replicas)
    assert all(len(set(replicas)) == len(replicas) for replicas in placed)
    fewest = min(len({racks[broker] for broker in replicas}) for replicas in placed)
    counts = [[count[broker] for broker in racks] for count in (leads, holds)]
    return len(set(counts[0])) == 1, len(set(counts[1])) == 1, fewest


def test_get_rack_alternated_broker_list_and_assign_replicas_to_brokers() -> None:
    """testGetRackAlternatedBrokerListAndAssignReplicasToBrokers."""
    racks = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}
    assert alternate_racks(range(6), racks) == (0, 3, 1, 5, 4, 2)
    assert alternate_racks(range(5), racks) == (0, 3, 1, 4, 2)
    assert place_replicas(range(6), 7, 3, racks=racks) == [
        (0, 3, 1), (3, 1, 5), (1, 5, 4), (5, 4, 2), (4, 2, 0), (2, 0, 3), (0, 4, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("start", range(6))
@pytest.mark.parametrize(
    ("racks", "count", "factor", "first", "leaders", "replicas", "fewest"),
    [
        (R3, 6, 3, 0, True, True, 3),  # testAssignmentWithRackAware, ...WithRandomStartIndex
        (R3, 13, 3, 0, False, False, 3),  # testAssignmentWithRackAwareWithUnevenReplicas
        (UNEVEN, 12, 3, 0, True, False, 3),  # testAssignmentWithRackAwareWithUnevenRacks
        (R3, 12, 2, 0, True, True, 2),  # testAssignmentWith2ReplicasRackAware
        (R3, 6, 2, 0, True, True, 2),  # testAssignmentWith2ReplicasRackAwareWith6Partitions
        ({0: "rack1", 1: "rack2", 4: "rack3"}, 3, 2, 0, True, True, 2),  # ...And3Brokers
        (EXPANDED, 12, 2, 12, True, True, 2),  # testRackAwareExpansion
        (LARGE, 96, 3, 0, True, True, 3),  # testLargeNumberPartitionsAssignment
        (MORE, 6, 5, 0, True, None, 3),  # testMoreReplicasThanRacks
        (MORE, 6, 2, 0, True, None, 2),  # testLessReplicasThanRacks
        (dict.fromkeys(range(6), "rack1"), 6, 3, 0, True, True, 1),  # testSingleRack
        ({0: "a", 1: "b", 2: "c", 3: "a", 4: "a"}, 6, 4, 0, None, None, 3),  # testSkipBrokerWithReplicaAlreadyAssigned
    ],
)
def test_assignment(
    racks: dict[int, str], count: int, factor: int, first: int, leaders: bool | None, replicas: bool | None,
    fewest: int, start: int,
) -> None:  # fmt: skip
    placed = place_replicas(
        sorted(racks), count, factor, start=start % len(racks), shift=start, first_partition=first, racks=racks
    )
    assert (len(placed), {len(each) for each in placed}) == (count, {factor})
    found = spread(placed, racks)
    assert (found[0] == leaders, found[2]) == (True if leaders is not None else found[0] == leaders, fewest)
    if replicas:
        assert found[1]


def test_replica_assignment() -> None:
    """testReplicaAssignment: without racks."""
    assert place_replicas(range(5), 10, 3) == [
        (0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1),
        (0, 2, 3), (1, 3, 4), (2, 4, 0), (3, 0, 1), (4, 1, 2),
    ]  # fmt: skip
