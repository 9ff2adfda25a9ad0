"""The quota of partitions that clients create and delete: cases of StrictControllerMutationQuotaTest,
PermissiveControllerMutationQuotaTest and ControllerMutationQuotaManagerTest (2.7.2); a bucket holds the tokens of
eleven seconds here."""

from __future__ import annotations

from contextlib import suppress

import pytest
from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from brokers.client_quotas import ANONYMOUS, MUTATIONS, ControllerMutationQuotaManager
from brokers.controller_mutations import (
    WINDOWS_S,
    BoundedControllerMutationQuota,
    ControllerMutationQuota,
    TokenBucket,
)
from emulator.protocol.errors import ApiException, Errors
from emulator.protocol.mutating_client import MutatingClient

CLIENT = "test-client"


@define
class Clock:
    """A clock in ms since 1970, as a broker has."""

    ms: int = 1_700_000_000_000

    def now_ms(self) -> int:
        return self.ms


def bounded(clock: Clock, rate: float, *, strict: bool) -> BoundedControllerMutationQuota:
    return BoundedControllerMutationQuota(TokenBucket(), rate, strict, clock.now_ms)


def asked(manager: ControllerMutationQuotaManager, clock: Clock, partitions: int) -> int:
    """The throttle time of one strict request; 0: it was not refused."""
    quota = manager.new_quota_for(MutatingClient(ANONYMOUS, CLIENT, True), clock.now_ms)
    with suppress(ApiException):
        quota.record(partitions)
        assert quota.throttle_ms == 0
    return quota.throttle_ms


def test_a_strict_quota_refuses_once_it_is_exhausted() -> None:
    clock = Clock()
    quota = bounded(clock, 10, strict=True)
    for partitions in (100, 90):  # leaves 10, then -80
        quota.record(partitions)
        assert quota.throttle_ms == 0
    with pytest.raises(ApiException) as refused:
        quota.record(90)
    assert refused.value.error == (Errors.THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded.")
    assert quota.throttle_ms == 8000
    clock.ms += 5000
    assert quota.throttle_ms == 3000


def test_a_permissive_quota_counts_everything() -> None:
    clock, found = Clock(), list[int]()
    quota = bounded(clock, 10, strict=False)
    for partitions in (100, 90, 90):  # leaves 10, -80, -170
        quota.record(partitions)
        found.append(quota.throttle_ms)
    clock.ms += 5000
    assert (*found, quota.throttle_ms) == (0, 8000, 17_000, 12_000)


def test_a_burst_passes_and_the_next_one_waits() -> None:
    clock, manager = Clock(), ControllerMutationQuotaManager(MUTATIONS)
    manager.update((ANONYMOUS, CLIENT), {MUTATIONS: "10"})
    for _ in range(10):
        assert asked(manager, clock, 10) == 0
        clock.ms += 1000
    assert asked(manager, clock, 120) == 0  # of 110
    assert asked(manager, clock, 120) == 1000
    clock.ms += 1000
    assert asked(manager, clock, 120) == 0


def test_a_changed_quota_keeps_its_bucket() -> None:
    """ControllerMutationQuotaTest.testQuotaMetric, testSetUnsetQuota: the metric of a quota that changes is the same
    one; without a quota, nothing is refused."""
    clock, manager = Clock(), ControllerMutationQuotaManager(MUTATIONS)
    manager.update((None, CLIENT), {MUTATIONS: "1.5"})
    assert asked(manager, clock, 22) == 0  # of 16.5
    assert asked(manager, clock, 1) == 3667
    manager.update((None, CLIENT), {MUTATIONS: "3"})
    assert asked(manager, clock, 1) == 1833
    manager.update((None, CLIENT), {})
    clock.ms += 1
    assert asked(manager, clock, 1_000_000) == 0


@pytest.mark.parametrize("strict", [True, False])
def test_without_any_quota_there_is_no_bound(strict: bool) -> None:
    clock, manager = Clock(), ControllerMutationQuotaManager(MUTATIONS)
    client = MutatingClient(ANONYMOUS, CLIENT, strict)
    assert type(manager.new_quota_for(client, clock.now_ms)) is ControllerMutationQuota
    manager.update((ANONYMOUS, CLIENT), {MUTATIONS: "10"})
    bound = manager.new_quota_for(client, clock.now_ms)
    assert isinstance(bound, BoundedControllerMutationQuota)
    assert bound.is_strict is strict


def test_a_rate_of_zero_and_times_beyond_32_bits_are_as_in_java() -> None:
    clock = Clock()
    for rate, throttle_ms in ((0.0, 0), (0.001, 1_410_065_408)):  # 10 ** 10 modulo 2 ** 32
        quota = bounded(clock, rate, strict=False)
        quota.bucket.measure(rate, clock.ms)
        quota.record(10_000 + int(WINDOWS_S * rate))
        assert quota.throttle_ms == pytest.approx(throttle_ms, abs=20_000)


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 3000)), min_size=1, max_size=60), st.booleans())
def test_a_client_that_waits_keeps_to_its_quota(sent: list[tuple[int, int]], strict: bool) -> None:
    """All but the last request fits into what the rate brings, and a full bucket."""
    clock, rate, total = Clock(), 20, 0
    began_ms, bucket = clock.ms, TokenBucket()
    for partitions, pause_ms in sent:
        assert total <= rate * (WINDOWS_S + (clock.ms - began_ms + 1) / 1000) + 500
        quota = BoundedControllerMutationQuota(bucket, rate, strict, clock.now_ms)
        try:
            quota.record(partitions)
        except ApiException:
            assert strict
        else:
            total += partitions
        clock.ms += pause_ms + quota.throttle_ms
