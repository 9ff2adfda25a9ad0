"""The windowed rate of a quota, against a naive implementation of Kafka's rule (SampledStat and SimpleRate, 2.3;
KIP-73)."""

from hypothesis import example, given
from hypothesis import strategies as st

from fetchers.quota import Quota

S = 1_000_000


class Ring:
    """Kafka's samples as it keeps them: a ring of eleven, of which obsolete ones are reset and never removed."""

    def __init__(self) -> None:
        self.samples: list[list[int]] = []
        self.current = 0

    def record(self, size: int, now: int) -> None:
        if not self.samples:
            self.samples.append([now, 0])
        elif now - self.samples[self.current][0] >= S:
            self.current = (self.current + 1) % 11
            if self.current >= len(self.samples):
                self.samples.append([now, 0])
            else:
                self.samples[self.current] = [now, 0]
        self.samples[self.current][1] += size

    def rate(self, now: int) -> float:
        if not self.samples:
            self.samples.append([now, 0])
        self.samples = [[now, 0] if now - begin >= 11 * S else [begin, size] for begin, size in self.samples]
        elapsed = max(S, now - min(begin for begin, _ in self.samples))
        return sum(size for _, size in self.samples) * S / elapsed


STEPS = st.lists(st.tuples(st.integers(0, 15_000_000), st.integers(0, 500), st.booleans()), min_size=1, max_size=60)


# An obsolete sample is reset, and still counts for the length of the window.
@example([(0, 1, True), (5 * S, 1, True), (6 * S, 0, False), (5 * S, 12, True)], 5)
@given(STEPS, st.integers(1, 400))
def test_agrees_with_kafkas_ring(steps: list[tuple[int, int, bool]], rate: int) -> None:
    """Bytes come and checks are made in any order; a record is checked at once, as Kafka's sensor does."""
    quota, ring, now = Quota(rate), Ring(), 0
    for pause, size, records in steps:
        now += pause
        if records:
            quota.record(size, now)
            ring.record(size, now)
        measured = ring.rate(now)
        assert quota.is_quota_exceeded(now) == (measured > rate)
        assert abs(quota.byte_rate(now) - measured) < 1e-6


@given(STEPS, st.integers(1, 400), st.integers(0, 3 * S))
def test_what_is_counted_constantly_is_as_if_it_were_counted_one_by_one(
    steps: list[tuple[int, int, bool]], rate: int, since: int
) -> None:
    """Empty answers come so often that each sample begins where the one before ends."""
    quota, ring, now = Quota(rate), Ring(), since
    quota.counts_constantly(True, now)
    ring.record(0, now)
    for pause, size, records in steps:
        now += pause
        while ring.samples[ring.current][0] + S <= now:
            ring.record(0, ring.samples[ring.current][0] + S)
        if records:
            quota.record(size, now)
            ring.record(size, now)
        assert quota.is_quota_exceeded(now) == (ring.rate(now) > rate)
    quota.counts_constantly(False, now)
    now += 15 * S
    assert quota.byte_rate(now) == 0
    quota.record(5, now)
    assert quota.byte_rate(now) == 5


@given(STEPS)
def test_reading_the_rate_changes_nothing(steps: list[tuple[int, int, bool]]) -> None:
    read, unread, now = Quota(100), Quota(100), 0
    for pause, size, looks in steps:
        now += pause
        read.byte_rate(now)
        for quota in (read, unread):
            quota.record(size, now)
        if looks:
            assert read.is_quota_exceeded(now) == unread.is_quota_exceeded(now)


def test_a_long_run_keeps_to_the_rate() -> None:
    quota, sent = Quota(1_000), 0
    for tick in range(600):
        if not quota.is_quota_exceeded(tick * S // 10):
            quota.record(300, tick * S // 10)
            sent += 300
    assert 58_000 <= sent <= 62_000


def test_without_a_bound_nothing_exceeds_it() -> None:
    quota = Quota()
    quota.record(10**18, 0)
    assert not quota.is_quota_exceeded(0)
    assert quota.byte_rate(0) == 10**18
