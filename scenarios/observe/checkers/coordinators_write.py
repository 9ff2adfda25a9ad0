"""G14: a coordinator writes what its clients have sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brokers.groups.config import GROUP_METADATA_TOPIC
from brokers.groups.records import OffsetAndMetadata, StoredGroup, StoredMember
from brokers.transactions.metadata import TxnTransitMetadata
from emulator.protocol.events import ClockSet
from emulator.protocol.groups.membership import JoinGroupRequest
from emulator.protocol.shown_coordination import CommitAccepted, CoordinatorAppends
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.markers_decided import COMPLETE, ONGOING
from scenarios.observe.findings.coordinated_facts import WrittenAmiss, differences, worded
from scenarios.observe.history.coordinated_past import EMPTY, Generation, GroupThere, IdThere

ABORTS = "PrepareAbort"
JOINED = ("instance_id", "client_id", "client_host", "rebalance_timeout_us", "session_timeout_us", "subscription")
"""The fields of a member's record that its JoinGroup states."""
Differs = tuple[str, str, Any, Any]
"""The subject of a record, a field of it, what that says, and what it should."""


class CoordinatorsWrite(Checker):
    """The records of a coordinator say what its clients have sent, and what it has made of that (GroupMetadataManager,
    TransactionLog, 0.11 to 3.9): the next coordinator knows nothing else.

    Verified: each record that a coordinator is about to append. Of a committed offset: all fields and their times,
        against the request. Of a group: protocol, leader, members and assignments, against the generation that was
        formed, timeouts, client and subscription of each member, against its last JoinGroup, and the time of its state.
        Of a transactional id: producer id and epoch, timeout, partitions, and times, against its state before; an id is
        removed only once it was not used for transactional.id.expiration.ms.

    Not verified: times once a clock was set; members that have joined before this run; ids and groups that their
        coordinator could not read; the tombstones of offsets (``offsets_expire_late``).
    """

    ids = ("G14",)
    statement = "record = f(requests): a coordinator writes what its clients have sent"
    fails_when = "a coordinator writes a commit without its metadata"

    def begin(self) -> None:
        self._there = self.history.coordinators
        self._expiration_ms = self.start.time_us("transactional.id.expiration.ms", 7 * 86_400_000) // 1000
        self._accepted: dict[int, CommitAccepted] = {}
        """The commit that each broker has accepted last."""
        self._joined: dict[str, dict[JoinGroupRequest, None]] = {}
        """By member id, the requests with which it has joined."""
        self.history.answers.of(self._answered, JoinGroupRequest)
        self._clocks = False

    def on_clock(self, _: ClockSet) -> None:
        self._clocks = True

    def on_accepted(self, event: CommitAccepted) -> None:
        self._accepted[event.node] = event

    def _answered(self, event: RequestAnswered) -> None:
        if not event.response.error:
            self._joined.setdefault(event.response.member_id, {})[event.request] = None

    def on_appends(self, event: CoordinatorAppends) -> None:
        records = event.records
        if records.tp.topic == GROUP_METADATA_TOPIC:
            found = self._of_groups(event)
        else:
            id = records.transactional_id
            there = self._there.ids.get((event.node, id), IdThere())
            found = self._of_id(event, f"transactional id {id}", there.state, records.value)
        for of, part, said, wanted in found:
            self.violated(event, WrittenAmiss(event.node, of, part, worded(said), worded(wanted)), None, (event.node,))

    # -- groups -----------------------------------------------------------------------------------------------------

    def _of_groups(self, event: CoordinatorAppends) -> Iterator[Differs]:
        offsets: dict[TopicPartition, OffsetAndMetadata] = {}
        for key, value in event.records.entries:
            if isinstance(value, OffsetAndMetadata):
                offsets[key.tp] = value
            elif isinstance(value, StoredGroup):
                there = self._there.groups.get((event.node, key.group))
                if there is not None:
                    yield from self._of_group(event, key.group, there, value)
        if offsets:
            yield from self._of_offsets(event, offsets)

    def _of_offsets(
        self, event: CoordinatorAppends, offsets: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> Iterator[Differs]:
        accepted = self._accepted[event.node]
        of, now_ms = f"the offsets of group {accepted.group}", event.clock_us // 1000
        producer = getattr(event.records, "producer_id", -1), getattr(event.records, "producer_epoch", -1)
        expire_ms = None if accepted.retention_us < 0 else now_ms + accepted.retention_us // 1000
        wanted = {
            row.tp: OffsetAndMetadata(row.offset, row.leader_epoch, row.metadata, now_ms, expire_ms)
            for row in accepted.rows
        }
        for tp in dict.fromkeys((*offsets, *wanted)):
            for name, said, should in differences(offsets.get(tp), wanted.get(tp)):
                yield f"{of}, {tp},", name, said, should
        yield from _unequal(
            of,
            ("producer", producer, (accepted.producer_id, accepted.producer_epoch)),
            ("partition", event.records.tp, accepted.home),
        )

    def _of_group(
        self, event: CoordinatorAppends, group: str, there: GroupThere, value: StoredGroup
    ) -> Iterator[Differs]:
        of, current = f"group {group}", there.current
        yield from _unequal(of, ("generation", value.generation, there.generation))
        if there.since_us is not None and not self._clocks and value.state_ms is not None:
            since_ms = (event.clock_us - event.t_us + there.since_us) // 1000
            if abs(value.state_ms - since_ms) > 1:
                yield of, "state timestamp", value.state_ms, since_ms
        if current is None or there.replaced:
            return
        yield from _unequal(
            of,
            ("protocol", value.protocol or "", current.protocol),
            ("leader", value.leader or "", current.leader),
            ("members", sorted(each.member_id for each in value.members), sorted(there.members)),
        )
        for member in value.members:
            yield from self._of_member(of, current, member)

    def _of_member(self, of: str, current: Generation, member: StoredMember) -> Iterator[Differs]:
        of = f"member {member.member_id} of {of}"
        made = [each[member.member_id] for each in current.assigned if member.member_id in each]
        if made and member.assignment not in made:
            yield of, "assignment", member.assignment, made[-1]
        joined = self._joined.get(member.member_id)
        if not joined:
            return
        wanted = [
            member._replace(
                instance_id=each.instance_id, client_id=each.client_id, client_host=each.client_host,
                rebalance_timeout_us=each.rebalance_timeout_us, session_timeout_us=each.session_timeout_us,
                subscription=dict(reversed(each.protocols)).get(current.protocol, b""),
            )
            for each in joined
        ]  # fmt: skip
        for name in JOINED:
            said, may = getattr(member, name), [getattr(each, name) for each in wanted]
            if said not in may:
                yield of, name, said, may[-1]

    # -- transactional ids ------------------------------------------------------------------------------------------

    def _of_id(
        self, event: CoordinatorAppends, of: str, before: TxnTransitMetadata | None, value: TxnTransitMetadata | None
    ) -> Iterator[Differs]:
        now_ms = event.clock_us // 1000
        if value is None:
            if before is not None and not self._clocks and before.update_ms + self._expiration_ms > now_ms:
                yield of, "a tombstone at", now_ms, f"after {before.update_ms + self._expiration_ms}"
            return
        if value.state == EMPTY:
            yield from _unequal(of, ("partitions", value.partitions, ()), ("start", value.start_ms, -1))
            if before is not None and value.producer_id == before.producer_id:
                if not before.producer_epoch <= value.producer_epoch <= before.producer_epoch + 1:
                    yield of, "epoch", value.producer_epoch, before.producer_epoch + 1
            elif value.producer_epoch != 0:
                yield of, "epoch", value.producer_epoch, 0
        elif before is not None:
            yield from self._of_transaction(of, before, value, now_ms)
        if value.state not in COMPLETE:
            yield from _unequal(of, ("update time", value.update_ms, now_ms))

    def _of_transaction(
        self, of: str, before: TxnTransitMetadata, value: TxnTransitMetadata, now_ms: int
    ) -> Iterator[Differs]:
        begins = value.state == ONGOING and before.state != ONGOING
        yield from _unequal(
            of,
            ("producer id", value.producer_id, before.producer_id),
            ("timeout", value.timeout_ms, before.timeout_ms),
            ("start", value.start_ms, now_ms if begins else before.start_ms),
        )
        kept = () if begins or value.state in COMPLETE else before.partitions
        partitions = tuple(tp for tp in value.partitions if tp in kept) if value.state == ONGOING else value.partitions
        yield from _unequal(of, ("partitions", sorted(partitions), sorted(kept)))
        fences = value.state == ABORTS and before.state == ONGOING
        if value.producer_epoch != before.producer_epoch and not (
            fences and value.producer_epoch > before.producer_epoch
        ):
            yield of, "epoch", value.producer_epoch, before.producer_epoch


def _unequal(of: str, *parts: tuple[str, Any, Any]) -> Iterator[Differs]:
    for part, said, wanted in parts:
        if said != wanted:
            yield of, part, said, wanted
