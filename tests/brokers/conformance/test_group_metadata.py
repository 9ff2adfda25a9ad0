"""GroupMetadataTest and GroupMetadataManagerTest (1.1.1 to 3.9.0): the states of a group, the order of commits, what a
new coordinator reads, what expires, and what clients are answered where a write fails."""

from typing import Any

import pytest

from brokers.groups.committed import CommittedOffsets
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.member import MemberMetadata, NoCandidate
from brokers.groups.policies import GroupPolicies
from brokers.groups.records import (
    Entry,
    GroupKey,
    GroupRecords,
    OffsetAndMetadata,
    OffsetKey,
    StoredGroup,
    StoredMember,
    TransactionalGroupRecords,
    size_of,
)
from emulator.protocol.control_batches import ControlRecords
from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import OffsetCommitRequest, OffsetToCommit
from emulator.protocol.produce import ProduceResponse
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import MS, TP
from tests.brokers.groups.bench import DELAY, GROUP, OFFSETS, SECOND, GroupBench
from tests.brokers.transactions.test_markers import ANNE, MarkersBench

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = GroupState
BERT = 8


# -- GroupMetadataTest: states and protocols --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (EMPTY, {PREPARING, DEAD}),
        (PREPARING, {COMPLETING, EMPTY, DEAD}),
        (COMPLETING, {STABLE, PREPARING, DEAD}),
        (STABLE, {PREPARING, DEAD}),
        (DEAD, {DEAD}),
    ],
)
def test_which_state_may_follow(before: GroupState, after: set[GroupState]) -> None:
    """test*Transition, test*IllegalTransition, testCan(not)RebalanceWhen*: Dead may follow itself since 3.6."""
    for state in GroupState:
        group = GroupMetadata(GROUP, 0, before)
        if state in after:
            group.transition(state, 1)
            assert group.state is state
        elif not (before is PREPARING and state in (PREPARING, STABLE)) and state is not before:
            with pytest.raises(AssertionError):
                group.transition(state, 1)
    assert GroupMetadata(GROUP, 0, before).can_rebalance is (PREPARING in after)


def member(name: str, *protocols: str) -> MemberMetadata:
    return MemberMetadata(name, None, "", "", 60_000, 10_000, "consumer", tuple((each, b"") for each in protocols))


@pytest.mark.parametrize(
    ("members", "chosen"),
    [
        ([("range", "roundrobin")], {"range"}),
        ([("range", "roundrobin"), ("roundrobin", "range")], {"range", "roundrobin"}),
        ([("range", "roundrobin"), ("roundrobin", "range"), ("roundrobin", "range")], {"roundrobin"}),
        ([("range", "roundrobin"), ("roundrobin", "blah")], {"roundrobin"}),
    ],
)
def test_which_protocol_is_chosen(members: list[tuple[str, ...]], chosen: set[str]) -> None:
    """testSelectProtocol, testSelectProtocolChoosesCompatibleProtocol, testSupportsProtocols,
    testInitNextGeneration."""
    group = GroupMetadata(GROUP, 0)
    assert group.supports("consumer", (("anything", b""),))
    for number, protocols in enumerate(members):
        group.add(member(str(number), *protocols))
    assert group.select_protocol() in chosen
    group.transition(PREPARING, 1)
    assert group.supports("consumer", (("roundrobin", b""), ("foo", b"")))
    assert not group.supports("consumer", (("foo", b""), ("bar", b"")))
    assert not group.supports("invalid", (("roundrobin", b""),))
    group.next_generation()
    assert (group.generation, group.protocol in chosen) == (1, True)


def test_a_group_without_members_has_no_protocol() -> None:
    """testSelectProtocolRaisesIfNoMembers, testInitNextGenerationEmptyGroup."""
    group = GroupMetadata(GROUP, 0)
    with pytest.raises((NoCandidate, ValueError)):
        group.select_protocol()
    group.transition(PREPARING, 1)
    group.next_generation()
    assert (group.generation, group.protocol) == (1, None)


# -- GroupMetadataTest: commits that overtake each other ---------------------------------------------------------------


def value(offset: int) -> OffsetAndMetadata:
    return OffsetAndMetadata(offset, -1, "", 0, None)


COMMITS: list[tuple[str, list[tuple[Any, ...]], int | None]] = [
    ("testOffsetCommit", [("begin", 37), ("stored", 37, 3)], 37),
    ("testOffsetCommitFailure", [("begin", 37), ("failed", 37)], None),
    (
        "testOffsetCommitFailureWithAnotherPending",
        [("begin", 37), ("begin", 108), ("failed", 37), ("stored", 108, 3)],
        108,
    ),
    ("testOffsetCommitWithAnotherPending", [("begin", 37), ("begin", 108), ("stored", 37, 4), ("stored", 108, 5)], 108),
    (
        "testConsumerBeatsTransactionalOffsetCommit",
        [("txn", 37), ("begin", 108), ("written", 37, 3), ("stored", 108, 4), ("commit",)],
        108,
    ),
    (
        "testTransactionBeatsConsumerOffsetCommit",
        [("txn", 37), ("begin", 108), ("written", 37, 4), ("stored", 108, 3), ("commit",)],
        37,
    ),
    (
        "testTransactionalCommitIsAbortedAndConsumerCommitWins",
        [("txn", 37), ("begin", 108), ("written", 37, 4), ("stored", 108, 3), ("abort",)],
        108,
    ),
    ("testFailedTxnOffsetCommitLeavesNoPendingState", [("txn", 37), ("unwritten", 37), ("commit",)], None),
]


@pytest.mark.parametrize(("case", "steps", "left"), COMMITS, ids=[case for case, _, _ in COMMITS])
def test_which_commit_counts(case: str, steps: list[tuple[Any, ...]], left: int | None) -> None:
    """The cases of GroupMetadataTest (1.1.1) of that name; a number after an offset is its place in the log."""
    kept = CommittedOffsets()
    for step, *rest in steps:
        match step, rest:
            case "begin", [offset]:
                kept.pending[TP] = value(offset)
            case "stored", [offset, at]:
                kept.appended(TP, value(offset), at)
            case "failed", [offset]:
                kept.settled(TP, value(offset))
            case "txn", [offset]:
                kept.begin(ANNE, {TP: value(offset)})
            case "written", [offset, at]:
                kept.written(ANNE, TP, value(offset), at)
            case "unwritten", [_offset]:
                kept.failed(ANNE, TP)
            case _:
                kept.end(ANNE, committed=step == "commit")
    found = kept.offsets.get(TP)
    assert (found.value.offset if found else None) == left
    assert (kept.pending, kept.transactional) == ({}, {})


# -- GroupMetadataManagerTest: what a new coordinator reads ------------------------------------------------------------


def at(offset: int, tp: TopicPartition = TP, group: str = GROUP) -> Entry:
    return OffsetKey(group, tp), value(offset)


def stored(*members: str, protocol: str | None = "range", subscription: bytes = b"") -> Entry:
    each = tuple(
        StoredMember(name, None, "client", "/host", 60 * SECOND, 10 * SECOND, subscription, b"") for name in members
    )
    return GroupKey(GROUP), StoredGroup(
        "consumer", 15, protocol if members else None, members[0] if members else None, 0, each
    )


class Loading(MarkersBench):
    """A broker whose partition of ``__consumer_offsets`` has the records that a test writes."""

    def __init__(self, *batches: Any, groups: GroupPolicies | None = None) -> None:
        super().__init__(groups)
        for number, batch in enumerate(batches):
            self.put(number, batch)
        self.again()

    def put(self, number: int, batch: Any) -> None:
        home = self.manager.partitions[OFFSETS]
        match batch:
            case ("commit" | "abort", int(producer)):
                home.append_as_leader(ControlRecords.of(OFFSETS, number, producer, 0, 0, batch[0] == "commit"))
            case (int(producer), *entries):
                some = tuple(entries)
                home.append_as_leader(
                    TransactionalGroupRecords(OFFSETS, len(some), size_of(some), number, some, producer, 0)
                )
            case entries:
                home.append_as_leader(GroupRecords.of(OFFSETS, number, *entries))

    def again(self) -> None:
        self.resign(1)
        self.elect(2)
        self.learn(OFFSETS, 0)

    def offsets(self, group: str = GROUP) -> list[int]:
        """The committed offsets of three partitions."""
        found = self.groups.store.groups.get(group)
        kept = {} if found is None else found.committed.offsets
        return [kept[tp].value.offset if tp in kept else -1 for tp in THREE]


THREE = tuple(TopicPartition("t", number) for number in range(3))
A, B, C = THREE
LOADS: list[tuple[str, list[Any], str | None, list[int]]] = [
    ("testLoadOffsetsWithoutGroup", [[at(23, A), at(455, B), at(8992, C)]], "Empty", [23, 455, 8992]),
    ("testLoadEmptyGroupWithOffsets", [[at(23, A), stored()]], "Empty", [23, -1, -1]),
    (
        "testLoadTransactionalOffsetsWithoutGroup",
        [(ANNE, at(23, A), at(455, B)), ("commit", ANNE)],
        "Empty",
        [23, 455, -1],
    ),
    ("testDoNotLoadAbortedTransactionalOffsetCommits", [(ANNE, at(23, A)), ("abort", ANNE)], None, [-1, -1, -1]),
    ("testGroupLoadedWithPendingCommits", [(ANNE, at(23, A))], "Empty", [-1, -1, -1]),
    (
        "testLoadWithCommittedAndAbortedTransactionalOffsetCommits",
        [(ANNE, at(1, A)), ("abort", ANNE), (ANNE, at(23, A), at(455, B)), ("commit", ANNE)],
        "Empty",
        [23, 455, -1],
    ),
    (
        "testLoadWithCommittedAndAbortedAndPendingTransactionalOffsetCommits",
        [(ANNE, at(1, A)), ("abort", ANNE), (ANNE, at(23, A)), ("commit", ANNE), (ANNE, at(99, A), at(7, C))],
        "Empty",
        [23, -1, -1],
    ),
    (
        "testLoadTransactionalOffsetCommitsFromMultipleProducers",
        [(ANNE, at(23, A), at(455, B)), (BERT, at(24, A), at(9, C)), ("commit", BERT), ("commit", ANNE)],
        "Empty",
        [24, 455, 9],
    ),
    (
        "testGroupLoadWithConsumerAndTransactionalOffsetCommitsConsumerWins",
        [(ANNE, at(23, A)), [at(24, A)], ("commit", ANNE)],
        "Empty",
        [24, -1, -1],
    ),
    (
        "testGroupLoadWithConsumerAndTransactionalOffsetCommitsTransactionWins",
        [[at(24, A)], (ANNE, at(23, A)), ("commit", ANNE)],
        "Empty",
        [23, -1, -1],
    ),
    ("testGroupNotExists", [], None, [-1, -1, -1]),
    ("testLoadOffsetsWithTombstones", [[at(23, A), at(455, B), (OffsetKey(GROUP, A), None)]], "Empty", [-1, 455, -1]),
    ("testLoadOffsetsAndGroup", [[at(23, A), at(455, B), stored("98098230493")]], "Stable", [23, 455, -1]),
    ("testLoadGroupWithTombstone", [[stored("98098230493"), (GroupKey(GROUP), None)]], None, [-1, -1, -1]),
    (
        "testOffsetWriteAfterGroupRemoved",
        [
            [stored("m"), at(1, A), at(2, B)],
            [(OffsetKey(GROUP, A), None), (OffsetKey(GROUP, B), None), (GroupKey(GROUP), None)],
            [at(23, A)],
        ],
        "Empty",
        [23, -1, -1],
    ),
    (
        "testLoadGroupAndOffsetsFromDifferentSegments",
        [[stored("a"), at(1, A), at(2, B)], [stored("b"), at(3, A), at(4, C)]],
        "Stable",
        [3, 2, 4],
    ),
    ("testLoadOffsetsWithEmptyControlBatch", [("commit", BERT), [at(23, A), stored("m")]], "Stable", [23, -1, -1]),
    (
        "testLoadConsumerGroupWithFaultyConsumerProtocol",
        [[stored("m", subscription=b"\xff\xff"), at(23, A)]],
        "Stable",
        [23, -1, -1],
    ),
]


@pytest.mark.parametrize(("case", "batches", "state", "offsets"), LOADS, ids=[case for case, *_ in LOADS])
def test_what_is_loaded(case: str, batches: list[Any], state: str | None, offsets: list[int]) -> None:
    """The cases of GroupMetadataManagerTest (1.1.1 to 3.9.0) of that name."""
    bench = Loading(*batches)
    group = bench.groups.store.groups.get(GROUP)
    assert (None if group is None else str(group.state), bench.offsets()) == (state, offsets)
    if case == "testLoadConsumerGroupWithFaultyConsumerProtocol":
        assert bench.group.subscribed is None
    if "Pending" in case:
        assert bench.group.committed.transactional.keys() == {ANNE}
        assert bench.mark(OFFSETS) == [Errors.NONE]
        assert bench.offsets() == ([23, -1, -1] if state and offsets[0] < 0 else [99, -1, 7])


def test_a_loaded_group_goes_on() -> None:
    """testLoadConsumerGroup, testloadGroupWithStaticMember, testReadFromOldGroupMetadata: generation, protocol and
    leader are those of the record, and the session of a member begins."""
    bench = Loading([stored("m")])
    group = bench.group
    assert (group.generation, group.protocol, group.leader, list(group.members)) == (15, "range", "m", ["m"])
    bench.wait(9 * SECOND)
    assert bench.heartbeat("m", 15) is Errors.NONE
    bench.wait(11 * SECOND)
    assert bench.group.state is EMPTY


# -- GroupMetadataManagerTest: transactions ----------------------------------------------------------------------------


def test_transactions_of_several_groups_and_producers() -> None:
    """GroupCoordinatorTest.testFetchTxnOffsetsOneProducerMultipleGroups, ...MultipleProducersOneGroup,
    ...IgnoreSpuriousCommit, testFetchTxnOffsetsWithAbort: a marker ends what its producer has begun, once."""
    bench = MarkersBench()
    for group, offset in (("one", 10), ("two", 20)):
        assert bench.commit_in_transaction(offset, group=group) is Errors.NONE
    assert [bench.fetch(group).offset for group in ("one", "two")] == [-1, -1]
    assert bench.mark(OFFSETS) == [Errors.NONE]
    assert [bench.fetch(group).offset for group in ("one", "two")] == [10, 20]
    bench.commit(30, group="one")
    assert bench.mark(OFFSETS) == [Errors.NONE], "once more"
    assert bench.fetch("one").offset == 30
    assert bench.commit_in_transaction(40, group="one") is Errors.NONE
    assert bench.mark(OFFSETS, committed=False) == bench.mark(OFFSETS) == [Errors.NONE]
    assert bench.fetch("one").offset == 30


@pytest.mark.parametrize(
    ("release", "more", "error"),
    [
        ("kafka-2.7", {"member_id": "stranger", "generation": -1}, Errors.UNKNOWN_MEMBER_ID),
        ("kafka-2.7", {"instance_id": "none"}, Errors.NONE),
        ("kafka-2.7", {"member_id": "m", "generation": -1}, Errors.NONE),
        ("kafka-3.0", {"member_id": "m", "generation": -1}, Errors.ILLEGAL_GENERATION),
        ("kafka-3.0", {"member_id": "m", "generation": 15}, Errors.NONE),
        ("kafka-3.9", {"member_id": "m", "generation": 15, "instance_id": "none"}, Errors.UNKNOWN_MEMBER_ID),
        ("kafka-3.9", {"member_id": "m", "generation": 14}, Errors.ILLEGAL_GENERATION),
        ("kafka-3.9", {}, Errors.NONE),
    ],
)
def test_which_members_commit_in_a_transaction(release: str, more: dict[str, Any], error: Errors) -> None:
    """GroupCoordinatorTest.testTxnCommitOffsetWith(FencedInstanceId|InvalidMemberId|KnownMemberId|IllegalGeneration|
    LegalGeneration) (2.7.2), and GroupCoordinator.doTxnCommitOffsets of the releases."""
    from scenarios.profiles import PROFILES

    bench = Loading([stored("m")], groups=PROFILES[release].policies.brokers.groups)
    asked = {**more}
    if "instance_id" in asked and "member_id" not in asked and release == "kafka-2.7":
        asked["member_id"] = "m"
    assert bench.commit_in_transaction(9, **asked) is error


# -- GroupMetadataManagerTest: metadata that is too large --------------------------------------------------------------


def test_a_commit_whose_metadata_is_too_large_in_part() -> None:
    """testOffsetMetadataTooLargePartialFailure, testTransactionalCommitOffsetWithOffsetMetadataTooLargePartialFailure
    (3.9): the rest is committed, and nothing waits."""
    bench = MarkersBench(GroupPolicies(unstable_offsets_wait=True))
    other = TopicPartition("t", 1)
    bench.learn(other, 0)
    most = bench.groups.store.config.metadata_max_bytes
    offsets = (OffsetToCommit(TP, 5, metadata="s" * most), OffsetToCommit(other, 6, metadata="s" * (most + 1)))
    answered = bench.send(OffsetCommitRequest(GROUP, offsets)).last.partitions
    assert answered == ((TP, Errors.NONE), (other, Errors.OFFSET_METADATA_TOO_LARGE))
    assert (bench.fetch(stable=True).offset, bench.group.committed.pending) == (5, {})
    from emulator.protocol.transactions.txn_offset_commit import TxnOffsetCommitRequest

    asked = TxnOffsetCommitRequest(GROUP, offsets, transactional_id="t", producer_id=ANNE, producer_epoch=0)
    assert bench.send(asked).last.partitions == answered
    assert {tp for each in bench.group.committed.transactional.values() for tp in each} == {TP}
    assert bench.mark(OFFSETS) == [Errors.NONE]
    assert bench.fetch(stable=True).offset == 5


# -- GroupMetadataManagerTest: writes that fail ------------------------------------------------------------------------


class Failing:
    """Answers each append with an error, in place of the log."""

    def __init__(self, error: Errors) -> None:
        self.error = error

    def append(self, request: Any, channel: Any, *, internal: bool) -> None:
        assert internal
        channel.reply(ProduceResponse(tuple((each.tp, self.error, -1) for each in request.batches)), 10)


UNAVAILABLE, WRONG = Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR
TOO_LARGE, UNKNOWN_ERROR = Errors.INVALID_COMMIT_OFFSET_SIZE, Errors.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize(
    ("failure", "of_group", "of_offsets"),
    [
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, UNAVAILABLE, UNAVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS, UNAVAILABLE, UNAVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, UNAVAILABLE, UNAVAILABLE),
        (Errors.NOT_LEADER_FOR_PARTITION, WRONG, WRONG),
        (Errors.KAFKA_STORAGE_ERROR, WRONG, WRONG),
        (Errors.REQUEST_TIMED_OUT, Errors.REBALANCE_IN_PROGRESS, Errors.REQUEST_TIMED_OUT),
        (Errors.MESSAGE_TOO_LARGE, UNKNOWN_ERROR, TOO_LARGE),
        (Errors.RECORD_LIST_TOO_LARGE, UNKNOWN_ERROR, TOO_LARGE),
        (Errors.INVALID_FETCH_SIZE, UNKNOWN_ERROR, TOO_LARGE),
        (Errors.CORRUPT_MESSAGE, Errors.CORRUPT_MESSAGE, Errors.CORRUPT_MESSAGE),
    ],
)
def test_what_a_failed_write_is_answered(failure: Errors, of_group: Errors, of_offsets: Errors) -> None:
    """testStoreGroupErrorMapping, testCommitOffsetFailure, testTransactionalCommitOffsetAppendFailure,
    testStoreNonEmptyGroupWhenCoordinatorHasMoved, testCommitOffsetWhenCoordinatorHasMoved."""
    bench = MarkersBench()
    line = bench.ask_join()
    bench.wait(DELAY)
    member = line.last.member_id
    bench.groups.store.partitions.appender = Failing(failure)
    assert bench.ask_sync(member, 1, (member,)).last.error is of_group
    assert bench.group.state is PREPARING
    assert bench.commit(1, member, 1) is of_offsets
    assert bench.commit_in_transaction(1) is of_offsets
    committed = bench.group.committed
    assert (committed.offsets, committed.pending, committed.transactional) == ({}, {}, {})


def test_records_that_the_topic_does_not_take() -> None:
    """The same, of a real append: max.message.bytes of ``__consumer_offsets``."""
    bench = MarkersBench()
    bench.manager.configured(f"topics/{OFFSETS.topic}", {"max.message.bytes": "150"})
    assert bench.commit(1, metadata="m" * 200) is TOO_LARGE
    line = bench.ask_join(protocols=(("range", b"t" * 200),))
    bench.wait(DELAY)
    member = line.last.member_id
    assert bench.ask_sync(member, 1, (member,)).last.error is UNKNOWN_ERROR


# -- GroupMetadataManagerTest: expiry ----------------------------------------------------------------------------------


def test_when_offsets_expire() -> None:
    """testOffsetExpirationSemantics, testExpireGroupWithOffsetsOnly, testGroupMetadataRemoval, testExpireOffset,
    testOffsetExpirationOfSimpleConsumer: after the retention from when the group was left; the group goes with the
    last, and the log has tombstones."""
    bench = GroupBench(retention_us=1000 * SECOND)
    member, generation = bench.stable()
    bench.commit(1, member, generation)
    bench.commit(1, group="simple")
    bench.at(bench.world.now + 1)
    bench.groups.store.expire()
    assert bench.fetch().offset == bench.fetch("simple").offset == 1
    bench.leave(member)
    left = bench.world.now
    for after, kept in ((999 * SECOND, 1), (1001 * SECOND, -1)):
        bench.wait(left + after - bench.world.now)
        bench.groups.store.expire()
        assert bench.fetch().offset == kept
    assert GROUP not in bench.groups.store.groups
    assert "simple" not in bench.groups.store.groups
    batch: Any = bench.manager.partitions[OFFSETS].log.batches
    tombstones = {key for each in batch for key, kept in each.entries if kept is None}
    assert tombstones == {OffsetKey(GROUP, TP), GroupKey(GROUP), OffsetKey("simple", TP)}


def test_offsets_with_a_retention_of_their_own() -> None:
    """testLoadOffsetWithExplicitRetention: it counts from the commit, also after another coordinator has loaded
    them."""
    bench = GroupBench(retention_us=1000 * SECOND)
    assert bench.commit(1, retention_us=10 * SECOND) is Errors.NONE
    bench.resign(1)
    bench.elect(2)
    bench.learn(OFFSETS, 0)
    bench.wait(9 * SECOND)
    bench.groups.store.expire()
    assert bench.fetch().offset == 1
    bench.wait(SECOND + MS)
    bench.groups.store.expire()
    assert bench.fetch().offset == -1
