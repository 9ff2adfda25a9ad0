"""F12, I5, S19 and V13: fetches, changes of ISRs and requests come to an end; leaders accept what is written."""

from __future__ import annotations

import pytest

from brokers.memories import RequestInHand
from brokers.transactions.metadata import TransactionState, TxnTransitMetadata
from brokers.transactions.records import TransactionRecords
from emulator.protocol import events as e
from emulator.protocol import znodes
from emulator.protocol.api import Request
from emulator.protocol.fetch import FetchRequest, ReadRefused
from emulator.protocol.groups.membership import HeartbeatRequest, JoinGroupRequest, SyncGroupRequest
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest
from emulator.protocol.produce import InitProducerIdRequest, ProducedBatch, ProduceRequest
from emulator.protocol.shown import FetchOverdue, ProduceRefused, Remembered
from emulator.protocol.shown_coordination import CoordinatorAppends, CoordinatorWrote
from emulator.protocol.transactions.coordination import EndTxnRequest
from emulator.protocol.transactions.markers import TxnMarker, WriteTxnMarkersRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import encode_config
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered, RequestUnanswered
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

SECOND = 1_000_000
JOIN = JoinGroupRequest("readers", "m", 10 * SECOND, 10 * SECOND, "consumer", ())
BEAT = HeartbeatRequest("readers", 1, "m")
END = EndTxnRequest("writer", 7, 0, True)
MARKERS = WriteTxnMarkersRequest((TxnMarker(7, 0, 1, True, (ORDERS_0,)),))
MOVES = ListPartitionReassignmentsRequest(None)


@pytest.mark.parametrize(("reader", "who"), [(1, "broker 1"), (-1, "a consumer")])
def test_a_fetch_that_waits_for_what_is_there(reader: int, who: str) -> None:
    run = Cluster("fetches_complete")
    run.show(FetchOverdue, 0, reader, 500_000, (ORDERS_0,))
    [violation] = run.violations()
    assert f"leader 0 lets a fetch of {who} wait for 0.5 s" in violation.state


def proposed(run: Cluster) -> None:
    run.leads(0, 0)
    run.proposes(0, "shrink", 2)


def test_a_change_without_an_outcome() -> None:
    run = Cluster("isr_changes_end")
    proposed(run)
    run.passes(34)
    assert run.violations() == []
    run = Cluster("isr_changes_end")
    proposed(run)
    run.passes(60)
    [violation] = run.violations()
    assert "orders-0: leader 0 has proposed to shrink the ISR to [], and has no outcome after" in violation.state


@pytest.mark.parametrize(
    "end",
    [
        lambda run: run.emit(e.IsrChanged, 0, *ORDERS_0, 1, "shrink", (0, 1), 4),
        lambda run: run.emit(e.IsrUpdateFailed, 0, *ORDERS_0, 1),
        lambda run: run.leads(0, 2),
        lambda run: run.follows(0, 1, 2),
        lambda run: run.emit(e.ReplicaStopped, 0, *ORDERS_0, True),
        lambda run: run.emit(e.ReplicaOffline, 0, *ORDERS_0),
    ],
)
def test_what_ends_a_change(end: object) -> None:
    run = Cluster("isr_changes_end")
    proposed(run)
    assert callable(end)
    end(run)
    run.passes(60)
    assert run.violations() == []


def unanswered(request: Request, after_us: int, *states: tuple[int, str], in_time: bool = False) -> list[str]:
    """A request of a member at broker 0 that is given up after a time. The group is in each state after its time."""
    run = Cluster("requests_answered")
    run.passes(20)
    since_us = run.world.now
    for at_us, state in states:
        run.world.now = since_us + at_us
        run.emit(e.GroupStateChanged, 0, "readers", state, 1, "")
    run.world.now = since_us + after_us
    run.show(RequestUnanswered, 0, -9, request, since_us, in_time)
    return [violation.state for violation in run.violations()]


def writes(run: Cluster) -> Request:
    """Broker 0 begins to write what the answer to the ``EndTxnRequest`` waits for, which may take 60 s."""
    value = TxnTransitMetadata(7, 7, 0, -1, 60_000, TransactionState.PREPARE_COMMIT, (), 0, 0)
    home = TopicPartition("__transaction_state", 0)
    run.show(CoordinatorAppends, 0, TransactionRecords.of(home, 1, END.transactional_id, value), 0)
    return END


@pytest.mark.parametrize(("done_s", "after_s", "count"), [(None, 30, 0), (None, 70, 1), (2, 3, 0), (2, 10, 1)])
def test_a_producer_waits_while_its_coordinator_writes(done_s: int | None, after_s: int, count: int) -> None:
    run = Cluster("requests_answered")
    run.passes(20)
    since_us = run.world.now
    writes(run)
    if done_s is not None:
        run.world.now = since_us + done_s * SECOND
        run.show(CoordinatorWrote, 0, (f"transactional id {END.transactional_id}",), False)
    run.world.now = since_us + after_s * SECOND
    run.show(RequestUnanswered, 0, -9, END, since_us, False)
    assert len(run.violations()) == count


def test_a_client_that_asks_again_and_again() -> None:
    """Each time it gives up before an answer is late."""
    run = Cluster("requests_answered")
    run.passes(20)
    for _ in range(3):
        run.world.now += SECOND // 2
        run.show(RequestUnanswered, 0, -9, BEAT, run.world.now - SECOND // 2, True)
    [violation] = run.violations()
    told = "broker 0 has had 3 requests of machine -9 (Heartbeat) for 1.503 s altogether, one after the other"
    assert told in violation.state


def test_a_request_that_waits_for_a_controller_that_has_resigned() -> None:
    """kafka-3.0, seed 28106 of the default swarm."""
    run = Cluster("requests_answered")
    run.passes(20)
    in_hand = RequestInHand(-9, MOVES, run.world.now - 30 * SECOND)
    run.world.now += 20 * SECOND
    run.show(Remembered, 0, "broker", "rest", {"in_hand": (in_hand,)})
    assert run.violations() == []


def test_a_request_that_has_nothing_to_wait_for() -> None:
    assert unanswered(BEAT, SECOND) == []
    [state] = unanswered(BEAT, 10 * SECOND)
    assert state == "broker 0 has a Heartbeat of machine -9 for 10.001 s, and does not answer it"


@pytest.mark.parametrize(("after_us", "current", "count"), [(3, True, 0), (10, True, 1), (10, False, 0)])
def test_an_answer_that_comes_late(after_us: int, current: bool, count: int) -> None:
    run = Cluster("requests_answered")
    run.passes(20)
    since_us = run.world.now
    run.world.now = since_us + after_us * SECOND
    run.show(RequestAnswered, 0, -9, BEAT, None, since_us, current)
    late = "broker 0 answers a Heartbeat of machine -9 after 10.001 s, with nothing to wait for"
    assert [violation.state for violation in run.violations()] == [late] * count


def test_a_fetch_waits_for_its_time() -> None:
    fetch = FetchRequest(0, 0, 1, 8 * SECOND, 1, 1000, 1000, (), ())
    assert unanswered(fetch, 9 * SECOND) == []
    assert len(unanswered(fetch, 13 * SECOND)) == 1
    assert unanswered(fetch, 13 * SECOND, in_time=True) == []


@pytest.mark.parametrize(("asks", "after_s", "count"), [(True, 33, 0), (True, 35, 1), (False, 33, 1)])
def test_a_producer_waits_for_the_controller_to_give_ids(asks: bool, after_s: int, count: int) -> None:
    """kafka-3.0, seed 17101: there is no controller for 16 s (RPCProducerIdManager.generateProducerId, 3.0)."""
    run = Cluster("requests_answered", start=StartSettings(asks_for_producer_ids=asks))
    run.passes(20)
    in_hand = RequestInHand(-9, InitProducerIdRequest(), run.world.now)
    run.world.now += after_s * SECOND
    run.show(Remembered, 0, "broker", "rest", {"in_hand": (in_hand,)})
    assert len(run.violations()) == count


@pytest.mark.parametrize(("acks", "count"), [(0, 1), (1, 1), (-1, 0)])
def test_a_leader_alone_answers_at_once(acks: int, count: int) -> None:
    """With acks=all the replicas may take longer than the producer waits."""
    batch = ProducedBatch(ORDERS_0, 7, 3, 300)
    assert len(unanswered(ProduceRequest(acks, 30 * SECOND, (batch,), 300), 30 * SECOND)) == count


def test_a_coordinator_that_starts_again_has_left_no_state() -> None:
    """kafka-2.4, seed 2118 of the default swarm: a rebalance ended with the broker, and the next one goes on."""
    run = Cluster("requests_answered")
    run.emit(e.GroupStateChanged, 0, "readers", "PreparingRebalance", 1, "")
    run.emit(e.NodeCrashed, 0, 0, "process")
    run.emit(e.NodeStarted, 0, 0)
    run.registers(0)
    run.passes(20)
    since_us = run.world.now
    run.emit(e.GroupStateChanged, 0, "readers", "PreparingRebalance", 2, "")
    run.world.now += 20 * SECOND
    run.show(RequestUnanswered, 0, -9, JOIN, since_us, False)
    assert run.violations() == []


def test_a_client_that_ends_has_waited_too() -> None:
    assert unanswered(BEAT, SECOND, in_time=True) == []
    assert len(unanswered(BEAT, 10 * SECOND, in_time=True)) == 1


def test_a_member_waits_for_the_others_while_its_group_prepares_a_rebalance() -> None:
    assert unanswered(JOIN, 30 * SECOND, (0, "PreparingRebalance")) == []
    assert unanswered(JOIN, 30 * SECOND, (0, "PreparingRebalance"), (29 * SECOND, "CompletingRebalance")) == []
    assert len(unanswered(JOIN, 30 * SECOND, (0, "PreparingRebalance"), (9 * SECOND, "CompletingRebalance"))) == 1
    again = (0, "PreparingRebalance"), (9 * SECOND, "CompletingRebalance"), (10 * SECOND, "PreparingRebalance")
    assert len(unanswered(JOIN, 30 * SECOND, *again)) == 1


@pytest.mark.parametrize(("member", "reason", "count"), [("m", "left", 0), ("m", "replaced", 1), ("other", "left", 1)])
def test_a_member_that_is_removed_while_it_waits_for_its_assignment(member: str, reason: str, count: int) -> None:
    """kafka-2.4, seed 12001 of the default swarm."""
    run = Cluster("requests_answered")
    run.emit(e.GroupStateChanged, 0, "readers", "CompletingRebalance", 1, "")
    run.passes(20)
    since_us = run.world.now
    run.emit(e.GroupMemberRemoved, 0, "readers", member, "static-0", reason)
    run.emit(e.GroupStateChanged, 0, "readers", "PreparingRebalance", 1, "")
    run.world.now += 20 * SECOND
    run.show(RequestUnanswered, 0, -9, SyncGroupRequest("readers", 1, "m"), since_us, False)
    assert len(run.violations()) == count


@pytest.mark.parametrize(("happens", "count"), [("", 2), ("elected", 2), ("session", 0), ("resigned", 0)])
def test_a_broker_refuses_what_the_controller_answers(happens: str, count: int) -> None:
    """It does so whichever broker the controller is; a session that ends, or a term, takes the event with it."""
    run = Cluster("requests_answered")
    run.passes(20)
    in_hand = RequestInHand(-9, MOVES, run.world.now)
    run.world.now += SECOND
    if happens == "elected":
        run.emit(e.ControllerElected, 2, 2)
        run.emit(ZkWritten, 3, "delete", znodes.CONTROLLER, 0, 0, "")
        run.emit(ZkWritten, 2, "create", znodes.CONTROLLER, 0, 0, znodes.encode_controller(2, 0))
    elif happens == "resigned":
        run.emit(e.ControllerResigned, 0, 1)
    elif happens == "session":
        run.dies(0)
        run.emit(e.NodeStarted, 0, 1)
        run.registers(0)
    run.world.now += 20 * SECOND
    run.show(Remembered, 0, "broker", "rest", {"in_hand": (in_hand,)})
    run.show(RequestUnanswered, 0, -9, MOVES, in_hand.since_us, False)
    assert len(run.violations()) == count


def test_a_fault_excuses() -> None:
    run = Cluster("requests_answered")
    run.passes(20)
    since_us = run.world.now
    run.fault("broker.pause", "0")
    run.world.now += 20 * SECOND
    run.show(RequestUnanswered, 0, -9, BEAT, since_us, False)
    assert run.violations() == []


@pytest.mark.parametrize(
    ("request_", "waits_s", "alive", "count"),
    [
        (BEAT, 20, True, 1),
        (BEAT, 2, True, 0),
        (END, 20, True, 1),
        (END, 20, False, 0),
        (MOVES, 20, True, 1),
    ],
)
def test_a_request_in_hand_when_nothing_happens_any_more(
    request_: Request, waits_s: int, alive: bool, count: int
) -> None:
    """What waits for replicas may wait while one of those in sync is dead."""
    run = Cluster("requests_answered")
    run.passes(20)
    in_hand = RequestInHand(-9, request_, run.world.now)
    writes(run)
    if not alive:
        run.emit(e.NodeCrashed, 2, 0, "process")
    run.world.now += waits_s * SECOND
    run.show(Remembered, 0, "broker", "rest", {"in_hand": (in_hand,)})
    assert len(run.violations()) == count


@pytest.mark.parametrize(("end", "count"), [(10, 0), (20, 1)])
def test_what_waits_for_a_replica_that_fetches_nothing(end: int, count: int) -> None:
    """kip-461, seed 7233: it leaves the ISR in the end."""
    run = Cluster("requests_answered")
    run.state(0, (0, 1), 1)
    run.leads(0, 1)
    for node, there in ((0, 20), (1, end)):
        run.loaded(node, there)
    run.passes(20)
    in_hand = RequestInHand(-9, writes(run), run.world.now)
    run.world.now += 20 * SECOND
    run.show(Remembered, 0, "broker", "rest", {"in_hand": (in_hand,)})
    assert len(run.violations()) == count


@pytest.mark.parametrize(
    ("request_", "leads", "answers", "count"),
    [(MARKERS, False, False, 0), (MARKERS, True, False, 1), (MARKERS, False, True, 1), (END, False, False, 1)],
)
def test_what_a_replica_that_was_removed_has_written_waits_up_to_2_3(
    request_: Request, leads: bool, answers: bool, count: int
) -> None:
    """wiki-text, seed 19014 (KAFKA-9198)."""
    run = Cluster("requests_answered", start=StartSettings(stop_answers=answers))
    if leads:
        run.leads(0, 0)
    run.passes(20)
    in_hand = RequestInHand(-9, request_, run.world.now)
    run.world.now += 20 * SECOND
    run.show(Remembered, 0, "broker", "rest", {"in_hand": (in_hand,)})
    assert len(run.violations()) == count


def test_what_waits_for_the_replicas_of_a_leader_that_was_replaced() -> None:
    """kafka-2.3, seed 2000: the broker has refused what the controller sent (KAFKA-9839)."""
    run = Cluster("requests_answered")
    run.leads(0, 0)
    run.state(0, (0,), 1)
    run.passes(20)
    in_hand = RequestInHand(-9, writes(run), run.world.now)
    run.world.now += 20 * SECOND
    run.show(Remembered, 0, "broker", "rest", {"in_hand": (in_hand,)})
    assert run.violations() == []


@pytest.mark.parametrize(
    ("error", "leads", "reader", "deleting", "count"),
    [
        ("NOT_LEADER_FOR_PARTITION", True, -1, False, 1),
        ("NOT_LEADER_FOR_PARTITION", True, 1, False, 1),
        ("NOT_LEADER_FOR_PARTITION", True, 3, False, 0),
        ("NOT_LEADER_FOR_PARTITION", True, -1, True, 0),
        ("NOT_LEADER_FOR_PARTITION", False, -1, False, 0),
        ("UNKNOWN_TOPIC_OR_PARTITION", True, -1, False, 1),
        ("OFFSET_OUT_OF_RANGE", True, -1, False, 0),
    ],
)
def test_a_fetch_that_is_refused(error: str, leads: bool, reader: int, deleting: bool, count: int) -> None:
    run = Cluster("leaders_accept")
    run.emit(e.BecameLeader, 0, *ORDERS_0, 1, 0, 0, (0, 1), (0, 1, 2), (), ())
    if not leads:
        run.follows(0, 1, 2)
    if deleting:
        run.emit(ZkWritten, 0, "create", znodes.delete_topic_path("orders"), 0, 0, "")
    run.passes(20)
    run.show(ReadRefused, 0, reader, ORDERS_0, error)
    assert len(run.violations()) == count


def test_a_topic_that_a_new_leader_may_not_know() -> None:
    run = Cluster("leaders_accept")
    run.passes(20)
    run.emit(e.BecameLeader, 0, *ORDERS_0, 1, 0, 0, (0, 1), (0, 1, 2), (), ())
    run.passes(2)
    run.show(ReadRefused, 0, -1, ORDERS_0, "UNKNOWN_TOPIC_OR_PARTITION")
    assert run.violations() == []


def test_a_follower_has_no_isr() -> None:
    assert refused("NOT_ENOUGH_REPLICAS", leads=False) == [
        "orders-0: broker 0 refuses a batch (NOT_ENOUGH_REPLICAS), and does not lead"
    ]


def refused(error: str, *, leads: bool = True, isr: tuple[int, ...] = (0, 1), least: int = 2) -> list[str]:
    """A batch that broker 0 refuses, which leads or follows."""
    run = Cluster("leaders_accept", start=StartSettings({"min.insync.replicas": least}))
    run.emit(e.BecameLeader, 0, *ORDERS_0, 1, 0, 0, isr, (0, 1, 2), (), ())
    if not leads:
        run.follows(0, 1, 2)
    run.show(ProduceRefused, 0, *ORDERS_0, -1, error)
    return [violation.state for violation in run.violations()]


def test_a_batch_that_is_refused_for_no_reason() -> None:
    [state] = refused("NOT_ENOUGH_REPLICAS")
    assert state == (
        "orders-0: broker 0 refuses a batch (NOT_ENOUGH_REPLICAS), and leads with the ISR [0, 1]; 2 in sync are enough"
    )
    assert len(refused("NOT_LEADER_FOR_PARTITION", least=3)) == 1


def test_batches_that_are_refused_for_a_reason() -> None:
    assert refused("NOT_ENOUGH_REPLICAS", least=3) == []
    assert refused("NOT_ENOUGH_REPLICAS", isr=(0,)) == []
    assert refused("NOT_LEADER_FOR_PARTITION", leads=False) == []
    assert refused("MESSAGE_TOO_LARGE") == []


def test_a_leader_asks_for_as_many_as_the_replicas_that_it_has_received() -> None:
    """kafka-3.9, seed 3032: a move has taken a replica out of ZooKeeper, of which the leader has not heard yet."""
    run = Cluster("leaders_accept", start=StartSettings({"min.insync.replicas": 2}, caps_min_isr=True))
    run.assigned((0, 1))
    run.emit(e.BecameLeader, 0, *ORDERS_0, 1, 0, 0, (0,), (0, 1), (), (1,))
    run.assigned((0,))
    run.show(ProduceRefused, 0, *ORDERS_0, -1, "NOT_ENOUGH_REPLICAS")
    assert run.violations() == []
    run.emit(e.BecameLeader, 0, *ORDERS_0, 2, 0, 0, (0,), (0,), (), ())
    run.show(ProduceRefused, 0, *ORDERS_0, -1, "NOT_ENOUGH_REPLICAS")
    assert len(run.violations()) == 1


def test_a_leader_with_a_setting_of_its_own() -> None:
    run = Cluster("leaders_accept")
    run.emit(ZkWritten, 3, "create", f"{znodes.CONFIG_BROKERS}/0", 0, 0, encode_config({"min.insync.replicas": "3"}))
    run.emit(e.BecameLeader, 0, *ORDERS_0, 1, 0, 0, (0, 1), (0, 1, 2), (), ())
    run.show(ProduceRefused, 0, *ORDERS_0, -1, "NOT_ENOUGH_REPLICAS")
    assert run.violations() == []


def test_a_batch_that_is_refused_while_its_leader_becomes_a_follower() -> None:
    """The answer to a producer that waits lets the next request of its connection in, within the same step."""
    run = Cluster("leaders_accept")
    run.leads(0, 1)
    run.show(ProduceRefused, 0, *ORDERS_0, -1, "NOT_LEADER_FOR_PARTITION")
    run.follows(0, 1, 2)
    run.passes(2)
    assert run.violations() == []
