"""Texts of ``kafka-configs --describe``, release by release (ConfigCommand 0.10.2 to 3.8 and 4.0): by ZooKeeper and
by brokers, of the defaults, of things that are no topic and no broker; and throttles of some replicas only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.importing.texts import TWO, described, scenario_of

LEADERS, FOLLOWERS = "leader.replication.throttled.replicas", "follower.replication.throttled.replicas"
SYNONYMS = "sensitive=false synonyms={{{}:min.insync.replicas=2, DEFAULT_CONFIG:min.insync.replicas=1}}"
MOVING = described(
    "orders", "Leader: 1\tReplicas: 3,1,2\tIsr: 1,2\tAdding Replicas: 3\tRemoving Replicas: 1",
    "Leader: 2\tReplicas: 4,2,1\tIsr: 2,1\tAdding Replicas: 4\tRemoving Replicas: 2",
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Configs for topic 'orders' are min.insync.replicas=2\n",  # 0.10.2 to 3.x by ZooKeeper
        "Configs for topic orders are:\n  min.insync.replicas=2 " + SYNONYMS.format("DYNAMIC_TOPIC_CONFIG"),  # 2.5
        "Dynamic configs for topic orders are:\n  min.insync.replicas=2 "
        + SYNONYMS.format("DYNAMIC_TOPIC_CONFIG"),  # 4.0
        "All configs for topic orders are:\n"
        "  compression.type=producer sensitive=false synonyms={DEFAULT_CONFIG:compression.type=producer}\n"
        "  min.insync.replicas=2 " + SYNONYMS.format("DYNAMIC_TOPIC_CONFIG"),
        "Dynamic configs for topic orders are:\n  min.insync.replicas=2\n",  # without its marks, as a wiki keeps it
    ],
)
def test_a_setting_of_a_topic_is_read_in_each_form(text: str, tmp_path: Path) -> None:
    scenario, _ = scenario_of(tmp_path, topics=TWO, configs=text)
    assert scenario.topics[0].config == {"min.insync.replicas": 2}


@pytest.mark.parametrize(
    "text",
    [
        "Configs for default brokers are min.insync.replicas=2\n",  # 2.3 by ZooKeeper
        "Configs for brokers '<default>' are min.insync.replicas=2\n",  # 1.1 by ZooKeeper
        "Default config for brokers in the cluster are:\n  min.insync.replicas=2 "
        + SYNONYMS.format("DYNAMIC_DEFAULT_BROKER_CONFIG"),  # 1.1 to 2.4
        "Default configs for brokers in the cluster are:\n  min.insync.replicas=2 "
        + SYNONYMS.format("DYNAMIC_DEFAULT_BROKER_CONFIG"),  # 2.5 to 4.0
        "Dynamic configs for broker 1 are:\n  min.insync.replicas=2 "
        + SYNONYMS.format("DYNAMIC_DEFAULT_BROKER_CONFIG"),
    ],
)
def test_a_default_of_all_brokers_is_read_in_each_form(text: str, tmp_path: Path) -> None:
    assert scenario_of(tmp_path, topics=TWO, configs=text)[0].cluster.config == {"min.insync.replicas": 2}


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("Dynamic configs for broker-logger 1 are:", "broker-logger 1"),
        ("Dynamic configs for group readers are:", "group readers"),
        ("Dynamic configs for client-metric watch are:", "client-metric watch"),
        (
            "Quota configs for user-principal 'ann', client-id 'a' are consumer_byte_rate=1",
            "user-principal 'ann', cl",
        ),
        ("Quota configs for the default user-principal are producer_byte_rate=1", "default user-principal"),
        ("SCRAM credential configs for user-principal 'ann' are SCRAM-SHA-256=iterations=4096", "user-principal 'ann'"),
    ],
)
def test_settings_of_other_things_are_left_out_and_change_nothing(heading: str, words: str, tmp_path: Path) -> None:
    """2.6 to 4.0; log levels of a broker look like its settings."""
    configs = (
        "Dynamic configs for topic orders are:\n" + heading + "\n  min.insync.replicas=2 sensitive=false synonyms={}\n"
    )
    scenario, text = scenario_of(tmp_path, topics=TWO, configs=configs)
    assert not scenario.topics[0].config
    assert "min.insync.replicas" not in scenario.cluster.config
    assert f"settings of {words}" in text


def rates(leader: int = 0, follower: int = 0, broker: str = "1") -> str:
    """Rates as kafka-configs prints them by ZooKeeper."""
    sides = {"leader": leader, "follower": follower}
    stated = ",".join(f"{side}.replication.throttled.rate={rate}" for side, rate in sides.items() if rate)
    return f"Configs for brokers '{broker}' are {stated}\n"


def test_a_rate_that_is_a_default_of_all_brokers_has_no_effect(tmp_path: Path) -> None:
    """BrokerConfigHandler takes rates of the broker's own node alone, 1.1 to 3.8."""
    configs = rates(1000, 1000, "<default>")
    scenario, text = scenario_of(tmp_path, topics=MOVING, configs=configs)
    assert scenario.strategy.throttle is None
    assert not scenario.cluster.config
    assert (
        "set for all brokers, where it has no effect before 3.9, and left out: follower.replication.throttled.rate"
        in text
    )


@pytest.mark.parametrize(
    ("lists", "free"),
    [
        ({LEADERS: "0:1,0:2,1:2,1:1", FOLLOWERS: "0:3,1:4"}, ""),
        ({LEADERS: "*"}, ""),
        ({FOLLOWERS: "*"}, ""),
        ({LEADERS: "0:1"}, "orders-1 on 4"),
        ({FOLLOWERS: "1:4"}, "orders-0 on 3"),
        ({LEADERS: "0:2,1:2"}, "orders-0 on 3"),  # broker 2 does not lead partition 0
    ],
)
def test_replicas_that_no_list_holds_back_are_named(lists: dict[str, str], free: str, tmp_path: Path) -> None:
    listed = ",".join(f"{name}={value}" for name, value in lists.items())
    scenario, text = scenario_of(
        tmp_path, topics=MOVING.replace("Configs: ", f"Configs: {listed}"), configs=rates(1_000_000, 1_000_000)
    )
    assert scenario.strategy.throttle == 1_000_000
    words = "1 replica being copied that no list of throttled replicas holds back there, and the plan's throttle does "
    assert (f"{words}here: {free}" in text) if free else ("that no list of throttled" not in text)


def test_a_rate_without_lists_throttles_nothing(tmp_path: Path) -> None:
    scenario, text = scenario_of(tmp_path, topics=MOVING, configs=rates(1_000_000, 1_000_000))
    assert scenario.strategy.throttle is None
    assert "no topic lists a replica being copied: nothing holds them back, and the plan has no throttle" in text


@pytest.mark.parametrize("side", ["leader", "follower"])
def test_a_rate_of_one_side_is_named(side: str, tmp_path: Path) -> None:
    listed = f"Configs: {side}.replication.throttled.replicas=*"
    configs = rates(1000) if side == "leader" else rates(0, 1000)
    scenario, text = scenario_of(tmp_path, topics=MOVING.replace("Configs: ", listed), configs=configs)
    assert scenario.strategy.throttle == 1000
    assert f"only the {side}s' rate is set there; the plan's throttle is for both sides" in text


def test_lists_of_a_topic_that_does_not_move_stay(tmp_path: Path) -> None:
    topics = MOVING.replace("Configs: ", f"Configs: {LEADERS}=*") + described(
        "still", "Leader: 1\tReplicas: 1,2\tIsr: 1,2", configs=f"{FOLLOWERS}=0:2"
    )
    scenario, text = scenario_of(tmp_path, topics=topics, configs=rates(1000, 1000))
    orders, still = scenario.topics
    assert not orders.config
    assert still.config == {FOLLOWERS: "0:2"}
    assert text.count("is left out: the plan's throttle lists the replicas again") == 1
