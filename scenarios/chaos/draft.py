"""The scenario of one seed while it is drawn: the cluster, its load, and the actions on it with their times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from attrs import define, evolve, field, frozen

from scenarios.chaos.block_draws import Draws
from scenarios.faults.actions.brokers import BrokerCrash
from scenarios.faults.actions.reassignments import OfPlan
from scenarios.language.actions import Action
from scenarios.language.entries import MethodEntry
from scenarios.language.scenario import Scenario
from scenarios.language.schema.spans import Range, certain
from scenarios.language.targets import Target
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.triggers import After, At, Trigger

SECOND = 1_000_000
SOON = (1_000, 2 * SECOND)
GOES_ON_US = 30 * SECOND
"""The time after healing for which a dense load goes on."""
NEAR, AT_THE_HOT_ONE = 0.5, 0.6
"""The share of faults that gather at hot moments, and at the hot partition."""


class Strike(NamedTuple):
    """One action, before its time is known."""

    action: Action
    target: Target | None = None
    duration_us: int | None = None
    gap_us: int = 0
    """The time after the action before it, in the same chain."""


class EntryChain(NamedTuple):
    """Entries of which each follows the one before it.

    Attributes:
        at_us: the time when the first one acts, or when its trigger begins to wait; it orders the chains in the file.
    """

    at_us: int
    entries: tuple[MethodEntry, ...]


@define(eq=False)
class Draft:
    """The draws so far.

    Attributes:
        scenario: the cluster, topics, loads and settings drawn so far; its method is that of the file.
        faults: the times when faults begin and when healing begins, in virtual microseconds.
        stop_us: the time when the loads stop; None: never.
        heals_core, core: whether only some brokers are healed and the others stopped, if that can be; the healed ones.
        chains: the actions, in the order of drawing.
        made, made_again: the names of the topics that the method creates once, and of those that histories create.
        within_us: the time that the cluster may take to converge.
        goes_on_us: the time after healing for which a dense load goes on, and in some seeds all loads.
        tools_us: the time after healing by which tools that had to wait for ZooKeeper have set their throttles.
        gives_up_us: the time for which loads on topics that the method creates wait for the outcome of a batch;
            None: as long as Kafka's producers.
        last: the action of an operator after healing, if any.
        hot_us: moments near which faults of all kinds gather, so that they meet.
        hot: the partition at which faults of all kinds gather.
        machines_die: whether crashes of single brokers may take their machines with them.
        throttles: whether any action sets a replication throttle.
        internal: the names of the partitions of internal topics, where clients with coordinators are drawn.
        notes: the draws in words.
    """

    scenario: Scenario
    faults: Range = (3 * SECOND, 60 * SECOND)
    stop_us: int | None = 65 * SECOND
    heals_core: bool = False
    last: Action | None = None
    core: tuple[int, ...] = ()
    within_us: int = 120 * SECOND
    goes_on_us: int = GOES_ON_US
    tools_us: int = 30 * SECOND
    gives_up_us: int | None = None
    hot_us: tuple[int, ...] = ()
    hot: int = 0
    machines_die: bool = False
    throttles: bool = False
    internal: tuple[str, ...] = ()
    chains: list[EntryChain] = field(factory=list)
    made: list[str] = field(factory=list)
    made_again: list[str] = field(factory=list)
    notes: list[str] = field(factory=list)
    _placed: dict[str, tuple[int, ...]] = field(factory=dict)
    _before: dict[str, tuple[int, ...]] = field(factory=dict)

    def change(self, **changes: object) -> None:
        """Replace parts of the scenario."""
        self.scenario = evolve(self.scenario, **changes)  # type: ignore[arg-type]

    # -- what there is ------------------------------------------------------------------------------------------------

    def scope(self, brokers: tuple[int, ...] = (), topics: tuple[str, ...] = ()) -> Scope:
        """The brokers and topics of the scenario, or those that a block concerns."""
        return Scope.of(self, brokers, topics)

    def replicas(self, partition: str) -> tuple[int, ...]:
        """The partition's replicas, once the moves that were drawn before have ended."""
        if partition not in self._placed:
            self._placed = {**self.scenario.assignments(), **self._placed}
        return self._placed[partition]

    def moved(self, partition: str, replicas: tuple[int, ...]) -> None:
        """Take note that a move of the partition was drawn."""
        self._before[partition] = self.replicas(partition)
        self._placed[partition] = replicas

    def before(self, partition: str) -> tuple[int, ...]:
        """The partition's replicas before the last move that was drawn; the present ones, if there is none."""
        return self._before.get(partition) or self.replicas(partition)

    @property
    def end_us(self) -> int:
        """The time when the loads stop, or everything is healed where they never do."""
        return self.faults[1] if self.stop_us is None else self.stop_us

    def does(self, *actions: str) -> bool:
        """Whether the file, or what was drawn so far, has one of these actions."""
        entries = [*self.scenario.method, *(entry for chain in self.chains for entry in chain.entries)]
        return any(entry.name in actions for entry in entries)

    def targets(self) -> frozenset[int]:
        """The brokers that the moves of the file, and those that were drawn so far, name."""
        entries = [*self.scenario.method, *(entry for chain in self.chains for entry in chain.entries)]
        plans = [entry.action.own_plan() for entry in entries if isinstance(entry.action, OfPlan)]
        moves = [move for plan in (*plans, self.scenario.plan) if plan is not None for move in plan.partitions]
        return frozenset(broker for move in moves for broker in move.replicas)

    def times(self) -> Iterator[tuple[int, str]]:
        """The time of each action that was drawn so far, as far as it is known, and its name."""
        yield from ((at_us, entry.name) for at_us, entry in self.entries())

    def entries(self) -> Iterator[tuple[int, MethodEntry]]:
        """The entries that were drawn so far whose time is known, each with it."""
        for chain in self.chains:
            at_us = chain.at_us
            for entry in chain.entries if isinstance(chain.entries[0].trigger, At) else ():
                at_us += certain(entry.trigger.delay_us) if isinstance(entry.trigger, After) else 0
                if at_us < self.faults[1]:
                    yield at_us, entry

    def crash(self, draws: Draws) -> BrokerCrash:
        """The death of a broker, with its machine or without."""
        host = draws.chance(0.4)
        return BrokerCrash(kind="host" if host and self.machines_die else "process")

    # -- what is done -------------------------------------------------------------------------------------------------

    def moment(self, draws: Draws) -> int:
        """A moment at which a fault may begin: every other one soon after one of the hot moments."""
        begin, end = self.faults
        anywhere = draws.moment((begin, max(begin, end - SECOND)))
        near = draws.choice(self.hot_us or (anywhere,)) + draws.spread(SOON)
        return near if draws.chance(NEAR) and near < end else anywhere

    def add(self, trigger: Trigger, strikes: Sequence[Strike], at_us: int | None = None) -> None:
        """Do ``strikes`` one after the other, the first one at ``trigger``."""
        if at_us is None:
            at_us = certain(trigger.time_us) if isinstance(trigger, At) else self.faults[0]
        entries = tuple(
            MethodEntry(
                action=strike.action,
                trigger=After(strike.gap_us) if number else trigger,
                target=strike.target,
                duration_us=strike.duration_us,
                optional=True,
            )
            for number, strike in enumerate(strikes)
        )
        self.chains.append(EntryChain(at_us, entries))

    def method(self) -> tuple[MethodEntry, ...]:
        """The entries in the order of their times; those of a chain stay together."""
        ordered = sorted(self.chains, key=lambda chain: chain.at_us)
        return tuple(entry for chain in ordered for entry in chain.entries)


@frozen
class Scope:
    """The brokers and topics that a block concerns.

    Attributes:
        brokers: the ids of the brokers.
        partitions: the names of all partitions that its topics have at the start.
    """

    draft: Draft
    brokers: tuple[int, ...]
    topics: tuple[TopicSpec, ...]
    partitions: tuple[str, ...]

    @classmethod
    def of(cls, draft: Draft, brokers: tuple[int, ...] = (), topics: tuple[str, ...] = ()) -> Scope:
        """The scope of a block: all brokers and topics, unless it names some. Internal topics are hit by strikes alone
        (``strikes.role``), and by the kinds that are about them."""
        found = tuple(
            topic
            for topic in draft.scenario.topics
            if (topic.name in topics if topics else topic.partition_names[0] not in draft.internal)
        )
        partitions = tuple(name for topic in found for name in topic.partition_names)
        return cls(draft, brokers or tuple(draft.scenario.cluster.ids), found, partitions)

    def partition(self, draws: Draws) -> str:
        """A partition that a fault concerns: more often than not the hot one."""
        one = draws.choice(self.partitions)
        return self.partitions[self.draft.hot % len(self.partitions)] if draws.chance(AT_THE_HOT_ONE) else one
