"""Wrong behaviour of controllers is recognized by its marks in the trace, and by nothing less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from emulator.protocol import events as e
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    CONTROLLER_EPOCH,
    REASSIGN_PARTITIONS,
    LeaderAndIsr,
    broker_path,
    encode_config,
    encode_reassignment,
    encode_topic,
    state_path,
    topic_path,
)
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.findings.control_facts import ReplicasChangedUnasked, RequestTakenOut
from scenarios.observe.findings.convergence_facts import DoesNotLead
from scenarios.observe.findings.memory_facts import ControllerRemembers
from scenarios.runs import Run, run_scenario
from scenarios.runs.finding import UNFINISHED, Finding
from scenarios.runs.findings import findings
from scenarios.runs.known_findings import explained_findings, known
from tests.scenarios.runs.building import TP, Table, at_step, scenario
from tests.scenarios.runs.stated import IN_SYNC, LED, NOTHING_ASKED, restated, stated
from tests.scenarios.runs.test_known_findings import assigned, elected, kept, quiet, tickets, told, unled

__all__ = ["quiet"]

KAFKA_9672 = "KAFKA-9672"

LEADERLESS: tuple[Table, ...] = (
    {"at": "1s", "action": "broker.crash", "target": 1, "duration": "12s"},
    {"at": "9s", "action": "broker.controlled_shutdown", "target": 0},
    {"at": "13500ms", "action": "zk.expire", "target": 2},
)
"""Broker 0 leads alone, cannot give that up, and asks again after 5 s. Meanwhile broker 1 comes back into the ISR. As
broker 2 fails the controller finds a partition whose leader shuts down, and lets broker 1 lead."""

UNREAD: tuple[Table, ...] = (
    {"at": "1s", "action": "gate.hold", "gate": {"step": "failover.F8", "edge": "before"}, "duration": "20s"},
    {"at": "2s", "action": "controller.crash"},
    {"at": "15s", "action": "reassign.execute"},
)
DROPPED: tuple[Table, ...] = (
    {"at": "1s", "action": "link.cut", "target": 3, "peer": 0},
    {"at": "2s", "action": "reassign.execute"},
    at_step("move.wait", "before", "reassign.cancel"),
    {"when": {"step": "kip-455.U1", "edge": "after", "occurrence": 2}, "action": "controller.crash"},
    {"at": "20s", "action": "heal"},
)


@pytest.fixture(scope="module")
def leaderless() -> Run:
    return run_scenario(scenario(brokers=4, controller=3, assignment=[[0, 1]], method=LEADERLESS, rate=0))


@pytest.fixture(scope="module")
def unread() -> Run:
    return run_scenario(scenario(brokers=4, controller=3, plan={0: (2, 1, 0)}, method=UNREAD, rate=0, horizon="1m"))


@pytest.fixture(scope="module")
def dropped() -> Run:
    converged: Table = {"converged": True, "within": "30s"}
    return run_scenario(
        scenario(
            brokers=5, controller=4, plan={0: (0, 1, 3)}, method=DROPPED, expect=[converged], profile="kafka-2.4",
            strategy="kip-455", rate=0,
        )
    )  # fmt: skip


def changed(run: Run, change: Callable[[Any], Any], profile: str = "") -> list[str | None]:
    """The tickets of the findings if events had been others; None: it was not there."""
    events = [new for event in kept(run) if (new := change(event)) is not None]
    return tickets(evolve(told(run, profile or run.profile, events, *run.violations), reason=run.reason))


def test_a_broker_that_shuts_down_is_not_notified_of_the_leader_of_a_partition_without_one(leaderless: Run) -> None:
    assert [finding.checker for finding in findings(leaderless)] == ["replicas_notified"]
    assert tickets(leaderless) == ["Election.leaderForOffline (2.3.1 to 2.7.2)"]


def test_a_move_that_a_new_controller_has_not_read_is_deleted(unread: Run) -> None:
    assert [finding.checker for finding in findings(unread)] == ["moves_recoverable"]
    assert unread.metrics["moves_never_begun"] == 1
    assert tickets(unread) == ["KafkaController.removePartitionsFromReassignedPartitions (2.0.1 to 2.3.1)"]
    assert changed(unread, lambda event: event, "kafka-2.4") == [None]


def test_one_that_is_asked_for_as_the_last_before_it_ends_is_too(quiet: Run) -> None:
    """The controller deletes the request as the last move ends, and once more when it has gone through the list."""
    path = REASSIGN_PARTITIONS
    ends, again = (ZkWritten(seq, seq, 0, 2, "delete", path, 0, 0, "") for seq in (4, 7))
    asks = ZkWritten(5, 5, 0, -2, "create", path, 0, 0, encode_reassignment({TP: (1, 0)}))
    marks: list[Any] = [ends, asks, e.MoveStarted(6, 6, 0, *TP, (1, 0)), again]
    ticket = "KafkaController.removePartitionsFromReassignedPartitions (2.0.1 to 2.3.1)"
    assert reasons_of_unfinished(told(quiet, "kafka-2.3", marks)) == ticket
    begins = Step(6, 6, 0, "wiki.1", "before", *TP, -1, 0, 2, "")
    for others in (marks[1:], [ends._replace(client=1), *marks[1:]], [*marks[:3], begins, again], marks[:3]):
        assert reasons_of_unfinished(told(quiet, "kafka-2.3", others)) is None
    assert reasons_of_unfinished(told(quiet, "kafka-2.4", marks)) is None
    earlier = begins._replace(t_us=1, seq=1)  # a move by the znode, under a release of KIP-455
    assert reasons_of_unfinished(told(quiet, "kafka-2.4", [earlier, *marks])) == ticket


def reasons_of_unfinished(run: Run) -> str | None:
    reasons = known(run, Finding(UNFINISHED))
    return " and ".join(reason.ticket for reason in reasons) or None


def test_one_that_was_there_before_is_not(unread: Run) -> None:
    def late(event: Any) -> Any:
        return None if type(event) is Step and event.step == "failover.F3" else event

    def later(event: Any) -> Any:
        return None if type(event) is ZkWritten and event.path == REASSIGN_PARTITIONS else event

    assert changed(unread, late) == changed(unread, later) == [None]


def test_a_replica_that_a_cancelled_move_drops_outlives_its_controller(dropped: Run) -> None:
    assert dict.fromkeys(finding.checker for finding in findings(dropped)) == {"converged": None}
    assert set(tickets(dropped)) == {"KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)"}


def test_one_that_a_controller_has_stopped_does_not(dropped: Run) -> None:
    [cancelled] = [event for event in kept(dropped) if type(event) is e.MoveCancelled]
    writes = [event for event in kept(dropped) if type(event) is ZkWritten and event.path == "/brokers/topics/orders"]
    at = writes[-1]
    assert at.seq > cancelled.seq

    def stopped(event: Any) -> Any:
        if type(event) is Step and event.seq > at.seq:
            return e.ControlResponse(at.t_us, at.seq + 1, 0, "StopReplica", 3, 4, 1, "NONE", (), ())
        return event

    assert set(changed(dropped, stopped)) == {KAFKA_9672}


def test_nor_where_the_controller_stays(dropped: Run) -> None:
    elected = [event for event in kept(dropped) if type(event) is e.ControllerElected]
    assert set(changed(dropped, lambda event: None if event == elected[-1] else event)) == {KAFKA_9672}


def test_nor_is_it_elected_where_it_is_the_last_of_the_isr() -> None:
    method: tuple[Table, ...] = (
        *DROPPED[:-1],
        {"at": "15s", "action": "link.heal", "target": 3, "peer": 0},
        {"at": "30s", "action": "broker.crash", "target": [0, 1, 2]},
        {"at": "45s", "action": "heal"},
    )
    well: Table = {"converged": True, "within": "30s"}
    run = run_scenario(
        scenario(
            brokers=5, controller=4, plan={0: (0, 1, 3)}, method=method, expect=[well], profile="kafka-2.4",
            strategy="kip-455", rate=0, horizon="2m",
        )
    )  # fmt: skip
    [found] = findings(run)
    assert (found.part, found.state) == (LED, "orders-0: no leader, isr [3]")
    assert tickets(run) == ["KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)"]
    not_alone = unled(run.violations[0].seq, 3, 0)
    assert tickets(told(run, run.profile, [*kept(run), not_alone], *run.violations)) == [None]


def test_kafka_9672_a_replica_that_joins_after_it_was_dropped_stays_in_the_isr(quiet: Run) -> None:
    """Also where all others have died since: then it cannot be elected (kafka-2.4, seed 40158)."""
    joins = e.IsrProposed(5, 5, 0, 0, *TP, 1, "expand", (0, 1), 0, 0, 0, (1,), (0,), (1,), (0,), 1, -1)
    marks = [assigned(1, 0, 1), assigned(3, 0), joins]
    alone = unled(6, 1)
    in_it = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0, 1], assignment [0], leader 0", brokers=(1,))
    last = stated("converged", LED, 9, 9, "orders-0: no leader, isr [1]")
    waits = stated("converged", NOTHING_ASKED, 9, 9, f"{REASSIGN_PARTITIONS} is still there")
    asked = e.MoveStarted(7, 7, 0, *TP, (0, 2))
    for found, end in ((in_it, []), (last, [alone]), (waits, [alone, asked])):
        assert tickets(told(quiet, "kafka-2.5", [*marks, *end], found)) == [KAFKA_9672]
        assert tickets(told(quiet, "kafka-2.3", [*marks, *end], found)) == [None]
        for lacking in (
            [marks[0], joins],
            [*marks[:2], joins._replace(seq=2)],
            [*marks[:2], joins._replace(kind="shrink")],
        ):
            assert tickets(told(quiet, "kafka-2.5", [*lacking, *end], found)) == [None]
    assert tickets(told(quiet, "kafka-2.5", [*marks, unled(6, 0, 1)], last)) == [None]


def test_kafka_1120_a_broker_that_is_back_too_soon_gets_no_request(quiet: Run) -> None:
    gone = ZkWritten(3, 3, 0, -1, "delete", "/brokers/ids/1", 0, 3, "")
    back = ZkWritten(4, 4, 0, 1, "create", "/brokers/ids/1", 0, 4, "{}")
    idle = stated(
        "roles_adopted", "…", 9, 9, "orders-0: leader 0 of epoch 1 in ZooKeeper, and broker 1 has no role", brokers=(1,)
    )
    silent = stated("converged", LED, 9, 9, "orders-0: broker 1 does not lead in epoch 1", brokers=(1,))
    assert tickets(told(quiet, "kafka-1.1", [gone, back], idle, silent)) == ["KAFKA-1120"] * 2
    lacks = stated(
        "metadata_kept",
        "…",
        9,
        9,
        "broker 1: orders-0: nothing, and in ZooKeeper leader 0 of leader epoch 1",
        brokers=(1,),
    )
    for broker, explained in ((1, "KAFKA-1120"), (2, None)):
        other = evolve(lacks, brokers=(broker,))
        assert tickets(told(quiet, "kafka-1.1", [gone, back], other)) == [explained]
    assert tickets(told(quiet, "kafka-2.3", [gone, back], idle, silent)) == [None] * 2
    answers = Step(5, 5, 0, "delete.answer", "before", "other", -1, 1, 0, 2, "")
    late = Step(8, 8, 0, "broker-startup.4", "after", "", -1, 1, 0, 2, "")  # of the registration before
    assert tickets(told(quiet, "kafka-1.1", [gone, back, late], idle, silent)) == ["KAFKA-1120"] * 2
    assert tickets(told(quiet, "kafka-1.1", [gone, back, answers], idle, silent)) == ["KAFKA-1120"] * 2
    started = Step(5, 5, 0, "broker-startup.1", "before", "", -1, 1, 0, 2, "")
    for marks in ([], [gone], [back], [gone, back, started], [gone, back, e.ControllerElected(6, 6, 0, 2, 3)]):
        assert tickets(told(quiet, "kafka-1.1", marks, idle, silent)) == [None] * 2
    state = "orders-0: broker 0 leads in epoch 1, and broker 1, of the replicas [0, 1], has been sent no LeaderAndIsr"
    unsent = stated("replicas_notified", "…", 6, 6, state, brokers=(1,))
    assert tickets(told(quiet, "kafka-1.1", [gone, back], unsent)) == ["KAFKA-1120"]
    assert tickets(told(quiet, "kafka-1.1", [gone, back, started._replace(seq=7)], unsent)) == ["KAFKA-1120"]
    for marks in ([gone], [gone, back, started]):
        assert tickets(told(quiet, "kafka-1.1", marks, unsent)) == [None]


def test_kafka_1120_a_broker_that_was_shutting_down_is_elected_no_more(quiet: Run) -> None:
    """kafka-1.1, seed 10234 of the default swarm."""
    shuts = Step(1, 1, 0, "shutdown.3", "after", "", -1, 1, 0, 2, "")
    gone = ZkWritten(3, 3, 0, -1, "delete", "/brokers/ids/1", 0, 3, "")
    back = ZkWritten(4, 4, 0, 1, "create", "/brokers/ids/1", 0, 4, "{}")
    alone = ZkWritten(5, 5, 0, 2, "setData", state_path(TP), 5, 5, LeaderAndIsr(-1, 3, (1,), 1).encode())
    late = stated("led_in_time", "…", 9, 9, "orders-0: leader -1, ISR [1], registered [0, 1, 2], for 11.5 s …")
    stays = stated("converged", LED, 9, 9, "orders-0: no leader, isr [1]")
    marks: list[Any] = [shuts, gone, back, alone]
    assert tickets(told(quiet, "kafka-1.1", marks, late, stays)) == ["KAFKA-1120"] * 2
    assert tickets(told(quiet, "kafka-2.3", marks, late, stays)) == [None] * 2
    started = Step(6, 6, 0, "broker-startup.1", "before", "", -1, 1, 0, 2, "")
    led = alone._replace(data=LeaderAndIsr(1, 3, (1,), 1).encode())
    waits = stated("converged", NOTHING_ASKED, 9, 9, f"{REASSIGN_PARTITIONS} is still there")
    asked = e.MoveStarted(5, 5, 0, *TP, (0, 1))
    assert tickets(told(quiet, "kafka-1.1", [*marks[:3], asked], waits)) == ["KAFKA-1120"]
    for others in (marks[:3], [*marks[1:3], asked], [*marks[:3], asked._replace(target=(0, 2))]):
        assert tickets(told(quiet, "kafka-1.1", others, waits)) == [None]
    for others in (
        marks[1:],
        [shuts, alone],
        marks[:3],
        [*marks[:3], led],
        [*marks, started],
        [gone, back, alone, shuts._replace(seq=6)],
    ):
        assert tickets(told(quiet, "kafka-1.1", others, late, stays)) == [None] * 2


def test_kafka_6082_an_assignment_is_written_over_by_a_replaced_controller(quiet: Run) -> None:
    """kafka-1.1, seed 12076 of the default swarm: its successor goes on with the assignment that it knows."""
    takes_over = [e.ControllerElected(1, 1, 0, 2, 1), e.ControllerElected(3, 3, 0, 1, 2)]
    changes = "orders-0: broker 1 changes its replicas from [1, 0] to [0], and ZooKeeper asks for no move of it"
    unsent = "orders-0: broker 1 is not in the replicas [0] any more, and has been sent no StopReplica for 12.0 s"
    drops = "orders-0: controller 1 writes the assignment [0] after [1, 0]"  # seed 20002
    found = (
        stated("drops_stopped", "…", 6, 6, drops, brokers=(1,)), stated("moves_recoverable", "…", 6, 6, changes),
        stated("replicas_notified", "…", 9, 9, unsent),
    )  # fmt: skip
    goes_on = assigned(6, 0)._replace(client=1)
    marks: list[Any] = [assigned(2, 0, 1), assigned(4, 1, 0), goes_on]
    assert tickets(told(quiet, "kafka-1.1", [*takes_over, *marks], *found)) == ["KAFKA-6082"] * 3
    assert tickets(told(quiet, "kafka-2.3", [*takes_over, *marks], *found)) == [None] * 3
    own = [marks[0], marks[1]._replace(client=1), goes_on]
    for others in (marks, [*takes_over[:1], *marks], [*takes_over, *own]):
        assert tickets(told(quiet, "kafka-1.1", others, *found)) == [None] * 3


def test_kafka_6082_a_replaced_controller_drops_a_replica_that_its_successor_has_added(quiet: Run) -> None:
    """kafka-1.1, seed 613 of the default swarm: it writes the whole topic, from its memory."""
    takes_over = [e.ControllerElected(1, 1, 0, 2, 1), e.ControllerElected(2, 2, 0, 1, 2)]
    added, drops = assigned(3, 0, 1)._replace(client=1), assigned(4, 0)
    found = stated("drops_stopped", "…", 4, 4, "orders-0: …", brokers=(1,))
    assert tickets(told(quiet, "kafka-1.1", [*takes_over, added, drops], found)) == ["KAFKA-6082"]
    assert tickets(told(quiet, "kafka-2.3", [*takes_over, added, drops], found)) == [None]
    assert tickets(told(quiet, "kafka-1.1", [*takes_over, added, drops._replace(client=1)], found)) == [None]


def test_kafka_6082_a_replaced_controller_takes_the_isr_out_of_an_assignment(quiet: Run) -> None:
    """kafka-1.1, seed 12012 of the default swarm: the leader comes back and leads no more (leaderForOffline, 1.1.1)."""
    takes_over = [e.ControllerElected(1, 1, 0, 2, 1), e.ControllerElected(2, 2, 0, 1, 2)]
    before, drops, leads = assigned(3, 0, 1), assigned(4, 1), elected(5, 0)
    ends = e.NodeCrashed(6, 6, 0, 0, 1, "process")
    memory = ControllerRemembers(2, "partition_states", "", "offline", "a leader that is registered", failover=False)
    remembers = evolve(stated("controller_remembers", "…", 9, 9, "…"), facts=memory, partition=TP)
    silent = evolve(stated("converged", LED, 9, 9, "orders-0: …"), facts=DoesNotLead(0, 3))
    found = (remembers, silent)
    marks: list[Any] = [*takes_over, before, drops, leads, ends]
    assert tickets(told(quiet, "kafka-1.1", marks, *found)) == ["KAFKA-6082"] * 2
    assert tickets(told(quiet, "kafka-2.3", marks, *found)) == [None] * 2
    for others in (
        [*takes_over, before, leads, ends],
        [*takes_over, before, drops._replace(client=1), leads, ends],
        [*takes_over, before, drops, elected(5, 0, 1), ends],
        [*takes_over, before, drops, leads],
        [*takes_over, before, drops, leads, ends._replace(node=1)],
        [*marks, assigned(7, 1, 0)],
    ):
        assert tickets(told(quiet, "kafka-1.1", others, *found)) == [None] * 2
    new = evolve(remembers, facts=memory._replace(kept="new"))
    assert tickets(told(quiet, "kafka-1.1", marks, new)) == [None]


def test_kafka_6082_a_replaced_controller_elects_leaders_of_a_topic_that_is_being_deleted(quiet: Run) -> None:
    """kafka-1.1, seed 12052 of the default swarm."""
    takes_over = [e.ControllerElected(1, 1, 0, 2, 1), e.ControllerElected(2, 2, 0, 1, 2)]
    written = ZkWritten(3, 3, 0, 2, "create", state_path(TP), 0, 3, LeaderAndIsr(0, 0, (0, 1), 1).encode())
    elects = e.LeaderElected(4, 4, 3, *TP, 0, 0, (0, 1), "new", 1, False)
    found = stated(
        "deleted_get_no_leader", "…", 4, 4, "orders-0: controller 1 elects broker 0 in epoch 0, and has …", brokers=(0,)
    )
    assert tickets(told(quiet, "kafka-1.1", [*takes_over, written, elects], found)) == ["KAFKA-6082"]
    assert tickets(told(quiet, "kafka-2.3", [*takes_over, written, elects], found)) == [None]
    for others in (
        [*takes_over, elects],
        [takes_over[0], written, elects],
        [*takes_over, written._replace(client=1), elects],
    ):
        assert tickets(told(quiet, "kafka-1.1", others, found)) == [None]


def test_kafka_6082_a_request_after_one_that_a_replaced_controller_deleted_is_not_seen(quiet: Run) -> None:
    elected = [e.ControllerElected(1, 1, 0, 1, 1), e.ControllerElected(2, 2, 0, 2, 2)]
    deleted = ZkWritten(3, 3, 0, 1, "delete", REASSIGN_PARTITIONS, 1, 3, "")
    asked = ZkWritten(4, 4, 0, -1, "create", REASSIGN_PARTITIONS, 0, 4, "{}")
    found = stated("converged", NOTHING_ASKED, 9, 9, f"{REASSIGN_PARTITIONS} is still there")
    assert tickets(told(quiet, "kafka-1.1", [*elected, deleted, asked], found)) == ["KAFKA-6082"]
    assert tickets(told(quiet, "kafka-2.3", [*elected, deleted, asked], found)) == [None]
    taken = RequestTakenOut(2, (1, 3), False, REASSIGN_PARTITIONS, (0, 1), (0, 1), True)  # kafka-1.1, seed 13023
    for read, ticket in ((False, "KAFKA-6082"), (True, None)):
        unread = evolve(found, invariant="moves_recoverable", facts=taken._replace(read=read))
        ends = deleted._replace(seq=9, client=2)
        assert tickets(told(quiet, "kafka-1.1", [*elected, deleted, asked, ends], unread)) == [ticket]
    taken_up = ZkWritten(5, 5, 0, 2, "set", REASSIGN_PARTITIONS, 1, 5, "{}")
    for marks in ([deleted], [asked], [deleted._replace(client=2), asked], [deleted, asked, taken_up]):
        assert tickets(told(quiet, "kafka-1.1", [*elected, *marks], found)) == [None]


def test_kafka_6082_a_move_that_a_replaced_controller_took_out_goes_on(quiet: Run) -> None:
    """kafka-1.1, seed 7 of the default swarm: its successor had read the request before."""
    takes_over = [e.ControllerElected(1, 1, 0, 1, 1), e.ControllerElected(3, 3, 0, 2, 2)]
    asked = ZkWritten(2, 2, 0, -2, "create", REASSIGN_PARTITIONS, 0, 2, encode_reassignment({TP: (1, 2)}))
    taken = ZkWritten(4, 4, 0, 1, "delete", REASSIGN_PARTITIONS, 0, 4, "")
    marks: list[Any] = [*takes_over, asked, taken, assigned(8, 0, 1, 2)]
    facts = ReplicasChangedUnasked(2, (0, 1), (0, 1, 2), None)
    found = evolve(stated("moves_recoverable", "…", 8, 8, "orders-0: …"), facts=facts)
    assert tickets(told(quiet, "kafka-1.1", marks, found)) == ["KAFKA-6082"]
    assert tickets(told(quiet, "kafka-2.3", marks, found)) == [None]
    some = taken._replace(op="setData", data=encode_reassignment({TopicPartition("orders", 1): (1, 2)}))
    assert tickets(told(quiet, "kafka-1.1", [*takes_over, asked, some], found)) == ["KAFKA-6082"]
    for others in (
        [*takes_over, taken],
        [*takes_over, asked],
        [takes_over[0], asked, taken],
        [*takes_over, asked, taken._replace(client=2)],
        [*takes_over, asked, taken, e.ControllerElected(5, 5, 0, 0, 3)],
        [*takes_over, asked, taken, asked._replace(seq=5), taken._replace(seq=6, client=2)],
    ):
        assert tickets(told(quiet, "kafka-1.1", others, found)) == [None]
    for other in (facts._replace(asked=(1, 2)), facts._replace(now=(0, 1, 3))):
        assert tickets(told(quiet, "kafka-1.1", marks, evolve(found, facts=other))) == [None]


def test_kafka_6650_a_replaced_controller_writes_the_leader_that_its_successor_never_reads(quiet: Run) -> None:
    """kafka-1.1, seed 7 of the default swarm: the topic that is being deleted has a leader in ZooKeeper, and none in
    the memory of the controller that deletes it. Seed 14007: an earlier topic of the name had a leader."""
    takes_over = [e.ControllerElected(1, 1, 0, 1, 1), e.ControllerElected(2, 2, 0, 2, 2)]
    wanted = ZkWritten(2, 2, 0, -1, "create", "/admin/delete_topics/orders", 0, 2, "")
    stays_online = Deviated(3, 3, 0, 2, "KAFKA-6650", *TP, 1)
    written = elected(4, 0)._replace(client=1, op="create")
    stays = stated("converged", NOTHING_ASKED, 9, 9, "/admin/delete_topics/orders is still there")
    idle = stated("converged", LED, 9, 9, "orders-0: broker 0 does not lead in epoch 3", brokers=(0,))
    asked: list[Any] = [*takes_over, wanted]
    marks: list[Any] = [*asked, stays_online, written]
    assert tickets(told(quiet, "kafka-1.1", marks, stays, idle)) == ["KAFKA-6650"] * 2
    assert tickets(told(quiet, "kafka-1.1", marks[:-1], stays, idle)) == ["KAFKA-6650"] * 2
    assert tickets(told(quiet, "kafka-2.3", marks, stays, idle)) == [None] * 2
    earlier, gone = written._replace(seq=0), written._replace(seq=1, op="delete")
    assert tickets(told(quiet, "kafka-1.1", [earlier, gone, *asked, stays_online], stays, idle)) == ["KAFKA-6650"] * 2
    for others in (
        [*asked, written],
        [earlier, *asked, stays_online],
        [*asked, stays_online, written._replace(client=2)],
        [*asked, stays_online._replace(seq=5), written],
        [*marks, e.ControllerElected(6, 6, 0, 0, 3)],
    ):
        assert tickets(told(quiet, "kafka-1.1", others, stays, idle)) == [None] * 2


def test_kafka_6082_another_controller_has_raised_the_epoch_and_has_no_answer_yet(quiet: Run) -> None:
    found = stated("controller_fence", "…", 4, 4, "orders-0: leader epoch 3, leader 1, written by the controller of …")
    raised = ZkWritten(3, 3, 0, 2, "setData", CONTROLLER_EPOCH, 2, 3, "2")
    marks: list[Any] = [e.ControllerElected(1, 1, 0, 1, 1), raised, elected(4, 1)._replace(client=1)]
    assert tickets(told(quiet, "kafka-1.1", marks, found)) == ["KAFKA-6082"]
    assert tickets(told(quiet, "kafka-2.3", marks, found)) == [None]
    for others in ([marks[0], marks[2]], marks[1:], [marks[0], raised._replace(client=1), marks[2]]):
        assert tickets(told(quiet, "kafka-1.1", others, found)) == [None]


@pytest.mark.parametrize("entity", ["topics/orders", "brokers/<default>"])
def test_kafka_6835_an_unclean_election_is_allowed_once_there_is_no_leader(quiet: Run, entity: str) -> None:
    found = stated("converged", LED, 9, 9, "orders-0: no leader, isr [0]")
    lost = elected(3, -1, 0)
    data = encode_config({"unclean.leader.election.enable": "true"})
    allowed = ZkWritten(4, 4, 0, -1, "setData", f"/config/{entity}", 1, 4, data)
    assert tickets(told(quiet, "kafka-1.1", [lost, allowed], found)) == ["KAFKA-6835"]
    assert tickets(told(quiet, "kafka-2.3", [lost, allowed], found)) == [None]
    off = allowed._replace(data=encode_config({"unclean.leader.election.enable": "false"}))
    came = Step(5, 5, 0, "broker-startup.3", "after", "", -1, 1, 0, 2, "")
    for others in (
        [lost],
        [lost, off],
        [lost, allowed._replace(path="/config/topics/payments")],
        [allowed._replace(seq=2), lost],
        [lost, allowed, came],
        [lost, allowed, e.ControllerElected(5, 5, 0, 2, 2)],
    ):
        assert tickets(told(quiet, "kafka-1.1", others, found)) == [None]


def test_kafka_6835_the_leader_was_gone_when_the_controller_was_elected(quiet: Run) -> None:
    """Such a controller leaves the dead leader in ZooKeeper (KAFKA-3143), so that it is still named."""
    found = stated("converged", LED, 9, 9, "orders-0: leader 0, which does not run, isr [0]")
    data = encode_config({"unclean.leader.election.enable": "true"})
    leads, gone = elected(1, 0), ZkWritten(2, 2, 0, 0, "delete", broker_path(0), 0, 2, "")
    dies = e.NodeCrashed(1, 1, 0, 0, 1, "process")
    succeeds = e.ControllerElected(3, 3, 0, 2, 2)
    allowed = ZkWritten(4, 4, 0, -1, "setData", "/config/topics/orders", 1, 4, data)
    assert tickets(told(quiet, "kafka-1.1", [leads, dies, gone, succeeds, allowed], found)) == ["KAFKA-6835"]
    assert tickets(told(quiet, "kafka-2.3", [leads, dies, gone, succeeds, allowed], found)) == [None]
    for others in (
        [leads, gone, allowed],
        [leads, succeeds, allowed],
        [leads, succeeds._replace(seq=2), gone._replace(seq=3), allowed],
        [leads, gone, succeeds, gone._replace(seq=3, op="create"), allowed],
        [leads, gone._replace(path=broker_path(1)), succeeds, allowed],
        [leads, gone, succeeds],
        [leads, gone, allowed._replace(seq=3), succeeds._replace(seq=4)],
    ):
        assert tickets(told(quiet, "kafka-1.1", [dies, *others], found)) == [None]


def test_a_new_replica_of_0_8_is_not_notified_of_a_leader_that_is_elected_while_it_is_moved(quiet: Run) -> None:
    ticket = "KafkaController.onPartitionReassignment (0.8.1)"
    follows = stated(
        "roles_adopted",
        "…",
        9,
        9,
        "orders-0: leader 1 of epoch 2 in ZooKeeper, and broker 2 follows broker 0, for …",
        brokers=(2,),
    )
    out = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [1], assignment [1, 2], leader 1", brokers=(2,))
    marks: list[Any] = [
        assigned(1, 0, 1),
        e.MoveStarted(2, 2, 0, *TP, (1, 2)),
        e.BecameFollower(3, 3, 0, 2, *TP, 1, 0, 5, 5),
        e.LeaderElected(4, 4, 0, *TP, 1, 2, (1, 2), "offline", 1, False),
        assigned(5, 1, 2),
    ]
    assert tickets(told(quiet, "kafka-0.8", marks, follows, out)) == [ticket] * 2
    assert tickets(told(quiet, "kafka-1.1", marks, follows, out)) == [None] * 2
    again = e.LeaderElected(6, 6, 0, *TP, 1, 3, (1, 2), "offline", 1, False)
    back = e.BrokerRegistered(6, 6, 0, 2, 17)
    for others in (
        [marks[0], *marks[2:]],
        [*marks[:3], marks[4]],
        [*marks, again],
        [*marks, back],
        [*marks, marks[2]._replace(seq=6)],
    ):
        assert tickets(told(quiet, "kafka-0.8", others, follows, out)) == [None] * 2


def test_metadata_that_was_overtaken_takes_back_what_a_later_request_said(quiet: Run) -> None:
    """kafka-2.4, seeds 45077, 45567 and 45765: the controller had given up the connection, and sent it again."""
    ticket = "MetadataCache.updateMetadata (0.8.0 to 2.7.2)"
    words = "orders-0: broker 2 knows leader 0 of leader epoch 1, after leader 1 of leader epoch 2"
    falls = stated("metadata_kept", "…", 8, 8, words, brokers=(2,))
    words = "broker 2: orders-0: leader 0 of leader epoch 1, and in ZooKeeper leader 1 of leader epoch 2"
    stays = stated("metadata_kept", "…", 12, 12, words, brokers=(2,))
    elected = e.LeaderElected(3, 3, 0, *TP, 1, 2, (1, 2), "offline", 1, unclean=False)
    takes = e.ControlResponse(6, 6, 4, "UpdateMetadata", 2, 0, 1, "NONE", (), ())
    late = takes._replace(seq=8, cause=1)
    for found in (falls, stays):
        for profile in ("kafka-0.8", "kafka-2.7"):
            assert tickets(told(quiet, profile, [elected, takes, late], found)) == [ticket]
        for events in (
            [elected, takes],
            [elected, late],
            [takes, late],
            [elected, takes, late._replace(cause=5)],
            [elected, takes, late._replace(error="STALE_CONTROLLER_EPOCH")],
            [elected, takes._replace(node=1), late],
            [elected, takes._replace(api="LeaderAndIsr"), late],
            [elected._replace(partition=1), takes, late],
        ):
            assert tickets(told(quiet, "kafka-2.4", events, found)) == [None]
    raised = elected._replace(seq=9, leader_epoch=3)
    assert tickets(told(quiet, "kafka-2.4", [elected, takes, late, raised], stays)) == [None]
    sent = e.ControlRequest(5, 5, 1, "UpdateMetadata", 0, 2, 1, -1, 1, str(TP))  # made at 1, and sent for long
    again = late._replace(cause=5)
    for found in (falls, stays):  # kafka-1.1, seed 44262
        assert tickets(told(quiet, "kafka-2.4", [elected, sent, takes, again], found)) == [ticket]
        for events in (
            [elected, sent._replace(cause=4), takes, again],
            [elected, sent, takes._replace(cause=1), again],
            [elected._replace(seq=0), sent, takes, again],
        ):
            assert tickets(told(quiet, "kafka-2.4", events, found)) == [None]
    not_taken = restated(falls, falls.state.replace("after", "and was sent"))
    assert tickets(told(quiet, "kafka-2.4", [elected, takes, late], not_taken)) == [None]


def test_a_move_waits_for_a_broker_that_has_refused_metadata(quiet: Run) -> None:
    """kafka-2.4, seed 60 of the default swarm."""
    waits = stated("converged", NOTHING_ASKED, 9, 9, f"{REASSIGN_PARTITIONS} is still there")
    asks, in_step = e.MoveStarted(2, 2, 0, *TP, (1, 2)), Step(3, 3, 0, "kip-455.wait", "before", *TP, -1, 0, 0, "")
    moves = [assigned(1, 0, 1), asks, in_step]
    refuses = e.ControlResponse(4, 4, 3, "UpdateMetadata", 2, 0, 1, "UNKNOWN_SERVER_ERROR", (), ())
    takes = refuses._replace(seq=5, error="NONE")
    follows = e.BecameFollower(6, 6, 0, 2, *TP, 1, 2, 5, 5)
    assert tickets(told(quiet, "kafka-2.4", [*moves, refuses, takes], waits)) == ["KAFKA-9839"]
    assert tickets(told(quiet, "kafka-2.6", [*moves, refuses, takes], waits)) == [None]
    taken_up = in_step._replace(step="kip-455.A2", edge="after")  # by a controller that does not come to the gate again
    assert tickets(told(quiet, "kafka-2.4", [*moves[:2], taken_up, refuses, takes], waits)) == ["KAFKA-9839"]
    for events in (moves, [*moves, takes], [*moves, refuses, takes, follows], [*moves, refuses._replace(node=0)]):
        assert tickets(told(quiet, "kafka-2.4", events, waits)) == [None]
    for other in (
        [],
        [in_step._replace(step="kip-455.A2")],
        [in_step._replace(step="kip-455.B1")],
    ):  # not for a replica
        assert tickets(told(quiet, "kafka-2.4", [*moves[:2], *other, refuses, takes], waits)) == [None]


def test_partitions_that_are_added_while_their_topic_is_deleted_are_passed_over_before_kafka_6612() -> None:
    """kafka-1.1, seed 319 of the default swarm. The first partition never had a leader, so the topic stays."""
    method: tuple[Table, ...] = (
        {"at": "1s", "action": "broker.crash", "target": [0, 1]},
        {"at": "25s", "action": "topic.create", "topic": {"name": "late", "assignment": [[0]]}},
        {
            "when": {"step": "delete.start"},
            "action": "topic.expand",
            "topic": "late",
            "partitions": 2,
            "assignment": [[2]],
        },
        {"at": "26s", "action": "topic.delete", "topic": "late"},
        {"at": "40s", "action": "heal"},
    )
    wanted: dict[str, Any] = {
        "brokers": 4, "controller": 3, "assignment": [[2, 3]], "method": method, "rate": 0, "horizon": "3m",
        "expect": [{"converged": True, "within": "30s"}],
    }  # fmt: skip
    assert run_scenario(scenario(profile="kafka-2.3", **wanted)).passed
    run = run_scenario(scenario(profile="kafka-1.1", **wanted))
    found = explained_findings(run)
    assert (found.new, {reason.ticket for reason, _ in found.known}) == ((), {"KAFKA-6612", "KAFKA-6650"})
    added = next(event for event in kept(run) if type(event) is ZkWritten and event.path == topic_path("late"))
    events = [event._replace(data=encode_topic({0: (0,), 1: (2,)})) if event is added else event for event in kept(run)]
    assert None in tickets(told(run, run.profile, events, *run.violations)), "it was there before"
