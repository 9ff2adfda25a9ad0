"""Reassignments: handed to the controller, cancelled, listed, verified."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import converters, evolve, field, frozen

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.tools import reassign, reassign_and_wait, reassigned_log_dirs
from scenarios.cluster.clients.tools.adapting import Adaptation
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome
from scenarios.cluster.clients.tools.executor import ZK, Executor, carry_out
from scenarios.errors import BadInput
from scenarios.faults.operated import Executions, ExpectsError, Judge, OperatorAction, error_key
from scenarios.faults.performer import ActionContext
from scenarios.language import PROFILES, MethodEntry, Plan, Scenario
from scenarios.language.actions import action, in_words
from scenarios.language.generated import Placements
from scenarios.language.known_names import KnownNames
from scenarios.language.plan import PLAN_IN_PLACE
from scenarios.language.schema.kinds import RATE, SOME_TIME, Choice, ListOf, as_tuple
from scenarios.language.schema.table_reader import key, stated
from scenarios.language.strategies import SHAPES, PlannedMove, Throttle
from scenarios.language.topic_spec import PARTITION_NAME

API = "api"
_PARTITIONS = ListOf(PARTITION_NAME, unique=True, empty=False)
_VIA = key(
    Choice((ZK, API), "way"),
    "by /admin/reassign_partitions or by AlterPartitionReassignments; absent = as the profile's tool does",
)
_EXPECT_ERROR = error_key(
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
    Errors.REQUEST_TIMED_OUT,
    Errors.INVALID_REPLICA_ASSIGNMENT,
    Errors.REASSIGNMENT_IN_PROGRESS,
    Errors.NO_REASSIGNMENT_IN_PROGRESS,
)


def check_api(known: KnownNames, where: str) -> None:
    """Refuse a request of KIP-455 under a strategy whose controller does not have them."""
    strategy = known.scenario.strategy.parsed
    if not SHAPES[strategy.shape].api:
        having = ", ".join(shape.name for shape in SHAPES.values() if shape.api)
        raise BadInput(
            f"strategy {strategy.name!r} has no API for reassignments; strategies that have it: {having}; "
            "name one under [strategy] in the file, which is checked before --strategy applies",
            where=where,
        )


def _parsed(names: Sequence[str] | None) -> tuple[TopicPartition, ...] | None:
    return None if names is None else tuple(map(TopicPartition.parse, names))


@frozen(kw_only=True)
class OfPlan(OperatorAction):
    """An action with a plan: one of its own, or the scenario's."""

    plan: Plan | None = field(
        default=None, metadata=key(PLAN_IN_PLACE, "a plan of its own, as in [plan]; absent = [plan]")
    )
    via: str | None = field(default=None, metadata=_VIA)

    def detail(self) -> str:
        words = {key.name: in_words(key.kind.dump(value)) for key, value in stated(self)}
        if self.plan is not None:
            names = [move.name for move in self.plan.partitions]
            words["plan"] = names[0] if len(names) == 1 else f"of {len(names)} partitions"
        return ", ".join(f"{name} {value}" for name, value in words.items())

    def own_plan(self) -> Plan | None:
        return self.plan

    def with_plan(self, plan: Plan) -> OfPlan:
        return evolve(self, plan=plan)

    def check(self, known: KnownNames) -> None:
        if self.via == API:
            check_api(known, "via")
        self.check_operation(known)

    def check_operation(self, known: KnownNames) -> None:
        if self.plan is None and known.scenario.plan is None:
            raise BadInput(f"there is no plan to {self.name.removeprefix('reassign.')}; add a [plan]", where="action")

    def _plan(self, context: ActionContext) -> Plan:
        plan = self.plan or context.scenario.plan
        assert plan is not None
        return plan

    def _names_log_dirs(self, known: KnownNames) -> bool:
        plan = self.plan or known.scenario.plan
        return plan is not None and bool(plan.directories())


@action("reassign.execute", "hand the plan to the controller, as kafka-reassign-partitions.sh does")
@frozen(kw_only=True)
class ReassignExecute(OfPlan, ExpectsError):
    throttle: int | None = field(
        default=None,
        metadata=key(
            RATE,
            "set before the moves (KIP-73) and cleared by reassign.verify; absent = the strategy's, cleared at the end",
        ),
    )
    log_dirs_throttle: int | None = field(
        default=None,
        metadata=key(
            RATE, "bytes/s of each broker's copies between its log directories, until reassign.verify clears it"
        ),
    )
    give_up_after_us: int | None = field(
        default=None,
        metadata=key(
            SOME_TIME,
            "interrupt a command that waits (kafka-42's) after that time: moves that are not done are withdrawn",
            name="give_up_after",
        ),
    )
    expect_error: str | None = field(default=None, metadata=_EXPECT_ERROR)

    def place(self, placements: Placements, plan: Plan | None) -> None:
        carried_out = self.plan or plan
        if carried_out is not None:
            placements.move(carried_out)

    def sends(self, known: KnownNames) -> tuple[str, ...]:
        scenario = known.scenario
        messages: list[str] = []
        if (self.via or scenario.reassigns_by) == API:
            messages += "Metadata", "AlterPartitionReassignments"
            if not scenario.strategy.parsed.execution.at_once:
                messages.append("ListPartitionReassignments")
        if self._names_log_dirs(known):
            messages.append("AlterReplicaLogDirs")
            if scenario.strategy.limit is not None:
                messages.append("DescribeLogDirs")
        return tuple(messages)

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        """The moves that its throttle cannot let end."""
        from scenarios.language.throttle_law import never_ending  # which runs do not need

        plan = self.plan or scenario.plan
        throttle = scenario.strategy.limit if self.throttle is None else Throttle(self.throttle)
        if plan is not None and throttle is not None:
            yield from (one.words for one in never_ending(scenario, plan, throttle))

    def perform(self, context: ActionContext) -> None:
        plan, strategy = self._plan(context), context.scenario.strategy
        context.roles.final.update(plan.targets())
        via = self.via or context.scenario.reassigns_by
        order = context.cluster.world.stream("strategy", "order")
        planned = strategy.parsed.execution.sorted(_planned(context, plan), order)
        directories = plan.directories()
        judge = ended = self.judge(context)
        throttle, adaptation = strategy.limit, None
        if self.throttle is not None:
            throttle = Throttle(self.throttle)
        elif throttle is not None:
            if throttle.rule is not None:
                adaptation = Adaptation(context.cluster.world, throttle, context.performer.metric, tuple(planned))
                adaptation.begin()
                throttle = adaptation.throttle
            ended = _then_verify(context, judge, _targets(planned), via, directories, adaptation)
        executions = context.performer.memory(Executions)
        if via == ZK and any(executor.progress.waiting for executor in executions.executors):
            judge(reassign.IN_PROGRESS)
            return
        command = self._handing_over(context, planned, via, throttle, adaptation)
        if directories:
            command = (reassigned_log_dirs.around, directories, _targets(planned), self.log_dirs_throttle, *command)
        self.begin(context, *command, done=ended)

    def _handing_over(
        self, context: ActionContext, planned: Sequence[PlannedMove], via: str, throttle: Throttle | None,
        adaptation: Adaptation | None,
    ) -> tuple[Any, ...]:  # fmt: skip
        """The command, with its arguments, by which the strategy requests the moves: in parts, by a tool that waits for
        the end, or all at once."""
        strategy = context.scenario.strategy.parsed
        if not strategy.execution.at_once:
            executor = Executor.of(strategy.execution, via, planned, throttle, adaptation)
            context.performer.memory(Executions).executors.append(executor)
            return carry_out, executor
        if SHAPES[strategy.shape].tool_waits:
            return reassign_and_wait.execute_and_wait, _targets(planned), self.give_up_after_us, throttle
        return reassign.execute, _targets(planned), via, throttle


def _targets(planned: Sequence[PlannedMove]) -> dict[TopicPartition, tuple[int, ...]]:
    return {move.tp: move.target for move in planned}


def _planned(context: ActionContext, plan: Plan) -> list[PlannedMove]:
    """The plan's moves with the facts that the operator can know: the places of replicas, and the size of the topic's
    data."""
    sizes = context.scenario.sizes()
    found = []
    for place, (name, target) in enumerate(plan.targets().items()):
        tp = TopicPartition.parse(name)
        found.append(PlannedMove(tp, place, context.roles.assignment(tp), target, sizes.get(name, 0)))
    return found


def _then_verify(
    context: ActionContext, judge: Judge, moves: reassign.Plan, via: str, directories: reassigned_log_dirs.Directories,
    adaptation: Adaptation | None,
) -> Judge:  # fmt: skip
    """Judge the command, then watch the moves and clear the strategy's throttle when they are over."""
    poll_us = context.scenario.strategy.parsed.execution.poll_us

    def done(outcome: CommandOutcome) -> None:
        judge(outcome)
        context.cluster.operator.begin(reassign.verify_at_the_end, moves, via, poll_us, directories, adaptation)

    return done


@action("reassign.cancel", "cancel reassignments by the API (kip-455)")
@frozen(kw_only=True)
class ReassignCancel(ExpectsError):
    partitions: tuple[str, ...] | None = field(
        default=None,
        converter=converters.optional(as_tuple),
        metadata=key(_PARTITIONS, "whose reassignments; absent = all that are in progress"),
    )
    expect_error: str | None = field(default=None, metadata=_EXPECT_ERROR)

    def check(self, known: KnownNames) -> None:
        check_api(known, "action")

    def sends(self, known: KnownNames) -> tuple[str, ...]:
        asks_first = self.partitions is None or PROFILES[known.scenario.profile].tool == API
        lists = ("ListPartitionReassignments",) if asks_first else ()
        return ("Metadata", "AlterPartitionReassignments", *lists)

    def perform(self, context: ActionContext) -> None:
        targets = dict.fromkeys(
            broker for name in self.partitions or () for broker in context.roles.final.get(name, ())
        )
        self.begin(context, reassign.cancel, _parsed(self.partitions), targets)


@action("reassign.list", "write the reassignments in progress, as the API lists them, into the trace (kip-455)")
@frozen(kw_only=True)
class ReassignList(OperatorAction):
    partitions: tuple[str, ...] | None = field(
        default=None,
        converter=converters.optional(as_tuple),
        metadata=key(_PARTITIONS, "which partitions; absent = all"),
    )

    def check(self, known: KnownNames) -> None:
        check_api(known, "action")

    def sends(self, known: KnownNames) -> tuple[str, ...]:
        return "Metadata", "ListPartitionReassignments"

    def perform(self, context: ActionContext) -> None:
        self.begin(context, reassign.list_reassignments, _parsed(self.partitions))


@action("reassign.verify", "write the progress of the moves into the trace, and clear their throttles if all are over")
@frozen(kw_only=True)
class ReassignVerify(OfPlan):
    def sends(self, known: KnownNames) -> tuple[str, ...]:
        return ("DescribeLogDirs",) if self._names_log_dirs(known) else ()

    def perform(self, context: ActionContext) -> None:
        plan, via = self._plan(context), self.via or context.scenario.reassigns_by
        moves = {TopicPartition.parse(name): target for name, target in plan.targets().items()}
        context.cluster.operator.begin(reassign.verify, moves, via, plan.directories())
