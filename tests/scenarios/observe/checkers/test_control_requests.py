"""M4, E7: what the controller has to tell brokers is queued for them, and delivered."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol.control_requests import ControlChannelClosed, ControlDelivered, ControlQueued
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import LEADER_DURING_DELETE
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import broker_path, delete_topic_path, encode_broker
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

RS = (0, 1, 2)


def leader_and_isr(leader: int, epoch: int) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartition(ORDERS_0, 1, leader, epoch, RS, 0, RS, False)
    return LeaderAndIsrRequest(3, 1, 1, (state,), RS)


def metadata(leader: int, epoch: int, controller_epoch: int = 1) -> UpdateMetadataRequest:
    state = PartitionMetadata(ORDERS_0, controller_epoch, leader, epoch, RS, 0, RS, ())
    return UpdateMetadataRequest(3, controller_epoch, 1, (state,), RS)


def live_brokers(*live: int, controller_epoch: int = 1) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(3, controller_epoch, 1, (), live)


def stop() -> StopReplicaRequest:
    return StopReplicaRequest(3, 1, 1, True, (ORDERS_0,))


def queued(run: Cluster, broker: int, request: Any) -> Any:
    run.show(ControlQueued, 3, broker, request)
    return request


# -- requests_delivered ------------------------------------------------------------------------------------------------


def delivery() -> Cluster:
    return Cluster("requests_delivered")


def test_requests_are_answered_in_their_order() -> None:
    run = delivery()
    for request in [queued(run, 1, stop()), queued(run, 1, stop())]:
        run.passes(20)
        run.show(ControlDelivered, 3, 1, request)
    run.passes(60)
    run.rest()
    assert run.violations() == []


def test_a_request_that_is_left_out() -> None:
    run = delivery()
    queued(run, 1, stop())
    run.show(ControlDelivered, 3, 1, queued(run, 1, leader_and_isr(0, 1)))
    [violation] = run.violations()
    assert violation.state == (
        "controller 3 of epoch 1 has dropped a StopReplica for broker 1, queued at 0.012 s; both are there as they "
        "were then"
    )


def test_an_answer_to_a_request_of_a_term_that_the_controller_has_lost_without_resigning() -> None:
    """The queue of its next term is another one."""
    run = delivery()
    late = queued(run, 1, live_brokers(0, 1))
    run.emit(e.ControllerElected, 3, 4)
    request = queued(run, 1, live_brokers(0, 1, controller_epoch=4))
    run.show(ControlDelivered, 3, 1, late)
    run.show(ControlDelivered, 3, 1, request)
    run.passes(60)
    run.rest()
    assert run.violations() == []


def test_a_request_without_an_answer() -> None:
    run = delivery()
    queued(run, 1, stop())
    queued(run, 1, stop())
    run.passes(34)
    assert run.violations() == []
    run.passes(2)
    [violation] = run.violations()
    assert violation.state == (
        "a StopReplica of controller 3 has waited for 35.0 s for broker 1 to answer; 1 more wait after it"
    )


@pytest.mark.parametrize("resigns", [False, True])
def test_a_queue_that_is_dropped_though_the_broker_stays(resigns: bool) -> None:
    run = delivery()
    queued(run, 1, stop())
    run.show(ControlChannelClosed, 3, 1, resigns)
    assert run.invariants() == ([] if resigns else ["requests_delivered"])


@pytest.mark.parametrize("why", ["nothing", "resigns", "a later incarnation", "dead"])
def test_a_channel_that_is_closed_when_all_is_delivered(why: str) -> None:
    run = delivery()
    run.show(ControlDelivered, 3, 1, queued(run, 1, stop()))
    if why in ("a later incarnation", "dead"):
        run.dies(1)
    if why == "a later incarnation":
        run.registers(1)
    run.show(ControlChannelClosed, 3, 1, why == "resigns")
    expected = "controller 3 closes its channel to broker 1, opened at 0.012 s; both are there as they were then"
    assert [violation.state for violation in run.violations()] == ([expected] if why == "nothing" else [])


def test_a_queue_for_an_earlier_incarnation_may_be_dropped() -> None:
    """Also where the later one has died before it knew its epoch."""
    run = delivery()
    run.emit(e.BrokerRegistered, 1, 1)
    run.emit(ZkWritten, 1, "create", broker_path(1), 0, 7, encode_broker(1, 0))
    queued(run, 1, stop())
    run.show(ControlChannelClosed, 3, 1, False)
    assert run.violations() == []


def test_a_broker_whose_session_expires_before_the_answer_to_its_registration_is_gone() -> None:
    """kafka-2.4, seed 46847."""
    run = delivery()
    run.emit(ZkWritten, -1, "delete", broker_path(1), 0, 7, "")
    run.emit(e.BrokerRegistered, 1, 1)
    run.passes(1)
    queued(run, 1, stop())
    run.show(ControlChannelClosed, 3, 1, False)
    assert run.violations() == []


def test_a_broker_that_is_replaced_and_a_controller_that_dies() -> None:
    run = delivery()
    queued(run, 1, stop())
    run.dies(1)
    run.registers(1)
    run.show(ControlChannelClosed, 3, 1, False)
    queued(run, 2, stop())
    run.emit(e.NodeCrashed, 3, 0, "process")
    run.passes(60)
    assert run.violations() == []


def test_a_broker_that_is_back_before_its_last_session_has_expired() -> None:
    run = delivery()
    queued(run, 1, stop())
    run.emit(e.NodeCrashed, 1, 0, "process")
    run.emit(e.NodeStarted, 1, 1)
    run.passes(60)
    run.rest()
    assert run.violations() == []


@pytest.mark.parametrize(("learns", "expected"), [(False, []), (True, ["requests_delivered"])])
def test_a_znode_may_be_of_either_of_two_sessions_until_the_broker_learns_of_it(
    learns: bool, expected: list[str]
) -> None:
    run = delivery()
    run.emit(ZkSession, 1, 7, "created")
    run.emit(e.NodeCrashed, 1, 0, "process")
    run.emit(ZkWritten, -1, "delete", broker_path(1), 8, 0, "")
    run.emit(e.NodeStarted, 1, 1)
    run.emit(ZkSession, 1, 8, "created")
    run.emit(ZkWritten, 1, "create", broker_path(1), 9, 0, "")
    if learns:
        run.emit(e.BrokerRegistered, 1, 9)
    queued(run, 1, stop())
    run.passes(60)
    assert run.invariants() == expected


@pytest.mark.parametrize(("again", "expected"), [(False, []), (True, ["requests_delivered"])])
def test_a_znode_that_an_incarnation_has_left_after_its_end(again: bool, expected: list[str]) -> None:
    """ZooKeeper carries out its request late. The next one registers once the session of that znode has expired."""
    run = delivery()
    run.emit(ZkSession, 1, 7, "created")
    run.emit(e.NodeCrashed, 1, 0, "process")
    run.emit(ZkWritten, -1, "delete", broker_path(1), 8, 0, "")
    run.passes(5)
    run.emit(e.NodeStarted, 1, 1)
    if again:
        run.emit(ZkSession, 1, 8, "created")
    run.registers(1)
    if again:
        run.emit(e.BrokerRegistered, 1, 9)
    run.emit(ZkSession, 1, 9, "created")
    queued(run, 1, stop())
    run.passes(60)
    assert run.invariants() == expected


# -- replicas_notified ------------------------------------------------------------------------------------------------


def telling(start: StartSettings | None = None) -> Cluster:
    run = Cluster("replicas_notified", start=start)
    run.assigned(RS)
    for broker in (*RS, 3):
        queued(run, broker, live_brokers(*RS))
    return run


def test_a_replica_that_is_sent_nothing() -> None:
    run = telling()
    run.state(1, RS, 1)
    queued(run, 0, leader_and_isr(1, 1))
    queued(run, 1, leader_and_isr(1, 1))
    run.passes(11)
    assert run.violations() == []
    run.passes(2)
    [violation] = run.violations()
    assert violation.state == (
        "orders-0: broker 1 leads in epoch 1, and broker 2, of the replicas [0, 1, 2], has been sent no LeaderAndIsr "
        "for 12.0 s"
    )


def test_a_leader_that_lives_and_is_not_named() -> None:
    run = telling()
    run.passes(20)
    run.state(1, RS, 1)
    state = LeaderAndIsrPartition(ORDERS_0, 1, 1, 1, RS, 0, RS, False)
    for named, count in (((1,), 0), ((), 1)):
        queued(run, 0, LeaderAndIsrRequest(3, 1, 1, (state,), named))
        assert len(run.violations()) == count
    assert "names only [] as live leaders" in run.violations()[0].state


def test_all_live_replicas_are_notified() -> None:
    run = telling()
    run.dies(2)
    run.state(1, RS, 1)
    for broker in (0, 1):
        queued(run, broker, leader_and_isr(1, 1))
    run.state(1, (1,), 2)
    run.passes()
    run.rest()
    assert run.violations() == []


def test_a_broker_that_shuts_down_is_notified_before_it_may_end() -> None:
    """KAFKA-7482."""
    run = telling()
    run.emit(e.ControllerElected, 3, 1)
    run.fault("broker.controlled_shutdown", "0")
    run.state(1, (1, 2), 1)
    run.emit(e.ControlledShutdownAnswered, 0, 3, 1, "DISCONNECTED", -1)
    run.emit(e.ControlledShutdownAnswered, 0, 3, 1, "NONE", 2)
    assert run.violations() == [], "the controller does not know of the election yet"
    run.emit(e.LeaderElected, *ORDERS_0, 1, 1, (1, 2), "controlled-shutdown", 1, False)
    assert run.violations() == []
    answered = run.emit(e.ControlledShutdownAnswered, 0, 3, 2, "NONE", 0)
    [violation] = run.violations()
    assert violation.seq == answered.seq
    assert "broker 0, of the replicas [0, 1, 2], has been sent no LeaderAndIsr" in violation.state


def test_a_controller_that_was_replaced_answers_without_its_successors_elections() -> None:
    """wiki-text, seed 1252: the successor elected, and ended before it sent a request."""
    run = telling()
    run.emit(e.ControllerElected, 3, 1)
    run.fault("broker.controlled_shutdown", "0")
    run.emit(e.ControllerElected, 2, 2)
    run.state(1, (1, 2), 1, 2)
    run.emit(e.LeaderElected, *ORDERS_0, 1, 1, (1, 2), "new", 2, False)
    run.emit(e.ControlledShutdownAnswered, 0, 3, 1, "NONE", 0)
    assert run.violations() == []
    run.emit(e.ControlledShutdownAnswered, 0, 2, 2, "NONE", 0)
    assert len(run.violations()) == 1


@pytest.mark.parametrize("healed", [False, True])
def test_a_replica_on_a_log_directory_that_has_failed_is_not_notified(healed: bool) -> None:
    """Also once its disk works again: the directory stays offline until the broker is started again
    (Election.leaderForOffline and ControllerContext.isReplicaOnline, 2.3.1)."""
    run = telling()
    run.fault("log_dir.offline", "0")
    run.emit(e.LogDirFailed, 0, "/data/0", "injected by the scenario", 1, False)
    run.state(1, RS, 1)
    for broker in (1, 2):
        queued(run, broker, leader_and_isr(1, 1))
    if healed:
        run.fault("disk.heal", "0")
    run.passes()
    run.rest()
    assert run.violations() == []


def test_a_broker_whose_registration_the_controller_has_not_seen_yet() -> None:
    """Its replica stays as a stray one."""
    run = telling()
    run.dies(2)
    run.registers(2)
    run.assigned((0, 1))
    queued(run, 2, live_brokers(*RS))
    run.rest()
    assert run.violations() == []


@pytest.mark.parametrize("controller_stays", [True, False])
def test_a_broker_that_registers_and_is_sent_nothing(controller_stays: bool) -> None:
    run = telling()
    run.dies(2)
    run.emit(e.NodeStarted, 2, 1)
    run.registers(2)
    run.passes(11)
    if not controller_stays:
        run.dies(3)
    assert run.violations() == []
    run.passes(2)
    states = [violation.state for violation in run.violations()]
    assert states == (["broker 2 has registered, and been sent nothing for 12.0 s"] if controller_stays else [])


def test_a_release_whose_controllers_do_not_find_out_that_a_broker_has_bounced() -> None:
    run = telling(StartSettings(detects_bounces=False))
    run.dies(2)
    run.registers(2)
    run.passes(30)
    assert run.violations() == []


@pytest.mark.parametrize("sent", ["before", "after", "never"])
def test_a_replica_that_leaves_the_assignment(sent: str) -> None:
    run = telling()
    if sent == "before":
        queued(run, 2, stop())
    run.assigned((0, 1))
    if sent == "after":
        queued(run, 2, stop())
    run.rest()
    assert run.invariants() == (["replicas_notified"] if sent == "never" else [])


def test_a_replica_that_was_stopped_and_came_back_is_stopped_again() -> None:
    run = telling()
    queued(run, 2, stop())
    queued(run, 2, leader_and_isr(0, 1))
    run.assigned((0, 1))
    run.rest()
    assert run.invariants() == ["replicas_notified"]


@pytest.mark.parametrize("known_by", ["nothing", "LeaderAndIsr", "an earlier assignment"])
def test_a_stop_for_a_broker_that_never_was_a_replica(known_by: str) -> None:
    """A replica that a move of KAFKA-42 adds is sent LeaderAndIsr before the assignment has it."""
    run = telling()
    if known_by == "LeaderAndIsr":
        queued(run, 3, leader_and_isr(0, 1))
    elif known_by == "an earlier assignment":
        run.assigned((0, 1, 3))
        run.assigned(RS)
    queued(run, 3, stop())
    expected = "orders-0: broker 3, never one of its replicas [0, 1, 2], is sent StopReplica"
    assert [violation.state for violation in run.violations()] == ([expected] if known_by == "nothing" else [])


@pytest.mark.parametrize("leads", [True, False])
def test_a_stop_for_what_a_broker_that_shuts_down_leads(leads: bool) -> None:
    run = telling()
    run.fault("broker.controlled_shutdown", "0")
    queued(run, 0 if leads else 1, StopReplicaRequest(3, 1, 1, False, (ORDERS_0,)))
    expected = "orders-0: broker 0, which shuts down and still leads, is sent StopReplica"
    assert [violation.state for violation in run.violations()] == ([expected] if leads else [])


# -- metadata_follows --------------------------------------------------------------------------------------------------


def following(**start: Any) -> Cluster:
    run = Cluster("metadata_follows", start=StartSettings(**start))
    queued(run, 1, metadata(0, 0))
    return run


def test_metadata_that_follows() -> None:
    run = following()
    run.state(1, RS, 1)
    run.passes(5)
    request = metadata(1, 1)
    for broker in RS:
        queued(run, broker, request)
    run.state(1, (1, 2), 1)
    run.passes()
    run.rest()
    assert run.violations() == []


def test_the_same_live_brokers_are_announced_once() -> None:
    run = following()
    queued(run, 1, live_brokers(0, 1))
    queued(run, 1, metadata(0, 0))
    queued(run, 1, live_brokers(0, 1, 2))
    queued(run, 1, live_brokers(0, 1))
    queued(run, 2, live_brokers(0, 1))
    queued(run, 1, live_brokers(0, 1, controller_epoch=2))
    run.passes(5)
    assert run.violations() == []
    queued(run, 1, live_brokers(0, 1, controller_epoch=2))
    [violation] = run.violations()
    assert violation.state == "controller 3 sends broker 1 no partition, and the live brokers [0, 1] again"


@pytest.mark.parametrize(
    "why", ["a log directory", "a replica", "a topic", "a partition", "a new channel", "a new controller", "a broker"]
)
def test_the_same_live_brokers_may_be_announced_again(why: str) -> None:
    """By requests that are for partitions without a leader, or for none."""
    run = following()
    if why != "a new controller":
        run.passes(5)
    queued(run, 1, live_brokers(0, 1))
    if why == "a log directory":
        run.emit(e.LogDirFailed, 0, "/data/0", "injected by the scenario", 1, False)
    elif why == "a replica":
        run.emit(e.ReplicaOffline, 0, *ORDERS_0)
    elif why == "a topic":
        run.emit(ZkWritten, -5, "create", delete_topic_path("orders"), 0, 0, "")
    elif why == "a partition":
        run.deleted()
        run.assigned(RS)
    elif why == "a new channel":
        run.show(ControlChannelClosed, 3, 1, False)
    elif why == "a broker":
        run.emit(ZkWritten, 0, "create", broker_path(0), 0, 0, "")
    queued(run, 1, live_brokers(0, 1))
    assert run.violations() == []


@pytest.mark.parametrize("knows", ["before the controller", "after it"])
def test_a_broker_is_announced_again_once_its_znode_is_there_and_once_only(knows: str) -> None:
    """Also where it learns of its registration late (2.3, seed 20004). That adds nothing to announce."""
    run = following()
    run.passes(5)
    queued(run, 1, live_brokers(0, 1))
    run.emit(ZkWritten, 0, "delete", broker_path(0), 0, 0, "")
    run.emit(ZkWritten, 0, "create", broker_path(0), 0, 0, "")
    if knows == "before the controller":
        run.emit(e.BrokerRegistered, 0, 12)
    queued(run, 1, live_brokers(0, 1))
    assert run.violations() == []
    if knows == "after it":
        run.emit(e.BrokerRegistered, 0, 12)
    queued(run, 1, live_brokers(0, 1))
    assert run.invariants() == ["metadata_follows"]


@pytest.mark.parametrize("announced", [(0, 1), (0, 1, 2)])
def test_a_broker_that_starts_twice_is_announced_twice_at_most(announced: tuple[int, ...]) -> None:
    """It bounces again while the controller handles the first time, whose requests come after the second start; or the
    first time it had been missed."""
    run = following()
    run.passes(5)
    queued(run, 1, live_brokers(0, 1))
    for _ in range(2):
        run.emit(ZkWritten, 0, "create", broker_path(0), 0, 0, "")
    for _ in range(2):
        queued(run, 1, live_brokers(*announced))
    assert run.violations() == []
    queued(run, 1, live_brokers(*announced))
    assert run.invariants() == ["metadata_follows"]


def test_the_end_of_another_broker_is_not_the_announcement_of_a_start() -> None:
    run = following()
    run.passes(5)
    queued(run, 1, live_brokers(0, 1, 2))
    run.emit(ZkWritten, 0, "create", broker_path(0), 0, 0, "")
    queued(run, 1, live_brokers(0, 1))
    queued(run, 1, live_brokers(0, 1))
    assert run.violations() == []


def test_that_a_broker_is_gone_is_no_reason_to_announce_the_others_again() -> None:
    run = following()
    run.passes(5)
    queued(run, 1, live_brokers(0, 1))
    run.emit(ZkWritten, 2, "delete", broker_path(2), 0, 0, "")
    queued(run, 1, live_brokers(0, 1))
    assert run.invariants() == ["metadata_follows"]


def test_an_epoch_that_is_not_sent() -> None:
    """KAFKA-9212: the leader stays, and only its epoch is raised."""
    run = following()
    run.state(0, RS, 1)
    queued(run, 1, metadata(0, 0))
    run.passes(11)
    assert run.violations() == []
    run.passes(2)
    [violation] = run.violations()
    assert violation.state == (
        "orders-0: leader 0 of leader epoch 1, while controller 3 has told the brokers leader 0 of leader epoch 0, for "
        "12.0 s"
    )


def test_a_release_that_forgets_raised_epochs() -> None:
    run = following(metadata_has_raised_epochs=False)
    run.state(0, RS, 1)
    run.passes()
    assert run.violations() == []
    run.state(1, RS, 2)
    run.rest()
    assert run.invariants() == ["metadata_follows"]


def test_an_epoch_that_goes_back() -> None:
    run = following()
    run.state(1, RS, 5)
    queued(run, 1, metadata(1, 5))
    queued(run, 1, metadata(0, 4))
    [violation] = run.violations()
    assert violation.state == ("orders-0: controller 3 tells the brokers leader 0 of leader epoch 4, after 1 of 5")


def test_what_an_older_controller_says_does_not_count() -> None:
    run = following()
    run.state(1, RS, 5)
    queued(run, 1, metadata(1, 5, controller_epoch=2))
    queued(run, 1, metadata(0, 4, controller_epoch=1))
    run.rest()
    assert run.violations() == []


def test_a_topic_that_is_deleted_begins_again() -> None:
    run = following()
    run.state(1, RS, 5)
    queued(run, 1, metadata(LEADER_DURING_DELETE, 0))
    run.deleted()
    run.state(0, RS, 0)
    queued(run, 1, metadata(0, 0))
    run.rest()
    assert run.violations() == []
