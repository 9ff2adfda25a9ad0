"""Roles such as ``leader(orders-0)``, resolved when an action is performed, from ZooKeeper's tree and from the state of
the brokers (readings §1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from attrs import define, evolve

from emulator.protocol.assignments import Replicas, among, without
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    CONTROLLER,
    TOPICS,
    LeaderAndIsr,
    decode_controller,
    decode_topic,
    state_path,
    topic_path,
)
from emulator.streams import Stream
from scenarios.errors import did_you_mean
from scenarios.language import Target, TargetRole
from scenarios.language.targets import BROKER

if TYPE_CHECKING:
    from scenarios.cluster.cluster import Cluster


def parts_of_move(before: Replicas, after: Replicas) -> Mapping[str, Replicas]:
    """The replicas that a move adds, removes and keeps, each in order of preference."""
    return {"adding": without(after, before), "removing": without(before, after), "kept": among(before, after)}


@define(eq=False)
class TargetRoles:
    """Finds the brokers of a target.

    Attributes:
        original, final: the replicas of each partition before its move and after it; an action with a plan of its own
            changes ``final``.
    """

    cluster: Cluster
    original: dict[str, tuple[int, ...]]
    final: dict[str, tuple[int, ...]]

    def find(self, target: Target, draws: Stream | None = None) -> tuple[int, ...]:
        """The brokers, or the clients, that ``target`` means now; empty if there is none. ``draws``: the stream for
        ``any``."""
        return target.pick(self._candidates(target), draws)

    def means(self, target: Target, machine: int) -> bool:
        """Whether ``machine`` is one of those that ``target`` means now; for ``any``, one that can be drawn."""
        return machine in (self._candidates(target) if target.drawn else self.find(target))

    def _candidates(self, target: Target) -> list[int]:
        """The machines that have the role and the state, whatever the mode."""
        role = target.parsed_role
        candidates = target.brokers or (self._of_role(role) if role is not None else tuple(self.cluster.nodes))
        return [broker for broker in candidates if target.state in (None, self.state_of(broker))]

    def state_of(self, broker: int) -> str:
        """The state of a broker: ``up``, ``down`` or ``paused``."""
        process = self.cluster.network.nodes[broker].process
        if process is None or not process.alive:
            return "down"
        return "paused" if process.suspended else "up"

    def _of_role(self, role: TargetRole) -> tuple[int, ...]:
        if role.name == "controller":
            return self.controller()
        if role.means_clients:
            return self.clients(role.client)
        if role.name == BROKER:
            return tuple(self.cluster.nodes)
        if role.partition is None:
            return self._of_any_partition(role)
        tp = TopicPartition.parse(role.partition)
        state = self.state(tp)
        leader = () if state is None or state.leader < 0 else (state.leader,)
        if role.name == "leader":
            return leader
        if role.name in ("replica", "follower"):
            return tuple(b for b in self.assignment(tp) if role.name == "replica" or b not in leader)
        if role.name == "isr":
            isr = () if state is None else state.isr
            return tuple(broker for broker in isr if not (role.without_leader and broker in leader))
        before = self.original.get(role.partition) or self.assignment(tp)
        return parts_of_move(before, self.final.get(role.partition, before))[role.name]

    def _of_any_partition(self, role: TargetRole) -> tuple[int, ...]:
        """The brokers that lead, or follow, some partition."""
        found: dict[int, None] = {}
        for partition in self._partitions():
            found |= dict.fromkeys(self._of_role(evolve(role, partition=partition)))
        return tuple(found)

    def _partitions(self) -> Iterator[str]:
        for topic in self.cluster.zookeeper.tree.children(TOPICS):
            data = self.cluster.zookeeper.tree.get(topic_path(topic))
            yield from (f"{topic}-{number}" for number in (decode_topic(data) if data is not None else ()))

    def lacks_partition(self, name: str) -> str:
        """The error for a partition that does not exist, with a "did you mean"; "" for one that does."""
        if self.assignment(TopicPartition.parse(name)):
            return ""
        return f"there is no partition {name!r}; {did_you_mean(name, self._partitions())}"

    def clients(self, name: str | None = None) -> tuple[int, ...]:
        """The machines of the producers and consumers of that name; None: of all."""
        return tuple(machine for machine, own in self.cluster.clients.items() if name in (None, own))

    def controller(self) -> tuple[int, ...]:
        """The broker that /controller names."""
        data = self.cluster.zookeeper.tree.get(CONTROLLER)
        return () if data is None else (decode_controller(data),)

    def state(self, tp: TopicPartition) -> LeaderAndIsr | None:
        data = self.cluster.zookeeper.tree.get(state_path(tp))
        return None if data is None else LeaderAndIsr.decode(data, 0)

    def assignment(self, tp: TopicPartition) -> tuple[int, ...]:
        """The replicas of ``tp`` in ZooKeeper; empty if there is no such partition."""
        data = self.cluster.zookeeper.tree.get(topic_path(tp.topic))
        return () if data is None else decode_topic(data).get(tp.partition, ())
