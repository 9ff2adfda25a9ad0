"""G and X: histories in which coordinators, or leaders with what they say, break what they promise. End to end:
``tests/scenarios/runs/test_broken_guards_of_coordinators.py``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from emulator.protocol import events as e
from emulator.protocol import shown_coordination as shown
from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import (
    CommittedOffset,
    GroupOffsets,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetsWanted,
    OffsetToCommit,
)
from emulator.protocol.shown import ProduceRefused, RecordsCompacted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    PRODUCER_ID_BLOCK,
    LeaderAndIsr,
    encode_producer_id_block,
    encode_topic,
    state_path,
    topic_path,
)
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

HOME, HOMES = TopicPartition("__consumer_offsets", 0), TopicPartition("__transaction_state", 0)
ANNE, BOB, GROUP, WRITER = "anne", "bob", "readers", "writer"
SECOND_US = 1_000_000


class Coordinated(WrittenHistory):
    """A history with the group ``readers`` at broker 0, and the producer 7 of the transactional id ``writer``."""

    def generation(self, number: int, *members: str) -> None:
        self.emit(e.GroupGeneration, 0, GROUP, number, "range", members[0] if members else "", members)

    def group_state(self, state: str, generation: int = 1) -> None:
        self.emit(e.GroupStateChanged, 0, GROUP, state, generation, "")

    def removed(self, member: str, reason: str, instance: str = "") -> None:
        self.emit(e.GroupMemberRemoved, 0, GROUP, member, instance, reason)

    def heard(self, member: str) -> None:
        self.show(shown.MemberHeard, 0, GROUP, member, 10 * SECOND_US, 20 * SECOND_US)

    def accepts(
        self, offset: int, member: str = ANNE, generation: int = 1, producer: tuple[int, int] = (-1, -1)
    ) -> None:
        rows = ((ORDERS_0, offset),), (OffsetToCommit(ORDERS_0, offset),)
        self.show(shown.CommitAccepted, 0, GROUP, HOME, member, generation, *producer, *rows, -1)

    def commits(self, offset: int, error: str = "NONE") -> None:
        self.emit(e.OffsetsCommitted, 0, GROUP, ANNE, 1, error, ("orders",), (0,), (offset,))

    def accepts_and_commits(self, offset: int) -> None:
        self.accepts(offset)
        self.commits(offset)

    def reads(self, offset: int, node: int = 0, row: tuple[int, str] = (-1, ""), *, wants_all: bool = False) -> None:
        """``node`` answers an OffsetFetch with the offset, and with a leader epoch and a text. Where the client wants
        all, it leaves the partition out."""
        self.emit(ZkWritten, 0, "create", topic_path(HOME.topic), 0, 0, encode_topic({0: (0, 1)}))
        request = OffsetFetchRequest((OffsetsWanted(GROUP, None if wants_all else (ORDERS_0,)),))
        rows = () if wants_all else (CommittedOffset(ORDERS_0, offset, *row),)
        response = OffsetFetchResponse((GroupOffsets(GROUP, Errors.NONE, rows),))
        self.show(RequestAnswered, node, -9, request, response, self.world.now, True)

    def coordinates(self, node: int = 0, epoch: int = 0, end: int = 0) -> None:
        """``node`` leads the partition of the group, with a log up to ``end``."""
        data = LeaderAndIsr(node, epoch, (0, 1), 1).encode()
        self.emit(ZkWritten, 0, "setData", state_path(HOME), epoch, 0, data)
        self.emit(e.BecameLeader, node, *HOME, epoch, end, 0, (), (0, 1), (), ())

    def transaction(
        self, state: str, *partitions: int, producer: int = 7, id: str = WRITER, producer_epoch: int = 0
    ) -> None:
        topics = ("orders",) * len(partitions)
        self.emit(e.TransactionStateChanged, 0, id, producer, producer_epoch, state, topics, partitions)

    def marked(self, committed: bool, partition: int = 0, node: int = 0, epoch: int = 0, topic: str = "orders") -> None:
        self.emit(e.TransactionMarked, node, topic, partition, 7, epoch, 1, committed)

    def later(self, seconds: float) -> None:
        self.world.now += int(seconds * SECOND_US)

    def found(self) -> list[str]:
        return [violation.state for violation in self.violations()]


def begun(name: str) -> Coordinated:
    run = Coordinated(name)
    run.begin()
    return run


# -- commits_fenced ---------------------------------------------------------------------------------------------------


def test_a_member_of_the_present_generation_may_commit() -> None:
    run = Coordinated("commits_fenced")
    run.accepts(5)  # of a generation that another coordinator has formed
    run.generation(2, ANNE)
    run.accepts(6, generation=2)
    run.accepts(7, member="", generation=-1)
    assert run.found() == []


def test_the_commit_of_an_earlier_generation() -> None:
    run = Coordinated("commits_fenced")
    run.generation(2, ANNE, BOB)
    run.accepts(5, BOB, generation=1)
    assert run.found() == [
        "broker 0 accepts a commit of bob in generation 1 for group readers: the group is in generation 2"
    ]


@pytest.mark.parametrize(("reason", "count"), [("session", 1), ("replaced", 0)])
def test_the_commit_of_a_member_that_was_removed(reason: str, count: int) -> None:
    run = Coordinated("commits_fenced")
    run.generation(2, ANNE, BOB)
    run.removed(BOB, reason)
    run.accepts(5, BOB, generation=2)
    assert len(run.found()) == count


# -- offsets_read_back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("read", "count"), [(6, 0), (8, 0), (5, 1), (-1, 1)])
def test_a_group_reads_what_it_has_committed_or_may_have(read: int, count: int) -> None:
    run = Coordinated("offsets_read_back")
    run.coordinates()
    for offset, error in ((5, "NONE"), (6, "NONE"), (8, "NOT_COORDINATOR")):
        run.accepts(offset)
        run.commits(offset, error)
    run.reads(read)
    assert len(run.found()) == count


def test_of_two_commits_the_later_one_in_the_log_counts() -> None:
    run = Coordinated("offsets_read_back")
    run.coordinates()
    run.accepts(5)
    run.accepts(6)
    run.commits(6)
    run.commits(5)
    run.reads(5)
    assert run.found() == ["orders-0: broker 0 tells group readers that it is at 5; it has committed 6"]


def test_a_broker_that_does_not_lead_any_more_may_be_wrong() -> None:
    run = Coordinated("offsets_read_back")
    run.coordinates()
    run.accepts(5)
    run.commits(5)
    run.coordinates(1, 1)
    run.reads(0)
    assert run.found() == []


@pytest.mark.parametrize(("committed", "count"), [(True, 0), (False, 1)])
def test_the_offsets_of_a_transaction_count_as_it_ends(committed: bool, count: int) -> None:
    run = Coordinated("offsets_read_back")
    run.coordinates()
    run.accepts(5)
    run.commits(5)
    run.accepts(9, "", -1, (7, 0))
    run.marked(committed, topic=HOME.topic)
    run.reads(9)
    assert len(run.found()) == count


@pytest.mark.parametrize("happens", ["unclean", "lost", "removed"])
def test_what_is_lost_on_purpose_is_not_asked_for(happens: str) -> None:
    run = Coordinated("offsets_read_back")
    run.coordinates()
    run.accepts(5)
    run.commits(5)
    if happens == "unclean":
        run.coordinates(3, 1)
    elif happens == "lost":
        run.emit(e.NodeCrashed, 1, 1, "host")
    else:
        run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    run.coordinates(0, 2)
    run.reads(-1)
    assert run.found() == []


@pytest.mark.parametrize(
    ("home", "node", "end", "count"),
    [(HOME, 0, 3, 0), (HOME, 0, 4, 1), (HOME, 1, 3, 1), (HOMES, 0, 3, 1)],
    ids=("damaged", "caught-up", "another-replica", "another-topic"),
)
def test_what_the_leader_has_lost_of_a_damaged_log_is_not_asked_for(
    home: TopicPartition, node: int, end: int, count: int
) -> None:
    """Seeds 27003 and 27017: the coordinator, alone in sync or back before its session was over, leads with what its
    recovery has left."""
    run = Coordinated("offsets_read_back")
    run.coordinates()
    run.accepts_and_commits(5)
    run.emit(e.LogRecovered, node, *home, 3, 2, "corrupt")
    run.coordinates(end=end)
    run.reads(-1)
    assert len(run.found()) == count


# -- offsets_expire_late ----------------------------------------------------------------------------------------------

DAY = 86_400


@pytest.mark.parametrize(("lasts", "count"), [(DAY - 1, 0), (DAY - 3, 1)])
def test_an_offset_is_as_old_as_its_commit_and_not_as_the_answer(lasts: int, count: int) -> None:
    """kafka-3.9, seed 216."""
    run = Coordinated("offsets_expire_late")
    run.accepts(5)
    run.later(2)
    run.commits(5)
    run.later(lasts)
    run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    assert len(run.found()) == count


@pytest.mark.parametrize(("empty_for", "count"), [(DAY + 1, 0), (DAY - 1, 1)])
def test_an_empty_group_keeps_its_offsets_for_a_while(empty_for: float, count: int) -> None:
    run = Coordinated("offsets_expire_late")
    run.group_state("Stable")
    run.accepts_and_commits(5)
    run.later(2 * DAY)
    run.group_state("Empty")
    run.later(empty_for)
    run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    assert len(run.found()) == count


@pytest.mark.parametrize(("reason", "count"), [("expired", 1), ("deleted", 0)])
def test_a_group_with_members_keeps_its_offsets(reason: str, count: int) -> None:
    run = Coordinated("offsets_expire_late")
    run.group_state("Stable")
    run.accepts_and_commits(5)
    run.later(2 * DAY)
    run.emit(e.OffsetsRemoved, 0, GROUP, reason, False, ("orders",), (0,))
    assert len(run.found()) == count


@pytest.mark.parametrize(
    ("assigned", "kept_days", "expires_unsubscribed", "count"),
    [("t-0", 2, True, 0), ("t-0,orders-1", 2, True, 1), ("t-0", 0.5, True, 1), ("t-0", 2, False, 1), ("", 2, True, 1)],
)
def test_a_group_with_members_need_not_keep_the_offsets_of_topics_that_none_subscribes_to(
    assigned: str, kept_days: float, expires_unsubscribed: bool, count: int
) -> None:
    """kafka-2.7, seed 127 of the default swarm: a transaction has committed them for the group."""
    run = Coordinated("offsets_expire_late", start=StartSettings(expires_unsubscribed=expires_unsubscribed))
    for topic in ("orders", "t"):
        run.emit(ZkWritten, 0, "create", topic_path(topic), 0, 0, encode_topic({0: (0, 1), 1: (0, 1)}))
    run.show(shown.AssignmentsMade, 0, GROUP, 1, ((ANNE, assigned.encode()),))
    run.group_state("Stable")
    run.accepts_and_commits(5)
    run.later(kept_days * DAY)
    run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    assert len(run.found()) == count


@pytest.mark.parametrize(("kind", "count"), [("host", 0), ("process", 1)])
def test_a_commit_that_may_have_gone_with_a_machine_does_not_count(kind: str, count: int) -> None:
    """kafka-2.4, seed 546: the coordinator has loaded the commit before, which is older."""
    run = Coordinated("offsets_expire_late")
    run.accepts_and_commits(5)
    run.emit(e.NodeCrashed, 0, 1, kind)
    run.later(DAY - 3)
    run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    assert len(run.found()) == count
    run.accepts_and_commits(5)
    run.later(DAY - 3)
    run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    assert len(run.found()) == count + 1


@pytest.mark.parametrize(("kind", "count"), [("host", 0), ("process", 1)])
def test_nor_does_one_that_was_accepted_before(kind: str, count: int) -> None:
    """kafka-2.4, seed 604: its transaction is committed after the crash, and nothing says how old it is."""
    run = Coordinated("offsets_expire_late")
    run.accepts(5, producer=(7, 0))
    run.emit(e.NodeCrashed, 0, 1, kind)
    run.later(3)
    run.commits(5)
    run.later(DAY - 4)
    run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    assert len(run.found()) == count


@pytest.mark.parametrize(("offset", "committed", "count"), [(5, False, 1), (5, True, 0), (6, True, 1)])
def test_a_commit_is_as_old_as_its_own_acceptance(offset: int, committed: bool, count: int) -> None:
    """An earlier one of another offset, or of a transaction that was aborted, says nothing about it."""
    run = Coordinated("offsets_expire_late")
    run.accepts(offset, producer=(7, 0))
    run.marked(committed, topic=HOME.topic)
    run.later(3)
    run.accepts_and_commits(5)
    run.later(DAY - 2)
    run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    assert len(run.found()) == count


def test_a_clock_that_is_set_lets_offsets_expire() -> None:
    run = Coordinated("offsets_expire_late")
    run.accepts_and_commits(5)
    run.emit(e.ClockSet, 0, 0, 2 * DAY * SECOND_US)
    run.emit(e.OffsetsRemoved, 0, GROUP, "expired", False, ("orders",), (0,))
    assert run.found() == []


# -- markers_decided --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "committed", "count"), [("Commit", True, 0), ("Abort", False, 0), ("Commit", False, 1)]
)
def test_a_marker_says_what_was_decided(decision: str, committed: bool, count: int) -> None:
    run = Coordinated("markers_decided")
    run.transaction("Ongoing", 0)
    run.transaction(f"Prepare{decision}", 0)
    run.marked(committed)
    run.transaction(f"Complete{decision}")
    assert len(run.found()) == count


@pytest.mark.parametrize(("marked", "count"), [((0, 1), 0), ((1,), 1)])
def test_each_partition_of_a_complete_transaction_has_its_marker(marked: tuple[int, ...], count: int) -> None:
    run = Coordinated("markers_decided")
    run.emit(ZkWritten, 0, "setData", "/brokers/topics/orders", 0, 0, '{"version":1,"partitions":{"0":[0],"1":[1]}}')
    run.transaction("Ongoing", 0, 1)
    run.transaction("PrepareCommit", 0, 1)
    for partition in marked:
        run.marked(True, partition)
    run.transaction("CompleteCommit")
    assert len(run.found()) == count


@pytest.mark.parametrize(("crash", "count"), [("host", 0), ("process", 1)])
def test_a_decision_may_be_lost_with_a_machine(crash: str, count: int) -> None:
    """kafka-3.9, seed 227: the next coordinator knows an earlier transaction."""
    run = Coordinated("markers_decided", "records_in_transactions")
    run.state(0, (0,), 0)
    run.leads(0, 0)
    run.transaction("PrepareAbort", 0)
    run.emit(e.NodeCrashed, 1, 1, crash)
    run.marked(True)
    assert len(run.found()) == count
    run.transaction("CompleteCommit")
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, 7, 9, 10)
    assert len(run.found()) == 2 * count


def test_a_complete_transaction_has_no_partitions_any_more() -> None:
    run = Coordinated("markers_decided")
    run.transaction("PrepareAbort", 0, 1)
    run.transaction("CompleteAbort", 0, 1)
    assert run.found() == ["coordinator 0 writes the transaction of writer as CompleteAbort, with 2 partitions"]


# -- producers --------------------------------------------------------------------------------------------------------


def test_a_producer_id_belongs_to_one_producer() -> None:
    run = Coordinated("producer_ids_once")
    run.emit(e.ProducerIdentified, -2, 6, 1, 9)
    run.transaction("Empty")
    run.transaction("Ongoing", 0)
    assert run.found() == []
    run = Coordinated("producer_ids_once")
    run.transaction("Empty")
    run.emit(e.ProducerIdentified, -2, 7, 1, 9)
    run.transaction("Empty", producer=7, id="other")
    assert run.found() == [
        "producer id 7 is given to transactional id writer and to client -2",
        "producer id 7 is given to client -2 and to transactional id other",
    ]


def claims(run: Coordinated, writer: int, broker: int, first: int, last: int) -> None:
    data = encode_producer_id_block(broker, first, last)
    run.emit(ZkWritten, writer, "setData", PRODUCER_ID_BLOCK, 0, 0, data)


def test_a_producer_id_is_in_a_block_that_was_claimed() -> None:
    run = Coordinated("producer_ids_once")
    claims(run, 1, 1, 0, 9)
    claims(run, 2, 2, 10, 19)
    run.emit(e.ProducerIdentified, -2, 19, 1, 9)
    run.transaction("Empty", producer=7)
    assert run.found() == []
    run.emit(e.ProducerIdentified, -2, 20, 1, 9)
    run.transaction("Empty", producer=21, id="other")
    assert run.found() == [
        "producer id 20 is given to client -2; what was claimed ends at 19",
        "producer id 21 is given to transactional id other; what was claimed ends at 19",
    ]


@pytest.mark.parametrize(("writer", "first", "last"), [(1, 10, 19), (3, 10, 19), (1, 5, 19), (1, 11, 19), (1, 10, 9)])
def test_a_block_is_claimed_after_the_others_and_for_oneself(writer: int, first: int, last: int) -> None:
    run = Coordinated("producer_ids_once")
    run.controller(3, 1)
    claims(run, 1, 1, 0, 9)
    claims(run, writer, 1, first, last)
    fits = (first, last) == (10, 19)
    said = f"broker {writer} claims the producer ids {first} to {last} for broker 1; those before end at 9"
    assert run.found() == ([] if fits else [said])
    if fits:
        claims(run, 2, 1, 20, 29)
        assert len(run.violations()) == 1


@pytest.mark.parametrize(
    ("epoch", "then", "count"),
    [
        (3, lambda _run: None, 1),
        (32_766, lambda _run: None, 0),
        (3, lambda run: run.transaction("Dead"), 0),
        (3, lambda run: run.emit(e.Fault, "disk.corrupt", "0", ""), 0),
        (3, lambda run: run.emit(e.LeaderElected, *HOMES, 1, 4, (1,), "offline", 1, True), 0),
        (3, lambda run: run.show(RecordsCompacted, 0, HOMES, 9, 9, 0, 0, (), ()), 0),
        (3, lambda run: run.show(shown.CoordinatorWrote, 0, ("transactional id writer",), True), 0),
        (3, lambda run: run.show(shown.CoordinatorWrote, 0, ("transactional id writer",), False), 1),
    ],
    ids=["lost", "used up", "removed", "a disk fails", "unclean election", "compacted", "failed", "written"],
)
def test_a_transactional_id_keeps_its_producer_id(
    epoch: int, then: Callable[[Coordinated], object], count: int
) -> None:
    run = Coordinated("producer_ids_once")
    run.emit(ZkWritten, 0, "create", topic_path(HOMES.topic), 0, 0, encode_topic({0: (0, 1)}))
    run.transaction("CompleteCommit", producer_epoch=epoch)
    then(run)
    run.transaction("Empty", producer=8)
    run.transaction("Ongoing", 0, producer=8)
    found = f"coordinator 0 has producer id 8 for writer, which had 7 in epoch {epoch}"
    assert run.found() == [found] * count


@pytest.mark.parametrize(("epochs", "count"), [((0, 0, 1), 0), ((1, 0), 1)])
def test_a_leader_takes_nothing_of_an_earlier_epoch(epochs: tuple[int, ...], count: int) -> None:
    for repeated in (False, True):
        run = begun("zombies_fenced")
        for epoch in epochs:
            run.show(shown.SequencedAccepted, 0, ORDERS_0, 7, epoch, repeated)
        assert len(run.found()) == count


@pytest.mark.parametrize(("epoch", "count"), [(2, 0), (1, 1)])
def test_a_marker_fences_too(epoch: int, count: int) -> None:
    run = Coordinated("zombies_fenced")
    run.coordinates()
    run.marked(False, epoch=2, topic=HOME.topic)
    run.accepts(9, "", -1, (7, epoch))
    assert len(run.found()) == count


@pytest.mark.parametrize(
    ("accepted", "epoch", "error", "count"),
    [(1, 0, "INVALID_PRODUCER_EPOCH", 0), (1, 1, "INVALID_PRODUCER_EPOCH", 1), (1, 1, "NOT_ENOUGH_REPLICAS", 0),
     (1, -1, "INVALID_PRODUCER_EPOCH", 0)],
)  # fmt: skip
def test_no_producer_is_refused_for_an_epoch_that_none_has_had(
    accepted: int, epoch: int, error: str, count: int
) -> None:
    run = begun("zombies_fenced")
    run.show(shown.SequencedAccepted, 1, ORDERS_0, 7, accepted, False)
    run.show(ProduceRefused, 0, *ORDERS_0, -1, error, -1, 7 if epoch >= 0 else -1, epoch)
    assert len(run.found()) == count


def test_a_new_leader_may_not_know_the_epoch() -> None:
    run = begun("zombies_fenced")
    run.show(shown.SequencedAccepted, 0, ORDERS_0, 7, 1, False)
    run.leads(0, 1)
    run.show(shown.SequencedAccepted, 0, ORDERS_0, 7, 0, False)
    assert run.found() == []


@pytest.mark.parametrize(
    ("states", "count"),
    [(("Ongoing",), 0), (("Ongoing", "PrepareAbort"), 0), (("Ongoing", "PrepareAbort", "CompleteAbort"), 1)],
)
def test_records_come_within_transactions(states: tuple[str, ...], count: int) -> None:
    run = Coordinated("records_in_transactions")
    run.state(0, (0, 1), 0)
    run.leads(0, 0)
    for state in states:
        run.transaction(state, 0)
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, 7, 5, 20)
    assert len(run.found()) == count
    run.emit(e.TransactionsLoaded, 1, "__transaction_state", 0, 1, 1)
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, 7, 6, 21)
    assert len(run.found()) == count


# -- in time ----------------------------------------------------------------------------------------------------------


def works(*names: str, start: StartSettings | None = None) -> Coordinated:
    """Broker 0 works, is registered, and is the controller."""
    run = Coordinated(*names, start=start or StartSettings())
    run.emit(e.NodeStarted, 0, 1)
    run.emit(ZkWritten, 0, "create", "/brokers/ids/0", 0, 5, "{}")
    run.emit(e.BrokerRegistered, 0, 5)
    run.emit(ZkWritten, 0, "create", "/controller", 0, 6, '{"version":1,"brokerid":0,"timestamp":"0"}')
    return run


def looks(run: Coordinated, seconds: int) -> list[str]:
    for _ in range(seconds):
        run.later(1)
        run.checkers.look(run.world.now)
    return run.found()


@pytest.mark.parametrize(("given", "generation", "count"), [(b"orders-1", 1, 0), (b"orders-0", 1, 1), (b"", 2, 0)])
def test_a_member_gets_what_the_leader_has_made_for_it(given: bytes, generation: int, count: int) -> None:
    run = Coordinated("rejoins_rebalance")
    run.show(shown.AssignmentsMade, 0, GROUP, 1, ((ANNE, b"orders-0"), (BOB, b"orders-1")))
    run.show(shown.AssignmentGiven, 0, GROUP, generation, BOB, given)
    run.show(shown.AssignmentGiven, 1, GROUP, 1, "a static member that came back", b"orders-0")
    wrong = f"coordinator 0 assigns orders-0 to {BOB} of group {GROUP} in generation 1; its leader has assigned"
    assert run.found() == [f"{wrong} orders-1 to it"] * count


@pytest.mark.parametrize(("seconds", "count"), [(50, 0), (60, 1)])
def test_a_rebalance_ends(seconds: int, count: int) -> None:
    run = works("groups_settle")
    run.heard(ANNE)
    run.group_state("PreparingRebalance")
    assert len(looks(run, seconds)) == count
    run = works("groups_settle")
    run.heard(ANNE)
    run.group_state("PreparingRebalance")
    run.group_state("Stable")
    assert looks(run, seconds) == []


def test_the_rebalance_of_a_group_ends_with_its_coordinator() -> None:
    """kafka-2.4, seed 628: no member had said its timeouts to that coordinator; one does so to the next."""
    run = works("groups_settle")
    run.group_state("CompletingRebalance")
    run.emit(e.NodeCrashed, 0, 1, "process")
    run.heard(ANNE)
    assert looks(run, 60) == []
