"""G8 to G10, X7, X8: histories in which coordinators forget a member, do not hear one, or decide after their time."""

from __future__ import annotations

import pytest

from brokers.coordinators.internal_topic import Coordinated as Memory
from emulator.protocol import events as e
from emulator.protocol import shown_coordination as shown
from emulator.protocol.errors import Errors
from emulator.protocol.shown import Remembered
from emulator.protocol.transactions.markers import TxnMarker, WriteTxnMarkersRequest, WriteTxnMarkersResponse
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_coordinators import ANNE, BOB, GROUP, HOME, Coordinated, looks, works
from tests.scenarios.observe.checkers.written_history import ORDERS_0

KEPT, HEARD, FENCED = "members_kept", "rejoins_rebalance", "old_coordinators_fenced"
REFUSED = (
    "coordinator 1 answers bob of group readers with UNKNOWN_MEMBER_ID: it is a member of the last stable generation"
)


def stable() -> Coordinated:
    """Anne and Bob are in generation 2, and broker 1 takes over."""
    run = Coordinated(KEPT)
    run.coordinates()
    run.generation(2, ANNE, BOB)
    run.group_state("Stable", 2)
    return run


def refused(run: Coordinated, member: str = BOB, error: str = "UNKNOWN_MEMBER_ID") -> list[str]:
    run.coordinates(1, 1)
    run.show(shown.MemberRefused, 1, GROUP, HOME, member, error)
    return run.found()


def test_the_next_coordinator_knows_the_members() -> None:
    assert refused(stable()) == [REFUSED]
    assert refused(stable(), "carla") == []


def test_a_generation_counts_once_it_is_stable() -> None:
    run = stable()
    run.generation(3, ANNE)
    run.generation(4, ANNE, "carla")
    assert refused(run, "carla") == []
    run.group_state("Stable", 4)
    assert len(refused(run, "carla")) == 1


@pytest.mark.parametrize("reason", ["session", "left", "rebalance", "replaced"])
def test_a_member_that_was_removed_is_none(reason: str) -> None:
    run = stable()
    run.removed(BOB, reason)
    assert refused(run) == []


@pytest.mark.parametrize(("stored", "count"), [(True, 1), (False, 0)])
def test_a_static_member_that_is_back_has_its_new_id(stored: bool, count: int) -> None:
    run = stable()
    run.removed(BOB, "replaced")
    run.show(shown.MemberReturned, 0, GROUP, "second", "bob-2", stored, True)
    assert len(refused(run, "bob-2", "FENCED_INSTANCE_ID")) == count


def test_a_static_member_that_is_replaced_before_the_log_has_it_is_none() -> None:
    run = stable()
    run.removed(BOB, "replaced")
    run.removed("bob-2", "replaced")
    run.show(shown.MemberReturned, 0, GROUP, "second", "bob-2", True, True)
    assert refused(run, "bob-2", "FENCED_INSTANCE_ID") == []


@pytest.mark.parametrize("happens", ["unclean", "lost", "elsewhere", "empty"])
def test_what_is_lost_on_purpose_may_be_refused(happens: str) -> None:
    run = stable()
    if happens == "unclean":
        run.emit(ZkWritten, 0, "setData", state_path(HOME), 1, 0, LeaderAndIsr(3, 1, (3,), 1).encode())
    elif happens == "lost":
        run.emit(e.NodeCrashed, 1, 1, "host")
    elif happens == "empty":
        run.generation(3)
    else:
        run.show(shown.MemberRefused, 2, GROUP, HOME, BOB, "UNKNOWN_MEMBER_ID")
        assert run.found() == []
        return
    assert refused(run) == []


@pytest.mark.parametrize(
    ("member", "changed", "rebalances", "count"),
    [
        (ANNE, False, True, 0),
        (ANNE, False, False, 1),
        (BOB, False, False, 0),
        (BOB, True, False, 1),
        (BOB, True, True, 0),
    ],
)
def test_who_asks_for_another_assignment_gets_one(member: str, changed: bool, rebalances: bool, count: int) -> None:
    run = works(HEARD)
    run.generation(2, ANNE, BOB)
    run.group_state("Stable", 2)
    run.show(shown.MemberJoins, 0, GROUP, member, changed)
    if rebalances:
        run.group_state("PreparingRebalance", 2)
    found = looks(run, 2)
    assert len(found) == count
    if count:
        who = "the leader" if member == ANNE else "a member with other topics"
        assert found == [
            f"{member}, {who}, joins group readers again in generation 2, and coordinator 0 begins no rebalance"
        ]


@pytest.mark.parametrize(("rebalances", "state", "count"), [(True, "", 1), (False, "", 0), (True, "Stable", 0)])
def test_a_static_member_that_is_back_while_the_leader_assigns(rebalances: bool, state: str, count: int) -> None:
    run = works(HEARD)
    run.generation(2, ANNE, BOB)
    if state:
        run.group_state(state, 2)
    run.show(shown.MemberReturned, 0, GROUP, "second", "bob-2", True, rebalances)
    found = run.found()
    assert len(found) == count
    assert not count or found[0].startswith("bob-2, a static member that is back while the leader assigns, joins group")


def test_a_leader_whose_answer_was_lost_gets_it_again() -> None:
    run = works(HEARD)
    run.generation(2, ANNE, BOB)
    run.show(shown.MemberJoins, 0, GROUP, ANNE, False)
    assert looks(run, 2) == []


def test_a_group_that_was_loaded_is_not_known() -> None:
    run = works(HEARD)
    run.generation(2, ANNE)
    run.group_state("Stable", 2)
    run.emit(e.GroupsLoaded, 0, HOME.topic, 0, 1, 1, 0)
    run.show(shown.MemberJoins, 0, GROUP, ANNE, False)
    assert looks(run, 2) == []


@pytest.mark.parametrize(("epochs", "count"), [((1, 1, 2), 0), ((2, 1), 1)])
def test_a_marker_of_a_coordinator_that_was_replaced(epochs: tuple[int, ...], count: int) -> None:
    run = Coordinated(FENCED)
    for epoch in epochs:
        run.emit(e.TransactionMarked, 0, *ORDERS_0, 7, 0, epoch, True)
    found = run.found()
    assert len(found) == count
    if count:
        assert found == ["orders-0: leader 0 writes COMMIT for producer 7 from coordinator epoch 1, after epoch 2"]


def test_a_new_leader_may_not_know_the_coordinator() -> None:
    run = Coordinated(FENCED)
    run.emit(e.TransactionMarked, 0, *ORDERS_0, 7, 0, 2, True)
    run.leads(0, 1)
    run.emit(e.TransactionMarked, 0, *ORDERS_0, 7, 0, 1, True)
    assert run.found() == []


@pytest.mark.parametrize(("calm", "count"), [(40, 1), (0, 0)])
def test_a_decision_is_carried_out_when_the_cluster_is_at_rest(calm: int, count: int) -> None:
    """A marker that was lost may still be sent again, once its connection has ended."""
    run = works("transactions_end")
    run.assigned((0,))
    run.state(0, (0,), 0)
    if not calm:
        run.emit(e.NodeCrashed, 1, 1, "host")
    run.later(calm)
    run.transaction("PrepareCommit", 0)
    run.later(1)
    run.rest()
    assert len(run.found()) == count


@pytest.mark.parametrize(
    ("has", "should", "count"), [("Commit", "Commit", 0), ("Abort", "Abort", 0), ("Commit", "Abort", 1)]
)
def test_the_end_of_a_transaction_may_be_on_its_way_into_the_log(has: str, should: str, count: int) -> None:
    """Its coordinator has no word for that, and gets 15 s."""
    run = works("coordinators_remember")
    memory = Memory({"writer": f"producer 7, Prepare{has}"}, {"writer": f"producer 7, Complete{should}"})
    for seconds, wanted in ((60, count), (14, count), (2, 1)):
        run.later(seconds)
        run.show(Remembered, 0, "broker", "rest", {"coordinated": {"transactions": memory}})
        assert len(run.found()) == wanted


@pytest.mark.parametrize("other", ["", ", and 4 in a transaction of 5"])
@pytest.mark.parametrize(
    ("should", "answered", "count"),
    [("17", False, 0), ("9", False, 0), ("12", False, 1), ("nothing", False, 1), ("17", True, 1), ("9", True, 1)],
)
def test_the_marker_of_a_transaction_with_offsets_may_be_on_its_way_to_replicas(
    should: str, answered: bool, count: int, other: str
) -> None:
    """kafka-2.4, seed 15028: it is in the log, and counts for the coordinator once all in-sync replicas have it, also
    beside that of another transaction (wiki-text, seed 16117)."""
    run = works("coordinators_remember")
    run.show(shown.MarkerAppends, 0, HOME, 7, 1, 10)
    if answered:
        request = WriteTxnMarkersRequest((TxnMarker(7, 0, 1, True, (HOME,)),))
        response = WriteTxnMarkersResponse((((HOME, Errors.NONE),),))
        run.show(RequestAnswered, 0, -9, request, response, run.world.now, True)
    memory = Memory({"orders-0": f"9, and 17 in a transaction of 7{other}"}, {"orders-0": f"{should}{other}"})
    for seconds, wanted in ((60, count), (29, count), (2, 1)):
        run.later(seconds)
        run.show(Remembered, 0, "broker", "rest", {"coordinated": {"groups": memory}})
        assert len(run.found()) == wanted


@pytest.mark.parametrize(("later", "count"), [("", 0), ("plain", 1), ("open", 0), ("abort", 0), ("commit", 1)])
def test_a_failed_write_may_be_in_the_log_until_a_later_one_counts(later: str, count: int) -> None:
    """kafka-3.3, seed 28003: an offset whose commit timed out is in the log, and the next one was of a transaction that
    was aborted."""
    run = works("coordinators_remember")
    run.show(shown.CoordinatorWrote, 0, ("orders-0",), True, -1)
    if later:
        run.show(shown.CoordinatorWrote, 0, ("orders-0",), False, -1 if later == "plain" else 7)
    if later in ("abort", "commit"):
        run.marked(later == "commit", topic=HOME.topic)
        run.show(shown.MarkerAppends, 0, HOME, 7, 1, 10)
    run.show(
        Remembered, 0, "broker", "rest", {"coordinated": {"groups": Memory({"orders-0": "14"}, {"orders-0": "10"})}}
    )
    assert len(run.found()) == count


@pytest.mark.parametrize("happens", ["nothing", "joined", "forgotten", "unloaded", "dead"])
def test_a_member_id_is_taken_back(happens: str) -> None:
    run = works("ids_taken_back")
    run.show(shown.MemberIdGiven, 0, GROUP, BOB, 10_000_000)
    if happens == "joined":
        run.emit(e.GroupMemberAdded, 0, GROUP, BOB, "", "client")
    elif happens == "forgotten":
        run.show(shown.MemberIdForgotten, 0, GROUP, BOB)
    elif happens == "unloaded":
        run.emit(e.GroupsUnloaded, 0, HOME.topic, 0, 1, 0)
    elif happens == "dead":
        run.group_state("Dead")
    assert looks(run, 12) == []
    found = looks(run, 20)
    assert len(found) == (happens == "nothing")
    assert not found or found[0].startswith("coordinator 0 waits for a client of group readers to join as bob for 1")


def fenced(epochs: tuple[int, ...], *, once: bool = True, loads: bool = False) -> list[str]:
    run = Coordinated("epochs_used_once", start=StartSettings(fences_once=once))
    for epoch in epochs:
        run.emit(e.TransactionStateChanged, 0, "writer", 7, epoch, "Ongoing", (), ())
        if loads:
            run.emit(e.TransactionsLoaded, 0, "__transaction_state", 0, 1, 1)
    return run.found()


def test_one_epoch_is_used_up_at_a_time() -> None:
    assert fenced((3, 3, 4, 5)) == []
    assert fenced((3, 5)) == ["coordinator 0 goes on from epoch 3 of producer 7 (writer) to 5"]
    assert fenced((3, 5), once=False) == [], "before KAFKA-9666"
    assert fenced((3, 5), loads=True) == [], "another coordinator may have used one"


@pytest.mark.parametrize(("crash", "count"), [("process", 1), ("host", 0)])
def test_a_transaction_of_which_a_machine_has_lost_something_may_stay_open(crash: str, count: int) -> None:
    """kafka-2.4, seed 364 of the default swarm: the next coordinator knows fewer of its partitions."""
    run = works("transactions_close")
    run.transaction("Ongoing", 0, 1)
    run.emit(e.NodeCrashed, 1, 1, crash)
    run.transaction("CompleteAbort")
    run.later(60)
    run.show(Remembered, 0, "broker", "rest", {"open_transactions": {ORDERS_0: (7,)}})
    assert len(run.found()) == count


@pytest.mark.parametrize(("crash", "known", "count"), [("process", False, 1), ("host", False, 0), ("host", True, 1)])
def test_a_producer_that_no_coordinator_knows_any_more_may_go_on(crash: str, known: bool, count: int) -> None:
    """kafka-3.6, seed 21 with transactions: it commits offsets late, which are verified since 3.7 (KAFKA-15449)."""
    run = works("transactions_close")
    run.transaction("Ongoing", 0, 1)
    run.transaction("CompleteAbort")
    run.emit(e.NodeCrashed, 1, 1, crash)
    if known:
        run.show(shown.TransactionLoaded, 0, "writer", 7, "CompleteAbort")
    run.later(60)
    run.show(Remembered, 0, "broker", "rest", {"open_transactions": {ORDERS_0: (7,)}})
    assert len(run.found()) == count


@pytest.mark.parametrize(("loaded", "count"), [("Ongoing", 0), ("CompleteCommit", 1)])
@pytest.mark.parametrize("ends", [True, False])
def test_a_transaction_that_its_coordinator_has_opened_again_may_stay_open(loaded: str, count: int, ends: bool) -> None:
    """kafka-2.3, seed 78 of the default swarm: the log has lost the commit, and the coordinator goes on from before."""
    run = works("transactions_close")
    run.transaction("Ongoing", 0, 1)
    run.transaction("CompleteCommit")
    run.emit(e.NodeCrashed, 1, 1, "host")
    run.show(shown.TransactionLoaded, 0, "writer", 7, loaded)
    if ends:
        run.transaction("CompleteAbort")
    run.later(60)
    run.show(Remembered, 0, "broker", "rest", {"open_transactions": {ORDERS_0: (7,)}})
    assert len(run.found()) == count


@pytest.mark.parametrize(("leader", "count"), [(0, 1), (1, 0)])
def test_a_leader_whose_replica_was_moved_away_gets_no_markers(leader: int, count: int) -> None:
    """kafka-3.0, seed 12006 of the default swarm: no StopReplica has reached it, as its session had ended."""
    run = works("transactions_close")
    run.begin((0, 1))
    run.transaction("Ongoing", 0)
    run.state(leader, (leader,), 1)
    run.transaction("CompleteAbort")
    run.later(60)
    run.show(Remembered, 0, "broker", "rest", {"open_transactions": {ORDERS_0: (7,)}})
    assert len(run.found()) == count


def open_after(loses: str, *, again: bool = False) -> list[str]:
    """The findings where the transaction of producer 7 is open at rest. Its marker is the batch 2 of orders-0, and
    committed; by what ``loses`` names, the leader is left with batch 1. ``again``: another marker comes."""
    run = works("transactions_close")
    run.begin((0,))
    run.append(0, 0, 1, leader=True)
    run.transaction("Ongoing", 0)
    run.show(shown.MarkerAppends, 0, ORDERS_0, 7, 10, 2)
    run.append(0, 10, 2, leader=True)
    run.high_watermark(0, 20, leader=True)
    run.transaction("CompleteAbort")
    if loses == "crash":
        run.emit(e.NodeCrashed, 0, 1, "host")
        run.emit(e.NodeStarted, 0, 2)
        run.emit(ZkWritten, 0, "delete", "/brokers/ids/0", 0, 5, "")
        run.emit(ZkWritten, 0, "create", "/brokers/ids/0", 0, 7, "{}")
        run.emit(e.BrokerRegistered, 0, 7)
        run.loaded(0, end=10)
        run.leads(0, 1, end=10)
    elif loses == "election":
        run.loaded(1, end=10)
        run.state(1, (1,), 1)
        run.emit(e.LeaderElected, 0, *ORDERS_0, 1, 1, (1,), "offline", 1, True)
        run.leads(1, 1, end=10)
    else:
        run.truncated(0, 10)
    if again:
        run.show(shown.MarkerAppends, 0, ORDERS_0, 7, 10, 3)
        run.append(0, 10, 3, 1, leader=True)
        run.high_watermark(0, 20, 1, leader=True)
    run.transaction("CompleteAbort")
    run.later(60)
    run.show(Remembered, 0, "broker", "rest", {"open_transactions": {ORDERS_0: (7,)}})
    return run.found()


@pytest.mark.parametrize("loses", ["crash", "election"])
def test_a_transaction_whose_marker_the_partition_has_lost_stays_open(loses: str) -> None:
    """kafka-3.9, seed 2216 of the default swarm: the only replica had not flushed it, and its producer comes back no
    more."""
    assert open_after(loses) == []


def test_a_marker_that_is_committed_closes() -> None:
    assert len(open_after("truncation")) == 1, "the log has lost what is committed"
    assert len(open_after("crash", again=True)) == 1, "another marker came"


@pytest.mark.parametrize(
    ("state", "reason", "rebalances", "count"),
    [
        ("CompletingRebalance", "left", False, 1), ("Stable", "session", False, 1), ("Stable", "left", True, 0),
        ("PreparingRebalance", "left", False, 0), ("Stable", "replaced", False, 0),
    ],
)  # fmt: skip
def test_the_others_get_what_a_member_had_that_is_gone(state: str, reason: str, rebalances: bool, count: int) -> None:
    run = Coordinated(HEARD)
    run.coordinates()
    run.generation(2, ANNE, BOB)
    run.group_state(state, 2)
    run.removed(BOB, reason)
    if rebalances:
        run.group_state("PreparingRebalance", 2)
    wrong = f"{BOB} is gone from group {GROUP} in generation 2 ({reason}), and coordinator 0 begins no rebalance"
    assert looks(run, 1) == [wrong] * count
