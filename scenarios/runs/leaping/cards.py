"""Cards: what the network cards of brokers leave to copies.

A card that is saturated shares what it carries among copies much as a quota does: when copies have ended, the others
get more. Who gets how much, a stretch says; the total is what the card carries, less what replicas in sync and
producers take of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from emulator.protocol.types import TopicPartition
from scenarios.runs.leaping.followed import FetchedReplica, Key
from scenarios.runs.leaping.sharing import MICRO, Bound, Place

if TYPE_CHECKING:
    from scenarios.cluster.cluster import Cluster


def cards(
    cluster: Cluster,
    copies: Sequence[FetchedReplica],
    fetched: Sequence[FetchedReplica],
    loads: Mapping[TopicPartition, float],
) -> list[Bound]:
    """The cards that may bind ``copies``: out of their leaders, and into their own brokers."""
    rates: dict[Place, float] = {}
    used: dict[Place, float] = {}
    members: dict[Place, list[Key]] = {}
    wanted = {each.key for each in copies}
    written: dict[TopicPartition, None] = {}
    for each in fetched:
        tp, here, leader = each.state.tp, each.broker.process.node.id, each.leader.process.node.id
        load = loads.get(tp, 0.0) * each.message_bytes if each.in_sync or tp not in written else 0.0
        for place, rate in (
            (("egress", leader), cluster.setup.network.nic(leader).egress),
            (("ingress", here), cluster.setup.network.nic(here).ingress),
        ):
            if rate is None:
                continue
            rates[place] = rate / MICRO
            if each.in_sync:
                used[place] = used.get(place, 0.0) + load
            elif each.key in wanted:
                members.setdefault(place, []).append(each.key)
        if tp not in written:
            written[tp] = None
            used["ingress", leader] = used.get(("ingress", leader), 0.0) + load
    return [Bound(place, rates[place], used.get(place, 0.0), tuple(keys)) for place, keys in members.items()]
