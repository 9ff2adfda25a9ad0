"""T10: what a broker tells an administrator about groups, transactions and producers is so."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import define, field

from emulator.protocol.describe_producers import NO_TRANSACTION, DescribedProducers, DescribeProducersRequest
from emulator.protocol.errors import Errors
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    GroupGeneration,
    GroupMemberAdded,
    GroupMemberRemoved,
    GroupStateChanged,
    GroupsUnloaded,
    NodeStarted,
    OffsetsRemoved,
    ReplicaOffline,
    ReplicaStopped,
    TransactionalAppended,
    TransactionMarked,
    TransactionStateChanged,
    TransactionsUnloaded,
    Truncated,
)
from emulator.protocol.groups.group_offsets import OffsetDeleteRequest
from emulator.protocol.groups.operations import (
    DeleteGroupsRequest,
    DescribedGroup,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from emulator.protocol.shown import MetadataCached
from emulator.protocol.shown_coordination import (
    AssignmentsMade,
    MemberReturned,
    MembersLoaded,
    TransactionLoaded,
    TransactionTimed,
)
from emulator.protocol.transactions.describing import (
    DescribedTransaction,
    DescribeTransactionsRequest,
    ListTransactionsRequest,
)
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.administrator_answers import AdministratorAnswers
from scenarios.observe.checkers.checker import forget

EMPTY, STABLE, DEAD, ONGOING = "Empty", "Stable", "Dead", "Ongoing"
WITH_MEMBERS = "PreparingRebalance", "CompletingRebalance", STABLE
REFUTED: Mapping[Errors, tuple[str, ...]] = {
    Errors.NON_EMPTY_GROUP: (EMPTY,), Errors.GROUP_ID_NOT_FOUND: WITH_MEMBERS,
}  # fmt: skip
"""The states in which a group is no reason for an error."""
TRANSACTION_STATES = (
    EMPTY, ONGOING, "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", DEAD, "PrepareEpochFence",
)  # fmt: skip


@define(eq=False)
class KnownGroup:
    """A group as the events of its coordinator show it.

    Attributes:
        members: its members, each with its instance id; None: not known.
        protocol: of its last generation; None: not known.
        assigned: what the leader has assigned in its last generation.
    """

    state: str
    members: dict[str, str] | None = None
    protocol: str | None = None
    assigned: Mapping[str, bytes] = field(factory=dict)


@define(eq=False)
class KnownTransaction:
    """A transactional id as the events of its coordinator show it. None, -1: not known."""

    producer_id: int
    state: str
    epoch: int | None = None
    partitions: tuple[TopicPartition, ...] | None = None
    timeout_ms: int = -1


@define(eq=False)
class KnownProducer:
    """A producer in a log, as the events of its leader show it since that leads."""

    epoch: int
    start: int
    coordinator_epoch: int | None = None


Answered = RequestAnswered


class DescriptionsTrue(AdministratorAnswers):
    """An answer to an administrator about the groups and the transactional ids that a broker coordinates, or about the
    producers of its logs, has what its events show (KafkaApis, 0.9 to 3.9; KIP-496, KIP-664).

    Verified: each answer has what was asked for, each once. Of DescribeGroups and ListGroups: the state of each group,
        its members with their instance ids, its protocol, the assignments of a stable group; none is missing that has
        the states that are asked for. Of DeleteGroups and OffsetDelete: what is said to be removed was
        removed; a group is not said to have members, or none to be there, against that. Of DescribeTransactions and
        ListTransactions: state, producer and timeout of each transactional id, and the partitions of a transaction;
        none is missing that fits the filters, and no other one is there; states that are not Kafka's. Of
        DescribeProducers: the producers in order, where a transaction begins and which epochs it has, on the
        leader in whose time it has begun.

    Not verified: what a coordinator has loaded and not changed since; errors of brokers that coordinate nothing; the
        clients, hosts and protocols of members; sequence numbers and times; longer_than of ListTransactions.
    """

    ids = ("T10",)
    statement = (
        "described(g) = g, described(x) = x: what a broker tells an administrator about groups, transactions and "
        "producers is so"
    )
    fails_when = "a description of a group has another state"

    def begin(self) -> None:
        looks: Mapping[type, Callable[[Answered], None]] = {
            DescribeGroupsRequest: self._described_groups, ListGroupsRequest: self._listed_groups,
            DeleteGroupsRequest: self._deleted_groups, OffsetDeleteRequest: self._deleted_offsets,
            DescribeTransactionsRequest: self._described_transactions,
            ListTransactionsRequest: self._listed_transactions, DescribeProducersRequest: self._described_producers,
        }  # fmt: skip
        for kind, look in looks.items():
            self.history.answers.of(look, kind)
        self._groups: dict[tuple[int, str], KnownGroup] = {}
        self._transactions: dict[tuple[int, str], KnownTransaction] = {}
        self._producers: dict[tuple[int, TopicPartition], dict[int, KnownProducer]] = {}
        self._removed: dict[tuple[int, str], tuple[int, bool, dict[TopicPartition, None]]] = {}
        """By group: when offsets of it were removed last, whether it was, too, and which."""
        self._cached: dict[int, MetadataCached] = {}

    def on_cached(self, event: MetadataCached) -> None:
        self._cached[event.node] = event

    def on_started(self, event: NodeStarted) -> None:
        self._cached.pop(event.node, None)
        forget(event.node, self._groups, self._transactions, self._producers)

    # -- groups -------------------------------------------------------------------------------------------------------

    def on_group(self, event: GroupStateChanged) -> None:
        if event.state == DEAD:  # another one of that name may come without an event
            self._groups.pop((event.node, event.group), None)
            return
        group = self._groups.setdefault((event.node, event.group), KnownGroup(event.state))
        group.state = event.state
        if event.state == EMPTY:
            group.members = {}

    def on_generation(self, event: GroupGeneration) -> None:
        group = self._groups.get((event.node, event.group))
        if group is not None:
            group.protocol, group.assigned = event.protocol, {}
            before = group.members or {}
            if group.members is None or list(before) == list(event.members):
                group.members = {member: before.get(member, "?") for member in event.members}

    def on_loaded(self, event: MembersLoaded) -> None:
        self._groups[event.node, event.group] = KnownGroup(event.state)

    def on_added(self, event: GroupMemberAdded) -> None:
        group = self._groups.setdefault((event.node, event.group), KnownGroup(EMPTY, {}))
        if group.members is not None:
            group.members[event.member] = event.instance

    def on_removed(self, event: GroupMemberRemoved) -> None:
        group = self._groups.get((event.node, event.group))
        if group is not None and group.members is not None:
            group.members.pop(event.member, None)
            if event.reason == "replaced":
                group.members = None

    def on_returned(self, event: MemberReturned) -> None:
        group = self._groups.get((event.node, event.group))
        if group is not None:
            group.members = None

    def on_assigned(self, event: AssignmentsMade) -> None:
        group = self._groups.get((event.node, event.group))
        if group is not None:
            group.assigned = dict(event.assignments)

    def on_offsets_removed(self, event: OffsetsRemoved) -> None:
        gone = dict.fromkeys(map(TopicPartition, event.topics, event.partitions))
        self._removed[event.node, event.group] = event.t_us, event.group_too, gone

    def on_unloaded(self, event: GroupsUnloaded) -> None:
        forget(event.node, self._groups)

    # -- transactions and producers -----------------------------------------------------------------------------------

    def on_transaction(self, event: TransactionStateChanged) -> None:
        partitions = tuple(map(TopicPartition, event.topics, event.partitions))
        before = self._transactions.get((event.node, event.transactional_id))
        timeout_ms = -1 if before is None else before.timeout_ms
        self._transactions[event.node, event.transactional_id] = KnownTransaction(
            event.producer_id, event.state, event.producer_epoch, partitions, timeout_ms
        )

    def on_timed(self, event: TransactionTimed) -> None:
        found = self._transactions.get((event.node, event.transactional_id))
        if found is not None:
            found.timeout_ms = event.timeout_us // 1000

    def on_transaction_loaded(self, event: TransactionLoaded) -> None:
        found = KnownTransaction(event.producer_id, event.state)
        self._transactions[event.node, event.transactional_id] = found

    def on_transactions_unloaded(self, event: TransactionsUnloaded) -> None:
        forget(event.node, self._transactions)

    def on_transactional(self, event: TransactionalAppended) -> None:
        producers = self._producers.setdefault((event.node, TopicPartition.of(event.topic, event.partition)), {})
        found = producers.get(event.producer_id)
        if found is None:
            producers[event.producer_id] = KnownProducer(-1, -2)  # it may have begun before this broker led
        elif found.start == NO_TRANSACTION:
            found.start = event.base_offset

    def on_marked(self, event: TransactionMarked) -> None:
        producers = self._producers.setdefault((event.node, TopicPartition.of(event.topic, event.partition)), {})
        producers[event.producer_id] = KnownProducer(event.producer_epoch, NO_TRANSACTION, event.coordinator_epoch)

    def on_log_changed(
        self, event: BecameLeader | BecameFollower | ReplicaStopped | ReplicaOffline | Truncated
    ) -> None:  # fmt: skip
        if self._producers:
            self._producers.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    # -- answers ------------------------------------------------------------------------------------------------------

    def _rows(self, event: Answered, rows: list[str], asked: list[str]) -> bool:
        if rows != asked:
            self.wrong(event, "", rows, asked)
        return rows == asked

    def _described_groups(self, event: Answered) -> None:
        request: DescribeGroupsRequest = event.request
        if not self._rows(event, [row.group for row in event.response.groups], list(request.groups)):
            return
        for row in event.response.groups:
            group = self._groups.get((event.node, row.group))
            if row.error is not Errors.NONE:
                if row.state or row.members:
                    self.wrong(event, row.group, f"{row.error.name}, and a group", "an error alone")
            elif group is None:
                if row.members and row.state not in WITH_MEMBERS:
                    self.wrong(event, row.group, f"{row.state} with members", "none have members")
            elif row.state != group.state:
                self.wrong(event, row.group, row.state or "no state", group.state)
            else:
                self._described_group(event, row, group)

    def _described_group(self, event: Answered, row: DescribedGroup, group: KnownGroup) -> None:
        ids = [member.member_id for member in row.members]
        if group.members is not None and sorted(ids) != sorted(group.members):
            self.wrong(event, row.group, f"the members {sorted(ids)}", sorted(group.members))
            return
        stable = row.state == STABLE
        if group.protocol is not None and row.protocol != (group.protocol if stable else ""):
            self.wrong(event, row.group, f"the protocol {row.protocol!r}", repr(group.protocol if stable else ""))
        if (row.state in WITH_MEMBERS) and not row.protocol_type:
            self.wrong(event, row.group, "no protocol type", "that of its members")
        for member in row.members:
            instance = (group.members or {}).get(member.member_id, "?")
            if instance not in ("?", member.instance_id or ""):
                self.wrong(event, row.group, f"the instance {member.instance_id}", instance)
            if not stable and (member.metadata or member.assignment):
                self.wrong(event, row.group, "an assignment", f"none while it is {row.state}")
            wanted = group.assigned.get(member.member_id)
            if stable and wanted is not None and wanted != member.assignment:
                self.wrong(event, row.group, f"another assignment of {member.member_id}", "that of its leader")

    def _listed_groups(self, event: Answered) -> None:
        request: ListGroupsRequest = event.request
        states = {state.lower() for state in request.states}
        rows = [row.group for row in event.response.groups]
        if len(dict.fromkeys(rows)) < len(rows):
            self.wrong(event, "", rows, "each group once")
        for row in event.response.groups:
            group = self._groups.get((event.node, row.group))
            if (group is not None and row.state not in (group.state, DEAD)) or (
                states and row.state.lower() not in states
            ):
                self.wrong(event, row.group, row.state, group.state if group is not None else "not asked for")
            if group is not None and group.state in WITH_MEMBERS and not row.protocol_type:
                self.wrong(event, row.group, "no protocol type", "that of its members")
        for (node, name), group in self._groups.items():
            wanted = not request.states or group.state in request.states
            if node == event.node and name not in rows and group.state in WITH_MEMBERS and wanted:
                self.wrong(event, name, "no such group", f"it is {group.state}")

    def _deleted_groups(self, event: Answered) -> None:
        request: DeleteGroupsRequest = event.request
        rows = [group for group, _ in event.response.groups]
        if not self._rows(event, rows, list(dict.fromkeys(request.groups))):
            return
        for name, error in event.response.groups:
            group = self._groups.get((event.node, name))
            at_us, too, _ = self._removed.get((event.node, name), (-1, False, {}))
            refuted = REFUTED.get(error, ())
            if error is Errors.NONE and (at_us < event.since_us or not too):
                self.wrong(event, name, "deleted", "it was not removed")
            elif group is not None and group.state in refuted:
                self.wrong(event, name, error.name, f"it is {group.state}")

    def _deleted_offsets(self, event: Answered) -> None:
        request: OffsetDeleteRequest = event.request
        response, group = event.response, self._groups.get((event.node, request.group))
        known = "" if group is None else group.state
        if response.error is not Errors.NONE:
            if response.partitions or known in REFUTED.get(response.error, ()):
                self.wrong(event, request.group, response.error.name, f"it is {known}")
            return
        rows, asked = [str(tp) for tp, _ in response.partitions], [str(tp) for tp in dict.fromkeys(request.partitions)]
        if not self._rows(event, rows, asked):
            return
        cached = self._cached.get(event.node)
        for tp, error in response.partitions:
            there = cached is not None and tp.partition in cached.topics.get(tp.topic, {})
            if error is Errors.GROUP_SUBSCRIBED_TO_TOPIC and known == EMPTY:
                self.wrong(event, request.group, error.name, f"it is {known}", tp)
            elif cached is not None and there is (error is Errors.UNKNOWN_TOPIC_OR_PARTITION):
                right = "the partition is there" if there else "there is no such partition"
                self.wrong(event, request.group, error.name, right, tp)

    def _described_transactions(self, event: Answered) -> None:
        request: DescribeTransactionsRequest = event.request
        if not self._rows(event, [row.id for row in event.response.transactions], list(request.ids)):
            return
        for row in event.response.transactions:
            known = self._transactions.get((event.node, row.id))
            if row.error is Errors.TRANSACTIONAL_ID_NOT_FOUND and known is not None and known.state == ONGOING:
                self.wrong(event, row.id, row.error.name, f"it is {known.state}")
            elif row.error is Errors.NONE and known is not None:
                self._described_transaction(event, row, known)

    def _described_transaction(self, event: Answered, row: DescribedTransaction, known: KnownTransaction) -> None:
        epoch = row.producer_epoch if known.epoch is None else known.epoch
        timeout_ms = row.timeout_ms if known.timeout_ms < 0 else known.timeout_ms
        said = row.state, row.producer_id, row.producer_epoch, row.timeout_ms
        right = known.state, known.producer_id, epoch, timeout_ms
        if said != right:
            self.wrong(event, row.id, "{}, producer {} of epoch {}, {} ms".format(*said), right)
        elif known.partitions is not None:
            open_there, named = dict.fromkeys(known.partitions), dict.fromkeys(row.partitions)
            whole = row.state == ONGOING
            if (whole and named.keys() != open_there.keys()) or not named.keys() <= open_there.keys():
                self.wrong(event, row.id, list(map(str, named)), list(map(str, open_there)))
        if (row.state == ONGOING) and row.start_ms < 0:
            self.wrong(event, row.id, "no start", "its transaction has begun")

    def _listed_transactions(self, event: Answered) -> None:
        request: ListTransactionsRequest = event.request
        response = event.response
        if response.error is not Errors.NONE:
            return
        unknown = [state for state in dict.fromkeys(request.states) if state not in TRANSACTION_STATES]
        if list(response.unknown_states) != unknown:
            self.wrong(event, "", f"the unknown states {list(response.unknown_states)}", unknown)
        rows = {row.id: row for row in response.transactions}
        if len(rows) < len(response.transactions):
            self.wrong(event, "", [row.id for row in response.transactions], "each once")
        for row in rows.values():
            known = self._transactions.get((event.node, row.id))
            if known is not None and (row.state, row.producer_id) != (known.state, known.producer_id):
                said = f"{row.state}, producer {row.producer_id}"
                self.wrong(event, row.id, said, f"{known.state}, producer {known.producer_id}")
            if not _is_in(row.state, row.producer_id, request):
                self.wrong(event, row.id, f"{row.state}, producer {row.producer_id}", "not asked for")
        for (node, id), known in self._transactions.items():
            wanted = known.state != DEAD and _is_in(known.state, known.producer_id, request)
            if node == event.node and id not in rows and wanted and request.longer_than_ms < 0:
                self.wrong(event, id, "no such id", f"{known.state}, producer {known.producer_id}")

    def _described_producers(self, event: Answered) -> None:
        request: DescribeProducersRequest = event.request
        rows = [str(row.tp) for row in event.response.partitions]
        if not self._rows(event, rows, list(map(str, request.partitions))):
            return
        for row in event.response.partitions:
            hosted = self.cluster.leads(event.node, row.tp) is not None
            cached = self._cached.get(event.node)
            if row.error is not Errors.NONE:
                if hosted and cached is not None and row.tp.topic in cached.topics:
                    self.wrong(event, "", row.error.name, "it leads the partition", row.tp)
                continue
            self._producers_of(event, row)

    def _producers_of(self, event: Answered, row: DescribedProducers) -> None:
        ids = [producer.producer_id for producer in row.producers]
        if ids != sorted(dict.fromkeys(ids)):
            self.wrong(event, "", f"the producers {ids}", "each once, by their ids", row.tp)
        said = {producer.producer_id: producer for producer in row.producers}
        for id, known in self._producers.get((event.node, row.tp), {}).items():
            one = said.get(id)
            if one is None:
                if known.start >= 0:
                    self.wrong(event, f"producer {id}", "not there", f"a transaction from {known.start} on", row.tp)
                continue
            if known.start >= NO_TRANSACTION and one.transaction_start != known.start:
                self.wrong(
                    event, f"producer {id}", f"a transaction from {one.transaction_start} on", known.start, row.tp
                )
            if known.coordinator_epoch is not None and one.coordinator_epoch != known.coordinator_epoch:
                said_epoch = f"the coordinator epoch {one.coordinator_epoch}"
                self.wrong(event, f"producer {id}", said_epoch, known.coordinator_epoch, row.tp)
            if one.producer_epoch < known.epoch:
                self.wrong(event, f"producer {id}", f"the epoch {one.producer_epoch}", f"{known.epoch} or more", row.tp)


def _is_in(state: str, producer_id: int, request: ListTransactionsRequest) -> bool:
    return (not request.states or state in request.states) and (
        not request.producer_ids or producer_id in request.producer_ids
    )
