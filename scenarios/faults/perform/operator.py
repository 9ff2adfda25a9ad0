"""What the operator is made to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS
from scenarios.clients.tools import configs, elections, reassign, topics
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
    done = _answered(actions, f"topic.create {topic.name}")
    actions.cluster.operator.begin(topics.create, topic.name, topic.assignment, topic.config, done=done)


def delete_topic(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    name = entry.param("topic")
    actions.cluster.operator.begin(topics.delete, name, done=_answered(actions, f"topic.delete {name}"))


def expand_topic(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    name, moving = entry.param("topic"), actions.cluster.setup.moves_forbid_expansion
    actions.cluster.operator.begin(
        topics.expand, name, entry.param("partitions"), entry.param("assignment"), moving,
        done=_answered(actions, f"topic.expand {name}"),
    )  # fmt: skip


def _answered(actions: Actions, what: str) -> Callable[[object], None]:
    """Whoever was refused has not done what the method says."""

    def done(error: object) -> None:
        assert isinstance(error, Errors)
        if error is not Errors.NONE:
            actions.refused.append(f"{what}: {error.name}")

    return done


def elect_preferred(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    names = entry.param("partitions")

    def done(accepted: object) -> None:
        if not accepted:
            actions.refused.append("election.preferred: another preferred election is in progress")

    wanted = None if names is None else tuple(map(TopicPartition.parse, names))
    actions.cluster.operator.begin(elections.prefer, wanted, done=done)


def set_config(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    topic = entry.param("topic")
    entity = ALL_BROKERS if topic is None else f"topics/{topic}"
    settings = {name: str(value).lower() for name, value in entry.param("config").items()}
    actions.cluster.operator.begin(configs.alter, entity, settings)
