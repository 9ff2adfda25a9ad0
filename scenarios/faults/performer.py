"""The performance of a method's entries: finds the brokers that each acts on, writes the fault into the trace, and
performs it.

The effect of each action is in ``scenarios.faults.actions``, one file for each theme.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from attrs import define, evolve, field, frozen

from emulator.network import InterceptedMessage
from emulator.protocol.api import Message
from emulator.protocol.api import Response as Answer
from emulator.protocol.events import Fault
from emulator.streams import Stream
from emulator.zookeeper import ZOOKEEPER
from emulator.zookeeper.messages import Ask, ZkResponse
from scenarios.faults.addresses import Addresses
from scenarios.faults.arming import operations
from scenarios.faults.target_roles import TargetRoles
from scenarios.language import Action, MethodEntry, Scenario, Target
from scenarios.language.schema.spans import certain
from scenarios.units import format_duration

if TYPE_CHECKING:
    from brokers.replica_manager import ReplicaManager
    from scenarios.cluster.cluster import Cluster, TopicSetup

Brokers = tuple[int, ...]


@frozen(kw_only=True)
class PerformedAction(Action):
    """An action with its effect on a cluster."""

    def perform(self, context: ActionContext) -> None:
        """Perform the action, in one transition. If it cannot be done, that is reported by ``context.refuse``."""
        raise NotImplementedError

    def told(self, context: ActionContext) -> str:
        """The text of the action in the trace: ``detail``, or more, once its brokers are known."""
        return self.detail()

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        """End all present effects of such actions, on the machines for which ``context.heals``: the action ``heal``
        calls it once for each action that exists. By default there are none."""


@define(eq=False)
class Memory:
    """State that the actions of one theme share during a run."""

    def not_exercised(self) -> list[str]:
        """Faults that were prepared and never took effect, in words."""
        return []


class Refusal(NamedTuple):
    """An action that could not be done, and why."""

    t_us: int
    action: str
    why: str

    def __str__(self) -> str:
        return f"{self.action}: {self.why}"


M = TypeVar("M", bound=Memory)


@define(eq=False)
class Performer:
    """Performs entries of a method and undoes them.

    Attributes:
        metric: returns the present value of a metric, by its name in scenario files. Raises: KeyError.
        refused: the actions that could not be done, for the verdict.
        addresses: the addresses of entries that are performed without one.
        on_disarm: called by ``disarm``; ``on_heal`` by ``heal``.
    """

    cluster: Cluster
    scenario: Scenario
    roles: TargetRoles
    make_topic: Callable[..., TopicSetup]
    metric: Callable[[str], int]
    refused: list[Refusal] = field(factory=list)
    addresses: Addresses = field(factory=Addresses)
    on_disarm: list[Callable[[], object]] = field(factory=list)
    on_heal: list[Callable[[], object]] = field(factory=list)
    _memories: dict[type[Memory], Memory] = field(factory=dict)

    def memory(self, kind: type[M]) -> M:
        """The one object of class ``kind`` in this run, made at the first call."""
        found = self._memories.setdefault(kind, kind())
        assert isinstance(found, kind)
        return found

    def not_exercised(self) -> list[str]:
        """The actions that were refused, and the faults that were prepared and never took effect, in words."""
        return [
            *map(str, self.refused),
            *(line for memory in self._memories.values() for line in memory.not_exercised()),
        ]

    def disarm(self) -> None:
        """End the wait of every trigger that has not fired."""
        for call in self.on_disarm:
            call()

    def heal(self) -> None:
        """End all faults now: no trigger fires any more, and nothing is undone later."""
        self.disarm()
        for call in self.on_heal:
            call()

    def perform(
        self, entry: MethodEntry, passing: InterceptedMessage | None = None, address: str | None = None
    ) -> ActionContext | None:
        """Perform an entry now, on ``passing`` where the action acts on messages. Returns the brokers it acted on, so
        that it can be undone there; None if no broker has the role. ``address``: names the streams that the entry draws
        from."""
        target = entry.target or entry.action.acts_on
        acted_on = passing if entry.action.acts_on_message else None
        context = ActionContext(self, entry, (), address or self.addresses.of(entry), acted_on)
        if target is not None:
            context = evolve(context, brokers=context.find(target))
            if not context.brokers:
                if entry.trigger is not None:
                    context.refuse_no_broker(target)
                return None
        self._apply(entry.action, context)
        return context

    def undo(self, done: ActionContext) -> None:
        """End the effect of an action."""
        undoing = done.entry.action.undoing()
        assert undoing is not None, f"{done.entry.name} is done at once"
        self._apply(undoing, evolve(done, passing=None, undoes=True))

    def _apply(self, action: Action, context: ActionContext) -> None:
        assert isinstance(action, PerformedAction), f"{action.name} is declared and cannot be performed"
        trace, entry = self.cluster.trace, context.entry
        cause = trace.cause
        detail = [action.told(context)]
        if context.passing is not None:
            detail.insert(0, described(context.passing))
        elif entry.action.acts_on_message:
            detail.insert(0, str(getattr(entry.trigger, "name", "")))
        if entry.duration_us is not None and not context.undoes:
            detail.append(f"for {format_duration(certain(entry.duration_us))}")
        targets = ",".join(machine_name(self.cluster, broker) for broker in context.brokers)
        trace.anchor(Fault, action.name, targets, ", ".join(filter(None, detail)))
        action.perform(context)
        trace.cause = cause


@frozen(eq=False)
class ActionContext:
    """The target of an action, and its entry.

    Attributes:
        brokers: the brokers that the entry's target means; for ``heal`` the core.
        address: names the streams that the entry draws from.
        passing: the message that the entry waited for, where the action acts on it.
        undoes: whether the action ends the effect of the entry's own action.
    """

    performer: Performer
    entry: MethodEntry
    brokers: Brokers
    address: str
    passing: InterceptedMessage | None = None
    undoes: bool = False
    _drawn: dict[Target, Brokers] = field(factory=dict)
    """The brokers that were drawn for each target, on which the end of the effect acts, too."""
    routes: list[tuple[int, int]] = field(factory=list)
    """The routes that a partition of the network has cut, which its end heals."""
    groups: list[Brokers] = field(factory=list)
    """The groups that were drawn for a partition of the network."""

    @property
    def cluster(self) -> Cluster:
        return self.performer.cluster

    @property
    def scenario(self) -> Scenario:
        return self.performer.scenario

    @property
    def roles(self) -> TargetRoles:
        return self.performer.roles

    @property
    def in_rollbacks(self) -> bool:
        """Whether the entry is a rollback. A rollback may find its work done; an entry of the method that finds nothing
        to do exercises nothing."""
        return self.entry.trigger is None

    def heals(self, machine: int) -> bool:
        """Whether ``heal`` ends the faults of a machine: of every broker of the core, of clients and of ZooKeeper."""
        return machine < 0 or machine in self.brokers

    def find(self, target: Target) -> Brokers:
        """The brokers, or clients, that a target of the entry means."""
        if not target.drawn:
            return self.roles.find(target)
        if target not in self._drawn:
            self._drawn[target] = self.roles.find(target, self.stream("targets"))
        return self._drawn[target]

    def stream(self, purpose: str) -> Stream:
        """The draws of the entry for one purpose."""
        return self.cluster.world.stream(purpose, self.address)

    def refuse(self, why: str) -> None:
        """Note for the verdict that the action could not be done; an optional one need not be."""
        if not self.entry.optional:
            self.performer.refused.append(Refusal(self.cluster.world.now, self.entry.name, why))

    def refuse_no_broker(self, target: Target) -> None:
        """Note for the verdict that ``target`` finds no broker now."""
        role = target.parsed_role
        lacking = self.roles.lacks_partition(role.partition) if role is not None and role.partition else ""
        self.refuse(": ".join(filter(None, (f"no broker is {target.words or 'there'}", lacking))))

    def replicas_of(self, broker: int) -> ReplicaManager | None:
        """The replicas of a broker; None where it is down, or was started at this very instant."""
        running = self.cluster.brokers[broker] if self.cluster.nodes[broker].running else None
        return None if running is None else running.begun_replicas

    def in_state(self, *states: str, among: Sequence[int] | None = None) -> list[int]:
        """The brokers (of ``among``, if given) in one of these states: ``up``, ``down`` or ``paused``. If there are
        none, the action is refused, unless it is a rollback or the end of a duration, which may find its work done."""
        brokers = self.brokers if among is None else among
        found = [broker for broker in brokers if self.roles.state_of(broker) in states]
        if not found and not self.undoes and not self.in_rollbacks:
            self.refuse(f"broker {','.join(map(str, brokers))} is not {' or '.join(states)}")
        return found


NAMED = 3
"""The number of partitions that a line names."""


def described(passing: InterceptedMessage) -> str:
    """A message in one line: its name, its sender and receiver, and the partitions or znodes that it names."""
    body = passing.body
    way = f"{_machine(passing.source)} -> {_machine(passing.target)}"
    if isinstance(body, Ask):
        kind = type(body.request).__name__
        return f"{kind[0].lower()}{kind[1:]} {way}: {', '.join(op.path for op in operations(body.request))}"
    if isinstance(body, ZkResponse):
        return f"answer {way}: {', '.join(one.path for one in body.results or (body,))}"
    assert isinstance(body, Message)
    named = [str(tp) for tp in body.topic_partitions()]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    about = f": {', '.join(named[:NAMED])}{more}" if named else ""
    return f"{'answer to ' if isinstance(body, Answer) else ''}{body.api.name} {way}{about}"


def machine_name(cluster: Cluster, machine: int) -> str:
    """The name of a machine: a broker's id, ``ZooKeeper``, a client's name, ``operator``."""
    if machine >= 0 or machine == ZOOKEEPER:
        return _machine(machine)
    return cluster.clients.get(machine) or cluster.network.nodes[machine].name


def _machine(number: int) -> str:
    return "ZooKeeper" if number == ZOOKEEPER else str(number) if number >= 0 else f"client {number}"
