"""The follower's side of a replication throttle (KIP-73)."""

import pytest

from fetchers import FetcherPolicies, ReplicationThrottle
from tests.fetchers.rig import ME, MS, A, B, Rig, play


def throttled(rate: int) -> FetcherPolicies:
    """A alone is listed."""
    return FetcherPolicies(throttle=ReplicationThrottle(2**60, rate, {}, {A: (ME,)}))


def test_kip_73_a_throttled_partition_is_left_out_until_the_rate_is_down() -> None:
    """Answers carry at most 200 bytes here; 1000 bytes/s let 30 batches of 100 through in about 3 s."""

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, *[0] * 30)
        rig.leader.leads(B, *[0] * 30)
        rig.add(A, B)
        await rig.rest(100)
        assert rig.equal(B)
        assert 10 <= rig.replicas[A].log_end_offset <= 12
        assert rig.thread.states[A].held
        asked = len(rig.leader.asked)
        await rig.world.settled()
        assert rig.equal(A)
        assert 2_000 * MS <= rig.world.now <= 3_600 * MS
        # One poll of B's each half second and one answer for each 200 bytes: nobody is asked in a loop.
        assert len(rig.leader.asked) - asked < 30

    play(scenario, throttled(1_000))


def test_kip_73_with_nothing_else_to_fetch_the_quota_is_looked_at_each_back_off() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, *[0] * 30)
        rig.add(A)
        await rig.rest(100)
        assert rig.thread.states[A].held
        assert not rig.equal(A)
        asked = len(rig.leader.asked)
        await rig.rest(850)
        assert len(rig.leader.asked) == asked
        await rig.world.settled()
        assert rig.equal(A)
        assert 2_000 * MS <= rig.world.now <= 4_500 * MS

    play(scenario, throttled(1_000))


@pytest.mark.parametrize("leader_is_ahead", [True, False])
def test_kafka_4313_a_replica_at_the_high_watermark_is_never_left_out(leader_is_ahead: bool) -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0, 0)
        rig.leader.marks[A] = 3 if leader_is_ahead else 2
        rig.add(A)
        await rig.rest(100)
        assert rig.thread.states[A].held == leader_is_ahead

    play(scenario, throttled(1))


def test_kip_73_removing_a_partition_that_is_held_back_leaves_nothing_behind() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, *[0] * 30)
        rig.add(A)
        await rig.rest(100)
        assert rig.thread.partitions.held
        rig.manager.remove([A])
        assert not rig.thread.partitions.held
        rig.leader.epochs[A] = 1
        rig.add(A, epoch=1)
        await rig.world.settled()
        assert rig.equal(A)

    play(scenario, throttled(1_000))
