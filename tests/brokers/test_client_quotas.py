"""Client quotas: whose rate counts, how long a client is throttled, and that a throttled client keeps to its quota."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.client_quotas import (
    ANONYMOUS,
    DEFAULT,
    PRODUCER,
    ClientQuotaManager,
    ClientQuotas,
    SampledRate,
    entity_of,
    path_of,
)

NAMES = st.text(min_size=1, max_size=8)


def manager(**limits: int) -> ClientQuotaManager:
    """Quotas of client ids; ``default``: of all others."""
    found = ClientQuotaManager(PRODUCER)
    for name, limit in limits.items():
        found.update((None, DEFAULT if name == "default" else name), {PRODUCER: str(limit)})
    return found


def test_the_first_window_counts_as_a_whole_one() -> None:
    """O = 30,000 over 10 s is 3,000 a second; T = 1,000: (O - T) / T * W is 20 s (Rate.windowSize, throttleTime)."""
    quotas = manager(billing=1000)
    assert quotas.record(ANONYMOUS, "billing", 10_000, 0) == 0
    assert quotas.record(ANONYMOUS, "billing", 20_000, 0) == 20_000
    assert quotas.record(ANONYMOUS, "other", 1_000_000, 0) == 0


def test_a_rate_falls_when_its_samples_are_over() -> None:
    rate = SampledRate()
    rate.record(11_000, 0)
    assert rate.measure(0) == (1100.0, 10_000)
    assert rate.measure(10_500) == (11_000 / 10.5, 10_500)
    assert rate.measure(11_000) == (0.0, 10_000)


@pytest.mark.parametrize(
    ("set_for", "limit"),
    [
        ((("alice", "billing"), ("alice", None)), 1),
        ((("alice", DEFAULT), ("alice", None)), 1),
        ((("alice", None), (DEFAULT, "billing")), 1),
        (((DEFAULT, "billing"), (DEFAULT, None)), 1),
        (((DEFAULT, None), (None, "billing")), 1),
        (((None, "billing"), (None, DEFAULT)), 1),
        (((None, DEFAULT), ("bob", None)), 1),
    ],
)
def test_the_closest_entity_counts(set_for: tuple[tuple[str | None, str | None], ...], limit: int) -> None:
    quotas = ClientQuotaManager(PRODUCER)
    for value, entity in enumerate(set_for, start=1):
        quotas.update(entity, {PRODUCER: str(value)})
    assert quotas.most_in_window("alice", "billing") == limit * 10


def test_a_quota_that_is_removed_has_no_effect() -> None:
    quotas = manager(billing=1)
    assert quotas.record(ANONYMOUS, "billing", 1000, 0) > 0
    quotas.update((None, "billing"), {})
    assert quotas.record(ANONYMOUS, "billing", 1000, 0) == 0


def test_bytes_that_are_not_sent_do_not_count() -> None:
    quotas = ClientQuotas()
    quotas.configured("clients/%3Cdefault%3E", {})
    quotas.configured("clients/<default>", {"consumer_byte_rate": "100"})
    assert quotas.fetch.record(ANONYMOUS, "a", 1_001, 0) == 10
    quotas.fetch.unrecord(ANONYMOUS, "a", 1_001, 0)
    assert quotas.fetch.record(ANONYMOUS, "a", 1_000, 0) == 0


@given(st.tuples(st.none() | NAMES, st.none() | NAMES).filter(any))
def test_an_entity_has_one_path(entity: tuple[str | None, str | None]) -> None:
    assert entity_of(path_of(entity)) == entity


@given(st.lists(st.tuples(st.integers(1, 50_000), st.integers(0, 3000)), min_size=1, max_size=60))
def test_a_client_that_waits_keeps_to_its_quota(sent: list[tuple[int, int]]) -> None:
    """What a client sends that waits for its throttle time is, but for the last of each wait, what the quota lets
    pass in the time, and a window's worth at its start."""
    quotas, now_ms, total, limit = manager(billing=1000), 0, 0, 1000
    for size, pause_ms in sent:
        assert total <= limit * (now_ms / 1000 + 22) + 50_000
        total += size
        now_ms += pause_ms + quotas.record(ANONYMOUS, "billing", size, now_ms)
