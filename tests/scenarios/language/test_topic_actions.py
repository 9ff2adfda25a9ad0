"""Topics that a method deletes, makes again and expands: what may be said of them, and that it reads back."""

import tomllib

from scenarios.faults.actions.topic_actions import TopicExpand
from scenarios.language import Scenario, scenario_json_schema
from tests.scenarios.language.builders import small_and
from tests.scenarios.language.json_schema import violations

AGAIN = small_and(
    "[[method]]", 'at = "5s"', 'action = "topic.delete"', 'topic = "orders"',
    "[[method]]", 'at = "9s"', 'action = "topic.create"', 'topic = { name = "orders", replication_factor = 2 }',
    "[[method]]", 'at = "10s"', 'action = "topic.expand"', 'topic = "orders"', "partitions = 3",
    "assignment = [[3, 4], [4, 5]]",
    "[[method]]", 'at = "11s"', 'action = "topic.expand"', 'topic = "orders"', "partitions = 4",
    "[[method]]", 'when = { step = "delete.answer", topic = "orders", broker = 2 }', 'action = "controller.crash"',
    "[[expect]]", 'assignment = { "orders-3" = [] }',
    "[[expect]]", 'leader = { "orders-2" = 4 }',
)  # fmt: skip


def test_a_topic_can_come_back_with_another_shape() -> None:
    """Its partitions are known up to the most that it ever has; replication is that of the new one."""
    scenario = Scenario.loads(AGAIN)
    assert Scenario.loads(scenario.to_toml()) == scenario
    assert [entry.action.partitions for entry in scenario.method if isinstance(entry.action, TopicExpand)] == [3, 4]
    assert scenario.expect[0].assignment == {"orders-3": ()}


def test_it_fits_the_schema() -> None:
    schema = scenario_json_schema()
    assert violations(tomllib.loads(AGAIN), schema, schema) == []
