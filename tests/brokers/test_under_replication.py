"""Definitions of under-replicated, on a leader: 0.8.0's, and the three of readings §8."""

import pytest
from attrs import evolve

from brokers.broker_policies import BrokerPolicies
from brokers.under_replication import AllAssigned, CurrentReplicas, FactorAtCreation, UnderReplication, WithoutAdding
from emulator.protocol.events import PartitionCreated, PartitionGauges
from emulator.protocol.kip_352_draft import DraftLeaderAndIsrPartition
from emulator.protocol.stop_replica import StopReplicaRequest
from tests.brokers.bench import TP, Bench, state

Brokers = tuple[int, ...]
THREE = (0, 1, 2)


def gauges(
    rule: UnderReplication, isr: Brokers, replicas: Brokers, adding: Brokers = (), removing: Brokers = ()
) -> PartitionGauges:
    """The gauges of broker 0 when it becomes leader."""
    bench = Bench(evolve(BrokerPolicies(checks_assignment=False), under_replication=rule))
    seen = bench.see(PartitionGauges)
    bench.leader_and_isr(evolve(state(0, 1, isr, replicas=replicas), adding=adding, removing=removing))
    return seen[-1]


@pytest.mark.parametrize(
    ("isr", "replicas", "adding", "removing", "under_replicated"),
    [
        (THREE, THREE, (), (), False),
        ((0, 1), THREE, (), (), True),
        (THREE, THREE, (3, 4), (1,), False),
        (THREE, THREE, (3, 4), (), False),
        (THREE, THREE, (), (1,), False),
        ((1, 2), (1, 2), (0,), (), False),
        ((2, 3, 4), THREE, (3, 4, 5), (), False),
        ((2, 3), THREE, (3, 4, 5), (), True),
    ],
)
def test_assignment_state(
    isr: Brokers, replicas: Brokers, adding: Brokers, removing: Brokers, under_replicated: bool
) -> None:
    """Kafka's AssignmentStateTest (2.5.1), row by row."""
    seen = gauges(WithoutAdding(), isr, (*replicas, *(b for b in adding if b not in replicas)), adding, removing)
    assert seen.under_replicated is under_replicated
    assert seen.reassigning is bool(adding or removing)


def test_an_added_replica_in_sync_makes_up_for_a_missing_old_one() -> None:
    seen = gauges(WithoutAdding(), (0, 1, 3), (0, 1, 2, 3), adding=(3,))
    assert (seen.under_replicated, seen.replicas, seen.in_sync_replicas) == (False, 3, 3)
    assert gauges(AllAssigned(), (0, 1, 3), (0, 1, 2, 3), adding=(3,)).under_replicated


def test_a_move_that_grows_the_assignment_raises_the_gauge_up_to_2_4() -> None:
    assert gauges(AllAssigned(), THREE, (0, 1, 2, 3), adding=(3,))[7:10] == (3, 4, True)
    assert gauges(WithoutAdding(), THREE, (0, 1, 2, 3), adding=(3,))[7:10] == (3, 3, False)


def test_the_draft_misses_current_replicas_by_name() -> None:
    def draft(isr: Brokers) -> PartitionGauges:
        bench = Bench(BrokerPolicies(checks_assignment=False, under_replication=CurrentReplicas()))
        seen = bench.see(PartitionGauges)
        request = DraftLeaderAndIsrPartition(
            TP, 1, 0, 1, isr, 0, (0, 1, 2, 3, 4), False, current_replicas=THREE, impending_replicas=(2, 3, 4)
        )
        bench.leader_and_isr(request)
        return seen[-1]

    assert not draft(THREE).under_replicated
    assert draft((0, 1, 3)).under_replicated, "a replica in sync does not make up for one that is not"
    assert draft(THREE).reassigned == 2


def test_0_8_keeps_the_replication_factor_with_which_a_partition_came() -> None:
    """Partition.replicationFactor is set by the constructor alone (0.8.0); a deletion forgets it."""
    bench = Bench(BrokerPolicies(checks_assignment=False, under_replication=FactorAtCreation()))
    created, seen = bench.see(PartitionCreated), bench.see(PartitionGauges)

    def raised() -> bool:
        return seen[-1].under_replicated

    bench.lead(1, isr=(0, 1), replicas=(0, 1))
    assert not raised()
    bench.follower(2).at(0)
    assert not raised(), "the leader has taken in broker 2"
    bench.lead(2, isr=(0, 2), replicas=(0, 2, 3))
    assert not raised(), "two are still enough"
    bench.lead(3, isr=(0,), replicas=(0, 2, 3))
    assert raised()
    assert [event.replication_factor for event in created] == [2]
    bench.send(StopReplicaRequest(9, 1, -1, True, (TP,)))
    bench.lead(4, isr=(0, 2), replicas=(0, 2, 3))
    assert raised()
    assert [event.replication_factor for event in created] == [2, 3]
