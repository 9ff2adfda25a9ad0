"""Which thread fetches which partition (kafka-behaviour §8.1). The hash values are Java's."""

import pytest

from emulator.kernel import WorldClock
from emulator.protocol.errors import Errors
from emulator.protocol.events import FetcherStarted, FetcherStopped, FetchPosition
from emulator.protocol.types import TopicPartition
from fetchers.assignment import fetcher_id, java_string_hash, signed_fetcher_id
from fetchers.manager import AbstractFetcherManager, ReplicaFetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from tests.fetchers.rig import KINDS, LEADER, A, B, Rig, play, write


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


@pytest.mark.parametrize(("topic", "numbers"), [("__consumer_offsets", [0, -2, -1]), ("hello", [1, 2, 0])])
def test_in_0_8_0_a_fetcher_may_be_numbered_below_zero(topic: str, numbers: list[int]) -> None:
    """The remainder has the sign of the sum, which has that of the topic's hash."""
    assert [signed_fetcher_id(TopicPartition(topic, partition), 3) for partition in range(3)] == numbers


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
        rig.manager.add_fetcher_for_partitions([InitialFetchState(A, LEADER, 0, 0, rig.replicas[A])])
        assert rig.thread.states[A] is state
        rig.manager.add_fetcher_for_partitions([InitialFetchState(A, LEADER, 1, 0, rig.replicas[A])])
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
        rig.manager.remove_fetcher_for_partitions([A])
        rig.manager.shutdown_idle_fetcher_threads()
        assert not stopped
        rig.manager.remove_fetcher_for_partitions([B])
        assert not stopped
        rig.manager.shutdown_idle_fetcher_threads()
        assert [event.reason for event in stopped] == ["idle"]
        write(rig.leader.logs[B], 0)
        await rig.rest(2_000)
        assert not rig.equal(B)
        rig.add(B, epoch=0)
        await rig.rest()
        assert rig.equal(B)

    await Rig(world_clock.world).run(scenario)


# -- the number of fetchers changes ---------------------------------------------------------------------------------


@KINDS
def test_a_resize_takes_every_partition_to_the_thread_that_is_its_own_now(kind: type[AbstractFetcherManager]) -> None:
    async def scenario(rig: Rig) -> None:
        stopped = rig.see(FetcherStopped)
        rig.leader.swaps = kind is not ReplicaFetcherManager  # a copy goes on until it is done
        for tp in (A, B):
            rig.leader.leads(tp, 0)
        rig.add(A, B)
        first = rig.thread
        rig.manager.resize_thread_pool(2)
        of = {tp: rig.manager.threads[rig.source, fetcher_id(tp, 2)] for tp in (A, B)}
        assert [list(of[tp].states) for tp in (A, B)] == [[A], [B]]
        assert first in of.values(), "a thread whose number there still is goes on"
        assert all(thread.states[tp].truncating for tp, thread in of.items())
        await rig.rest()
        assert (rig.equal(A), rig.equal(B)) == (True, True)
        write(rig.leader.logs[A], 0)
        rig.manager.resize_thread_pool(1)
        assert [event.reason for event in stopped].count("resized") == 1
        assert list(rig.manager.threads) in ([(rig.source, 0)], [])
        if kind is ReplicaFetcherManager:
            await rig.rest(600)
            assert rig.equal(A)

    play(scenario, kind=kind)


@KINDS
def test_a_resize_does_not_bring_back_what_has_failed(kind: type[AbstractFetcherManager]) -> None:
    """Kafka takes those out of failedPartitions that it migrates, and they are on no thread (2.3 and 2.5)."""

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0, epoch=1)
        rig.leader.leads(B, 0)
        rig.replica(A, 0)
        rig.add(A, B)
        await rig.rest()
        assert A in rig.manager.failed
        rig.manager.resize_thread_pool(2)
        assert A in rig.manager.failed
        assert [tp for thread in rig.manager.threads.values() for tp in thread.states] == [B]

    play(scenario, kind=kind)


@pytest.mark.parametrize(("wanted", "fetchers"), [("2", 2), ("8", 8), ("9", 4), ("1", 4), (None, 4)])
def test_no_more_than_twice_as_many_fetchers_and_no_less_than_half(wanted: str | None, fetchers: int) -> None:
    async def scenario(rig: Rig) -> None:
        manager = rig.manager
        assert isinstance(manager, ReplicaFetcherManager)
        manager.configured({} if wanted is None else {"num.replica.fetchers": wanted})
        tps = [TopicPartition("t", number) for number in range(32)]
        for tp in tps:
            rig.leader.leads(tp)
        rig.add(*tps)
        assert len(rig.manager.threads) == fetchers

    play(scenario, FetcherPolicies(num_replica_fetchers=4))


# -- the leader moves to another address ------------------------------------------------------------------------------


def test_a_leader_with_another_address_gets_another_thread_and_the_others_wait() -> None:
    async def scenario(rig: Rig) -> None:
        stopped, positions = rig.see(FetcherStopped), rig.see(FetchPosition)
        for tp in (A, B):
            rig.leader.leads(tp, 0)
        rig.add(A, B)
        await rig.rest()
        first = rig.thread
        rig.leader.epochs[A] = 1
        rig.manager.remove_fetcher_for_partitions([A])
        start = InitialFetchState(A, LEADER, 1, 1, rig.replicas[A], address="elsewhere:9092")
        rig.manager.add_fetcher_for_partitions([start])
        assert [event.reason for event in stopped] == ["replaced"]
        assert (rig.thread is first, list(rig.thread.states), rig.leader.lines[0].closed) == (False, [A], True)
        assert [event.partition for event in positions if event.offset < 0] == [0, 1]
        write(rig.leader.logs[A], 1)
        write(rig.leader.logs[B], 0)
        await rig.rest(600)
        assert (rig.equal(A), rig.equal(B)) == (True, False)
        start = InitialFetchState(B, LEADER, 0, 1, rig.replicas[B], address="elsewhere:9092")
        rig.manager.add_fetcher_for_partitions([start])
        await rig.rest(600)
        assert rig.equal(B)
        assert len(stopped) == 1

    play(scenario)


def test_f6_an_answer_after_a_resize_is_ignored() -> None:
    """The thread that sent the request does not have the partition any more; the one that has it sends its own."""

    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, 0)
        rig.leader.fetch_errors[A] = rig.leader.fetch_errors[B] = Errors.FENCED_LEADER_EPOCH
        rig.add(A, B)
        await rig.world.sleep(1_000)  # a fetch is on its way
        rig.leader.fetch_errors.clear()
        rig.manager.resize_thread_pool(2)
        await rig.rest()
        assert len(rig.manager.failed) == 0
        assert (rig.equal(A), rig.equal(B)) == (True, True)

    play(scenario)
