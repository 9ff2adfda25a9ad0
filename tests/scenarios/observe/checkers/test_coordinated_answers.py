"""G1, G4, G14, G15, X12: histories in which a coordinator answers, writes or reads something else than it should."""

from __future__ import annotations

from typing import Any

import pytest

from brokers.groups.records import (
    GroupKey,
    GroupRecords,
    OffsetAndMetadata,
    OffsetKey,
    StoredGroup,
    StoredMember,
    TransactionalGroupRecords,
)
from brokers.transactions.metadata import TransactionState, TxnTransitMetadata
from brokers.transactions.records import TransactionRecords
from emulator.protocol import events as e
from emulator.protocol import shown_coordination as shown
from emulator.protocol.errors import Errors
from emulator.protocol.groups.find_coordinator import (
    CoordinatorType,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    FoundCoordinator,
)
from emulator.protocol.groups.group_offsets import (
    CommittedOffset,
    GroupOffsets,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetsWanted,
    OffsetToCommit,
)
from emulator.protocol.groups.membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinedMember,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    SyncGroupRequest,
    SyncGroupResponse,
)
from emulator.protocol.produce import InitProducerIdRequest, InitProducerIdResponse
from emulator.protocol.shown import MetadataCached
from emulator.protocol.transactions.coordination import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
)
from emulator.protocol.transactions.markers import TxnMarker, WriteTxnMarkersRequest, WriteTxnMarkersResponse
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import encode_topic, topic_path
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from tests.scenarios.observe.checkers.test_coordinators import ANNE, BOB, GROUP, HOME, HOMES, WRITER, Coordinated
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

WRITES, MEMBERS, PRODUCERS, REMEMBERS = (
    "coordinators_write", "members_answered", "transactions_answered", "coordinators_remember",
)  # fmt: skip
NONE, UNKNOWN, REBALANCES = Errors.NONE, Errors.UNKNOWN_MEMBER_ID, Errors.REBALANCE_IN_PROGRESS
NAME = f"group {GROUP}'s offset of {ORDERS_0}"
ORDERS_1 = TopicPartition("orders", 1)
STATE = TransactionState


def asks_to_join(member: str, metadata: bytes = b"orders") -> JoinGroupRequest:
    return JoinGroupRequest(GROUP, member, 10_000_000, 20_000_000, "consumer", (("range", metadata),), client_id="me")


def joined(member: str, *, generation: int = 2, metadata: bytes = b"orders", **changes: Any) -> JoinGroupResponse:
    members = tuple(JoinedMember(each, None, metadata) for each in (ANNE, BOB)) if member == ANNE else ()
    told = {"protocol_type": "consumer", "protocol": "range", "leader": ANNE, "members": members} | changes
    return JoinGroupResponse(NONE, member, generation, **told)


class Answered(Coordinated):
    """A history with both internal topics, of one partition each, which broker 0 has read."""

    def ready(self) -> Answered:
        for home in (HOME, HOMES):
            self.emit(ZkWritten, 0, "create", topic_path(home.topic), 0, 0, encode_topic({0: (0, 1)}))
        self.emit(e.GroupsLoaded, 0, *HOME, 3, 0, 0)
        self.show(shown.TransactionsRead, 0, HOMES, {})
        self.emit(e.TransactionsLoaded, 0, *HOMES, 3, 0)
        return self

    def stable(self) -> Answered:
        """Anne and Bob are in generation 2, and Anne has assigned."""
        for member in (ANNE, BOB):
            self.emit(e.GroupMemberAdded, 0, GROUP, member, "", "me")
        self.group_state("PreparingRebalance")
        self.generation(2, ANNE, BOB)
        self.group_state("CompletingRebalance", 2)
        self.show(shown.AssignmentsMade, 0, GROUP, 2, ((ANNE, b"0"), (BOB, b"1")))
        self.group_state("Stable", 2)
        return self

    def answers(self, request: Any, response: Any, node: int = 0) -> None:
        self.show(RequestAnswered, node, -9, request, response, self.world.now, True)

    def at_once(self, kind: Any, *fields: Any) -> None:
        """Show what belongs to the same transition as what comes next."""
        self.show(kind, *fields)
        self.world.now -= 1000

    def appends(self, records: Any, node: int = 0) -> None:
        self.show(shown.CoordinatorAppends, node, records, self.world.now + 1000)

    def writes_id(self, value: TxnTransitMetadata | None, *, failed: bool = False) -> None:
        self.appends(TransactionRecords.of(HOMES, 9, WRITER, value))
        self.at_once(shown.CoordinatorWrote, 0, (f"transactional id {WRITER}",), failed, -1)


def parts(run: Coordinated) -> list[str]:
    """The findings, without how they begin."""
    return [found.partition(" with ")[2] or found.partition(" writes of ")[2] for found in run.found()]


# -- members ----------------------------------------------------------------------------------------------------------


def test_the_leader_learns_its_members_as_they_have_joined() -> None:
    run = Answered(MEMBERS).ready().stable()
    run.answers(asks_to_join(ANNE), joined(ANNE))
    run.answers(asks_to_join(BOB), joined(BOB))
    assert run.found() == []
    run.answers(asks_to_join(BOB, b"other"), joined(BOB))
    assert len(run.found()) == 1


@pytest.mark.parametrize(
    ("member", "changes", "found"),
    [
        (ANNE, {"generation": 3}, "generation 3; it should be 2"),
        (ANNE, {"leader": BOB}, "leader bob; it should be anne"),
        (ANNE, {"members": ()}, "members nothing; it should be anne, bob"),
        (BOB, {"members": (JoinedMember(BOB, None, b""),)}, "members bob; it should be nothing"),
        (BOB, {"protocol": "roundrobin"}, "protocol roundrobin; it should be one of the request's"),
        (BOB, {"protocol_type": None}, "protocol type nothing; it should be consumer"),
        (BOB, {"skips_assignment": True}, "skip assignment True; it should be False"),
    ],
)
def test_each_field_of_an_answer_to_a_member_that_has_joined(member: str, changes: Any, found: str) -> None:
    run = Answered(MEMBERS).ready().stable()
    run.answers(asks_to_join(member), joined(member, **changes))
    assert parts(run)[0] == found


@pytest.mark.parametrize(
    ("member", "generation", "state", "error", "count"),
    [
        (ANNE, 2, "Stable", NONE, 0),
        (ANNE, 1, "Stable", NONE, 1),
        (ANNE, 1, "Stable", Errors.ILLEGAL_GENERATION, 0),
        (ANNE, 2, "Stable", Errors.ILLEGAL_GENERATION, 1),
        ("carla", 2, "Stable", UNKNOWN, 0),
        (ANNE, 2, "Stable", UNKNOWN, 1),
        (ANNE, 2, "PreparingRebalance", REBALANCES, 0),
        (ANNE, 2, "PreparingRebalance", NONE, 1),
        (ANNE, 2, "Stable", REBALANCES, 1),
        (ANNE, 2, "CompletingRebalance", REBALANCES, 0),
        (ANNE, 2, "Stable", Errors.NOT_COORDINATOR, 1),
        (ANNE, 2, "Stable", Errors.UNKNOWN_SERVER_ERROR, 1),
    ],
)
def test_a_heartbeat_is_answered_by_the_state_of_the_group(
    member: str, generation: int, state: str, error: Errors, count: int
) -> None:
    run = Answered(MEMBERS).ready().stable()
    run.group_state(state, 2)
    run.answers(HeartbeatRequest(GROUP, generation, member), HeartbeatResponse(error))
    assert len(run.found()) == count


@pytest.mark.parametrize("gives_up", ["unloads", "ends", "is replaced"])
def test_what_is_not_known_of_a_group_is_not_asked_for(gives_up: str) -> None:
    run = Answered(MEMBERS).ready().stable()
    if gives_up == "unloads":
        run.emit(e.GroupsUnloaded, 0, *HOME, 1, 0)
    elif gives_up == "ends":
        run.emit(e.NodeCrashed, 0, 1, "process")
    else:
        run.removed(BOB, "replaced", "second")
    error = UNKNOWN if gives_up == "is replaced" else Errors.NOT_COORDINATOR
    run.answers(HeartbeatRequest(GROUP, 2, BOB), HeartbeatResponse(error))
    assert run.found() == []


@pytest.mark.parametrize(
    ("request_", "error", "count"),
    [
        (asks_to_join(""), Errors.MEMBER_ID_REQUIRED, 1),
        (asks_to_join(""), Errors.INVALID_SESSION_TIMEOUT, 1),
        (JoinGroupRequest(GROUP, "", 1, 1, "consumer", ()), Errors.INVALID_SESSION_TIMEOUT, 0),
        (asks_to_join(ANNE), UNKNOWN, 1),
        (asks_to_join("carla"), UNKNOWN, 0),
        (asks_to_join(ANNE), Errors.FENCED_INSTANCE_ID, 1),
        (asks_to_join("carla"), Errors.INCONSISTENT_GROUP_PROTOCOL, 1),
        (
            JoinGroupRequest(GROUP, "", 10_000_000, 1, "consumer", (("other", b""),)),
            Errors.INCONSISTENT_GROUP_PROTOCOL,
            0,
        ),
    ],
)
def test_a_join_is_refused_for_a_reason(request_: JoinGroupRequest, error: Errors, count: int) -> None:
    run = Answered(MEMBERS).ready().stable()
    for member in (ANNE, BOB):
        run.answers(asks_to_join(member), joined(member))
    run.answers(request_, JoinGroupResponse(error, request_.member_id))
    assert len(run.found()) == count


@pytest.mark.parametrize(
    ("response", "count"),
    [
        (SyncGroupResponse(NONE, b"1", "consumer", "range"), 0),
        (SyncGroupResponse(NONE, b"0", "consumer", "range"), 1),
        (SyncGroupResponse(NONE, b"1", "consumer", "other"), 1),
        (SyncGroupResponse(REBALANCES), 1),
    ],
)
def test_a_member_gets_its_assignment(response: SyncGroupResponse, count: int) -> None:
    run = Answered(MEMBERS).ready().stable()
    run.answers(SyncGroupRequest(GROUP, 2, BOB), response)
    assert len(run.found()) == count


@pytest.mark.parametrize(("left", "error", "count"), [(BOB, NONE, 0), (BOB, UNKNOWN, 1), (ANNE, NONE, 1)])
def test_a_member_that_leaves_is_removed(left: str, error: Errors, count: int) -> None:
    run = Answered(MEMBERS).ready().stable()
    run.removed(BOB, "left")
    run.world.now -= 1000
    leaving = (LeavingMember(left),)
    run.answers(LeaveGroupRequest(GROUP, leaving), LeaveGroupResponse(NONE, ((leaving[0], error),)))
    assert len(run.found()) == count


@pytest.mark.parametrize(("error", "written", "count"), [(NONE, True, 0), (NONE, False, 1), (UNKNOWN, True, 1)])
def test_a_commit_is_answered_once_it_is_written(error: Errors, written: bool, count: int) -> None:
    run = Answered(MEMBERS).ready().stable()
    if written:
        run.at_once(shown.CoordinatorWrote, 0, (NAME,), False, -1)
    request = OffsetCommitRequest(GROUP, (OffsetToCommit(ORDERS_0, 5),), 2, ANNE)
    run.answers(request, OffsetCommitResponse(((ORDERS_0, error),)))
    assert len(run.found()) == count


def test_a_commit_that_could_not_be_written_is_refused() -> None:
    run = Answered(MEMBERS).ready().stable()
    run.at_once(shown.CoordinatorWrote, 0, (NAME,), True, -1)
    request = OffsetCommitRequest(GROUP, (OffsetToCommit(ORDERS_0, 5),), 2, ANNE)
    run.answers(request, OffsetCommitResponse(((ORDERS_0, Errors.COORDINATOR_NOT_AVAILABLE),)))
    assert run.found() == []
    run.answers(request, OffsetCommitResponse(()))
    assert len(run.found()) == 1


@pytest.mark.parametrize(("error", "node", "count"), [(Errors.COORDINATOR_NOT_AVAILABLE, -1, 0), (NONE, 1, 2)])
def test_a_broker_that_knows_nothing_knows_no_coordinator(error: Errors, node: int, count: int) -> None:
    run = Answered(MEMBERS).ready()
    request = FindCoordinatorRequest((GROUP,), CoordinatorType.GROUP)
    run.answers(request, FindCoordinatorResponse((FoundCoordinator(GROUP, error, node),)))
    assert len(run.found()) == count


@pytest.mark.parametrize(
    ("alive", "between_s", "there", "calm", "count"),
    [
        (3, 8, False, True, 1),
        (3, 3, False, True, 0),
        (3, 8, True, True, 0),
        (2, 8, False, True, 0),
        (3, 8, False, False, 0),
    ],
)
def test_a_broker_creates_the_topic_of_coordinators(
    alive: int, between_s: int, there: bool, calm: bool, count: int
) -> None:
    run = Cluster(MEMBERS)
    run.show(MetadataCached, 0, {}, tuple(range(alive)))
    request = FindCoordinatorRequest((GROUP,), CoordinatorType.GROUP)
    missing = FindCoordinatorResponse((FoundCoordinator(GROUP, Errors.COORDINATOR_NOT_AVAILABLE),))
    run.show(RequestAnswered, 0, -9, request, missing, run.world.now, True)
    run.passes(between_s)
    if there:
        run.emit(ZkWritten, 0, "create", topic_path(HOME.topic), 0, 0, encode_topic({0: (0, 1)}))
    if not calm:
        run.fault("broker.pause", "1")
    run.show(RequestAnswered, 0, -9, request, missing, run.world.now, True)
    found = [violation.state for violation in run.violations()]
    assert len(found) == count
    assert all(state.endswith("it should be another: it can create __consumer_offsets") for state in found)


@pytest.mark.parametrize(("error", "count"), [(UNKNOWN, 1), (REBALANCES, 1), (Errors.NOT_COORDINATOR, 0), (NONE, 0)])
def test_the_coordinator_alone_knows_the_members_of_a_group(error: Errors, count: int) -> None:
    """One that loads takes a heartbeat on trust (GroupCoordinator.handleHeartbeat, 2.3)."""
    run = Answered(MEMBERS).ready()
    run.answers(HeartbeatRequest(GROUP, 1, ANNE), HeartbeatResponse(error), 1)
    assert len(run.found()) == count


@pytest.mark.parametrize(("node", "error", "count"), [(0, NONE, 0), (1, NONE, 1), (1, Errors.NOT_COORDINATOR, 0)])
def test_the_coordinator_alone_knows_the_offsets_of_a_group(node: int, error: Errors, count: int) -> None:
    run = Answered(MEMBERS).ready()
    told = GroupOffsets(GROUP, error, () if error else (CommittedOffset(ORDERS_0),))
    request = OffsetFetchRequest((OffsetsWanted(GROUP, (ORDERS_0,)),))
    run.answers(request, OffsetFetchResponse((told,)), node)
    assert len(run.found()) == count


# -- offsets that are read back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "count"), [((-1, ""), 0), ((3, ""), 1), ((-1, "there"), 1)])
def test_all_that_was_committed_is_read_back(row: tuple[int, str], count: int) -> None:
    run = Coordinated("offsets_read_back")
    run.coordinates()
    run.accepts_and_commits(5)
    run.reads(5, row=row)
    assert len(run.found()) == count


def test_a_client_that_asks_for_all_gets_all() -> None:
    run = Coordinated("offsets_read_back")
    run.coordinates()
    run.accepts_and_commits(5)
    run.reads(5, wants_all=True)
    assert run.found() == ["orders-0: broker 0 tells group readers that it is at -1; it has committed 5"]


# -- records of groups ------------------------------------------------------------------------------------------------


def stored(**changes: Any) -> StoredGroup:
    members = tuple(
        StoredMember(name, None, "me", "", 20_000_000, 10_000_000, b"orders", made)
        for name, made in ((ANNE, b"0"), (BOB, b"1"))
    )
    told: dict[str, Any] = {"state_ms": None, "members": members} | changes
    return StoredGroup("consumer", 2, "range", ANNE, **told)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (stored(), []),
        (stored()._replace(generation=3), ["generation"]),
        (stored()._replace(leader=BOB), ["leader"]),
        (stored()._replace(protocol="other"), ["protocol"]),
        (stored(state_ms=77), ["state timestamp"]),
        (stored(members=stored().members[:1]), ["members"]),
        (stored(members=(stored().members[0]._replace(assignment=b"7"), stored().members[1])), ["assignment"]),
        (
            stored(members=(stored().members[0], stored().members[1]._replace(session_timeout_us=0))),
            ["session_timeout_us"],
        ),
    ],
)
def test_a_group_is_written_as_it_is(value: StoredGroup, found: list[str]) -> None:
    run = Answered(WRITES).ready().stable()
    for member in (ANNE, BOB):
        run.answers(asks_to_join(member), joined(member))
    run.appends(GroupRecords.of(HOME, 9, (GroupKey(GROUP), value)))
    assert len(run.found()) == len(found)
    assert all(part in said for part, said in zip(found, run.found(), strict=True))


@pytest.mark.parametrize(
    ("changes", "count"),
    [({}, 0), ({"offset": 6}, 1), ({"metadata": "x"}, 1), ({"commit_ms": 0}, 1), ({"expire_ms": 9}, 1)],
)
def test_a_commit_is_written_as_it_was_asked_for(changes: dict[str, Any], count: int) -> None:
    run = Answered(WRITES).ready()
    run.accepts(5)
    value = OffsetAndMetadata(5, commit_ms=(run.world.now + 1000) // 1000)._replace(**changes)
    run.appends(GroupRecords.of(HOME, 9, (OffsetKey(GROUP, ORDERS_0), value)))
    assert len(run.found()) == count


# -- transactional ids ------------------------------------------------------------------------------------------------


def state(of: TransactionState, now: int, *partitions: TopicPartition, **changes: Any) -> TxnTransitMetadata:
    start = -1 if of is STATE.EMPTY else 1
    return TxnTransitMetadata(7, -1, 0, -1, 15_000, of, partitions, start, now)._replace(**changes)


def ongoing(name: str) -> Answered:
    """Producer 7 has added a partition."""
    run = Answered(name).ready()
    run.writes_id(state(STATE.EMPTY, run.world.now // 1000 + 1))
    now = run.world.now // 1000 + 1
    run.writes_id(state(STATE.ONGOING, now, ORDERS_0, start_ms=now))
    return run


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 0),
        ({"timeout_ms": 0}, 1),
        ({"producer_id": 8}, 1),
        ({"producer_epoch": 1}, 1),
        ({"partitions": ()}, 1),
        ({"start_ms": 0}, 1),
        ({"update_ms": 0}, 1),
    ],
)
def test_a_decision_is_written_of_the_transaction_that_there_is(changes: dict[str, Any], count: int) -> None:
    run = ongoing(WRITES)
    start = run.checkers is not None and run.world.now // 1000
    value = state(STATE.PREPARE_COMMIT, run.world.now // 1000 + 1, ORDERS_0, start_ms=start)
    run.writes_id(value._replace(**changes))
    assert len(run.found()) == count


def test_an_id_is_not_removed_before_its_time() -> None:
    run = Answered(WRITES).ready()
    run.writes_id(state(STATE.EMPTY, run.world.now // 1000 + 1))
    run.writes_id(None)
    assert len(run.found()) == 1
    run.later(8 * 86_400)
    run.writes_id(None)
    assert len(run.found()) == 1


OF_WRITER = (WRITER, 7, 0)


@pytest.mark.parametrize(
    ("asked", "errors", "count"),
    [
        ((ORDERS_0,), (NONE,), 0),
        ((ORDERS_1,), (NONE,), 2),
        ((ORDERS_0, ORDERS_1), (NONE, NONE), 1),
        ((ORDERS_0,), (Errors.INVALID_PRODUCER_ID_MAPPING,), 1),
        ((ORDERS_0,), (Errors.PRODUCER_FENCED,), 1),
        ((ORDERS_0,), (Errors.CONCURRENT_TRANSACTIONS,), 1),
        ((ORDERS_0,), (Errors.UNKNOWN_TOPIC_OR_PARTITION,), 0),
    ],
)
def test_partitions_that_are_added_are_in_the_record(
    asked: tuple[TopicPartition, ...], errors: tuple[Errors, ...], count: int
) -> None:
    run = ongoing(PRODUCERS)
    response = AddPartitionsToTxnResponse(tuple(zip(asked, errors, strict=False)))
    run.answers(AddPartitionsToTxnRequest(*OF_WRITER, asked), response)
    assert len(run.found()) == count


def test_an_id_that_is_being_removed_takes_no_partitions() -> None:
    """wiki-text, seed 18105: the tombstone waits for replicas."""
    run = ongoing(PRODUCERS)
    refused = AddPartitionsToTxnResponse(((ORDERS_0, Errors.CONCURRENT_TRANSACTIONS),))
    run.appends(TransactionRecords.of(HOMES, 9, WRITER, None))
    run.answers(AddPartitionsToTxnRequest(*OF_WRITER, (ORDERS_0,)), refused)
    assert run.found() == []
    run.at_once(shown.CoordinatorWrote, 0, (f"transactional id {WRITER}",), True, -1)
    run.later(1)
    run.answers(AddPartitionsToTxnRequest(*OF_WRITER, (ORDERS_0,)), refused)
    assert len(run.found()) == 1


def test_an_earlier_producer_is_fenced() -> None:
    run = ongoing(PRODUCERS)
    refused = AddPartitionsToTxnResponse(((ORDERS_0, Errors.PRODUCER_FENCED),))
    run.answers(AddPartitionsToTxnRequest(WRITER, 7, 1, (ORDERS_0,)), refused)
    run.appends(TransactionRecords.of(HOMES, 9, WRITER, state(STATE.PREPARE_ABORT, 9, ORDERS_0, producer_epoch=1)))
    run.answers(AddPartitionsToTxnRequest(*OF_WRITER, (ORDERS_0,)), refused)
    assert run.found() == [], "a fence that is being written"


@pytest.mark.parametrize(
    ("committed", "error", "count"),
    [
        (True, NONE, 0),
        (False, NONE, 1),
        (False, Errors.INVALID_TXN_STATE, 0),
        (True, Errors.CONCURRENT_TRANSACTIONS, 0),
        (True, Errors.UNKNOWN_SERVER_ERROR, 1),
    ],
)
def test_an_end_is_answered_as_it_is_decided(committed: bool, error: Errors, count: int) -> None:
    run = ongoing(PRODUCERS)
    run.writes_id(state(STATE.PREPARE_COMMIT, run.world.now // 1000 + 1, ORDERS_0))
    run.answers(EndTxnRequest(*OF_WRITER, committed), EndTxnResponse(error))
    assert len(run.found()) == count


def test_an_earlier_producer_adds_and_ends_nothing() -> None:
    run = ongoing(PRODUCERS)
    run.writes_id(state(STATE.ONGOING, run.world.now // 1000 + 1, ORDERS_0, producer_epoch=1))
    run.answers(AddPartitionsToTxnRequest(*OF_WRITER, (ORDERS_0,)), AddPartitionsToTxnResponse(((ORDERS_0, NONE),)))
    assert parts(run) == ["the epoch 1; it should be 0"]
    run = ongoing(PRODUCERS)
    run.writes_id(state(STATE.PREPARE_COMMIT, run.world.now // 1000 + 1, ORDERS_0, producer_epoch=1))
    run.answers(EndTxnRequest(*OF_WRITER, True), EndTxnResponse(NONE))
    assert parts(run) == ["error NONE; it should be a refusal: it is PrepareCommit of producer 7 in epoch 1"]


def test_a_broker_that_does_not_coordinate_an_id_ends_nothing() -> None:
    run = Answered(PRODUCERS).ready()
    run.answers(EndTxnRequest(*OF_WRITER, True), EndTxnResponse(NONE), node=1)
    assert parts(run) == ["error NONE; it should be NOT_COORDINATOR"]


@pytest.mark.parametrize(
    ("id", "epoch", "timeout_s", "count"), [(7, 0, 15, 0), (8, 0, 15, 1), (7, 1, 15, 1), (7, 0, 9, 1)]
)
def test_a_producer_gets_what_is_written(id: int, epoch: int, timeout_s: int, count: int) -> None:
    run = Answered(PRODUCERS).ready()
    run.writes_id(state(STATE.EMPTY, run.world.now // 1000 + 1))
    request = InitProducerIdRequest(transactional_id=WRITER, transaction_timeout_us=timeout_s * 1_000_000)
    run.at_once(shown.CoordinatorWrote, 0, ("transactional id other",), False)
    run.answers(request, InitProducerIdResponse(id, producer_epoch=epoch))
    assert len(run.found()) == count


@pytest.mark.parametrize(
    ("marker", "appended", "count"),
    [
        (TxnMarker(7, 0, 3, True, (ORDERS_0,)), True, 0),
        (TxnMarker(7, 0, 3, True, (ORDERS_0,)), False, 1),
        (TxnMarker(7, 1, 3, True, (ORDERS_0,)), True, 1),
        (TxnMarker(7, 0, 4, True, (ORDERS_0,)), True, 1),
        (TxnMarker(7, 0, 3, False, (ORDERS_0,)), True, 1),
        (TxnMarker(7, 0, 3, True, (ORDERS_1,)), True, 1),
    ],
)
def test_a_marker_is_one_that_was_decided(marker: TxnMarker, appended: bool, count: int) -> None:
    run = ongoing(PRODUCERS)
    run.writes_id(state(STATE.PREPARE_COMMIT, run.world.now // 1000 + 1, ORDERS_0))
    if appended:
        run.emit(e.TransactionMarked, 1, *marker.partitions[0], *marker[:4])
    response = WriteTxnMarkersResponse((tuple((tp, NONE) for tp in marker.partitions),))
    run.answers(WriteTxnMarkersRequest((marker,)), response, node=1)
    assert len(run.found()) == count


# -- what is read -----------------------------------------------------------------------------------------------------


def in_log(run: Answered, *records: Any) -> None:
    """These records are in the log of broker 1."""
    run.emit(e.LogLoaded, 1, *HOME, 0, 0, 0)
    for place, each in enumerate(records):
        run.appends(each)
        run.emit(e.Appended, 1, *HOME, False, 3, place, place + 1, each.id, 100)


@pytest.mark.parametrize(("changes", "count"), [({}, 0), ({"metadata": "x"}, 1), ({"commit_ms": 0}, 1)])
def test_a_coordinator_reads_what_is_in_its_log(changes: dict[str, Any], count: int) -> None:
    run = Answered(REMEMBERS).ready()
    key, value = OffsetKey(GROUP, ORDERS_0), OffsetAndMetadata(5, 2, "here", 9)
    in_log(run, GroupRecords.of(HOME, 8, (key, value._replace(offset=4))), GroupRecords.of(HOME, 9, (key, value)))
    run.show(shown.GroupsRead, 1, HOME, {}, {(GROUP, ORDERS_0): value._replace(**changes)}, {})
    assert len(run.found()) == count


@pytest.mark.parametrize(("committed", "there", "count"), [(True, True, 0), (True, False, 1), (False, False, 0)])
def test_the_offsets_of_a_transaction_count_with_its_marker(committed: bool, there: bool, count: int) -> None:
    run = Answered(REMEMBERS).ready()
    value = OffsetAndMetadata(5)
    in_log(run, TransactionalGroupRecords(HOME, 1, 100, 9, ((OffsetKey(GROUP, ORDERS_0), value),), 7, 0))
    run.marked(committed, node=1, topic=HOME.topic)
    run.show(shown.MarkerAppends, 1, HOME, 7, 1, 10)
    run.emit(e.Appended, 1, *HOME, False, 3, 1, 2, 10, 78)
    run.show(shown.GroupsRead, 1, HOME, {}, {(GROUP, ORDERS_0): value} if there else {}, {})
    assert len(run.found()) == count


@pytest.mark.parametrize(("timeout_ms", "count"), [(15_000, 0), (0, 1)])
def test_a_coordinator_of_transactions_reads_what_is_in_its_log(timeout_ms: int, count: int) -> None:
    """kafka-1.1, seed 18126: a client has asked for a marker in the log of a coordinator."""
    run = Answered(REMEMBERS).ready()
    value = state(STATE.EMPTY, 1)
    records = TransactionRecords.of(HOMES, 9, WRITER, value)
    run.emit(e.LogLoaded, 1, *HOMES, 0, 0, 0)
    run.appends(records, node=1)
    run.emit(e.Appended, 1, *HOMES, True, 3, 0, 1, records.id, 100)
    run.marked(True, node=1, topic=HOMES.topic)
    run.show(shown.MarkerAppends, 1, HOMES, 7, 1, 10)
    run.emit(e.Appended, 1, *HOMES, True, 3, 1, 2, 10, 78)
    run.show(shown.TransactionsRead, 1, HOMES, {WRITER: value._replace(timeout_ms=timeout_ms)})
    assert len(run.found()) == count
