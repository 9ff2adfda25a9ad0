"""The topics of a scenario, and what they set for themselves."""

from brokers.log.config import TOPIC_NAMES
from scenarios.cluster import TopicSetup
from scenarios.language import Scenario, TopicSpec


def topic_setup(scenario: Scenario, topic: TopicSpec) -> TopicSetup:
    """A topic of ``scenario``, or one that its method creates."""
    lists = topic.replica_lists(scenario.cluster.brokers)
    sizes = [load.message_size for load in scenario.workloads if load.topic == topic.name]
    config = {name: str(value).lower() for name, value in topic.config.items()}
    return TopicSetup(topic.name, dict(enumerate(lists)), topic.size_bytes, (sizes or [1024])[0], config)


def all_topics(scenario: Scenario) -> tuple[TopicSpec, ...]:
    """The topics that exist at the start, and those that the method creates."""
    created = (entry.action.new_topic() for entry in scenario.method)
    return (*scenario.topics, *(topic for topic in created if topic is not None))


def partition_count(scenario: Scenario, name: str) -> int:
    """How many partitions the topic of that name has to begin with."""
    return next(topic.partitions for topic in all_topics(scenario) if topic.name == name)


def min_insync_replicas(scenario: Scenario) -> dict[str, int]:
    """Topic -> its own min.insync.replicas, of those that set one."""
    key = "min.insync.replicas"
    return {topic.name: int(topic.config[key]) for topic in all_topics(scenario) if key in topic.config}


def topic_logs(scenario: Scenario) -> dict[str, dict[str, str]]:
    """Topic -> what it sets for its logs, of those that set anything."""
    own = {
        topic.name: {name: str(value) for name, value in topic.config.items() if name in TOPIC_NAMES}
        for topic in all_topics(scenario)
    }
    return {name: settings for name, settings in own.items() if settings}
