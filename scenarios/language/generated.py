"""Generated plans: the places of replicas when a plan is made, and the moves that ``to`` and ``decommission`` then
mean.

``to`` is kafka-reassign-partitions.sh --generate (ReassignPartitionsCommand.generateAssignment, 2.3.1): every partition
of the topics is placed again. ``decommission`` is not in that tool: a broker's replicas go elsewhere, and all others
stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field

from emulator.protocol.placement import Replicas, place_replicas
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.plan import GeneratedPlan, Move, Plan
from scenarios.language.topic_spec import TopicSpec, join_partition


class Placements:
    """The places of each topic's replicas, as a scenario's method changes them entry by entry, and the plans that it
    has generated: the same words mean the same plan, in whatever entry they are."""

    def __init__(self, brokers: Sequence[int], racks: Mapping[int, str]) -> None:
        """``racks``: the rack of each broker; empty where they have none."""
        self.brokers = tuple(brokers)
        self.racks = racks or None
        self._replicas: dict[str, list[Replicas]] = {}
        self._made: dict[GeneratedPlan, GeneratedPlan] = {}

    def add(self, topic: TopicSpec) -> None:
        self._replicas[topic.name] = list(topic.replica_lists(self.brokers))

    def remove(self, topic: str) -> None:
        self._replicas.pop(topic, None)

    def expand(self, topic: str, partitions: int, assignment: Sequence[Replicas] | None) -> None:
        """Add partitions to a topic, by default where Kafka's tool places them while every broker is up."""
        now = self._replicas.get(topic, [])
        if now and assignment is None:
            placing = {"start": now[0][0], "first_partition": len(now), "racks": self.racks}
            assignment = place_replicas(self.brokers, partitions - len(now), len(now[0]), **placing)  # type: ignore[arg-type]
        now += assignment or ()

    def move(self, plan: Plan) -> None:
        """Move replicas as the plan does."""
        for move in plan.partitions:
            replicas = self._replicas.get(move.topic, [])
            if move.partition < len(replicas):
                replicas[move.partition] = move.replicas

    def resolved(self, plan: Plan) -> Plan:
        """The plan itself, or what its words mean now. Raises: BadInput."""
        if not isinstance(plan, GeneratedPlan):
            return plan
        words = plan.with_moves(())
        if words not in self._made:
            self._made[words] = plan.with_moves(self._generated(plan))
        return self._made[words]

    def _generated(self, plan: GeneratedPlan) -> tuple[Move, ...]:
        for where, ids in (("to", plan.to), ("decommission", plan.decommission)):
            for broker in ids:
                if broker not in self.brokers:
                    raise BadInput(
                        f"broker {broker} does not exist; write an id from 0 to {len(self.brokers) - 1}", where=where
                    )
        for index, topic in enumerate(plan.topics):
            if topic not in self._replicas:
                raise BadInput(
                    f"unknown topic {topic!r}; {did_you_mean(topic, self._replicas)}", where=f"topics[{index}]"
                )
        topics = {topic: self._replicas[topic] for topic in plan.topics or self._replicas}
        if not topics:
            raise BadInput("there are no topics to move; add [[topics]]")
        return tuple(self._emptied(plan, topics) if plan.decommission else self._placed(plan, topics))

    def _placed(self, plan: GeneratedPlan, topics: Mapping[str, Sequence[Replicas]]) -> Iterable[Move]:
        """The moves that place every partition again: a topic begins at the place where the one before it has ended."""
        brokers, start = sorted(plan.to), 0
        for topic, before in topics.items():
            factor = len(before[0])
            if factor > len(brokers):
                raise BadInput(
                    f"{topic} has {factor} replicas of each partition, which do not fit on {len(brokers)} brokers; "
                    f"name {factor} or more",
                    where="to",
                )
            placed = place_replicas(brokers, len(before), factor, start=start % len(brokers), racks=self.racks)
            for partition, replicas in enumerate(placed):
                yield Move(topic=topic, partition=partition, replicas=replicas)
            start += len(before)

    def _emptied(self, plan: GeneratedPlan, topics: Mapping[str, Sequence[Replicas]]) -> Iterable[Move]:
        """The moves of every replica on a broker that is to be empty to another broker."""
        taking = plan.to or tuple(broker for broker in self.brokers if broker not in plan.decommission)
        room = _Room(self.racks, taking, plan.decommission)
        for everywhere in self._replicas.values():
            for now in everywhere:
                room.count(now)
        moves = []
        for topic, replicas in topics.items():
            for partition, now in enumerate(replicas):
                if any(broker in plan.decommission for broker in now):
                    target = room.target(now)
                    if target is None:
                        instead = (
                            "name more brokers" if plan.to else "leave some brokers out, or let the cluster have more"
                        )
                        raise BadInput(
                            f"no broker is left that could take {join_partition(topic, partition)}; {instead}",
                            where="to" if plan.to else "decommission",
                        )
                    moves.append(Move(topic=topic, partition=partition, replicas=target))
        if not moves:
            gone = ", ".join(map(str, plan.decommission))
            raise BadInput(f"no partition has a replica on broker {gone}; nothing is to be moved", where="decommission")
        return moves


@define
class _Room:
    """The load of the brokers, while others are emptied.

    Attributes:
        taking: the brokers that take replicas.
        gone: the brokers that are to be empty.
        replicas, leaders: the numbers of replicas and preferred leaders on each.
    """

    racks: Mapping[int, str] | None
    taking: Sequence[int]
    gone: Sequence[int]
    replicas: Counter[int] = field(factory=Counter)
    leaders: Counter[int] = field(factory=Counter)

    def count(self, replicas: Replicas) -> None:
        """Count a partition with these replicas."""
        self.leaders[replicas[0]] += 1
        for broker in replicas:
            self.replicas[broker] += 1

    def target(self, now: Replicas) -> Replicas | None:
        """The new replicas of a partition; None where no broker is left. Each keeps its place in the list."""
        target = list(now)
        for place, broker in enumerate(now):
            if broker in self.gone:
                new = self._best([other for other in target if other not in self.gone], leads=place == 0)
                if new is None:
                    return None
                target[place] = new
                self.replicas[new] += 1
                self.leaders[new] += place == 0
        return tuple(target)

    def _best(self, others: Sequence[int], *, leads: bool) -> int | None:
        """The broker that takes a replica beside those on ``others``: preferably in a rack without any; then with the
        fewest preferred leaders (``leads``); then with the fewest replicas; then with the lowest id."""

        def cost(broker: int) -> tuple[int, int, int, int]:
            racks = self.racks
            shared = 0 if racks is None else sum(racks[other] == racks[broker] for other in others)
            return shared, self.leaders[broker] if leads else 0, self.replicas[broker], broker

        return min((broker for broker in self.taking if broker not in others), key=cost, default=None)
