"""Which quota binds a replica, and the settings that change it (KIP-73, KIP-113, KIP-542)."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS
from fetchers.quota import UNLIMITED, QuotaManagers
from tests.fetchers.rig import A, B

LEADERS, FOLLOWERS = (f"{side}.replication.throttled.replicas" for side in ("leader", "follower"))
RATE, REASSIGNED = "leader.replication.throttled.rate", "leader.reassignment.throttled.rate"
COPIES = "replica.alter.log.dirs.io.max.bytes.per.second"


def quotas(**topics: Mapping[str, str]) -> QuotaManagers:
    """The quotas of broker 1, whose topics have these settings."""
    found = QuotaManagers.windowed(1, 11, 1_000_000)
    for topic, settings in topics.items():
        found.configured(f"topics/{topic}", settings)
    return found


def test_a_list_names_replicas_one_by_one() -> None:
    found = quotas(t={LEADERS: "0:1,1:2, 2:1", FOLLOWERS: "1:1"})
    assert [found.leader.listed.is_throttled(TopicPartition("t", p)) for p in range(3)] == [True, False, True]
    assert [found.follower.listed.is_throttled(TopicPartition("t", p)) for p in range(3)] == [False, True, False]


def test_a_broker_that_is_not_listed_is_not_active() -> None:
    found = quotas(t={LEADERS: "0:2"})
    assert not found.leader.active
    assert found.leader.version == 0
    assert quotas(t={LEADERS: "0:1"}).leader.active


def test_a_list_that_is_left_out_or_empty_is_gone() -> None:
    for after in ({}, {LEADERS: ""}, {"min.insync.replicas": "2"}):
        found = quotas(t={LEADERS: "*"}, u={LEADERS: "*"})
        found.configured("topics/t", after)
        assert not found.leader.listed.is_throttled(A)
        assert found.leader.listed.is_throttled(A._replace(topic="u"))
        assert found.leader.active


def test_rates_are_the_brokers_own() -> None:
    """What is set for all brokers, or for another one, has no effect; what is removed is unlimited."""
    found = quotas()
    for entity in (ALL_BROKERS, "brokers/2", "topics/t"):
        found.configured(entity, {RATE: "5"})
        assert found.leader.listed.rate == UNLIMITED
    found.configured("brokers/1", {RATE: "5", COPIES: "7"})
    assert (found.leader.listed.rate, found.follower.listed.rate) == (5, UNLIMITED)
    assert (found.alter_log_dirs.listed.rate, found.alter_log_dirs.active) == (7, True)
    found.configured("brokers/1", {COPIES: "7"})
    assert found.leader.listed.rate == UNLIMITED


def test_copies_between_log_directories_share_one_quota() -> None:
    found = quotas()
    found.configured("brokers/1", {COPIES: "7"})
    found.alter_log_dirs.record(A, False, 5, 0)
    found.alter_log_dirs.record(B, False, 5, 0)
    quota = found.alter_log_dirs.quota(B, False)
    assert quota is not None
    assert quota.is_quota_exceeded(0)


def test_kip_542_limits_added_replicas_and_counts_no_others() -> None:
    found = quotas()
    found.configured("brokers/1", {REASSIGNED: "5"})
    assert found.leader.active
    assert found.leader.quota(A, adding=False) is None
    quota = found.leader.quota(A, adding=True)
    assert quota is found.leader.reassigned
    found.leader.record(A, adding=False, size=100, now_us=0)
    assert not quota.is_quota_exceeded(0)
    found.leader.record(A, adding=True, size=100, now_us=0)
    assert quota.is_quota_exceeded(0)


def test_kip_542_a_replica_that_kip_73_lists_counts_for_that_quota_alone() -> None:
    found = quotas(t={LEADERS: "0:1"})
    found.configured("brokers/1", {REASSIGNED: "5"})
    assert found.leader.quota(A, adding=True) is found.leader.listed
    assert found.leader.quota(B, adding=True) is found.leader.reassigned


TOPICS = st.sampled_from(["t", "u"])
LISTS = st.sampled_from(["", "*", "0:1", "0:2", "0:1,1:1", "1:2,1:1", " 1:1 ,0:2"])


@given(st.lists(st.tuples(TOPICS, LISTS, LISTS), max_size=12))
def test_the_last_settings_count_against_a_plain_model(changes: list[tuple[str, str, str]]) -> None:
    found, last = quotas(), dict[str, tuple[str, str]]()
    for topic, leaders, followers in changes:
        found.configured(f"topics/{topic}", {LEADERS: leaders, FOLLOWERS: followers})
        last[topic] = (leaders, followers)
    for topic in ("t", "u"):
        for partition in (0, 1):
            for side, throttle in enumerate((found.leader, found.follower)):
                text = last.get(topic, ("", ""))[side]
                names = [name.strip() for name in text.split(",")]
                assert throttle.listed.is_throttled(TopicPartition(topic, partition)) == (
                    text == "*" or f"{partition}:1" in names
                )
    for side, throttle in enumerate((found.leader, found.follower)):
        assert throttle.active == any("*" in lists[side] or ":1" in lists[side] for lists in last.values())
