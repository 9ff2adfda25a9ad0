"""G4: a coordinator answers with the offsets that a group has committed."""

from __future__ import annotations

from attrs import define, field

from brokers.groups.config import GROUP_METADATA_TOPIC
from emulator.protocol.events import OffsetsCommitted, OffsetsRemoved, TransactionMarked
from emulator.protocol.shown_coordination import CommitAccepted, OffsetsRead
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Gravity
from scenarios.observe.checkers.coordinators_log import CoordinatorsLog
from scenarios.observe.findings.coordination_facts import CommitLost


@define(eq=False)
class _Committed:
    """The commits of a group for one partition.

    Attributes:
        offset: the one that was acknowledged last, in the order of acceptance; None: none was.
        order: when that was accepted.
        possible: by order, the offsets whose outcome is not known, each with the producer of its transaction.
    """

    offset: int | None = None
    order: int = -1
    possible: dict[int, tuple[int, int]] = field(factory=dict)

    def acknowledged(self, offset: int) -> None:
        order = next((order for order, (value, _) in self.possible.items() if value == offset), None)
        if order is not None and order > self.order:
            self.offset, self.order = offset, order
            for earlier in [one for one in self.possible if one <= order]:
                del self.possible[earlier]


class OffsetsReadBack(CoordinatorsLog):
    """The offset that a coordinator answers with is the one that was committed last: by an acknowledged commit, or by a
    later one without an outcome. So it is after a failover of the coordinator, too.

    Verified: each answer to an OffsetFetch of the leader in ZooKeeper, in its leader epoch, against the commits that
        coordinators have accepted, in that order. The offsets of a transaction count once its coordinator has ended it
        with COMMIT, and not after a marker of ABORT.

    After an unclean election of a partition of __consumer_offsets, and once a machine has crashed, what was committed
    before is not asked for any more; nor are offsets that were removed.

    Not verified: that offsets are removed for a reason; metadata of commits.
    """

    ids = ("G4",)
    gravity = Gravity.LOSS
    statement = (
        "fetched(g, p) = last(committed(g, p)): a coordinator answers with the offsets that a group has committed"
    )
    catches = ("KAFKA-5600",)
    fails_when = "a coordinator that takes over reads no offsets"

    def begin(self) -> None:
        super().begin()
        self._accepted = 0
        self._groups: dict[str, dict[TopicPartition, _Committed]] = {}
        self._transactions: dict[int, dict[str, None]] = {}
        """The groups for which a producer commits offsets in transactions."""

    def on_accepted(self, event: CommitAccepted) -> None:
        self._accepted += 1
        group = self._groups.setdefault(event.group, {})
        for tp, offset in event.offsets:
            found = group.get(tp)
            if found is None:
                found = group[tp] = _Committed()
            found.possible[self._accepted] = offset, event.producer_id
        if event.producer_id >= 0:
            self._transactions.setdefault(event.producer_id, {})[event.group] = None

    def on_committed(self, event: OffsetsCommitted) -> None:
        group = self._groups.get(event.group)
        if event.error != "NONE" or group is None:
            return
        for topic, partition, offset in zip(event.topics, event.partitions, event.offsets, strict=True):
            found = group.get(TopicPartition.of(topic, partition))
            if found is not None:
                found.acknowledged(offset)

    def on_marked(self, event: TransactionMarked) -> None:
        if event.topic != GROUP_METADATA_TOPIC or event.committed:
            return
        for group in self._transactions.get(event.producer_id, ()):
            for found in self._groups.get(group, {}).values():
                for order in [one for one, (_, of) in found.possible.items() if of == event.producer_id]:
                    del found.possible[order]

    def on_removed(self, event: OffsetsRemoved) -> None:
        group = self._groups.get(event.group, {})
        for topic, partition in zip(event.topics, event.partitions, strict=True):
            group.pop(TopicPartition.of(topic, partition), None)

    def forget_written(self) -> None:
        self._groups.clear()

    def on_read(self, event: OffsetsRead) -> None:
        if not self.coordinates(event.node, event.home):
            return
        group = self._groups.get(event.group, {})
        for tp, offset in event.offsets:
            found = group.get(tp)
            if found is None or found.offset is None or offset == found.offset:
                continue
            possible = tuple([value for value, _ in found.possible.values()])
            if offset not in possible:
                self.violated(event, CommitLost(event.node, event.group, offset, found.offset, possible), tp)
