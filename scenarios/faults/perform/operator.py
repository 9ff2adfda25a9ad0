"""What the operator is made to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS
from scenarios.clients.tools import configs, elections, reassign, reassign_and_wait, topics
from scenarios.clients.tools.executor import ZK, Executor, carry_out
from scenarios.clients.tools.outcome import Outcome
from scenarios.cluster import TopicSetup
from scenarios.model import PROFILES, WAITED_FOR, MethodEntry, Plan
from scenarios.strategies import PlannedMove

if TYPE_CHECKING:
    from scenarios.faults.actions import Actions, Brokers


def execute_plan(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    plan = entry.param("plan") or actions.scenario.plan
    assert plan is not None
    actions.roles.final.update(plan.targets())
    via = entry.param("via") or actions.scenario.reassigns_by
    strategy, operator = actions.scenario.strategy.parsed, actions.cluster.operator
    execution = strategy.execution
    planned = execution.sorted(_planned(actions, plan), actions.cluster.world.stream("strategy", "order"))
    moves, judge = {move.tp: move.target for move in planned}, _judge(actions, entry)
    if via == ZK and any(executor.progress.waiting for executor in actions.executors):
        judge(reassign.IN_PROGRESS)
    elif not execution.at_once:
        executor = Executor.of(execution, via, planned)
        actions.executors.append(executor)
        operator.begin(carry_out, executor, done=judge)
    elif strategy.protocol in WAITED_FOR:
        operator.begin(reassign_and_wait.execute_and_wait, moves, entry.param("give_up_after"), done=judge)
    else:
        operator.begin(reassign.execute, moves, via, done=judge)


def _planned(actions: Actions, plan: Plan) -> list[PlannedMove]:
    """The plan's moves with what the operator can know of them: where the replicas stand and what the topic held."""
    sizes = {topic.name: topic.size_bytes for topic in actions.scenario.topics}
    found = []
    for place, (name, target) in enumerate(plan.targets().items()):
        tp = TopicPartition.parse(name)
        found.append(PlannedMove(tp, place, actions.roles.assignment(tp), target, sizes.get(tp.topic, 0)))
    return found


def cancel_moves(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    actions.cluster.operator.begin(reassign.cancel, _partitions(entry), done=_judge(actions, entry))


def list_moves(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    actions.cluster.operator.begin(reassign.list_reassignments, _partitions(entry), done=_judge(actions, entry))


def _partitions(entry: MethodEntry) -> tuple[TopicPartition, ...] | None:
    names = entry.param("partitions")
    return None if names is None else tuple(map(TopicPartition.parse, names))


def _judge(actions: Actions, entry: MethodEntry) -> Callable[[Outcome], None]:
    """What was refused goes into the verdict, unless it was refused as the entry expects."""
    expects = entry.spec.parameter("expect_error") is not None
    wanted = entry.param("expect_error") if expects else None

    def done(outcome: Outcome) -> None:
        actions.refused += [
            f"{entry.action}: {line}"
            for line, (_, error) in zip(outcome.lines, outcome.errors, strict=True)
            if error.name != wanted
        ]
        if wanted is not None and all(error.name != wanted for _, error in outcome.errors):
            actions.refused.append(f"{entry.action}: {wanted} was expected and not answered")

    return done


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
    via = entry.param("via") or PROFILES[actions.scenario.profile].election_tool
    command = elections.by_api if via == "api" else elections.by_znode
    actions.cluster.operator.begin(command, _partitions(entry), done=_judge(actions, entry))


def set_config(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    topic = entry.param("topic")
    entity = ALL_BROKERS if topic is None else f"topics/{topic}"
    settings = {name: str(value).lower() for name, value in entry.param("config").items()}
    actions.cluster.operator.begin(configs.alter, entity, settings)
