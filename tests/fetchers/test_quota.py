"""The windowed rate of a replication quota, against Kafka's rule said naively (KIP-73; C121)."""

from hypothesis import given
from hypothesis import strategies as st

from fetchers import ReplicationQuota, ReplicationThrottle
from tests.fetchers.rig import A, B

S = 1_000_000


def test_c121_is_exceeded_by_bytes_and_recovers_by_time() -> None:
    quota = ReplicationQuota(100, {A: (1,)})
    assert not quota.exceeded(0)
    quota.record(100, 0)
    assert not quota.exceeded(0)
    quota.record(1, 0)
    assert quota.exceeded(0)
    assert quota.exceeded(1 * S)
    assert not quota.exceeded(1 * S + 10_000)
    quota.record(400, 2 * S)
    assert quota.exceeded(5 * S)
    assert not quota.exceeded(5 * S + 10_000)


def test_c121_nothing_is_left_of_a_window_that_has_passed() -> None:
    quota = ReplicationQuota(100, {A: (1,)})
    quota.record(10**9, 0)
    assert quota.exceeded(11 * S - 1)
    assert not quota.exceeded(11 * S)


def test_a_long_run_keeps_to_the_rate() -> None:
    quota, sent = ReplicationQuota(1_000, {A: (1,)}), 0
    for tick in range(600):
        if not quota.exceeded(tick * S // 10):
            quota.record(300, tick * S // 10)
            sent += 300
    assert 58_000 <= sent <= 62_000


@given(
    st.lists(st.tuples(st.integers(0, 3_000_000), st.integers(1, 500)), min_size=1, max_size=40), st.integers(1, 400)
)
def test_agrees_with_the_rule(records: list[tuple[int, int]], rate: int) -> None:
    quota, now = ReplicationQuota(rate, {A: (1,)}), 0
    samples: list[tuple[int, int]] = []
    for pause, size in records:
        now += pause
        quota.record(size, now)
        if samples and now - samples[-1][0] < S:
            samples[-1] = (samples[-1][0], samples[-1][1] + size)
        else:
            samples = [*samples[-10:], (now, size)]
        living = [(begin, held) for begin, held in samples if now - begin < 11 * S]
        elapsed = max(S, now - living[0][0])
        assert quota.exceeded(now) == (sum(held for _begin, held in living) * S / elapsed > rate)


def test_only_the_brokers_that_are_listed_have_a_quota() -> None:
    throttle = ReplicationThrottle(10, 20, {A: (1, 2), B: (2,)}, {A: (3,)})
    two = throttle.leader_quota(2)
    assert two is not None
    assert (two.rate, two.throttles(A), two.throttles(B)) == (10, True, True)
    one = throttle.leader_quota(1)
    assert one is not None
    assert (one.throttles(A), one.throttles(B)) == (True, False)
    assert throttle.leader_quota(3) is None
    assert throttle.follower_quota(1) is None
    three = throttle.follower_quota(3)
    assert three is not None
    assert three.rate == 20
