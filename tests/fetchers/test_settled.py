"""The world is not settled while a fetcher has work to do that a long poll hides, and becomes settled in the end."""

from emulator.protocol.errors import Errors
from tests.fetchers.rig import LATENCY_US, MS, A, B, Rig, play


def test_a_partition_added_during_a_long_poll_keeps_the_world_unsettled_until_it_is_truncated() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A)
        rig.leader.leads(B, 1, epoch=1)
        rig.replica(B, 0, 0)
        rig.add(A)
        await rig.world.settled()
        rig.add(B, epoch=1)
        began = rig.world.now
        await rig.world.settled()
        assert rig.equal(B)
        # It is over with the work, not when the hold would have run out.
        assert rig.world.now - began < 500 * MS + 10 * LATENCY_US

    play(scenario)


def test_a_partition_taken_away_again_does_not_keep_the_world_waiting() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A)
        rig.leader.leads(B)
        rig.add(A)
        await rig.world.settled()
        rig.add(B)
        began = rig.world.now
        rig.manager.remove_fetcher_for_partitions([B])
        await rig.world.settled()
        assert rig.world.now - began <= LATENCY_US

    play(scenario)


def test_a_partition_the_leader_refused_once_keeps_the_world_unsettled_until_it_is_asked_again() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.leader.leads(B)
        rig.leader.errors[A] = Errors.UNKNOWN_LEADER_EPOCH
        rig.add(A, B)
        await rig.rest(20)
        del rig.leader.errors[A]
        await rig.world.settled()
        assert rig.equal(A)

    play(scenario)


def test_a_leader_that_goes_on_refusing_does_not_keep_the_world_waiting() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.leader.errors[A] = Errors.UNKNOWN_LEADER_EPOCH
        rig.add(A)
        await rig.world.settled()
        assert rig.world.now < 5_000 * MS

    play(scenario)


def test_a_dead_leader_does_not_keep_the_world_waiting() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.leader.down = True
        rig.add(A)
        await rig.world.settled()
        assert rig.world.now < 5_000 * MS

    play(scenario)
