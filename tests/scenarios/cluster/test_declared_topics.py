"""Topics that ``validate`` accepts are those that CreateTopics accepts; a topic that Kafka refuses fails the run."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brokers.config_def import TOPIC_CONFIGS
from emulator.protocol.configs import ConfigType, as_text
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.errors import Errors
from scenarios.cluster.cluster import Cluster
from scenarios.errors import BadInput
from scenarios.language import Scenario, TopicSpec
from scenarios.language.kafka_settings import TOPIC_SETTINGS
from scenarios.testing import in_virtual_time
from scenarios.testing.instance import ClusterInstance
from tests.scenarios.cluster.asking import Ask, asking
from tests.scenarios.language.builders import built
from tests.scenarios.runs.building import play, scenario

STAMPED = "message.timestamp.type"
EDGES = (-(2**63), -(2**31) - 1, -2, -1, 0, 1, 13, 14, 2**31 - 1, 2**31, 5_000_000_000, 2**63 - 1, 2**63)


def values(name: str) -> st.SearchStrategy[Any]:
    """Values of the type that TOML gives such a setting, near the limits of every other, right and wrong."""
    kind = TOPIC_CONFIGS[name].type
    if kind is ConfigType.BOOLEAN:
        return st.booleans()
    if kind is ConfigType.STRING:
        return st.sampled_from([*TOPIC_CONFIGS[name].choices, "logappendtime", "CREATETIME", ""])
    if kind is ConfigType.LIST:
        return st.one_of(st.text("0123:,* a", max_size=8), st.sampled_from(["*", "0:1,0:2", " 0:1 , 1:0", "*,0:1"]))
    return st.sampled_from(EDGES) | st.integers(-20, 20)


CONFIGS = st.sampled_from(sorted(TOPIC_SETTINGS)).flatmap(lambda name: st.fixed_dictionaries({name: values(name)}))
NAMES = st.text("ab._- é/", min_size=1, max_size=4) | st.sampled_from([".", "..", "a.b", "a_b", "n" * 249, "n" * 250])


def accepts(topics: list[dict[str, Any]]) -> bool:
    """Whether a scenario file may have these topics."""
    try:
        Scenario.from_table({"title": "topics", "cluster": {"brokers": 1}, "topics": topics})
    except BadInput:
        return False
    return True


def created(topics: list[dict[str, Any]]) -> list[Errors]:
    """The answers of CreateTopics for each of them, one after the other."""

    async def drive(ask: Ask, _: Cluster) -> Any:
        answers = []
        for topic in topics:
            config = {name: as_text(value) for name, value in topic.get("config", {}).items()}
            request = CreateTopicsRequest((NewTopic(topic["name"], -1, -1, {0: (0,)}, config),), 10_000_000)
            answers.append((await ask(request)).topics[0].error.code)
        return answers

    found: list[Errors] = asking(drive)
    return found


@given(CONFIGS)
@example({STAMPED: "LogAppendTime"})
@example({"segment.bytes": 5_000_000_000})
@settings(max_examples=30, deadline=None)
def test_validate_takes_the_settings_of_a_topic_that_create_topics_takes(config: dict[str, Any]) -> None:
    topics = [{"name": "t", "assignment": [[0]], "config": config}]
    assert accepts(topics) == (created(topics) == [Errors.NONE])


@given(st.lists(NAMES, min_size=1, max_size=3))
@example(["a.b", "a_b"])
@settings(max_examples=25, deadline=None)
def test_validate_takes_the_names_of_topics_that_create_topics_takes(names: list[str]) -> None:
    topics = [{"name": name, "assignment": [[0]]} for name in names]
    assert accepts(topics) == (set(created(topics)) == {Errors.NONE})


def test_a_topic_that_kafka_refuses_is_refused_before_the_run() -> None:
    topics = [{"name": "a.b"}, {"name": "a_b"}, {"name": "t", "config": {"segment.bytes": 5_000_000_000}}]
    with pytest.raises(BadInput, match="integer from 14 to 2147483647"):
        Scenario.from_table({"title": "topics", "cluster": {"brokers": 3}, "topics": topics[2:]})
    with pytest.raises(BadInput, match=r"topics.1..name: topic 'a_b' collides with 'a.b'"):
        Scenario.from_table({"title": "topics", "cluster": {"brokers": 3}, "topics": topics[:2]})
    with pytest.raises(BadInput, match="did you mean 'LogAppendTime'"):
        scenario(topic_config={STAMPED: "logappendtime"})


def test_a_topic_s_timestamp_type_is_what_the_file_says() -> None:
    played = play(scenario(topic_config={STAMPED: "LogAppendTime"}, horizon="20s"))
    assert played.run.passed, played.run.explanation
    assert played.run.metrics["acked_batches"]
    policies = played.stage.cluster.brokers[0].replicas.policies
    assert policies.log_config("orders").timestamp_type == "LogAppendTime"


def refused() -> Scenario:
    """With a value that was put past the checks of files and classes, so that the controller is the one to refuse."""
    topic = TopicSpec(name="orders", assignment=[[0, 1, 2], [1, 2, 3]])
    topic.config["segment.bytes"] = 5_000_000_000
    return evolve(built(), topics=[topic], plan=None, method=[])


def test_a_declared_topic_that_kafka_refuses_fails_the_run() -> None:
    run = play(refused()).run
    assert (run.verdict, run.reason) == ("failed", "not exercised")
    said = " ".join(run.explanation.split())
    assert "topic 'orders' was not created: Invalid value 5000000000 for configuration segment.bytes" in said
    assert "workloads[0]: there was never a topic 'orders'" in run.explanation


@in_virtual_time
async def test_a_test_s_cluster_does_not_start_without_its_topic() -> None:
    with pytest.raises(BadInput, match=r"5000000000 .*INVALID_CONFIG"):
        async with ClusterInstance(refused()):
            pass


def test_a_load_whose_topic_is_never_made_fails_the_run() -> None:
    never = {"metric": "offline_partitions", "above": 0}
    made = {"when": never, "action": "topic.create", "topic": {"name": "late"}, "optional": True}
    load = {"topic": "late", "producerRate": 10, "stop": "5s"}
    run = play(scenario(rate=0, method=[made], workloads=[load], horizon="20s")).run
    assert run.reason == "not exercised"
    assert "workloads[0]: there was never a topic 'late'" in run.explanation
