"""Carries out a method: each entry at its time, after the entry before it, or when its step or message occurs."""

from typing import Any

from attrs import define, field

from emulator.kernel import Signal
from emulator.network import InterceptedMessage
from scenarios.cluster.cluster import Cluster
from scenarios.faults import Performer
from scenarios.faults.arming import arm
from scenarios.language import After, At, MethodEntry, Scenario, When, WhenMessage, WhenZk


@define(eq=False)
class Method:
    """The method of one run.

    Attributes:
        started: set with the virtual time of the first action.
        over: set when every entry has acted and every duration has ended.
    """

    scenario: Scenario
    cluster: Cluster
    performer: Performer
    started: Signal = field(init=False)
    over: Signal = field(init=False)
    _fired: list[bool] = field(init=False)
    _unfinished: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        world = self.cluster.world
        self.started = Signal(world, "the method's first action")
        self.over = Signal(world, "the method's end")
        self._fired = [False] * len(self.scenario.method)
        self._unfinished = len(self.scenario.method)

    def begin(self) -> None:
        """Arm the triggers and set the timers."""
        if not self.scenario.method:
            self.started.set(self.cluster.world.now)
            self.over.set()
        for index, entry in enumerate(self.scenario.method):
            if isinstance(entry.trigger, When | WhenMessage | WhenZk):
                self._arm(index, entry, entry.trigger)
            elif isinstance(entry.trigger, At):
                self._later(max(0, entry.trigger.time_us - self.cluster.world.now), index)
            elif isinstance(entry.trigger, After) and index == 0:
                self._later(entry.trigger.delay_us, index)

    def not_exercised(self) -> list[str]:
        """The entries that never acted, in words."""
        return [
            f"method[{index}] {entry.name}"
            for index, (entry, fired) in enumerate(zip(self.scenario.method, self._fired, strict=True))
            if not fired
        ]

    def _later(self, delay_us: int, index: int) -> None:
        self.cluster.world.call_later(delay_us, self._fire, index)

    def _arm(self, index: int, entry: MethodEntry, when: When | WhenMessage | WhenZk) -> None:
        protocol, roles = self.scenario.strategy.parsed.protocol, self.performer.roles
        stops = entry.action.acts_on_message
        arm(when, self.cluster, roles, protocol, lambda passing: self._fire(index, passing), stops=stops)

    def _fire(self, index: int, passing: InterceptedMessage | None = None) -> None:
        entry = self.scenario.method[index]
        self._fired[index] = True
        self.started.set(self.cluster.world.now)
        brokers = self.performer.perform(entry, passing)
        if entry.duration_us is not None and entry.action.undo is not None:
            self.cluster.world.call_later(entry.duration_us, self._undo, (entry, brokers))
        else:
            self._done()
        follower = index + 1
        if follower < len(self.scenario.method):
            trigger = self.scenario.method[follower].trigger
            if isinstance(trigger, After):
                self._later(trigger.delay_us, follower)

    def _undo(self, effect: tuple[MethodEntry, tuple[int, ...]]) -> None:
        self.performer.undo(*effect)
        self._done()

    def _done(self) -> None:
        self._unfinished -= 1
        if not self._unfinished:
            self.over.set()

    async def roll_back(self) -> None:
        """Do the rollbacks, in order; ``after`` waits for that time first."""
        for entry in self.scenario.rollbacks:
            trigger: Any = entry.trigger
            if isinstance(trigger, After):
                await self.cluster.world.sleep(trigger.delay_us)
            self.performer.perform(entry)
