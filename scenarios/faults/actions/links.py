"""The links between machines: cut and slowed; and machines that lose their network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import field, frozen

from emulator.protocol.events import RoutesChanged
from emulator.zookeeper import ZOOKEEPER
from scenarios.faults.performer import ActionContext, PerformedAction, machine_name
from scenarios.faults.reach import Reach, without_end
from scenarios.language import DelaySpec, MethodEntry, Scenario
from scenarios.language.actions import action, in_words
from scenarios.language.schema.kinds import Choice
from scenarios.language.schema.reader import Block, key
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
        """Which messages it is about, seen from the target: both, to or from."""
        return "both"

    def told(self, context: ActionContext) -> str:
        alone = len(context.brokers) == 1
        ends = [end for end in self._machines(context) if not (alone and end in context.brokers)]
        return f"{_names(context, context.brokers)} {ARROWS[self.ways]} {_names(context, ends) or 'itself'}"

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        return without_end(scenario, entry)

    def routes(self, context: ActionContext) -> list[tuple[int, int]]:
        """Each way that messages take on these links: (source, target)."""
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
        """Cut the routes or heal them, and record which."""
        routes = self.routes(context)
        for source, target in routes:
            change(source, target)
        if routes:
            sources, targets = zip(*routes, strict=True)
            context.cluster.trace.emit(RoutesChanged, cut, sources, targets)

    def _machines(self, context: ActionContext) -> tuple[int, ...]:
        cluster, found = context.cluster, dict[int, None]()
        for end in self.ends:
            if end == ZOOKEEPER_PEER:
                found[ZOOKEEPER] = None
            elif isinstance(end, str):
                found |= dict.fromkeys(cluster.network.nodes if end == ALL_PEERS else cluster.nodes)
            else:
                found |= dict.fromkeys(context.roles.find(end))
        return tuple(found)


def _names(context: ActionContext, machines: Sequence[int]) -> str:
    """Machines in words: the brokers' ids, then the other names, each once."""
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


@action("link.heal", "undo link.cut and link.delay")
@frozen(kw_only=True)
class LinkHeal(OnPeers):
    def perform(self, context: ActionContext) -> None:
        self.change(context, context.cluster.network.heal, cut=False)


@frozen(kw_only=True)
class Cuts(OnLinks):
    """Stops messages."""

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        for turn in entry.turns(scenario.cluster.brokers)[:1]:
            assert turn.target is not None
            yield from Reach(scenario, turn.target, self.ends, self.ways, entry.duration_us).sentences()
        yield from without_end(scenario, entry)

    def perform(self, context: ActionContext) -> None:
        self.change(context, context.cluster.network.cut, cut=True)


@action("link.cut", "stop all messages between the target and its peer", undo=LinkHeal)
@frozen(kw_only=True)
class LinkCut(Cuts, OnPeers):
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


@action("host.reconnect", "undo host.isolate")
@frozen(kw_only=True)
class HostReconnect(OnHost):
    def perform(self, context: ActionContext) -> None:
        self.change(context, context.cluster.network.heal, cut=False)


@action(
    "host.isolate",
    "take a machine's network away, while its process lives: no message reaches it or leaves it",
    undo=HostReconnect,
)
@frozen(kw_only=True)
class HostIsolate(Cuts, OnHost):
    pass
