"""Which thread fetches which partition (kafka-behaviour, 8.1). The hash values are Java's."""

import pytest

from emulator.kernel import WorldClock
from emulator.protocol.events import FetcherStarted, FetcherStopped
from emulator.protocol.types import TopicPartition
from fetchers import FetcherPolicies, InitialFetchState
from fetchers.assignment import fetcher_id, java_string_hash
from tests.fetchers.rig import LEADER, A, B, Rig, write


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),
        ("__consumer_offsets", -970371369),
    ],
)
def test_java_string_hash(text: str, value: int) -> None:
    assert java_string_hash(text) == value


@pytest.mark.parametrize(
    ("topic", "partition", "fetchers", "expected"),
    [
        ("a", 3, 4, (31 * 97 + 3) % 4),
        ("a", 4, 4, (31 * 97 + 4) % 4),
        ("a", 4, 1, 0),
        ("polygenelubricants", 0, 3, 0),  # 31·MIN_VALUE is MIN_VALUE again, whose abs Kafka makes 0
        ("polygenelubricants", 5, 10**6, (2**31 - 5) % 10**6),  # a negative sum: abs before the remainder
    ],
)
def test_the_fetcher_of_a_partition(topic: str, partition: int, fetchers: int, expected: int) -> None:
    assert fetcher_id(TopicPartition(topic, partition), fetchers) == expected


async def test_a_thread_for_each_leader_and_number(world_clock: WorldClock) -> None:
    async def scenario(rig: Rig) -> None:
        started = rig.see(FetcherStarted)
        for tp in (A, B):
            rig.leader.leads(tp)
        rig.add(A, B)
        names = {fetcher_id(tp, 2): f"ReplicaFetcherThread-{fetcher_id(tp, 2)}-{LEADER}" for tp in (A, B)}
        assert {event.fetcher for event in started} == set(names.values())
        assert set(rig.manager.threads) == {(LEADER, number) for number in names}
        assert len(names) == 2

    await Rig(world_clock.world, FetcherPolicies(num_replica_fetchers=2)).run(scenario)


async def test_the_same_epoch_again_keeps_the_state(world_clock: WorldClock) -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest()
        state = rig.thread.states[A]
        rig.manager.add([InitialFetchState(A, LEADER, 0, 0, rig.replicas[A])])
        assert rig.thread.states[A] is state
        rig.manager.add([InitialFetchState(A, LEADER, 1, 0, rig.replicas[A])])
        assert rig.thread.states[A] is not state
        assert rig.thread.states[A].truncating

    await Rig(world_clock.world).run(scenario)


async def test_a_thread_without_partitions_ends_with_the_sweep(world_clock: WorldClock) -> None:
    async def scenario(rig: Rig) -> None:
        stopped = rig.see(FetcherStopped)
        rig.leader.leads(A)
        rig.leader.leads(B)
        rig.add(A, B)
        await rig.rest()
        rig.manager.remove([A])
        rig.manager.end_idle_threads()
        assert not stopped
        rig.manager.remove([B])
        assert not stopped
        rig.manager.end_idle_threads()
        assert [event.reason for event in stopped] == ["idle"]
        write(rig.leader.logs[B], 0)
        await rig.rest(2_000)
        assert not rig.equal(B)
        rig.add(B, epoch=0)
        await rig.rest()
        assert rig.equal(B)

    await Rig(world_clock.world).run(scenario)
