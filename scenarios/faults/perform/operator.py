"""What the operator is made to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS, broker_entity, topic_entity
from scenarios.cluster import TopicSetup
from scenarios.cluster.clients.tools import configs, elections, log_dirs, reassign, reassign_and_wait, topics
from scenarios.cluster.clients.tools.executor import ZK, Executor, carry_out
from scenarios.cluster.clients.tools.outcome import Outcome
from scenarios.language import PROFILES, MethodEntry, Plan
from scenarios.language.strategies import SHAPES, PlannedMove, Throttle

if TYPE_CHECKING:
    from scenarios.faults.actions import Actions, Brokers


def execute_plan(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    plan, strategy = _plan(actions, entry), actions.scenario.strategy
    actions.roles.final.update(plan.targets())
    via = entry.param("via") or actions.scenario.reassigns_by
    order = actions.cluster.world.stream("strategy", "order")
    planned = strategy.parsed.execution.sorted(_planned(actions, plan), order)
    directories = plan.directories()
    judge = ended = _judge(actions, entry)
    throttle = strategy.limit
    if entry.param("throttle") is not None:
        throttle = Throttle(entry.param("throttle"))
    elif throttle is not None:
        moves = {move.tp: move.target for move in planned}
        ended = _then_verify(actions, judge, moves, via, directories)
    if via == ZK and any(executor.progress.waiting for executor in actions.executors):
        judge(reassign.IN_PROGRESS)
        return
    command = _handing_over(actions, entry, planned, via, throttle)
    if directories:
        command = (log_dirs.around, directories, entry.param("log_dirs_throttle"), *command)
    actions.cluster.operator.begin(*command, done=ended)


def _handing_over(
    actions: Actions, entry: MethodEntry, planned: Sequence[PlannedMove], via: str, throttle: Throttle | None
) -> tuple[Any, ...]:
    """The command, with its arguments, by which the strategy hands the moves over: little by little, by a tool that
    waits for the end, or all at once."""
    strategy = actions.scenario.strategy.parsed
    if not strategy.execution.at_once:
        executor = Executor.of(strategy.execution, via, planned, throttle)
        actions.executors.append(executor)
        return carry_out, executor
    moves = {move.tp: move.target for move in planned}
    if SHAPES[strategy.shape].tool_waits:
        return reassign_and_wait.execute_and_wait, moves, entry.param("give_up_after"), throttle
    return reassign.execute, moves, via, throttle


def _then_verify(
    actions: Actions,
    judge: Callable[[Outcome], None],
    moves: reassign.Plan,
    via: str,
    directories: log_dirs.Directories,
) -> Callable[[Outcome], None]:
    """Whose strategy has a throttle keeps an eye on the moves, and has it cleared when they are over."""
    poll_us = actions.scenario.strategy.parsed.execution.poll_us

    def done(outcome: Outcome) -> None:
        judge(outcome)
        actions.cluster.operator.begin(reassign.verify_at_the_end, moves, via, poll_us, directories)

    return done


def verify_moves(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    via = entry.param("via") or actions.scenario.reassigns_by
    plan = _plan(actions, entry)
    moves = {TopicPartition.parse(name): target for name, target in plan.targets().items()}
    actions.cluster.operator.begin(reassign.verify, moves, via, plan.directories())


def _plan(actions: Actions, entry: MethodEntry) -> Plan:
    plan: Plan | None = entry.param("plan") or actions.scenario.plan
    assert plan is not None
    return plan


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
    judge = _judge(actions, entry)
    actions.cluster.operator.begin(topics.create, topic.name, topic.assignment, topic.config, done=judge)


def delete_topic(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    name = entry.param("topic")
    actions.cluster.operator.begin(topics.delete, name, done=_judge(actions, entry))


def expand_topic(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    name, moving = entry.param("topic"), actions.cluster.setup.moves_forbid_expansion
    actions.cluster.operator.begin(
        topics.expand, name, entry.param("partitions"), entry.param("assignment"), moving,
        done=_judge(actions, entry),
    )  # fmt: skip


def elect_preferred(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    via = entry.param("via") or PROFILES[actions.scenario.profile].election_tool
    command = elections.by_api if via == "api" else elections.by_znode
    actions.cluster.operator.begin(command, _partitions(entry), done=_judge(actions, entry))


def set_config(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    topic, brokers = entry.param("topic"), entry.param("brokers")
    entities = [ALL_BROKERS if topic is None else topic_entity(topic)]
    if brokers is not None:
        entities = [broker_entity(broker) for broker in actions.roles.find(brokers)]
        if not entities:
            actions.refuse_nobody(entry, brokers)
    settings = {name: str(value).lower() for name, value in (entry.param("config") or {}).items()}
    actions.cluster.operator.begin(configs.alter, entities, settings, entry.param("remove") or ())
