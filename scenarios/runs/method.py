"""Carries out a method: each entry at its time, after the entry before it, or when its step or message occurs, once or
turn by turn."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from attrs import define, field

from emulator.kernel import Signal
from emulator.network import InterceptedMessage
from scenarios.cluster.cluster import Cluster
from scenarios.faults import Performer
from scenarios.faults.arming import arm
from scenarios.language import After, At, MethodEntry, Scenario, Until, When, WhenMessage, WhenZk
from scenarios.runs.waits import Waits


class Turn(NamedTuple):
    """One turn of an entry: its place in the file, in words, and what is done."""

    place: str
    entry: MethodEntry


def _turns(scenario: Scenario) -> Iterator[Turn]:
    """The turns of all entries, in order. Most entries have one."""
    for index, entry in enumerate(scenario.method):
        turns = entry.turns(scenario.cluster.brokers)
        for number, turn in enumerate(turns, start=1):
            yield Turn(f"method[{index}]" + (f" (turn {number} of {len(turns)})" if len(turns) > 1 else ""), turn)


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
    waits: Waits
    started: Signal = field(init=False)
    over: Signal = field(init=False)
    _turns: list[Turn] = field(init=False)
    _fired: list[bool] = field(init=False)
    _unfinished: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        world = self.cluster.world
        self.started = Signal(world, "the method's first action")
        self.over = Signal(world, "the method's end")
        self._turns = list(_turns(self.scenario))
        self._fired = [False] * len(self._turns)
        self._unfinished = len(self._turns)

    def begin(self) -> None:
        """Arm the triggers and set the timers."""
        if not self._turns:
            self.started.set(self.cluster.world.now)
            self.over.set()
        for index, (_, entry) in enumerate(self._turns):
            if isinstance(entry.trigger, When | WhenMessage | WhenZk):
                self._arm(index, entry, entry.trigger)
            elif isinstance(entry.trigger, At):
                self._later(max(0, entry.trigger.time_us - self.cluster.world.now), index)
            elif index == 0:
                self._follow(index, 0)

    def not_exercised(self) -> list[str]:
        """The entries that never acted, in words."""
        return [
            f"{place} {entry.name}" for (place, entry), fired in zip(self._turns, self._fired, strict=True) if not fired
        ]

    def _follow(self, index: int, busy_us: int) -> None:
        """The turn before ``index`` has acted, and is over in ``busy_us``."""
        trigger = self._turns[index].entry.trigger
        if isinstance(trigger, After):
            self._later(trigger.delay_us, index)
        elif isinstance(trigger, Until):
            self.cluster.world.call_later(max(trigger.delay_us, busy_us), self._wait, index)

    def _wait(self, index: int) -> None:
        trigger = self._turns[index].entry.trigger
        assert isinstance(trigger, Until)
        self.waits.begin(trigger.wait, lambda: self._fire(index))

    def _later(self, delay_us: int, index: int) -> None:
        self.cluster.world.call_later(delay_us, self._fire, index)

    def _arm(self, index: int, entry: MethodEntry, when: When | WhenMessage | WhenZk) -> None:
        protocol, roles = self.scenario.strategy.parsed.protocol, self.performer.roles
        stops = entry.action.acts_on_message
        arm(when, self.cluster, roles, protocol, lambda passing: self._fire(index, passing), stops=stops)

    def _fire(self, index: int, passing: InterceptedMessage | None = None) -> None:
        entry = self._turns[index].entry
        self._fired[index] = True
        self.started.set(self.cluster.world.now)
        brokers = self.performer.perform(entry, passing)
        if entry.duration_us is not None and entry.action.undo is not None:
            self.cluster.world.call_later(entry.duration_us, self._undo, (entry, brokers))
        else:
            self._done()
        if index + 1 < len(self._turns):
            self._follow(index + 1, entry.duration_us or 0)

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
