"""Faulty machines: their clocks are wrong, or their processors have too much to do."""

from __future__ import annotations

from typing import NamedTuple

from attrs import define, field, frozen

from emulator.nodes import Node, Process
from emulator.protocol.events import ClockSet
from scenarios.errors import BadInput
from scenarios.faults.performer import ActionContext, Memory, PerformedAction
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import SIGNED_DURATION, Number
from scenarios.language.schema.spans import Span
from scenarios.language.schema.table_reader import key

DRIFT_STEP_US = 100_000
"""The period in which a drifting clock is changed a little."""

PERIODS_US = Span(50_000, 150_000)
"""The length of the periods in which a machine gets its share of CPU time, drawn each time. Linux gives a container its
quota in each 100 ms (cpu.cfs_period_us); periods of one length would keep step with other periodic work."""


class Drift(NamedTuple):
    """The drift of a clock that is too fast or too slow: its beginning, the error then, and the rate."""

    since_us: int
    from_us: int
    rate: float


@define(eq=False)
class Drifts(Memory):
    """The drifts of clocks, by machine."""

    of: dict[int, Drift] = field(factory=dict)


def _drift_on(context: ActionContext, broker: int, drift: Drift) -> None:
    """Let the clock drift on, until the machine has another drift, or none."""
    node, world, drifts = context.cluster.nodes[broker], context.cluster.world, context.performer.memory(Drifts).of

    def advance(_: object) -> None:
        if drifts.get(broker) is drift:
            node.skew_us = drift.from_us + round((world.now - drift.since_us) * drift.rate)
            world.call_later(DRIFT_STEP_US, advance, None, True)

    drifts[broker] = drift
    world.call_later(DRIFT_STEP_US, advance, None, True)


def _set_right(context: ActionContext, broker: int) -> None:
    context.performer.memory(Drifts).of.pop(broker, None)
    _set(context, broker, 0)


def _set(context: ActionContext, broker: int, skew_us: int) -> None:
    """Set the clock ahead of the right time by ``skew_us``."""
    node = context.cluster.nodes[broker]
    before = node.skew_us
    if before != skew_us:
        node.skew_us = skew_us
        context.cluster.trace.emit(ClockSet, broker, before, skew_us)


@frozen(kw_only=True)
class OnMachines(PerformedAction):
    takes_target = True


@action("broker.clock_sync", "set the clock of the broker's machine right, at once")
@frozen(kw_only=True)
class BrokerClockSync(OnMachines):
    def perform(self, context: ActionContext) -> None:
        for broker in context.brokers:
            _set_right(context, broker)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        for broker in filter(context.heals, context.cluster.nodes):
            _set_right(context, broker)


@action(
    "broker.clock",
    "make the clock of the broker's machine wrong: what Kafka measures by the time of day goes wrong with it",
    undo=BrokerClockSync,
)
@frozen(kw_only=True)
class BrokerClock(OnMachines):
    offset_us: int | None = field(
        default=None,
        metadata=key(SIGNED_DURATION, "set it so far ahead of the right time; negative: behind it", name="offset"),
    )
    step_us: int | None = field(
        default=None, metadata=key(SIGNED_DURATION, "move it so far ahead of where it is, or back", name="step")
    )
    drift: float | None = field(
        default=None, metadata=key(Number(-0.9, 10), "seconds that it gains in each second; 0.0001 is a bad clock")
    )

    def check(self, known: KnownNames) -> None:
        if self.offset_us is None and self.step_us is None and self.drift is None:
            raise BadInput('the clock stays right; write offset, step or drift, such as step = "-30s"')
        if self.offset_us is not None and self.step_us is not None:
            raise BadInput("an offset sets the clock, a step moves it; keep one", where="step")

    def perform(self, context: ActionContext) -> None:
        drifts = context.performer.memory(Drifts).of
        for broker in context.brokers:
            node, before = context.cluster.nodes[broker], drifts.pop(broker, None)
            _set(context, broker, (node.skew_us if self.offset_us is None else self.offset_us) + (self.step_us or 0))
            rate = self.drift if self.drift is not None else before.rate if before is not None else 0
            if rate:
                _drift_on(context, broker, Drift(context.cluster.world.now, node.skew_us, rate))


# -- processors -------------------------------------------------------------------------------------------------------


@define(eq=False)
class CpuThrottle:
    """A machine whose processes get a share of the CPU time: in each period all tasks, timers and deliveries wait, and
    run for that share of it, as in a container that has used up its quota, or beside a busy neighbour."""

    node: Node
    share: float
    over: bool = False
    _process: Process | None = None

    def begin(self) -> None:
        self.node.slowness = round(1 / self.share)
        self._stop(None)

    def end(self) -> None:
        self.over = True
        self.node.slowness = 1
        self._let_go()

    def _run(self, run_us: int) -> None:
        self._let_go()
        if not self.over:
            self.node.world.call_later(run_us, self._stop, None, True)

    def _stop(self, _: object) -> None:
        if self.over:
            return
        period_us = PERIODS_US.draw(self.node.world.stream("cpu", self.node.name))
        process = self.node.process
        if process is not None and process.alive:
            process.throttle()
            self._process = process
        run_us = max(1, round(period_us * self.share))
        self.node.world.call_later(period_us - run_us, self._run, run_us, True)

    def _let_go(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.alive:
            process.unthrottle()


@define(eq=False)
class CpuThrottles(Memory):
    """The machines whose CPU time is limited."""

    of: dict[int, CpuThrottle] = field(factory=dict)

    def end(self, broker: int) -> None:
        throttle = self.of.pop(broker, None)
        if throttle is not None:
            throttle.end()


@action("broker.fast", "undo broker.slow")
@frozen(kw_only=True)
class BrokerFast(OnMachines):
    def perform(self, context: ActionContext) -> None:
        for broker in context.brokers:
            context.performer.memory(CpuThrottles).end(broker)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        throttles = context.performer.memory(CpuThrottles)
        for broker in list(filter(context.heals, throttles.of)):
            throttles.end(broker)


@action(
    "broker.slow",
    "give the broker's machine a share of its CPU time only: everything that the broker does takes longer",
    undo=BrokerFast,
)
@frozen(kw_only=True)
class BrokerSlow(OnMachines):
    cpu: float = field(metadata=key(Number(0.01, 0.99), "the share: 0.1 = 10 ms in 100 ms, on the average"))

    def perform(self, context: ActionContext) -> None:
        throttles = context.performer.memory(CpuThrottles)
        for broker in context.brokers:
            throttles.end(broker)
            throttle = throttles.of[broker] = CpuThrottle(context.cluster.nodes[broker], self.cpu)
            throttle.begin()
