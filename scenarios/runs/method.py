"""Carries out a method: each entry at its time, after the entry before it, or when its step or message occurs, once or
turn by turn."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from attrs import define, field

from emulator.kernel import Signal, Timer, World
from emulator.network import InterceptedMessage
from emulator.protocol.events import Drawn
from scenarios.cluster.cluster import Cluster
from scenarios.errors import BadInput
from scenarios.faults import Performer
from scenarios.faults.addresses import Addresses
from scenarios.faults.arming import Disarm, Fire, arm
from scenarios.faults.performer import ActionContext
from scenarios.language import After, At, MethodEntry, Scenario, Until, WhenFault, WhenMetric
from scenarios.language.entries import Branch
from scenarios.language.schema.spans import certain
from scenarios.language.triggers import CONDITIONS, ISR_FULL, MOVES_DONE, Condition
from scenarios.runs.waits import Waits
from scenarios.units import format_duration


class Turn(NamedTuple):
    """One turn of an entry.

    Attributes:
        place: place in the file, in words.
        entry: the entry of the method: action or check.
        address: names the streams that it draws from.
        optional: whether it may never act: so may what follows an optional one.
        drawn: values drawn for it, by the keys of the file.
        number: the number of the entry in its method, and the method that it is of: 0, or that of the n-th branch.
    """

    place: str
    entry: MethodEntry
    address: str
    optional: bool
    drawn: Mapping[str, int]
    number: tuple[int, int] = (0, 0)


def _turns(
    method: Sequence[MethodEntry], brokers: Sequence[int], world: World, where: str = "method", of: int = 0
) -> Iterator[Turn]:
    """The turns of all entries, in order, with values for their ranges. Most entries have one."""
    addresses, optional = Addresses(), False
    for index, entry in enumerate(method):
        turns, address = entry.turns(brokers), addresses.of(entry)
        for number, turn in enumerate(turns, start=1):
            place = f"{where}[{index}]" + (f" (turn {number} of {len(turns)})" if len(turns) > 1 else "")
            optional = entry.optional or (optional and isinstance(turn.trigger, After | Until))
            own = f"{address}/{number}"
            drawn = {key: span.draw(world.stream("moments", f"{own}/{key}")) for key, span in turn.ranges.items()}
            yield Turn(place, turn.with_values(drawn) if drawn else turn, own, optional, drawn, (index, of))


@define(eq=False)
class Method:
    """The method of one run.

    Attributes:
        started: set with the virtual time of the first action.
        acted: the turns that have come, each with its virtual time.
    """

    scenario: Scenario
    cluster: Cluster
    performer: Performer
    waits: Waits
    started: Signal = field(init=False)
    acted: list[tuple[int, Turn]] = field(factory=list)
    _turns: list[Turn] = field(init=False)
    _fired: list[bool] = field(init=False)
    _unfinished: int = field(init=False)
    _first: dict[int, None] = field(factory=lambda: {0: None})
    """The turns that follow no other one: the first of the method, and of each branch."""
    _dropped: dict[int, None] = field(factory=dict)
    """The turns that a branch has dropped."""
    _timers: dict[int, Timer] = field(factory=dict)
    """The timers of the turns that are sure to come."""
    _armed: dict[int, Disarm] = field(factory=dict)
    """The functions that disarm the triggers which have not fired, by the turn of each."""
    _due_us: dict[int, int] = field(factory=dict)
    """The times of the turns that are sure to come."""
    _waiting: dict[int, str] = field(factory=dict)
    """The waits of turns that follow others (``scenarios.language.triggers.WAITS``)."""
    _following: dict[int, Timer] = field(factory=dict)
    """The timers of optional turns that follow others and are still to come, by the turn of each."""
    _lasting: dict[int, Timer] = field(factory=dict)
    """The timers that end the durations still running, by the turn of each."""
    _ends_us: dict[int, int] = field(factory=dict)
    """The times at which those end."""

    def __attrs_post_init__(self) -> None:
        world = self.cluster.world
        self.started = Signal(world, "the method's first action")
        self._turns = list(_turns(self.scenario.method, self.scenario.cluster.ids, world))
        self._fired = [False] * len(self._turns)
        self._unfinished = len(self._turns)
        self.performer.on_disarm.append(self.disarm)
        self.performer.on_heal += [self._end_durations, self._end_chains]

    @property
    def is_over(self) -> bool:
        """Whether every entry has acted and every duration has ended. An optional entry that waits for a step, a
        message or a write is not waited for, nor is what follows it, unless it has begun."""
        return self._unfinished == 0

    @property
    def acts_us(self) -> int | None:
        """The time before which it does nothing to the cluster by itself: of its next turn, or of the next end of one
        that lasts. None: there is none. 0: a trigger is armed that looks at the cluster all the time."""
        if self._armed or any(wait not in (ISR_FULL, MOVES_DONE) for wait in self._waiting.values()):
            return 0
        return min((*self._due_us.values(), *self._ends_us.values()), default=None)

    @property
    def drawn(self) -> tuple[tuple[str, str, str], ...]:
        """The values that were drawn for ``draws`` and for the entries: the place of each, the key, and the value as
        the file would have it."""
        return (*(("draws", path, value) for path, value in self.scenario.drawn), *self._values(0))

    def _values(self, first: int) -> Iterator[tuple[str, str, str]]:
        """The values that were drawn for the turns from that one on."""
        for turn in self._turns[first:]:
            for key, value in turn.drawn.items():
                yield turn.place, key, str(value) if key == "occurrence" else format_duration(value)

    def begin(self) -> None:
        """Arm the triggers and set the timers."""
        if not self._turns:
            self.started.set(self.cluster.world.now)
        for place, option, value in self.drawn:
            self.cluster.trace.emit(Drawn, place, option, value)
        self._begin(0)

    def _begin(self, first: int) -> None:
        """Arm the triggers and set the timers of the turns from that one on."""
        for index, (_, entry, _, optional, *_) in enumerate(self._turns[first:], start=first):
            if isinstance(entry.trigger, CONDITIONS):
                self._unfinished -= self._chain(index) if optional else 0
                self._armed[index] = self._arm(index, entry, entry.trigger)
            elif isinstance(entry.trigger, At):
                self._later(max(0, certain(entry.trigger.time_us) - self.cluster.world.now), index)
            elif index == first:
                self._follow(index, 0)

    def branch(self, branch: Branch, where: str) -> None:
        """Go another way: drop the turns that have not begun, draw everything else again, and begin those of the
        branch."""
        cluster = self.cluster
        cluster.trace.cause = 0
        cluster.trace.emit(Drawn, where, "seed", str(branch.seed))
        cluster.network.rouse()
        cluster.world.redraw(branch.seed)
        self._drop()
        first = len(self._turns)
        self._first[first] = None
        self._turns += _turns(
            branch.method, self.scenario.cluster.ids, cluster.world, f"{where}.method", len(self._first) - 1
        )
        self._fired += [False] * (len(self._turns) - first)
        self._unfinished += len(self._turns) - first
        for place, key, value in self._values(first):
            cluster.trace.emit(Drawn, place, key, value)
        self._begin(first)

    def _drop(self) -> None:
        """Drop the turns whose trigger has not fired, and those that would follow them."""
        for index in [*self._armed, *self._timers]:
            if index in self._armed:
                self._armed.pop(index)()
                self._unfinished -= 0 if self._turns[index].optional else self._chain(index)
            elif isinstance(self._turns[index].entry.trigger, At):
                self._timers.pop(index).cancel()
                self._due_us.pop(index, None)
                self._unfinished -= self._chain(index)
            else:
                continue
            self._dropped.update(dict.fromkeys(range(index, index + self._chain(index))))

    def add(self, entry: MethodEntry) -> list[str]:
        """Carry out one more entry: at once, or when its trigger fires. It need not act for the method to be over.

        Returns:
            Why it could not be done, in words. That is an answer for the operator, and no verdict on the run.

        Raises:
            BadInput: it draws something, or has several turns.
        """
        if entry.ranges:
            raise BadInput("an operation draws nothing; write one value", where=next(iter(entry.ranges)))
        if len(entry.turns(self.scenario.cluster.ids)) > 1:
            raise BadInput("an operation has one turn; write one for each")
        index, performer = len(self._turns), self.performer
        self._turns.append(Turn(f"operation {index}", entry, performer.addresses.of(entry), True, {}))
        self._fired.append(False)
        if isinstance(entry.trigger, CONDITIONS):
            self._armed[index] = self._arm(index, entry, entry.trigger)
            return []
        self._unfinished += 1
        if not isinstance(entry.trigger, At):
            self._follow(index, 0)
        elif (delay_us := certain(entry.trigger.time_us) - self.cluster.world.now) > 0:
            self._later(delay_us, index)
        else:
            before = len(performer.refused)
            self._fire(index)
            refused = list(map(str, performer.refused[before:]))
            del performer.refused[before:]
            return refused
        return []

    def not_exercised(self) -> list[str]:
        """The entries that never acted, in words."""
        turns = zip(self._turns, self._fired, strict=True)
        return [
            f"{turn.place} {turn.entry.name}"
            for index, (turn, fired) in enumerate(turns)
            if not (fired or turn.optional or index in self._dropped)
        ]

    def disarm(self) -> None:
        """Wait no longer for steps, messages and writes that have not come, nor for what follows them."""
        for index, disarm in self._armed.items():
            disarm()
            self._unfinished -= 0 if self._turns[index].optional else self._chain(index)
        self._armed.clear()

    def _chain(self, index: int) -> int:
        """How many turns there are from a trigger up to the next one that follows nothing."""
        return 1 + sum(1 for _ in takewhile(self._follows, range(index + 1, len(self._turns))))

    def _follows(self, index: int) -> bool:
        """Whether a turn follows the one before it."""
        return index not in self._first and isinstance(self._turns[index].entry.trigger, After | Until)

    def _follow(self, index: int, busy_us: int) -> None:
        """The turn before ``index`` has acted, and is over in ``busy_us``."""
        trigger = self._turns[index].entry.trigger
        if isinstance(trigger, After) and self._turns[index].optional:
            self._following[index] = self.cluster.world.timer(certain(trigger.delay_us), self._fire_in_time, index)
            self._due_us[index] = self.cluster.world.now + certain(trigger.delay_us)
        elif isinstance(trigger, After):
            self._later(certain(trigger.delay_us), index)
        elif isinstance(trigger, Until):
            delay_us = max(certain(trigger.delay_us), busy_us)
            self._due_us[index] = self.cluster.world.now + delay_us
            self.cluster.world.call_later(delay_us, self._wait, index)

    def _wait(self, index: int) -> None:
        trigger = self._turns[index].entry.trigger
        assert isinstance(trigger, Until)
        self._due_us.pop(index, None)
        self._waiting[index] = trigger.wait
        self.waits.begin(trigger.wait, lambda: self._fire_in_time(index))

    def _later(self, delay_us: int, index: int) -> None:
        self._due_us[index] = self.cluster.world.now + delay_us
        self._timers[index] = self.cluster.world.timer(delay_us, self._fire_in_time, index)

    def _arm(self, index: int, entry: MethodEntry, when: Condition) -> Disarm:
        def fire(passing: InterceptedMessage | None) -> None:
            self._armed.pop(index)
            self._unfinished += self._chain(index) if self._turns[index].optional else 0
            self._fire(index, passing)

        return self.watch(when, fire, stops=entry.action.acts_on_message)

    def watch(self, when: Condition, fire: Fire, *, stops: bool = False) -> Disarm:
        """Call ``fire`` once, when a condition is met. Returns a function that ends the wait. ``stops``: ``fire`` acts
        on the message itself."""
        if isinstance(when, WhenMetric):
            return self.waits.arm(when, fire)
        if isinstance(when, WhenFault):
            from scenarios.faults.request_faults import RequestFaults  # most runs have no request of a real client

            return self.performer.memory(RequestFaults).watch(when, self.cluster, fire)
        protocol, roles = self.scenario.strategy.parsed.protocol, self.performer.roles
        return arm(when, self.cluster, roles, protocol, fire, stops=stops)

    def _fire_in_time(self, index: int) -> None:
        """The time of a turn has come. What happened to come before it at random is not its cause."""
        self.cluster.trace.cause = 0
        self._fire(index)

    def _fire(self, index: int, passing: InterceptedMessage | None = None) -> None:
        _, entry, address, *_ = self._turns[index]
        self._fired[index] = True
        self.acted.append((self.cluster.world.now, self._turns[index]))
        self._following.pop(index, None)
        self._due_us.pop(index, None)
        self._timers.pop(index, None)
        self._waiting.pop(index, None)
        self.started.set(self.cluster.world.now)
        done = self.performer.perform(entry, passing, address)
        if done is not None and entry.duration_us is not None and entry.action.undo is not None:
            self._lasting[index] = self.cluster.world.timer(certain(entry.duration_us), self._undo, (index, done))
            self._ends_us[index] = self.cluster.world.now + certain(entry.duration_us)
        else:
            self._done()
        if index + 1 < len(self._turns) and index + 1 not in self._first:
            self._follow(index + 1, certain(entry.duration_us or 0))

    def _undo(self, due: tuple[int, ActionContext]) -> None:
        index, done = due
        del self._lasting[index], self._ends_us[index]
        self.cluster.trace.cause = 0
        self.performer.undo(done)
        self._done()

    def _end_durations(self) -> None:
        """Undo nothing later: all faults have been ended."""
        for timer in self._lasting.values():
            timer.cancel()
        self._unfinished -= len(self._lasting)
        self._lasting.clear()
        self._ends_us.clear()

    def _end_chains(self) -> None:
        """Let no optional turn follow later: it would be a fault after the end of all faults."""
        for index, timer in self._following.items():
            timer.cancel()
            self._unfinished -= self._chain(index)
            self._due_us.pop(index, None)
        self._following.clear()

    def _done(self) -> None:
        self._unfinished -= 1

    async def roll_back(self) -> None:
        """Do the rollbacks, in order; ``after`` waits for that time first."""
        for entry in self.scenario.rollbacks:
            trigger: Any = entry.trigger
            if isinstance(trigger, After):
                await self.cluster.world.sleep(certain(trigger.delay_us))
            self.performer.perform(entry)
