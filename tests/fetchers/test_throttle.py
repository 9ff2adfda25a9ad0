"""The follower's side of a replication throttle (KIP-73)."""

import pytest

from fetchers.policies import FetcherPolicies
from fetchers.quota import QuotaManagers, Throttle
from tests.fetchers.rig import ME, MS, A, B, Rig, play, write

LIST, RATE = "follower.replication.throttled.replicas", "follower.replication.throttled.rate"
BROKER, TOPIC = f"brokers/{ME}", f"topics/{A.topic}"


def quotas(rate: int | None = None, listed: str = f"{A.partition}:{ME}") -> QuotaManagers:
    """A alone is listed."""
    found = QuotaManagers(ME)
    found.configured(BROKER, {} if rate is None else {RATE: str(rate)})
    found.configured(TOPIC, {LIST: listed})
    return found


def throttled(rate: int) -> Throttle:
    return quotas(rate).follower


def both(rate: int) -> Throttle:
    """Any replica is listed."""
    return quotas(rate, "*").follower


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
        # One poll of B's each half second and one answer for each 200 bytes: there is no busy loop.
        assert len(rig.leader.asked) - asked < 30

    play(scenario, throttle=throttled(1_000))


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

    play(scenario, throttle=throttled(1_000))


@pytest.mark.parametrize("leader_is_ahead", [True, False])
def test_kafka_4313_a_replica_at_the_high_watermark_is_never_left_out(leader_is_ahead: bool) -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0, 0)
        rig.leader.marks[A] = 3 if leader_is_ahead else 2
        rig.add(A)
        await rig.rest(100)
        assert rig.thread.states[A].held == leader_is_ahead

    play(scenario, throttle=throttled(1))


def test_kip_73_removing_a_partition_that_is_held_back_leaves_no_trace_of_it() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, *[0] * 30)
        rig.add(A)
        await rig.rest(100)
        assert rig.rounds.partitions.held
        rig.manager.remove_fetcher_for_partitions([A])
        assert not rig.rounds.partitions.held
        rig.leader.epochs[A] = 1
        rig.add(A, epoch=1)
        await rig.world.settled()
        assert rig.equal(A)

    play(scenario, throttle=throttled(1_000))


@pytest.mark.parametrize("change", ["rate", "list", "removed"])
def test_a_change_while_a_partition_is_held_back_counts_from_the_next_round_on(change: str) -> None:
    found = quotas(1)

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, *[0] * 30)
        rig.add(A)
        await rig.rest(100)
        assert rig.thread.states[A].held
        if change == "list":
            found.configured(TOPIC, {})
        else:
            found.configured(BROKER, {RATE: "1000000"} if change == "rate" else {})
        await rig.rest(1_200)
        assert rig.equal(A)
        assert not rig.thread.states[A].held

    play(scenario, throttle=found.follower)


def test_a_replica_that_is_listed_later_is_held_back_from_then_on() -> None:
    found = quotas(200, "")

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, *[0] * 3)
        rig.add(A)
        await rig.rest(100)
        assert rig.equal(A)
        found.configured(TOPIC, {LIST: "*"})
        write(rig.leader.logs[A], *[0] * 30)
        await rig.rest(600)
        assert not rig.equal(A)
        assert rig.thread.states[A].held
        await rig.world.settled()
        assert rig.equal(A)
        assert rig.world.now >= 10_000 * MS

    play(scenario, throttle=found.follower)


def test_only_throttled_partitions_that_lag_are_looked_at() -> None:
    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, *[0] * 30)
        rig.add(A, B)
        await rig.rest(100)
        assert list(rig.rounds.throttle.bound) == [A]
        await rig.world.settled()
        assert not rig.rounds.throttle.bound

    play(scenario, throttle=throttled(1_000))


def test_kip_542_a_replica_that_a_move_adds_is_held_back_and_no_other() -> None:
    found = QuotaManagers(ME)
    found.configured(BROKER, {"follower.reassignment.throttled.rate": "1000"})

    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, *[0] * 30)
        rig.add(A, adding=True)
        rig.add(B)
        await rig.rest(100)
        assert rig.equal(B)
        assert not rig.equal(A)
        assert rig.thread.states[A].held
        await rig.world.settled()
        assert rig.equal(A)
        assert 2_000 * MS <= rig.world.now <= 4_500 * MS

    play(scenario, throttle=found.follower)


@pytest.mark.parametrize("unknown", [False, True])
def test_kafka_15080_a_follower_of_an_idle_partition_is_held_back_though_it_is_in_sync(unknown: bool) -> None:
    """Until it has fetched a record; the gauge of its lag shows 0 all the same."""
    policies = FetcherPolicies(idle_lag_unknown=unknown)

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(B, *[0] * 30)
        rig.leader.leads(A)
        rig.add(A, B)
        await rig.rest(100)
        assert rig.thread.states[A].lag == 0
        assert rig.thread.states[A].held is unknown

    play(scenario, policies, throttle=both(1_000))
