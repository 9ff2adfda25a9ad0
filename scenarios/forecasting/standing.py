"""Brokers that are down while a plan is carried out, the leaders in their place, and the replicas that lack what was
written meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from attrs import define, field, frozen

from emulator.protocol.assignments import Replicas
from scenarios.forecasting.outages import Outage

Kind = Literal["dies", "noticed", "back"]
_ORDER: tuple[Kind, ...] = ("dies", "noticed", "back")


@frozen
class BrokerChange:
    """Something that happens to a broker at a time: it dies, others lead in its place, it is back."""

    at_s: float
    kind: Kind
    broker: int


def turns_of(outages: Iterable[Outage]) -> list[BrokerChange]:
    """The changes of brokers in these outages, in their order; what never happens is at an infinite time."""
    found = [
        BrokerChange(at_s, kind, one.broker)
        for one in outages
        for kind, at_s in zip(_ORDER, (one.begins_s, one.noticed_s, one.ends_s), strict=True)
    ]
    return sorted(found, key=lambda turn: (turn.at_s, _ORDER.index(turn.kind), turn.broker))


@define(eq=False)
class Standing:
    """The brokers and replicas that are not as they were at the start.

    Attributes:
        dead: the brokers that are down.
        unnoticed: those of them that the controller takes to be there, so that they are still in ISRs.
        elected: the leader of each partition whose first one has died.
        lagging: the replicas that were in sync when their broker died, and are not yet again; since when.
    """

    dead: dict[int, None] = field(factory=dict)
    unnoticed: dict[int, None] = field(factory=dict)
    elected: dict[str, int] = field(factory=dict)
    lagging: dict[tuple[str, int], float] = field(factory=dict)

    def leader(self, name: str, first: int) -> int:
        """The leader of a partition that ``first`` leads unless it has died."""
        return self.elected.get(name, first)

    def is_lost(self, name: str, broker: int) -> bool:
        """Whether a replica that was in sync is dead, or not in sync again."""
        return broker in self.dead or (name, broker) in self.lagging

    def is_missed(self, name: str, broker: int) -> bool:
        """Whether a replica that was in sync is not in the ISR."""
        return self.is_lost(name, broker) and broker not in self.unnoticed

    def followers(self, name: str, leader: int, in_sync: Iterable[int]) -> list[int]:
        """The followers of a partition that get what is written; none without a leader."""
        if leader in self.dead:
            return []
        return [broker for broker in in_sync if broker != leader and not self.is_lost(name, broker)]

    def die(self, broker: int, now_s: float, led: Iterable[tuple[str, int, Sequence[int]]]) -> None:
        """A broker dies. ``led``: each partition with its leader and the replicas that are or were in sync."""
        self.dead[broker] = self.unnoticed[broker] = None
        for name, leader, in_sync in led:
            if broker in in_sync and broker != leader:
                self.lagging.setdefault((name, broker), now_s)

    def elect(self, broker: int, now_s: float, led: Iterable[tuple[str, int, Replicas, Sequence[int]]]) -> list[str]:
        """Let others lead what a dead broker leads: the first of the replicas that is in sync and lives. Returns the
        partitions that have another leader. ``led``: each partition with its leader, its replicas in the controller's
        order, and those that are or were in sync."""
        found = []
        self.unnoticed.pop(broker, None)
        for name, leader, replicas, in_sync in led:
            live = (one for one in replicas if one in in_sync and not self.is_lost(name, one))
            if leader == broker and broker in self.dead and (chosen := next(live, None)) is not None:
                self.elected[name] = chosen
                self.lagging[name, broker] = now_s
                found.append(name)
        return found

    def come_back(self, broker: int) -> Iterator[tuple[str, float]]:
        """A broker is back: the partitions of which it lacks something, since when."""
        self.dead.pop(broker, None)
        return iter([(name, since_s) for (name, lagging), since_s in self.lagging.items() if lagging == broker])
