"""G15: members of groups are answered as their requests, and the state of their group, call for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from brokers.groups.config import GROUP_METADATA_TOPIC, GroupCoordinatorConfig
from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import NodeCrashed
from emulator.protocol.groups.find_coordinator import FindCoordinatorRequest
from emulator.protocol.groups.group_offsets import OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest
from emulator.protocol.groups.membership import (
    NO_MEMBER,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from emulator.protocol.shown import MetadataCached
from emulator.protocol.transactions.txn_offset_commit import TxnOffsetCommitRequest
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.coordinated_answers import ELSEWHERE, Amiss, CoordinatedAnswers, unequal
from scenarios.observe.history.coordinated_past import (
    COMPLETING,
    PREPARING,
    STABLE,
    Generation,
    GroupThere,
    offset_name,
)

E = Errors
TOPICS = GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
"""The topics of coordinators, by ``CoordinatorType``."""
REPLICAS = dict(
    zip(TOPICS, ("offsets.topic.replication.factor", "transaction.state.log.replication.factor"), strict=True)
)
"""The setting of how many brokers have to live for each of them to be created."""
CREATED_US = 5_000_000
"""How long a broker may take to create one."""
OF_STATE = (E.UNKNOWN_MEMBER_ID, E.ILLEGAL_GENERATION, E.REBALANCE_IN_PROGRESS, E.FENCED_INSTANCE_ID)
"""The refusals whose reasons are looked for in the state of the group."""
OF_FETCH = NO_ERROR, E.UNSTABLE_OFFSET_COMMIT
OF_TRANSACTION = (
    E.INVALID_PRODUCER_EPOCH, E.INVALID_PRODUCER_ID_MAPPING, E.PRODUCER_FENCED, E.INVALID_TXN_STATE,
    E.TRANSACTION_ABORTABLE, E.CONCURRENT_TRANSACTIONS, E.INVALID_REQUEST, E.NETWORK_EXCEPTION,
    E.NOT_LEADER_FOR_PARTITION, E.UNKNOWN_TOPIC_OR_PARTITION,
)  # fmt: skip
"""The refusals of offsets in a transaction that have to do with that."""
OF_DELETE = NO_ERROR, E.UNKNOWN_TOPIC_OR_PARTITION, E.GROUP_SUBSCRIBED_TO_TOPIC


class MembersAnswered(CoordinatedAnswers):
    """A coordinator of groups answers as the requests, and the state of the group, call for (GroupCoordinator, 0.11 to
    3.9).

    Verified: each answer to FindCoordinator, against the metadata of the broker; and that it creates the topic of the
        coordinators within 5 s, where there is none and enough brokers live. No broker but the coordinator answers
        without an error, or with one that only it can know of. Each answer to JoinGroup, SyncGroup, Heartbeat and
        LeaveGroup, each field: generation, protocol, leader, members with their metadata, assignments, against the
        generation that was formed and what its members have sent; each error, against the state and the members of the
        group, and whether the broker coordinates it. Of commits, fetches and deletions of offsets: that the answer has
        the partitions of the request, that what is committed was written, and the errors.

    Not verified: groups in which a static member was replaced, until their next generation; which error comes first
        where there are several reasons; the offsets that are fetched (``offsets_read_back``); refusals of partitions
        that a broker does not know.
    """

    ids = ("G15",)
    statement = (
        "answer(m) = f(state(g), m): members are answered as their requests, and the state of their group, call for"
    )
    fails_when = "a coordinator names another generation than it has formed"

    def begin(self) -> None:
        super().begin()
        self.look_at(
            {
                FindCoordinatorRequest: self._found,
                JoinGroupRequest: self._joined,
                SyncGroupRequest: self._synced,
                HeartbeatRequest: self._heard,
                LeaveGroupRequest: self._left,
                OffsetCommitRequest: self._committed,
                TxnOffsetCommitRequest: self._committed,
                OffsetFetchRequest: self._fetched,
                OffsetDeleteRequest: self._deleted,
            }
        )
        settings, default = self.start.brokers, GroupCoordinatorConfig()
        self._sessions_us = (
            int(settings.get("group.min.session.timeout.ms", default.min_session_timeout_us // 1000)) * 1000,
            int(settings.get("group.max.session.timeout.ms", default.max_session_timeout_us // 1000)) * 1000,
        )
        self._most_bytes = int(settings.get("offset.metadata.max.bytes", default.metadata_max_bytes))
        self._most_members = int(settings.get("group.max.size", default.max_size))
        self._metadata: dict[int, MetadataCached] = {}
        self._asked_us: dict[tuple[int, str], int] = {}
        """By broker and topic, since when it has been asked for coordinators and can create the topic."""
        self._protocols: dict[str, JoinGroupRequest] = {}
        """The last JoinGroup of each member that was answered."""

    def on_metadata(self, event: MetadataCached) -> None:
        self._metadata[event.node] = event

    def on_crashed(self, event: NodeCrashed) -> None:
        self._metadata.pop(event.node, None)

    # -- FindCoordinator --------------------------------------------------------------------------------------------

    def _found(self, event: RequestAnswered, request: Any, response: Any) -> Iterator[Amiss]:
        said = response.coordinators
        yield from unequal(", ".join(request.keys), ("keys", tuple(each.key for each in said), request.keys))
        metadata = self._metadata.get(event.node)
        for each in said if request.key_type in (0, 1) else ():
            home = self.there.home(TOPICS[request.key_type], each.key)
            known = {} if metadata is None else metadata.topics.get(TOPICS[request.key_type], {})
            if metadata is None or home is None or len(known) != len(self.cluster.topics[home.topic]):
                wanted = (E.COORDINATOR_NOT_AVAILABLE, -1) if metadata is None or not known else None
                if metadata is not None and self._creates(event, TOPICS[request.key_type], metadata):
                    yield Amiss(each.key, "error", each.error, f"another: it can create {TOPICS[request.key_type]}")
            elif known[home.partition].leader in metadata.live_brokers:
                wanted = NO_ERROR, known[home.partition].leader
            else:
                wanted = E.COORDINATOR_NOT_AVAILABLE, -1
            if wanted is not None:
                yield from unequal(each.key, ("error", each.error, wanted[0]), ("node", each.node, wanted[1]))

    def _creates(self, event: RequestAnswered, topic: str, metadata: MetadataCached) -> bool:
        """Whether a broker should have created an internal topic by now, which clients have asked it for."""
        node, since_us = event.node, self.now.reached_since_us(event.node)
        least, before_us = int(self.start.brokers.get(REPLICAS[topic], 3)), self._asked_us.get((node, topic), -1)
        alive = min(len(metadata.live_brokers), len(self.cluster.registrations))
        can = alive >= least and node not in self.now.impaired
        if since_us is None or not can or self.cluster.topics.get(topic) or self.cluster.is_deleting(topic):
            self._asked_us.pop((node, topic), None)
            return False
        asked_us = self._asked_us[node, topic] = before_us if before_us > since_us else event.t_us
        return bool(event.t_us - asked_us > CREATED_US)

    # -- what every request has -------------------------------------------------------------------------------------

    def _elsewhere(self, event: RequestAnswered, group: str) -> bool:
        """Whether the broker may answer that it does not coordinate a group."""
        return self.there.coordinates(event.node, GROUP_METADATA_TOPIC, group) is not True

    def _error(
        self, event: RequestAnswered, request: Any, error: Errors, others: tuple[Errors, ...] = (),
        *, written: str = "", elsewhere: tuple[Errors, ...] = (),
    ) -> Iterator[Amiss]:  # fmt: skip
        """The mistake in an error, other than NONE, if there is one. ``others``: those that have a reason;
        ``written``: the record whose write may have failed; ``elsewhere``: those of a broker that does not coordinate
        the group, beside those which say so."""
        group = request.group
        there = self.there.coordinates(event.node, GROUP_METADATA_TOPIC, group)
        if there is None or error in (others if there else (*ELSEWHERE, *elsewhere)):
            return
        if written and self.there.has_failed(event.node, written, event.t_us):
            return
        if error is E.INVALID_GROUP_ID and not group:
            return
        yield Amiss(group, "error", error, "another, or NONE")

    def _group(self, event: RequestAnswered, request: Any) -> GroupThere:
        return self.there.groups.get((event.node, request.group)) or GroupThere()

    def _reasons(self, there: GroupThere, request: Any) -> tuple[Errors, ...]:
        """The refusals for which the state of the group is a reason."""
        found: dict[Errors, None] = {}
        if request.instance_id is not None:
            found |= {E.FENCED_INSTANCE_ID: None, E.UNKNOWN_MEMBER_ID: None}
        if there.replaced or request.member_id not in there.members:
            found[E.UNKNOWN_MEMBER_ID] = None
        if request.generation != there.generation or not there.members:
            found[E.ILLEGAL_GENERATION] = None
        if there.state in (PREPARING, COMPLETING):
            found[E.REBALANCE_IN_PROGRESS] = None
        return tuple(found)

    # -- members ----------------------------------------------------------------------------------------------------

    def _heard(self, event: RequestAnswered, request: HeartbeatRequest, response: Any) -> Iterator[Amiss]:
        there = self._group(event, request)
        if response.error:
            yield from self._error(event, request, response.error, self._reasons(there, request))
        elif self.there.coordinates(event.node, GROUP_METADATA_TOPIC, request.group) and not there.replaced:
            if request.member_id not in there.members or request.generation != there.generation:
                yield Amiss(request.group, "error", NO_ERROR, "a refusal")
            elif there.state == PREPARING:
                yield Amiss(request.group, "error", NO_ERROR, E.REBALANCE_IN_PROGRESS)

    def _left(self, event: RequestAnswered, request: LeaveGroupRequest, response: Any) -> Iterator[Amiss]:
        there = self._group(event, request)
        if response.error:
            yield from self._error(event, request, response.error)
            return
        yield from self.not_refused(event, GROUP_METADATA_TOPIC, request.group)
        yield from unequal(request.group, ("members", tuple(each for each, _ in response.members), request.members))
        for leaving, error in response.members:
            name = leaving.member_id
            if name == NO_MEMBER or there.replaced or leaving.instance_id is not None:
                continue
            if name in there.members:
                yield Amiss(request.group, f"{name} as", error, "removed")
            elif error and there.removed.get(name) == event.t_us:
                yield Amiss(request.group, f"{name} as", error, NO_ERROR)

    def _joined(
        self, event: RequestAnswered, request: JoinGroupRequest, response: JoinGroupResponse
    ) -> Iterator[Amiss]:
        there, group = self._group(event, request), request.group
        if response.error:
            yield from self._not_joined(event, request, response, there)
            return
        yield from self.not_refused(event, GROUP_METADATA_TOPIC, group)
        self._protocols[response.member_id] = request
        current = there.generations.get(response.generation)
        if current is None:
            if there.current is not None:
                yield Amiss(group, "generation", response.generation, there.generation)
            return
        if request.member_id != NO_MEMBER:
            yield from unequal(group, ("member id", response.member_id, request.member_id))
        yield from unequal(group, ("protocol type", response.protocol_type, request.protocol_type))
        if response.protocol not in [name for name, _ in request.protocols]:
            yield Amiss(group, "protocol", response.protocol, "one of the request's")
        if response.skips_assignment and (request.instance_id is None or not request.can_skip_assignment):
            yield Amiss(group, "skip assignment", True, False)
        if there.replaced or response.member_id not in current.members:
            return
        yield from unequal(
            group, ("protocol", response.protocol, current.protocol), ("leader", response.leader, current.leader)
        )
        yield from self._members(request, response, current)

    @staticmethod
    def _members(request: JoinGroupRequest, response: JoinGroupResponse, current: Generation) -> Iterator[Amiss]:
        """The members, in the leader's answer, each as it has joined."""
        leads = response.member_id == current.leader
        listed = {each.member_id: (each.instance_id, each.metadata) for each in response.members}
        yield from unequal(request.group, ("members", sorted(listed), sorted(current.members) if leads else []))
        current.listed |= listed
        metadata = dict(reversed(request.protocols)).get(current.protocol, b"")
        current.joined[response.member_id] = request.instance_id, metadata
        for member in listed if leads else (response.member_id,):
            said, sent = current.listed.get(member), current.joined.get(member)
            if said is not None and sent is not None and said != sent:
                yield Amiss(request.group, f"{member} as", said, sent)

    def _not_joined(
        self, event: RequestAnswered, request: JoinGroupRequest, response: JoinGroupResponse, there: GroupThere
    ) -> Iterator[Amiss]:
        error, others = response.error, []
        least_us, most_us = self._sessions_us
        if not least_us <= request.session_timeout_us <= most_us:
            others.append(E.INVALID_SESSION_TIMEOUT)
        if request.member_id == NO_MEMBER and request.instance_id is None and request.requires_member_id:
            others.append(E.MEMBER_ID_REQUIRED)
            if error is E.MEMBER_ID_REQUIRED and not response.member_id.startswith(f"{request.client_id}-"):
                yield Amiss(request.group, "member id", response.member_id, "a new one")
        if request.member_id != NO_MEMBER and (there.replaced or request.member_id not in there.members):
            others.append(E.UNKNOWN_MEMBER_ID)
        if request.instance_id is not None:
            others.extend((E.FENCED_INSTANCE_ID, E.UNKNOWN_MEMBER_ID))
        if len(there.members) >= self._most_members:
            others.append(E.GROUP_MAX_SIZE_REACHED)
        if not self._supports(request, there):
            others.append(E.INCONSISTENT_GROUP_PROTOCOL)
        yield from self._error(event, request, error, tuple(others), written=f"group {request.group}")

    def _supports(self, request: JoinGroupRequest, there: GroupThere) -> bool:
        """Whether the members that are known, and the request, have a protocol in common."""
        known = [self._protocols.get(member) for member in there.members]
        if not request.protocol_type or not request.protocols or None in known:
            return False
        common = {name for name, _ in request.protocols}
        for each in known:
            if each is not None:
                common &= {name for name, _ in each.protocols} if each.protocol_type == request.protocol_type else set()
        return bool(common)

    def _synced(self, event: RequestAnswered, request: SyncGroupRequest, response: Any) -> Iterator[Amiss]:
        there, group = self._group(event, request), request.group
        current = there.generations.get(request.generation)
        if response.error:
            others = self._reasons(there, request)
            if request.generation != there.generation:
                others = (*others, E.REBALANCE_IN_PROGRESS)
            if request.protocol_type is not None or request.protocol is not None:
                named = current is None or request.protocol not in (None, current.protocol)
                typed = request.protocol_type not in (None, self._type_of(there))
                others = (*others, E.INCONSISTENT_GROUP_PROTOCOL) if named or typed else others
            loading = (E.REBALANCE_IN_PROGRESS,)  # GroupCoordinator.handleSyncGroup, 2.3 to 3.9
            yield from self._error(event, request, response.error, others, written=f"group {group}", elsewhere=loading)
            return
        yield from self.not_refused(event, GROUP_METADATA_TOPIC, group)
        if request.generation != there.generation or there.state not in (STABLE, PREPARING, COMPLETING):
            yield Amiss(group, "error", NO_ERROR, "a refusal")
        if current is None:
            return
        made = [each[request.member_id] for each in current.assigned if request.member_id in each]
        if made and response.assignment not in made:
            yield Amiss(group, "assignment", response.assignment, made[-1])
        yield from unequal(group, ("protocol", response.protocol, current.protocol))
        known = self._protocols.get(request.member_id)
        if known is not None:
            yield from unequal(group, ("protocol type", response.protocol_type, known.protocol_type))

    def _type_of(self, there: GroupThere) -> str | None:
        known = (self._protocols.get(member) for member in there.members)
        return next((each.protocol_type for each in known if each is not None), None)

    # -- offsets ----------------------------------------------------------------------------------------------------

    def _committed(self, event: RequestAnswered, request: OffsetCommitRequest, response: Any) -> Iterator[Amiss]:
        group, there = request.group, self._group(event, request)
        asked = dict.fromkeys(each.tp for each in request.offsets)
        yield from unequal(group, ("partitions", [tp for tp, _ in response.partitions], list(asked)))
        others = (*self._reasons(there, request), E.UNKNOWN_TOPIC_OR_PARTITION)
        if isinstance(request, TxnOffsetCommitRequest):
            others = (*others, *OF_TRANSACTION, *ELSEWHERE)
        if any(len(each.metadata) > self._most_bytes for each in request.offsets):
            others = (*others, E.OFFSET_METADATA_TOO_LARGE)
        for tp, error in response.partitions:
            record = offset_name(group, tp)
            if error:
                anywhere = (E.UNKNOWN_TOPIC_OR_PARTITION, E.OFFSET_METADATA_TOO_LARGE, *OF_TRANSACTION)
                yield from self._error(event, request, error, others, written=record, elsewhere=anywhere)
            elif tp in asked and not self.there.has_written(event.node, record, event.t_us):
                yield Amiss(group, f"{tp} as", NO_ERROR, "an error: it was not written")

    def _fetched(self, event: RequestAnswered, request: OffsetFetchRequest, response: Any) -> Iterator[Amiss]:
        names = tuple(each.group for each in response.groups)
        yield from unequal(", ".join(names), ("groups", names, tuple(each.group for each in request.groups)))
        for wanted, told in zip(request.groups, response.groups, strict=False):
            if told.error:
                elsewhere = self._elsewhere(event, wanted.group) and told.error in ELSEWHERE
                if not elsewhere:
                    yield Amiss(wanted.group, "error", told.error, NO_ERROR)
                continue
            yield from self.not_refused(event, GROUP_METADATA_TOPIC, wanted.group)
            rows = tuple(row.tp for row in told.partitions)
            if wanted.partitions is not None:
                yield from unequal(wanted.group, ("partitions", rows, wanted.partitions))
            for row in told.partitions:
                if row.error not in OF_FETCH[: 1 + request.require_stable]:
                    yield Amiss(wanted.group, f"{row.tp} as", row.error, NO_ERROR)

    def _deleted(self, event: RequestAnswered, request: OffsetDeleteRequest, response: Any) -> Iterator[Amiss]:
        if response.error:
            yield from self._error(event, request, response.error, (E.GROUP_ID_NOT_FOUND, E.NON_EMPTY_GROUP))
            return
        yield from self.not_refused(event, GROUP_METADATA_TOPIC, request.group)
        asked = tuple(dict.fromkeys(request.partitions))
        yield from unequal(request.group, ("partitions", tuple(tp for tp, _ in response.partitions), asked))
        for tp, error in response.partitions:
            if error not in OF_DELETE:
                yield Amiss(request.group, f"{tp} as", error, NO_ERROR)
