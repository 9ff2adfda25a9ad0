"""G4: a coordinator answers with the offsets that a group has committed."""

from __future__ import annotations

from attrs import define, field

from brokers.groups.config import GROUP_METADATA_TOPIC
from emulator.protocol.events import OffsetsCommitted, OffsetsRemoved, TransactionMarked
from emulator.protocol.groups.group_offsets import (
    NO_OFFSET,
    GroupOffsets,
    OffsetFetchRequest,
    OffsetsWanted,
    OffsetToCommit,
)
from emulator.protocol.shown_coordination import CommitAccepted
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.checker import Gravity
from scenarios.observe.checkers.coordinators_log import CoordinatorsLog
from scenarios.observe.findings.coordination_facts import CommitLost, GroupCommit


@define(eq=False)
class _Committed:
    """The commits of a group for one partition.

    Attributes:
        last: the one that was acknowledged last, in the order of acceptance; None: none was.
        order: when that was accepted.
        possible: by order, the commits whose outcome is not known, each with the producer of its transaction.
    """

    last: OffsetToCommit | None = None
    order: int = -1
    possible: dict[int, tuple[OffsetToCommit, int]] = field(factory=dict)

    def acknowledged(self, offset: int) -> None:
        order = next((order for order, (value, _) in self.possible.items() if value.offset == offset), None)
        if order is not None and order > self.order:
            self.last, self.order = self.possible[order][0], order
            for earlier in [one for one in self.possible if one <= order]:
                del self.possible[earlier]


class OffsetsReadBack(CoordinatorsLog):
    """The answer of a coordinator about a partition is what was committed last: by an acknowledged commit, or by a
    later one without an outcome. So it is after a failover of the coordinator, too.

    Verified: each answer to an OffsetFetch of the leader in ZooKeeper, in its leader epoch: offset, leader epoch and
        metadata, against the commits that coordinators have accepted, in that order; and that it leaves none out where
        the client asks for all. The offsets of a transaction count once its coordinator has ended it with COMMIT, and
        not after a marker of ABORT.

    After an unclean election of a partition of __consumer_offsets, and once a machine has crashed or a leader's log was
    damaged, what was committed before is not asked for any more; nor are offsets that were removed.

    Not verified: that offsets are removed for a reason.
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
        self.history.answers.of(self._fetched, OffsetFetchRequest)

    def on_accepted(self, event: CommitAccepted) -> None:
        self._accepted += 1
        group = self._groups.setdefault(event.group, {})
        for row in event.rows:
            found = group.get(row.tp)
            if found is None:
                found = group[row.tp] = _Committed()
            found.possible[self._accepted] = row, event.producer_id
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

    def _fetched(self, event: RequestAnswered) -> None:
        for wanted, told in zip(event.request.groups, event.response.groups, strict=False):
            home = None if told.error else self.history.coordinators.home(GROUP_METADATA_TOPIC, wanted.group)
            if home is not None and self.coordinates(event.node, home):
                self._look_at(event, wanted, told)

    def _look_at(self, event: RequestAnswered, wanted: OffsetsWanted, told: GroupOffsets) -> None:
        group = self._groups.get(wanted.group, {})
        rows = {row.tp: OffsetToCommit(*row[:-1]) for row in told.partitions if not row.error}
        if wanted.partitions is None:
            left_out = (tp for tp in group if tp not in rows and not any(row.tp == tp for row in told.partitions))
            rows |= {tp: OffsetToCommit(tp, NO_OFFSET) for tp in left_out}
        for tp, row in rows.items():
            found = group.get(tp)
            if found is None or found.last is None or row == found.last:
                continue
            possible = tuple([value for value, _ in found.possible.values()])
            if row not in possible:
                facts = CommitLost(event.node, wanted.group, _said(row), _said(found.last), tuple(map(_said, possible)))
                self.violated(event, facts, tp)


def _said(row: OffsetToCommit) -> GroupCommit:
    """A commit without its partition."""
    return GroupCommit(*row[1:])
