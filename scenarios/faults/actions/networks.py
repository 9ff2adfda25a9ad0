"""Network partitions: the machines form groups that do not reach each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

from emulator.protocol.events import RoutesChanged
from emulator.zookeeper import ZOOKEEPER
from scenarios.errors import BadInput
from scenarios.faults.cut_in_words import of_drawn_groups, of_groups, without_end
from scenarios.faults.performer import ActionContext, PerformedAction, machine_name
from scenarios.language import MethodEntry, Scenario, Target
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import Boolean, Integer, ListOf, as_tuple
from scenarios.language.schema.spans import at_most
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import ALL_PEERS, PEERS, ZOOKEEPER_PEER, Peer, as_peers

Group = tuple[Peer, ...]


def _as_groups(groups: Iterable[Any]) -> tuple[Group, ...]:
    found = as_tuple(groups)
    return tuple(as_peers(group) or () for group in found) if isinstance(found, tuple) else found


@action("network.heal", "undo network.partition")
@frozen(kw_only=True)
class NetworkHeal(PerformedAction):
    def perform(self, context: ActionContext) -> None:
        """Heal the routes that the entry has cut, or every route that is cut or slow."""
        network = context.cluster.network
        routes = context.routes if context.undoes else network.disturbed
        if not routes and not (context.undoes or context.in_rollbacks):
            context.refuse("no route is cut or slow")
        cut = [route for route in routes if network.route(*route).cut]
        for route in routes:
            network.heal(*route)
        _record(context, False, cut)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        """Do nothing: ``link.heal`` heals every route, whatever has cut it."""


def _record(context: ActionContext, cut: bool, routes: list[tuple[int, int]]) -> None:
    if routes:
        sources, targets = zip(*routes, strict=True)
        context.cluster.trace.emit(RoutesChanged, cut, sources, targets)


@action(
    "network.partition",
    "divide the network: machines of different groups do not reach each other, all others reach everyone",
    undo=NetworkHeal,
)
@frozen(kw_only=True)
class NetworkPartition(PerformedAction):
    groups: tuple[Group, ...] = field(
        default=(),
        converter=_as_groups,
        metadata=key(ListOf(PEERS, empty=False), 'the groups, such as [[0, 1, "zookeeper"], [2, 3]]'),
    )
    into: int | None = field(
        default=None, metadata=key(Integer(2), "draw so many groups of all brokers instead, when the action fires")
    )
    with_zookeeper: bool = field(
        default=False, metadata=key(Boolean(), "ZooKeeper is in one of the groups that are drawn", name="zookeeper")
    )
    one_way: bool = field(
        default=False,
        metadata=key(Boolean(), "lose only what an earlier group sends to a later one; the other way stays open"),
    )

    def check(self, known: KnownNames) -> None:
        if bool(self.groups) == (self.into is not None):
            raise BadInput(
                "neither or both of groups and into; write groups = [[0, 1], [2, 3]], or into = 2, which draws them"
            )
        if len(self.groups) == 1:
            raise BadInput("one group is cut from nothing; write at least two", where="groups")
        if self.into is not None and self.into > known.brokers + self.with_zookeeper:
            raise BadInput(f"there are only {known.brokers} brokers to divide; write fewer groups", where="into")
        if self.with_zookeeper and self.groups:
            raise BadInput('groups are written out; put "zookeeper" into one of them', where="zookeeper")
        named: dict[object, int] = {}
        for place, group in enumerate(self.groups):
            for member in _members(group):
                if named.setdefault(member, place) != place:
                    raise BadInput(f"{member!r} is in two groups; keep one", where=f"groups[{place}]")

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        lasts_us = None if entry.duration_us is None else at_most(entry.duration_us)
        if self.into is not None:
            yield from of_drawn_groups(scenario, self.into, self.with_zookeeper, lasts_us)
        else:
            yield from of_groups(scenario, self.groups, self.one_way, lasts_us)
        yield from without_end(scenario, entry)

    def told(self, context: ActionContext) -> str:
        arrow = " -/> " if self.one_way else " | "
        return arrow.join(
            ", ".join(machine_name(context.cluster, machine) for machine in group) for group in self._machines(context)
        )

    def perform(self, context: ActionContext) -> None:
        groups, network = self._machines(context), context.cluster.network
        if sum(map(bool, groups)) < 2:
            context.refuse("no two of the groups have machines")
        for place, group in enumerate(groups):
            for other in groups[place + 1 :]:
                for one, two in ((one, two) for one in group for two in other):
                    context.routes.extend([(one, two)] if self.one_way else [(one, two), (two, one)])
        for route in context.routes:
            network.cut(*route)
        _record(context, True, context.routes)

    def _machines(self, context: ActionContext) -> list[tuple[int, ...]]:
        """The machines of each group. A machine with the roles of two groups is in the first."""
        if self.into is not None:
            return self._drawn(context, self.into)
        taken: dict[int, None] = {}
        found: list[tuple[int, ...]] = []
        for group in self.groups:
            members = dict.fromkeys(machine for peer in group for machine in _machines_of(context, peer))
            found.append(tuple(machine for machine in members if machine not in taken))
            taken |= members
        return found

    def _drawn(self, context: ActionContext, into: int) -> list[tuple[int, ...]]:
        """Groups drawn for all machines, none of them empty. The same groups each time that it is called."""
        if not context.groups:
            draws = context.stream("groups")
            left = [*context.cluster.nodes, *([ZOOKEEPER] if self.with_zookeeper else [])]
            groups: list[list[int]] = [[left.pop(draws.below(len(left)))] for _ in range(into)]
            for machine in left:
                groups[draws.below(into)].append(machine)
            context.groups.extend(tuple(sorted(group)) for group in groups)
        return context.groups


def _members(group: Group) -> Iterable[object]:
    for peer in group:
        if isinstance(peer, Target) and peer.brokers and peer.role is None:
            yield from peer.brokers
        else:
            yield peer if isinstance(peer, str) else peer.words


def _machines_of(context: ActionContext, peer: Peer) -> Iterable[int]:
    cluster = context.cluster
    if peer == ZOOKEEPER_PEER:
        return (ZOOKEEPER,)
    if isinstance(peer, str):
        return tuple(cluster.network.nodes if peer == ALL_PEERS else cluster.nodes)
    return context.find(peer)
