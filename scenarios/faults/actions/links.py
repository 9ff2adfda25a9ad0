"""The links between machines: cut and slowed; and machines that lose their network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import define, field, frozen

from emulator.network import Loss
from emulator.protocol.events import RoutesChanged
from emulator.zookeeper import ZOOKEEPER
from scenarios.errors import BadInput
from scenarios.faults.cut_in_words import CutReach, without_end
from scenarios.faults.performer import ActionContext, Memory, PerformedAction, machine_name
from scenarios.language import DelaySpec, MethodEntry, Scenario
from scenarios.language.actions import BurstSpec, action, in_words
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import RATE, SOME_TIME, Choice, Number
from scenarios.language.schema.spans import Drawable, SpanOf, at_most, drawn
from scenarios.language.schema.table_reader import Block, key, stated
from scenarios.language.targets import ALL_PEERS, PEERS, ZOOKEEPER_PEER, Peer, as_peers

ARROWS = {"both": "<->", "from": "->", "to": "<-"}
"""A link in a line of the timeline, from the target to its peers: the way that its messages go."""


@frozen(kw_only=True)
class OnLinks(PerformedAction):
    """Acts on the links between the target's machines and their peers."""

    takes_target = True
    takes_clients = True

    @property
    def ends(self) -> tuple[Peer, ...]:
        """The other ends of the links; empty: every other broker."""
        raise NotImplementedError

    @property
    def ways(self) -> str:
        """The messages that the action is about, seen from the target: both, to or from."""
        return "both"

    def told(self, context: ActionContext) -> str:
        alone = len(context.brokers) == 1
        ends = [end for end in self._machines(context) if not (alone and end in context.brokers)]
        return f"{_names(context, context.brokers)} {ARROWS[self.ways]} {_names(context, ends) or 'itself'}"

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        return without_end(scenario, entry)

    def routes(self, context: ActionContext) -> list[tuple[int, int]]:
        """The routes of these links: (source, target)."""
        routes: dict[tuple[int, int], None] = {}
        ends = self._machines(context)
        for machine in context.brokers:
            for other in ends:
                if other != machine:
                    if self.ways in ("both", "from"):
                        routes[machine, other] = None
                    if self.ways in ("both", "to"):
                        routes[other, machine] = None
        if not routes and not (context.undoes or context.in_rollbacks):
            peer = "itself" if ends else "a peer that is there"
            context.refuse(f"{_names(context, context.brokers)} has no link to {peer}")
        return list(routes)

    def change(self, context: ActionContext, change: Callable[[int, int], None], *, cut: bool) -> None:
        """Cut the routes or heal them, and record the change."""
        routes = self.routes(context)
        for source, target in routes:
            change(source, target)
        if routes:
            sources, targets = zip(*routes, strict=True)
            context.cluster.trace.emit(RoutesChanged, cut, sources, targets)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        """Heal every route that is cut or slowed down."""
        network = context.cluster.network
        routes = [route for route in network.disturbed if all(map(context.heals, route))]
        cut = [route for route in routes if network.route(*route).cut]
        for route in routes:
            network.heal(*route)
        if cut:
            sources, targets = zip(*cut, strict=True)
            context.cluster.trace.emit(RoutesChanged, False, sources, targets)

    def _machines(self, context: ActionContext) -> tuple[int, ...]:
        cluster, found = context.cluster, dict[int, None]()
        for end in self.ends:
            if end == ZOOKEEPER_PEER:
                found[ZOOKEEPER] = None
            elif isinstance(end, str):
                found |= dict.fromkeys(cluster.network.nodes if end == ALL_PEERS else cluster.nodes)
            else:
                found |= dict.fromkeys(context.find(end))
        return tuple(found)


def _names(context: ActionContext, machines: Sequence[int]) -> str:
    """The names of machines: the brokers' ids, then the other names, each once."""
    cluster = context.cluster
    brokers = [machine for machine in machines if machine >= 0]
    others = dict.fromkeys(machine_name(cluster, machine) for machine in machines if machine < 0)
    besides = [broker for broker in context.brokers if broker in cluster.nodes and broker not in brokers]
    if len(brokers) > 1 and len(brokers) + len(besides) == len(cluster.nodes):
        ids = "all other brokers" if besides else "all brokers"
    else:
        ids = f"broker{'s' * (len(brokers) > 1)} {', '.join(map(str, brokers))}" if brokers else ""
    return ", ".join(filter(None, (ids, *others)))


@frozen(kw_only=True)
class OnPeers(OnLinks):
    """Acts on the links to the peers that the entry names."""

    peer: tuple[Peer, ...] | None = field(
        default=None, converter=as_peers, metadata=key(PEERS, "the other end; absent = every other broker")
    )
    direction: str = field(
        default="both",
        metadata=key(Choice(("both", "to", "from"), "direction"), "of the messages, seen from the target"),
    )

    @property
    def ends(self) -> tuple[Peer, ...]:
        return self.peer or ("brokers",)

    @property
    def ways(self) -> str:
        return self.direction


@action("link.heal", "undo link.cut, link.delay, link.loss and link.limit")
@frozen(kw_only=True)
class LinkHeal(OnPeers):
    def perform(self, context: ActionContext) -> None:
        self.change(context, context.cluster.network.heal, cut=False)


def _longest_us(entry: MethodEntry) -> int | None:
    return None if entry.duration_us is None else at_most(entry.duration_us)


@frozen(kw_only=True)
class LinkCuts(OnLinks):
    """Stops messages."""

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        for turn in entry.turns(scenario.cluster.ids)[:1]:
            assert turn.target is not None
            yield from CutReach(scenario, turn.target, self.ends, self.ways, _longest_us(entry)).sentences()
        yield from without_end(scenario, entry)

    def perform(self, context: ActionContext) -> None:
        self.change(context, context.cluster.network.cut, cut=True)


@action("link.cut", "stop all messages between the target and its peer", undo=LinkHeal)
@frozen(kw_only=True)
class LinkCut(LinkCuts, OnPeers):
    pass


@action("link.delay", "make messages between the target and its peer slower", undo=LinkHeal)
@frozen(kw_only=True)
class LinkDelay(OnPeers):
    delay: DelaySpec = field(metadata=key(Block(DelaySpec), "how much slower"))

    def told(self, context: ActionContext) -> str:
        return f"{super().told(context)}, {in_words(Block(DelaySpec).dump(self.delay))}"

    def perform(self, context: ActionContext) -> None:
        for source, target in self.routes(context):
            context.cluster.network.delay(source, target, self.delay.delay)


@frozen(kw_only=True)
class Impairs(OnPeers):
    """Makes routes worse, each for itself."""

    def told(self, context: ActionContext) -> str:
        own = (f"{key.name} {in_words(key.kind.dump(value))}" for key, value in stated(self))
        named = [words for words in own if words.partition(" ")[0] not in ("peer", "direction")]
        return ", ".join((super().told(context), *named))


@action("link.loss", "lose packets between the target and its peer: TCP sends them again", undo=LinkHeal)
@frozen(kw_only=True)
class LinkLoss(Impairs):
    loss: float = field(
        default=0.0, metadata=key(Number(0, 1), "the share of all packets that is lost: 0.01 = one in a hundred")
    )
    burst: BurstSpec | None = field(default=None, metadata=key(Block(BurstSpec), "times in which more is lost"))

    def check(self, known: KnownNames) -> None:
        if not self.loss and self.burst is None:
            raise BadInput("nothing is lost; write loss, such as loss = 0.01, or burst")

    def perform(self, context: ActionContext) -> None:
        loss = Loss(self.loss, None if self.burst is None else self.burst.burst)
        for source, target in self.routes(context):
            context.cluster.network.lose(source, target, loss)


@action("link.limit", "limit the bandwidth between the target and its peer, each way for itself", undo=LinkHeal)
@frozen(kw_only=True)
class LinkLimit(Impairs):
    rate: int = field(metadata=key(RATE, "bytes per second"))

    def perform(self, context: ActionContext) -> None:
        for source, target in self.routes(context):
            context.cluster.network.limit(source, target, self.rate)


@frozen(kw_only=True)
class OnHost(OnLinks):
    """Acts on every link of a machine, or on those that the entry names."""

    away_from: tuple[Peer, ...] = field(
        default=(ALL_PEERS,),
        converter=as_peers,
        metadata=key(PEERS, "what it is cut from; the operator's machine is part of all", name="from"),
    )

    @property
    def ends(self) -> tuple[Peer, ...]:
        return self.away_from


@define(eq=False)
class Flapping(Memory):
    """The machines whose network cards flap, each with the entry that causes it."""

    machines: dict[int, ActionContext] = field(factory=dict)


@action("host.reconnect", "undo host.isolate and host.flap")
@frozen(kw_only=True)
class HostReconnect(OnHost):
    def perform(self, context: ActionContext) -> None:
        for machine in context.brokers:
            context.performer.memory(Flapping).machines.pop(machine, None)
        self.change(context, context.cluster.network.heal, cut=False)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        flapping = context.performer.memory(Flapping).machines
        for machine in list(filter(context.heals, flapping)):
            del flapping[machine]
        super().end_all(context)


@action(
    "host.isolate",
    "take a machine's network away, while its process lives: no message reaches it or leaves it",
    undo=HostReconnect,
)
@frozen(kw_only=True)
class HostIsolate(LinkCuts, OnHost):
    pass


@action(
    "host.flap",
    "make a machine's network card flap: its links go down and come up again, again and again",
    undo=HostReconnect,
)
@frozen(kw_only=True)
class HostFlap(OnHost):
    down: Drawable = field(metadata=key(SpanOf(SOME_TIME), "how long it is down each time, drawn if a range"))
    up: Drawable = field(metadata=key(SpanOf(SOME_TIME), "how long it is up in between"))

    def told(self, context: ActionContext) -> str:
        return self.detail()

    def perform(self, context: ActionContext) -> None:
        for machine in context.brokers:
            context.performer.memory(Flapping).machines[machine] = context
            self._turn(context, machine, True)

    def _turn(self, context: ActionContext, machine: int, cut: bool) -> None:
        """Take the links of the machine down, or up, and do the opposite after a while."""
        cluster = context.cluster
        world, network = cluster.world, cluster.network
        routes = [route for other in self._machines(context) if other != machine for route in _both(machine, other)]
        for route in routes:
            (network.cut if cut else network.heal)(*route)
        sources, targets = zip(*routes, strict=True)
        cluster.trace.emit(RoutesChanged, cut, sources, targets)
        lasts_us = drawn(self.down if cut else self.up, world.stream("flapping", f"{context.address}/{machine}"))
        world.call_later(lasts_us, lambda _: self._next(context, machine, not cut), None, True)

    def _next(self, context: ActionContext, machine: int, cut: bool) -> None:
        if context.performer.memory(Flapping).machines.get(machine) is context:
            context.cluster.trace.cause = 0
            self._turn(context, machine, cut)


def _both(one: int, two: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (one, two), (two, one)
