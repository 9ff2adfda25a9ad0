"""S22, F14, G12, G13, X10: histories in which a leader commits late, a session differs from its client's, an answer has
an offset too early, a rebalance is not completed, and a transaction is aborted before its time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from emulator.protocol import events as e
from emulator.protocol import shown_coordination as shown
from emulator.protocol.shown import Deviated, SessionAnswered, SessionLost
from emulator.protocol.znodes import encode_config
from emulator.trace.events import ZkWritten
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_coordinators import ANNE, BOB, GROUP, HOME, WRITER, Coordinated, looks, works
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

CLIENT, PRODUCER = -3, 7
OFFSET = f"group {GROUP}'s offset of {ORDERS_0}"
Then = Callable[[Coordinated], object]

# -- commits_in_time --------------------------------------------------------------------------------------------------


def alone(isr: tuple[int, ...] = (0,), start: StartSettings | None = None) -> Coordinated:
    """Broker 0 leads with this ISR, and its log has 10 more than it has committed."""
    run = works("commits_in_time", start=start)
    run.assigned((0, 1))
    run.loaded(0, 20, 10)
    run.state(0, isr, 1)
    run.emit(e.BecameLeader, 0, *ORDERS_0, 1, 20, 10, isr, (0, 1), (), ())
    return run


def test_what_the_whole_isr_has_is_committed() -> None:
    [found] = looks(alone(), 40)
    assert found.startswith("orders-0: leader 0 has the high watermark 10, and its ISR [0] has the log up to 20, for 3")


@pytest.mark.parametrize("seconds", [30, 35])
def test_not_before_it_is_time(seconds: int) -> None:
    assert looks(alone(), seconds) == []


@pytest.mark.parametrize(
    "then",
    [
        lambda run: run.high_watermark(0, 20, 1, leader=True),
        lambda run: run.proposes(0, "expand", 1),  # its log is not known
        lambda run: run.follows(0, 1, 2),
        lambda run: run.emit(ZkWritten, 2, "set", "/config/brokers/0", 1, 7, encode_config({"throttled.rate": "1"})),
        lambda run: run.emit(e.Fault, "broker.clock", "0", "step 8s"),
        lambda run: run.state(1, (1,), 2),
    ],
    ids=["committed", "proposed", "follows", "throttled", "clock", "replaced"],
)
def test_what_excuses_a_leader(then: Then) -> None:
    run = alone()
    then(run)
    assert looks(run, 60) == []


@pytest.mark.parametrize(("waits", "count"), [(False, 1), (True, 0)])
def test_what_both_sets_have_is_committed_while_a_change_is_in_flight(waits: bool, count: int) -> None:
    """Since KIP-497 (2.7); before, the leader waits for ZooKeeper."""
    run = alone(start=StartSettings(awaits_isr_writes=waits))
    run.emit(e.NodeStarted, 1, 1)
    run.emit(ZkWritten, 1, "create", "/brokers/ids/1", 0, 7, "{}")
    run.loaded(1, 20, 10)
    run.follows(1, 0, 1, 10, 20)
    run.emit(e.FetchPosition, 1, *ORDERS_0, 0, 1, 20)
    run.proposes(0, "expand", 1)
    assert len(looks(run, 60)) == count


def test_a_member_whose_log_is_not_known_may_lack_it() -> None:
    assert looks(alone((0, 1)), 60) == []


@pytest.mark.parametrize(("at_outcome", "count"), [(True, 1), (False, 0)])
def test_some_releases_commit_with_the_next_append(at_outcome: bool, count: int) -> None:
    run = alone(start=StartSettings(commits_at_outcome=at_outcome))
    run.emit(e.IsrChanged, 0, *ORDERS_0, 1, "shrink", (0,), 1)
    assert len(looks(run, 60)) == count


def test_below_min_insync_replicas_some_releases_commit_nothing() -> None:
    run = alone(start=StartSettings({"min.insync.replicas": 2}, holds_high_watermark=True))
    assert looks(run, 60) == []


# -- sessions_follow --------------------------------------------------------------------------------------------------


def session() -> WrittenHistory:
    run = WrittenHistory("sessions_follow")
    run.emit(e.NodeStarted, 0, 1)
    run.begin((0, 1))
    run.everywhere(0, 1, 0, (0, 1))
    return run


def answers(run: WrittenHistory, *left_out: int, besides: bool = False) -> None:
    left = tuple([(ORDERS_0, offset) for offset in left_out])
    run.show(SessionAnswered, CLIENT, 0, (ORDERS_0,) if besides else (), left)


def states(run: WrittenHistory) -> list[str]:
    return [violation.state for violation in run.violations()]


def test_a_session_has_what_its_client_reads_there() -> None:
    run = session()
    answers(run, besides=True)
    [state] = states(run)
    assert state == "broker 0 answers for orders-0 in a session of client -3, which does not read it there"


@pytest.mark.parametrize(
    ("before", "offsets", "count"),
    [(10, (0, 0), 1), (9, (0, 0), 0), (0, (0, 0), 0), (10, (10, 10), 0), (10, (0, 10), 0)],
)
def test_two_answers_leave_out_what_there_is_to_read(before: int, offsets: tuple[int, ...], count: int) -> None:
    run = session()
    run.high_watermark(0, before, leader=True)
    answers(run, offsets[0])
    run.high_watermark(0, 10, leader=True)
    answers(run, offsets[1])
    assert len(states(run)) == count


def test_another_leader_epoch_starts_over() -> None:
    run = session()
    run.high_watermark(0, 10, leader=True)
    answers(run, 0)
    run.leads(0, 1, 10, 10)
    answers(run, 0)
    assert states(run) == []


@pytest.mark.parametrize(("restarts", "held_s", "count"), [(False, 10, 1), (True, 10, 0), (False, 130, 0)])
def test_a_session_that_is_used_stays(restarts: bool, held_s: int, count: int) -> None:
    run = session()
    begun_us = run.world.now
    if restarts:
        run.emit(e.NodeCrashed, 0, 1, "process")
        run.emit(e.NodeStarted, 0, 2)
    run.world.now += held_s * 1_000_000
    run.show(SessionLost, CLIENT, 0, "FETCH_SESSION_ID_NOT_FOUND", begun_us)
    assert len(states(run)) == count


@pytest.mark.parametrize(
    ("broker", "during", "ahead_us", "count"),
    [
        (0, True, 126_000_000, 0),
        (0, True, -126_000_000, 1),
        (0, True, 50_000_000, 1),
        (0, False, 126_000_000, 1),
        (1, True, 126_000_000, 1),
    ],
    ids=["forward", "back", "a-little", "before", "another"],
)
def test_the_clock_of_its_broker_says_how_old_a_session_is(
    broker: int, during: bool, ahead_us: int, count: int
) -> None:
    """kafka-3.3, seed 2325: the clock of the broker was more than two minutes behind, and was set right."""
    run = session()
    if not during:
        run.emit(e.ClockSet, broker, -ahead_us, 0)
    run.world.now += 1
    begun_us = run.world.now
    run.world.now += 10_000_000
    if during:
        run.emit(e.ClockSet, broker, -ahead_us, 0)
    run.show(SessionLost, CLIENT, 0, "FETCH_SESSION_ID_NOT_FOUND", begun_us)
    assert len(states(run)) == count


# -- offsets_stable ---------------------------------------------------------------------------------------------------


def written(*, failed: bool = False) -> Coordinated:
    """A transaction has written an offset of the group."""
    run = Coordinated("offsets_stable")
    run.coordinates()
    run.accepts(5, producer=(PRODUCER, 0))
    run.show(shown.CoordinatorWrote, 0, (OFFSET,), failed)
    return run


def tells(run: Coordinated, *, stable: bool = True, node: int = 0) -> list[str]:
    run.show(shown.OffsetsRead, node, GROUP, HOME, ((ORDERS_0, 3),), stable, ())
    return run.found()


def test_an_offset_that_an_open_transaction_may_replace() -> None:
    [found] = tells(written())
    assert found == (
        "orders-0: broker 0 tells 3 as a stable offset of group readers, and an open transaction of producer 7 has "
        "written another one"
    )


def test_who_does_not_ask_for_stable_offsets_may_get_it() -> None:
    assert tells(written(), stable=False) == []


def test_so_may_who_asks_while_it_is_being_written_or_could_not_be() -> None:
    assert tells(written(failed=True)) == []
    run = Coordinated("offsets_stable")
    run.coordinates()
    run.accepts(5, producer=(PRODUCER, 0))
    assert tells(run) == []


def test_one_that_is_removed_while_it_is_being_written_does_not_count_any_more() -> None:
    """kafka-2.7: an administrator deletes the offset meanwhile (GroupMetadata.removeOffsets)."""
    run = Coordinated("offsets_stable")
    run.coordinates()
    run.accepts(5, producer=(PRODUCER, 0))
    run.show(Deviated, 0, "GroupMetadata.removeOffsets", *ORDERS_0, 0)
    run.show(shown.CoordinatorWrote, 0, (OFFSET,), False)
    assert tells(run) == []


def test_a_marker_in_another_partition_ends_nothing_of_the_group() -> None:
    run = written()
    run.marked(True, 1, topic=HOME.topic)
    assert len(tells(run)) == 1


def test_a_marker_also_ends_what_is_still_being_written_before_it() -> None:
    run = Coordinated("offsets_stable")
    run.coordinates()
    run.accepts(5, producer=(PRODUCER, 0))
    run.marked(False, topic=HOME.topic)
    run.show(shown.MarkerAppends, 0, HOME, PRODUCER, 10, 1)
    run.show(shown.CoordinatorWrote, 0, (OFFSET,), False)
    assert tells(run) == []


@pytest.mark.parametrize(
    ("committed", "seconds", "lost", "count"),
    [(True, 2, False, 1), (True, 0.5, False, 0), (False, 10, False, 0), (True, 2, True, 0)],
    ids=["late", "soon", "open", "another producer's may be open"],
)
def test_an_offset_that_stays_unstable(committed: bool, seconds: float, lost: bool, count: int) -> None:
    run = works("offsets_stable")
    run.coordinates()
    if lost:  # with a machine, or not
        run.accepts(4, producer=(PRODUCER + 1, 0))
        run.show(shown.CoordinatorWrote, 0, (OFFSET,), False)
        run.emit(e.NodeCrashed, 1, 1, "host")
    run.accepts(5, producer=(PRODUCER, 0))
    run.show(shown.CoordinatorWrote, 0, (OFFSET,), False)
    run.marked(True, topic=HOME.topic)
    run.show(shown.MarkerAppends, 0, HOME, PRODUCER, 10, 1)
    run.emit(e.HighWatermark, 0, *HOME, True, 0, 11 if committed else 10)
    for _ in range(2):
        run.show(shown.OffsetsRead, 0, GROUP, HOME, (), True, (ORDERS_0,))
        run.later(seconds / 2)
    run.show(shown.OffsetsRead, 0, GROUP, HOME, (), True, (ORDERS_0,))
    found = run.found()
    assert len(found) >= count
    assert bool(found) is bool(count)
    assert not count or found[0].startswith(
        "orders-0: broker 0 says that the offset of group readers is not stable, 1.0 s"
    )


@pytest.mark.parametrize(
    ("then", "count"),
    [
        (lambda run: run.marked(True, topic=HOME.topic), 0),
        (lambda run: run.marked(True), 1),
        (lambda run: run.emit(e.OffsetsRemoved, 0, GROUP, "topic", False, ("orders",), (0,)), 0),
        (lambda run: run.emit(e.OffsetsRemoved, 0, GROUP, "deleted", True, (), ()), 0),
        (lambda run: run.emit(e.NodeCrashed, 1, 1, "host"), 0),
        (lambda run: run.coordinates(0, 1), 1),
    ],
    ids=["ended", "marked elsewhere", "removed", "group removed", "lost", "another epoch"],
)
def test_what_ends_it(then: Then, count: int) -> None:
    run = written()
    then(run)
    assert len(tells(run)) == count


# -- rebalances_complete ----------------------------------------------------------------------------------------------


def rebalances() -> Coordinated:
    """Anne and Bob have to join again, and Anne has."""
    run = works("rebalances_complete")
    for member in (ANNE, BOB):
        run.emit(e.GroupMemberAdded, 0, GROUP, member, "", "client")
    run.group_state("Stable")
    run.show(shown.MemberJoins, 0, GROUP, ANNE, True)
    run.world.now -= 1000
    run.group_state("PreparingRebalance")
    run.show(shown.MemberJoins, 0, GROUP, ANNE, True)
    return run


def test_a_rebalance_that_all_have_joined() -> None:
    run = rebalances()
    assert looks(run, 10) == []
    run = rebalances()
    run.show(shown.MemberJoins, 0, GROUP, BOB, False)
    [found] = looks(run, 10)
    assert found.startswith("group readers prepares a rebalance at coordinator 0, and all of its 2 members have joined")


@pytest.mark.parametrize(
    ("then", "count"),
    [
        (lambda run: run.removed(BOB, "session"), 1),
        (lambda run: run.show(shown.MemberIdGiven, 0, GROUP, "carla", 6_000_000), 0),
        (lambda run: run.removed(ANNE, "replaced"), 0),
        (lambda run: run.group_state("CompletingRebalance", 2), 0),
        (lambda run: run.emit(e.NodeCrashed, 0, 1, "process"), 0),
    ],
    ids=["gone", "given", "replaced", "complete", "crashed"],
)
def test_for_whom_a_rebalance_waits(then: Then, count: int) -> None:
    run = rebalances()
    if not count:
        run.show(shown.MemberJoins, 0, GROUP, BOB, False)
    then(run)
    assert len(looks(run, 10)) == count


def test_a_member_id_that_is_taken_back_is_not_waited_for() -> None:
    run = rebalances()
    run.show(shown.MemberJoins, 0, GROUP, BOB, False)
    run.show(shown.MemberIdGiven, 0, GROUP, "carla", 6_000_000)
    run.show(shown.MemberIdForgotten, 0, GROUP, "carla")
    assert len(looks(run, 10)) == 1


@pytest.mark.parametrize(("after_s", "reason", "count"), [(5, "rebalance", 1), (21, "rebalance", 0), (5, "session", 0)])
def test_a_rebalance_waits_for_members_as_long_as_they_may_take(after_s: int, reason: str, count: int) -> None:
    run = works("rebalances_complete")
    for member in (ANNE, BOB):
        run.emit(e.GroupMemberAdded, 0, GROUP, member, "", "client")
        run.heard(member)
    run.group_state("Stable")
    run.group_state("PreparingRebalance")
    run.later(after_s)
    run.removed(BOB, reason)
    found = run.found()
    assert len(found) == count
    assert all(state.startswith("the coordinator of readers on broker 0 leaves bob out 5.001 s") for state in found)


def test_the_first_rebalance_of_an_empty_group_is_delayed() -> None:
    run = works("rebalances_complete")
    run.emit(e.GroupMemberAdded, 0, GROUP, ANNE, "", "client")
    run.world.now -= 1000
    run.group_state("PreparingRebalance")
    assert looks(run, 10) == []


# -- aborts_have_reasons ----------------------------------------------------------------------------------------------


def late(after_s: float, then: Then | None = None, node: int = 1) -> list[str]:
    """Coordinator ``node`` aborts a transaction so long after there was none; 1 is the leader."""
    run = Coordinated("aborts_have_reasons")
    run.coordinates(1, 1)
    run.transaction("CompleteCommit")
    run.show(shown.TransactionTimed, 0, WRITER, 10_000_000)
    run.transaction("Ongoing", 0)
    if then is not None:
        then(run)
    run.later(after_s)
    run.show(shown.TransactionLate, node, WRITER, HOME)
    return run.found()


def test_a_transaction_is_aborted_once_it_has_lasted_too_long() -> None:
    assert late(11) == []
    assert late(2, node=0) == [], "it was replaced, and cannot write it"
    [found] = late(2)
    assert found.startswith("coordinator 1 aborts a transaction of writer by itself, 2.00")
    assert found.endswith(" s after there was none: its timeout is 10 s")


@pytest.mark.parametrize(
    "then",
    [lambda run: run.emit(e.Fault, "broker.clock", "0", "step 8s"), lambda run: run.emit(e.NodeCrashed, 1, 1, "host")],
)
def test_what_excuses_an_early_abort(then: Then) -> None:
    assert late(2, then) == []


@pytest.mark.parametrize(
    ("asked", "decided", "epoch", "found"),
    [
        ((True,), "PrepareCommit", 0, ""),
        ((False,), "PrepareAbort", 0, ""),
        ((True,), "PrepareAbort", 1, ""),
        ((True, False), "PrepareAbort", 0, ""),
        ((), "PrepareAbort", 0, ""),
        ((True,), "PrepareAbort", 0, "aborts the transaction of writer, whose producer has asked to commit it"),
        ((False,), "PrepareCommit", 0, "commits the transaction of writer, whose producer has asked to abort it"),
        ((), "PrepareCommit", 0, "commits the transaction of writer, whose producer has asked for nothing"),
    ],
)
def test_a_transaction_ends_as_its_producer_asks(asked: tuple[bool, ...], decided: str, epoch: int, found: str) -> None:
    run = Coordinated("aborts_have_reasons")
    run.transaction("Ongoing", 0)
    for committed in asked:
        run.show(shown.TransactionEndAsked, 0, WRITER, 7, 0, committed)
    run.transaction(decided, 0, producer_epoch=epoch)
    assert run.found() == ([f"coordinator 0 {found}"] if found else [])


def test_a_coordinator_that_has_lost_epochs_may_obey_a_later_one() -> None:
    """2.3, seed 13010 of the default swarm: endTransaction refuses earlier epochs only, up to 2.5 (KAFKA-9600)."""

    def found(epoch: int, committed: bool, decided: str) -> list[str]:
        run = Coordinated("aborts_have_reasons")
        run.transaction("Ongoing", 0, producer_epoch=6)
        run.show(shown.TransactionEndAsked, 0, WRITER, 7, epoch, committed)
        run.transaction(decided, 0, producer_epoch=6)
        return run.found()

    assert found(13, True, "PrepareCommit") == found(13, True, "PrepareAbort") == found(13, False, "PrepareAbort") == []
    assert found(13, False, "PrepareCommit") == found(5, True, "PrepareCommit") != []


# -- transactions_end -------------------------------------------------------------------------------------------------


def goes_on(after_s: float, then: Then | None = None) -> list[str]:
    """A partition is added to a transaction so long after it began; it may last for 2 s, and is looked at each 10 s."""
    run = works("transactions_end")
    run.show(shown.TransactionTimed, 0, WRITER, 2_000_000)
    run.transaction("Ongoing", 0)
    if then is not None:
        then(run)
    run.later(after_s)
    run.transaction("Ongoing", 0, 1)
    return run.found()


def test_no_partition_is_added_after_the_time_of_a_transaction() -> None:
    assert goes_on(16) == []
    [found] = goes_on(20)
    assert found.startswith("the transaction of writer is Ongoing at coordinator 0 for 20")


@pytest.mark.parametrize(
    "then",
    [
        lambda run: run.transaction("CompleteCommit"),
        lambda run: run.emit(e.Fault, "broker.clock", "0", "step 8s"),
        lambda run: run.emit(e.NodeCrashed, 1, 1, "host"),
    ],
    ids=["another one", "clock", "lost"],
)
def test_what_excuses_that_it_goes_on(then: Then) -> None:
    assert goes_on(20, then) == []


@pytest.mark.parametrize(("fate", "count"), [("told", 1), ("missed", 0), ("there", 0)])
def test_a_transaction_does_not_wait_for_a_topic_that_is_gone(fate: str, count: int) -> None:
    run = works("transactions_end")
    run.assigned((0, 1))
    run.state(0, (0,), 0)
    run.later(1)
    run.transaction("PrepareCommit", 0)
    if fate != "there":
        run.emit(ZkWritten, 0, "create", "/admin/delete_topics/orders", 0, 7, "")
        run.deleted()
        run.emit(ZkWritten, 0, "delete", "/brokers/topics/orders", 0, 0, "")
    if fate == "missed":  # its session had ended, and it is registered again
        run.emit(ZkWritten, 0, "delete", "/brokers/ids/0", 0, 8, "")
        run.emit(ZkWritten, 0, "create", "/brokers/ids/0", 0, 9, "{}")
        run.emit(e.BrokerRegistered, 0, 9)
    assert len(looks(run, 40)) == count
