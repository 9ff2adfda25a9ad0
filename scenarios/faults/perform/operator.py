"""What the operator is made to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.protocol.types import TopicPartition
from scenarios.clients.tools import reassign, topics
from scenarios.cluster import TopicSetup
from scenarios.model import MethodEntry

if TYPE_CHECKING:
    from scenarios.faults.actions import Actions, Brokers


def execute_plan(actions: Actions, _entry: MethodEntry, _brokers: Brokers) -> None:
    plan = actions.scenario.plan
    assert plan is not None
    moves = {TopicPartition.parse(name): replicas for name, replicas in plan.targets().items()}

    def done(accepted: object) -> None:
        if not accepted:
            actions.refused.append("reassign.execute: another reassignment is in progress")

    actions.cluster.operator.begin(reassign.execute, moves, done=done)


def create_topic(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    topic: TopicSetup = actions.make_topic(actions.scenario, entry.param("topic"))
    actions.cluster.operator.begin(topics.create, topic.name, topic.assignment, topic.config)
