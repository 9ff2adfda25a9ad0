"""A replica that comes back into its ISR with less than it had: which controller could have taken it out before."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from controller.operations.brokers import LOST_DIRS
from emulator.protocol import events as e
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.findings.log_facts import AckedRecordsLost
from scenarios.observe.findings.memory_facts import BrokerRemembers
from scenarios.runs import Run
from tests.scenarios.runs.building import TP
from tests.scenarios.runs.stated import FETCHED, restated, stated
from tests.scenarios.runs.test_known_findings import AHEAD, assigned, elected, quiet, tickets, told

__all__ = ["quiet"]

LACKS = stated("isr_complete", "…", 90, 90, "orders-0, ISR [0, 1]: the log of broker 1 ends at 4 and lacks …", (1,))
CRASH = e.NodeCrashed(40, 40, 0, 1, 1, "host")
CONTROLS = ZkWritten(44, 44, 0, 2, "create", "/controller", 0, 9, "")
BACK = ZkWritten(60, 60, 0, 1, "create", "/brokers/ids/1", 0, 9, "")


def away(seq: int, path: str = "/brokers/ids/1") -> ZkWritten:
    return ZkWritten(seq, seq, 0, -1, "delete", path, 0, 8, "")


def failing_over(seq: int) -> list[Any]:
    """Broker 2 loads the brokers as the controller, and deals with the replicas of the dead."""
    whole = ("failover.F3", "before"), ("failover.F3", "after"), ("failover.F6", "before"), ("failover.F6", "after")
    return [
        Step(seq + n, seq + n, 0, step, edge, "", -1, -1, 0, 2, "") for n, (step, edge) in enumerate(whole, start=1)
    ]


@pytest.mark.parametrize(
    ("resigns", "explained"),
    [(55, True), (45, True), (43, False), (58, False), (None, False)],
    ids=("in", "before", "another", "after", "no"),
)
def test_a_controller_whose_session_expires_while_it_handles_the_failure_may_take_out_nothing(
    quiet: Run, resigns: int | None, explained: bool
) -> None:
    """kafka-2.3, seed 45323: the write of the ISR failed, and the step was over; kafka-3.9, seed 2326: the session had
    expired before the step began. Where the controller was elected after that, another one had resigned."""
    begins, done = (
        Step(seq, seq, 0, "broker-failure.3", edge, "", -1, 1, 0, 2, "")
        for seq, edge in ((50, "before"), (57, "after"))
    )
    ends = [] if resigns is None else [away(resigns, "/controller")]
    events: list[Any] = [elected(1, 0, 1), CRASH, away(41), CONTROLS, begins, *ends, done, BACK]
    events.sort(key=lambda event: event.seq)
    assert tickets(told(quiet, "kafka-2.3", events, LACKS)) == ["KIP-966" if explained else None]


@pytest.mark.parametrize(("detail", "explained"), [(LOST_DIRS, True), ("", False)], ids=("directory", "broker"))
def test_a_log_directory_that_fails_later_takes_out_other_replicas(quiet: Run, detail: str, explained: bool) -> None:
    """kafka-3.9, seed 201: the controller found the broker alive, and handled the replicas of a directory as those of
    a broker that has died."""
    done = Step(70, 70, 0, "broker-failure.3", "after", "", -1, 1, 0, 2, detail)
    events: list[Any] = [elected(1, 0, 1), CRASH, away(41), away(48), BACK, done]
    events.sort(key=lambda event: event.seq)
    assert tickets(told(quiet, "kafka-2.3", events, LACKS)) == ["KIP-966" if explained else None]


@pytest.mark.parametrize(
    ("resigns", "explained"),
    [(48, True), (46, True), (43, False), (52, False)],
    ids=("in", "before", "another", "after"),
)
def test_so_may_one_that_takes_over(quiet: Run, resigns: int, explained: bool) -> None:
    """kafka-2.4, seed 45445: the answer of ZooKeeper was held for so long."""
    *steps, shrunk = failing_over(44)
    events: list[Any] = [elected(1, 0, 1), CRASH, away(41), CONTROLS, *steps, shrunk._replace(seq=50), BACK]
    events = sorted([*events, away(resigns, "/controller")], key=lambda event: event.seq)
    assert tickets(told(quiet, "kafka-2.3", events, LACKS)) == ["KIP-966" if explained else None]


LEADS = stated("leader_completeness", "…", 90, 91, "orders-0: broker 1, leader of epoch 4, has a log …", (1,))
ACKED = stated("no_acked_record_lost", "…", 90, 91, "orders-0: 1 acknowledged batch not in the log of …", (1,))
CUTS = stated("truncate_safety", "…", 92, 92, "orders-0: broker 0, in the ISR [1, 0], truncates to 4 …", (0,))
HANDLED = Step(50, 50, 0, "broker-failure.3", "after", "", -1, 1, 0, 2, "")
FORGOTTEN = Deviated(49, 49, 0, 2, "ReplicaStateMachine.handleStateChange", *TP, 1)
OF_ITS_MEMORY = [elected(1, 0), elected(2, 0, 1), CRASH, FORGOTTEN, HANDLED, BACK]
LEFT = Deviated(44, 44, 0, 2, "KAFKA-3143", *TP, 1)
DELETED = [
    assigned(1, 0, 1), elected(2, 1), assigned(4, 0), e.ReplicaStopped(5, 5, 0, 1, *TP, True), assigned(6, 0, 1),
    e.LogLoaded(7, 7, 0, 1, *TP, 0, 0, 0),
]  # fmt: skip
CUT = [e.LogStartMoved(1, 1, 0, 1, *TP, 14, "time"), e.Truncated(3, 3, 0, 1, *TP, 1, 13, 12)]
EXPIRED = [
    elected(1, 0, 1), away(31), *failing_over(32), Deviated(35, 35, 0, 2, "KAFKA-3143", *TP, 1), CRASH, BACK,
]  # fmt: skip
"""A replica whose session ended before its machine crashed, and which a controller left in the ISR in between."""
LATE = [elected(1, 0, 1), CRASH, away(41), *failing_over(42), LEFT, BACK]


@pytest.mark.parametrize(
    ("profile", "marks", "ticket"),
    [
        ("kafka-2.3", [elected(1, 0, 1), CRASH, BACK], "KIP-966"),
        ("kafka-0.8", LATE, "KAFKA-3143"),
        ("kafka-0.8", EXPIRED, "KAFKA-3143"),
        ("kafka-0.8", OF_ITS_MEMORY, "ReplicaStateMachine.handleStateChange (0.8.0)"),
        ("kafka-2.6", DELETED, "KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)"),
        ("kafka-2.3", CUT, "Log.truncateTo (0.8.0 to 2.7.2)"),
    ],
)
def test_what_one_replica_has_lost_explains_others_where_it_led(
    quiet: Run, profile: str, marks: list[Any], ticket: str
) -> None:
    for found, expected in (  # of the gravest first: LEADS, LACKS, CUTS
        ((LACKS, LEADS, CUTS), [ticket] * 3),
        ((ACKED, CUTS), [ticket] * 2),  # kafka-3.9, seed 18114
        ((LACKS, CUTS), [ticket, None]),
        ((LACKS, CUTS, evolve(LEADS, seq=93)), [ticket, ticket, None]),
        ((LACKS, evolve(LEADS, brokers=(2,)), CUTS), [None, ticket, None]),
        ((LEADS, restated(CUTS, CUTS.state.replace("orders-0", "orders-1"))), [ticket, None]),
    ):
        assert tickets(told(quiet, profile, marks, *found)) == expected
    for node, seq, expected in ((1, 91, [ticket] * 2), (2, 91, [ticket, None]), (1, 93, [ticket, None])):
        led = e.BecameLeader(seq, seq, 0, node, *TP, 4, 4, 4, (0, 1), (0, 1), (), ())
        assert tickets(told(quiet, profile, [*marks, led], LACKS, CUTS)) == expected


def adds(seq: int, **changes: Any) -> e.IsrProposed:
    """Broker 0, which leads in epoch 3, asks for an ISR with broker 1 in it."""
    columns = ((1,), (9,), (3,), (0,))
    asked = e.IsrProposed(seq, seq, 0, 0, *TP, 3, "expand", (0, 1), 9, 0, 9, *columns, 10_000_000, -1)
    return asked._replace(**changes)


def test_kip_903_a_replica_whose_machine_crashes_while_a_change_that_adds_it_is_on_its_way(quiet: Run) -> None:
    """Seed 22 of kafka-2.7 with transactions in every seed."""
    marks: list[Any] = [elected(1, 0), adds(30), CRASH, elected(50, 0, 1), BACK]
    for profile in ("kafka-2.3", "kafka-2.7", "kafka-3.9"):
        assert tickets(told(quiet, profile, marks, LACKS)) == ["KIP-903"]
        assert tickets(told(quiet, profile, marks, LACKS, LEADS)) == ["KIP-903"] * 2
    arrives_late = [marks[0], CRASH, adds(45), *marks[3:]]  # wiki-text, seed 28019: the fetch was on its way
    assert tickets(told(quiet, "kafka-2.3", arrives_late, LACKS)) == ["KIP-903"]
    outcome = e.IsrUpdateFailed(35, 35, 0, 0, *TP, 3)
    for events in (
        [marks[0], *marks[2:]],
        [marks[0], CRASH, BACK._replace(seq=43), adds(45), marks[3]],  # it may have fetched since
        [marks[0], adds(30, replicas=(2,), isr=(0, 2)), *marks[2:]],
        [marks[0], adds(30, node=2), *marks[2:]],
        [marks[0], adds(30, leader_epoch=2), *marks[2:]],
        [marks[0], adds(30, kind="shrink"), *marks[2:]],
        [*marks[:2], outcome, *marks[2:]],
        [*marks[:2], CRASH._replace(kind="process"), *marks[3:]],
        [*marks[:2], CRASH._replace(node=2), *marks[3:]],
        [*marks[:4], elected(55, 0), BACK, elected(65, 0, 1)],
    ):
        assert tickets(told(quiet, "kafka-2.7", events, LACKS)) == [None]


def test_a_transaction_whose_marker_was_lost_stays_open(quiet: Run) -> None:
    """Seed 626 of kafka-3.3 with groups in 3 of 10 seeds."""
    shown = "orders-0: broker 1 remembers as open_transactions of producer 7: it is open; a fresh process has …"
    facts = BrokerRemembers(1, "open_transactions", "producer 7", "it is open", "CompleteCommit")
    found = evolve(stated("transactions_close", "…", 99, 99, shown, (1,)), facts=facts)
    marked = e.TransactionMarked(30, 30, 0, 1, *TP, 7, 0, 0, True)
    leads = e.BecameLeader(61, 61, 0, 1, *TP, 4, 13, 12, (1,), (0, 1), (), ())
    longer = e.LogLoaded(62, 62, 0, 0, *TP, 0, 14, 12)
    marks: list[Any] = [marked, CRASH, leads, longer]
    assert tickets(told(quiet, "kafka-3.3", marks, found)) == ["KIP-966"]
    for events in (
        marks[1:],
        [*marks, marked._replace(seq=95)],
        [marked._replace(producer_id=8), *marks[1:]],
        [marked._replace(partition=1), *marks[1:]],
        [marked, CRASH._replace(kind="process"), leads, longer],
        [marked, CRASH._replace(node=0), leads, longer],
        [marked, CRASH, longer],
        marks[:3],
        [*marks[:3], longer._replace(log_end_offset=13)],
        [*marks[:3], longer._replace(node=1)],
    ):
        assert tickets(told(quiet, "kafka-3.3", events, found)) == [None]


def test_an_epoch_that_the_coordinators_log_has_lost_is_given_again(quiet: Run) -> None:
    """kafka-3.9, seed 12010 of the default swarm: the only in-sync replica of the log had not flushed its end."""
    facts = AckedRecordsLost(1, 4, 100, 1, 1, 77, 50)
    found = evolve(stated("no_acked_record_lost", "…", 99, 99, "…", brokers=(1,)), partition=TP, facts=facts)
    home = TopicPartition.of(TRANSACTION_STATE_TOPIC, 0)
    first = e.TransactionStateChanged(30, 30, 0, 0, "writer", 12, 2, "Empty", (), ())
    later = first._replace(seq=32, producer_epoch=3)
    again = first._replace(seq=70)
    leads = e.BecameLeader(61, 61, 0, 1, *home, 4, 13, 12, (1,), (0, 1), (), ())
    longer = e.LogLoaded(62, 62, 0, 0, *home, 0, 14, 12)
    repeated = e.BatchRepeated(80, 80, 0, 1, *TP, 12, 0, 77, 50)
    marks: list[Any] = [first, later, CRASH, leads, longer, again, repeated]
    for profile in ("kafka-1.1", "kafka-3.9"):
        assert tickets(told(quiet, profile, marks, found)) == ["KIP-966"]
    assert tickets(told(quiet, "kafka-3.9", [*marks, again._replace(seq=85, producer_epoch=3)], found)) == ["KIP-966"]
    for events in (
        marks[1:],
        marks[:-1],
        [*marks[:5], repeated],
        [*marks[:5], again._replace(producer_epoch=4), repeated],
        [*marks[:6], repeated._replace(id=76)],
        [*marks[:6], repeated._replace(producer_id=13)],
        [first, later, CRASH._replace(kind="process"), *marks[3:]],
        [first, later, CRASH._replace(node=0), *marks[3:]],
        [*marks[:3], leads._replace(partition=1), *marks[4:]],
        [*marks[:4], longer._replace(log_end_offset=13), *marks[5:]],
        [CRASH._replace(seq=20), first, later, *marks[3:]],
    ):
        assert tickets(told(quiet, "kafka-3.9", events, found)) == [None]


def test_a_leader_that_a_controller_left_in_the_isr_leads_again_in_its_epoch(quiet: Run) -> None:
    """wiki-text, seed 1231: the first batches of a follower that had lost nothing stay others than the leader's. Seed
    28025: such a follower gives up where it is ahead."""
    led, again = (e.BecameLeader(seq, seq, 0, 1, *TP, 4, 4, 4, (0, 1), (0, 1), (), ()) for seq in (2, 80))
    differs = stated("log_matching", "…", 90, 90, "orders-0, broker 0: its log has batch 1", brokers=(0,))
    fails = e.PartitionFailed(85, 85, 0, 0, "ReplicaFetcherThread-0-1", *TP, 4, "…", AHEAD)
    gives_up = stated("converged", FETCHED, 90, 90, "orders-0: failed on broker 0 (KIP-461)", brokers=(0,))
    found = differs, gives_up
    marks = [elected(1, 0, 1), led, CRASH, away(41), *failing_over(42), LEFT, BACK]
    assert tickets(told(quiet, "kafka-1.1", [*marks, again, fails], *found)) == ["KAFKA-3143"] * 2
    assert tickets(told(quiet, "kafka-1.1", [*marks, again], *found)) == ["KAFKA-3143", None]
    assert tickets(told(quiet, "kafka-1.1", [*marks, fails], *found)) == [None] * 2
    unseen = [mark for mark in marks if mark is not LEFT]
    assert tickets(told(quiet, "kafka-1.1", [*unseen, again, fails], *found)) == [None] * 2
