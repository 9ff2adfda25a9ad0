"""C121, Kafka's ReplicationQuotaManagerTest (2.3), at its own times and sizes."""

import pytest

from emulator.protocol.types import TopicPartition
from fetchers.quota import QuotaManagers, ReplicationQuotaManager, listed_here

S = 1_000_000
LEADERS = "leader.replication.throttled.replicas"


def tp(partition: int, topic: str = "topic1") -> TopicPartition:
    return TopicPartition(topic, partition)


def test_C121_only_listed_partitions_are_throttled() -> None:
    quota = ReplicationQuotaManager()
    quota.mark_throttled("topic1", frozenset({1, 2, 3}))
    assert [quota.is_throttled(tp(number)) for number in (1, 2, 3, 4)] == [True, True, True, False]


def test_C121_over_the_quota_and_under_it_again_as_time_passes() -> None:
    quota = ReplicationQuotaManager(100, windows=10)
    assert not quota.is_quota_exceeded(0)
    quota.record(1, 1_500_000)
    assert not quota.is_quota_exceeded(1_500_000)
    quota.record(149, 1_500_000)
    assert not quota.is_quota_exceeded(1_500_000)
    quota.record(1, 1_500_000)
    assert quota.is_quota_exceeded(1_500_000)
    assert quota.byte_rate(1_500_000) == pytest.approx(151 / 1.5)
    assert not quota.is_quota_exceeded(2 * S)
    assert quota.byte_rate(2 * S) == pytest.approx(151 / 2)
    quota.record(99, 2_500_000)
    assert not quota.is_quota_exceeded(2_500_000)
    quota.record(1, 2_500_000)
    assert quota.is_quota_exceeded(2_500_000)
    assert quota.byte_rate(2_500_000) == pytest.approx(251 / 2.5)
    assert not quota.is_quota_exceeded(4_500_000)
    assert quota.byte_rate(4_500_000) == pytest.approx(251 / 4.5)


@pytest.mark.parametrize("times", [2, 5])
def test_C121_what_crosses_goes_through_and_takes_its_time_to_wear_off(times: int) -> None:
    """``times`` the bound at once: over it for as many seconds, then under it."""
    quota = ReplicationQuotaManager(100)
    assert not quota.is_quota_exceeded(0)
    quota.record(times * 100 + 1, 0)
    assert quota.is_quota_exceeded(times * S)
    assert not quota.is_quota_exceeded(times * S + 10_000)


def test_C121_an_idle_window_holds_nothing() -> None:
    quota = ReplicationQuotaManager(100)
    quota.record(10**9, 0)
    assert quota.is_quota_exceeded(11 * S - 1)
    assert not quota.is_quota_exceeded(11 * S)
    assert quota.byte_rate(11 * S) == 0


def test_C121_a_star_lists_all_partitions_of_its_topic() -> None:
    quotas = QuotaManagers(7)
    quotas.configured("topics/MyTopic", {LEADERS: "*"})
    assert quotas.leader.listed.is_throttled(tp(0, "MyTopic"))
    assert not quotas.leader.listed.is_throttled(tp(0, "MyOtherTopic"))
    assert not quotas.follower.listed.is_throttled(tp(0, "MyTopic"))


def test_an_empty_list_throttles_no_replica() -> None:
    """DynamicConfigChangeTest.shouldParseReplicationQuotaReset."""
    assert listed_here({LEADERS: ""}, LEADERS, 102) == frozenset()
