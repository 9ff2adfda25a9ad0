"""What is done to the links between machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.zookeeper import ZOOKEEPER
from scenarios.language import MethodEntry, Target

if TYPE_CHECKING:
    from scenarios.faults.actions import Actions, Brokers


def cut(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for source, target in _routes(actions, entry, brokers):
        actions.cluster.network.cut(source, target)


def heal(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for source, target in _routes(actions, entry, brokers):
        actions.cluster.network.heal(source, target)


def delay(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    extra = entry.param("delay").delay
    for source, target in _routes(actions, entry, brokers):
        actions.cluster.network.delay(source, target, extra)


def _routes(actions: Actions, entry: MethodEntry, brokers: Brokers) -> list[tuple[int, int]]:
    peer, direction = entry.param("peer"), entry.param("direction")
    routes: dict[tuple[int, int], None] = {}
    for broker in brokers:
        for other in _peers(actions, peer):
            if other != broker:
                if direction in ("both", "from"):
                    routes[broker, other] = None
                if direction in ("both", "to"):
                    routes[other, broker] = None
    if not routes and entry.trigger is not None:
        actions.refused.append(f"{entry.action}: broker {','.join(map(str, brokers))} has no link to itself")
    return list(routes)


def _peers(actions: Actions, peer: Target | str | None) -> Brokers:
    if peer is None:
        return tuple(actions.cluster.nodes)
    return (ZOOKEEPER,) if isinstance(peer, str) else actions.roles.find(peer)
