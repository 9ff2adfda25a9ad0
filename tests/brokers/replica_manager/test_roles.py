"""Control requests: fencing (kafka-behaviour §7.3), roles (7.4), and what happens to delayed requests."""

from typing import Any

import pytest
from attrs import evolve

from brokers.broker_policies import BrokerPolicies
from brokers.log.directory import LogDirectory
from brokers.log.log import Log
from brokers.metadata_cache import MetadataCache
from emulator.protocol.errors import Errors
from emulator.protocol.events import BecameFollower, BecameLeader, ReplicaStopped
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.metadata import NO_CONTROLLER, MetadataRequest
from emulator.protocol.produce import ProduceResponse
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from tests.brokers.bench import ME, TP, Bench, Line, batch, state

OTHER = TopicPartition("t", 1)


def stop(
    bench: Bench, delete: bool, controller_epoch: int = 1, broker_epoch: int = -1, leader_epochs: tuple[int, ...] = ()
) -> Any:
    line = Line()
    request = StopReplicaRequest(9, controller_epoch, broker_epoch, delete, (TP,), leader_epochs)
    bench.send(request, line)
    return line.last


def update_metadata(bench: Bench, controller_epoch: int = 1, broker_epoch: int = -1) -> Any:
    line = Line()
    partitions = (PartitionMetadata(OTHER, 1, 2, 0, (2,), 0, (2,), ()),)
    request = UpdateMetadataRequest(9, controller_epoch, broker_epoch, partitions, ())
    bench.send(request, line)
    return line.last


# -- fencing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_kind", ["leader_and_isr", "stop_replica", "update_metadata"])
@pytest.mark.parametrize(
    ("controller_epoch", "broker_epoch", "error"),
    [
        (5, 70, Errors.NONE),
        (6, 70, Errors.NONE),
        (5, -1, Errors.NONE),  # a controller that does not know broker epochs
        (4, 70, Errors.STALE_CONTROLLER_EPOCH),
        (5, 69, Errors.STALE_BROKER_EPOCH),
        (4, 69, Errors.STALE_BROKER_EPOCH),  # the broker epoch is looked at first
        (5, 71, Errors.UNKNOWN_SERVER_ERROR),  # KAFKA-9839
    ],
)
def test_C11_C13_old_controllers_and_requests_for_old_incarnations_are_fenced(
    request_kind: str, controller_epoch: int, broker_epoch: int, error: Errors
) -> None:
    bench = Bench()
    bench.control.broker_epoch = 70
    bench.control.controller_epoch = 5
    bench.manager.metadata.live_brokers = (0, 1, 2)
    epochs: dict[str, Any] = {"controller_epoch": controller_epoch, "broker_epoch": broker_epoch}
    if request_kind == "leader_and_isr":
        assert bench.leader_and_isr(state(0, 0), **epochs).error is error
        assert (TP in bench.manager.partitions) == (error is Errors.NONE)
    elif request_kind == "stop_replica":
        assert stop(bench, True, **epochs).error is error
        assert (TP in bench.fetchers.removed) == (error is Errors.NONE)
    else:
        assert update_metadata(bench, **epochs).error is error
        assert bench.manager.metadata.knows(OTHER) == (error is Errors.NONE)
    assert bench.control.controller_epoch == (6 if controller_epoch == 6 else 5)


def test_kafka_9839_a_request_for_a_later_incarnation_is_taken_where_the_policy_says_so() -> None:
    """The controller may see a broker's new registration before the broker itself does."""
    bench = Bench(BrokerPolicies(accepts_newer_broker_epoch=True))
    bench.control.broker_epoch = 70
    assert bench.leader_and_isr(state(0, 0), broker_epoch=71).error is Errors.NONE
    assert bench.leader_and_isr(state(0, 1), broker_epoch=69).error is Errors.STALE_BROKER_EPOCH


def test_a_deletion_that_throws_has_failed_for_each_replica() -> None:
    """The error of what throws names every partition (StopReplicaRequest.getErrorResponse, 2.3.1), that of a request
    which is fenced none (KafkaApis.handleStopReplicaRequest); the controller waits for those that no answer names."""
    bench = Bench()
    bench.control.broker_epoch = 70
    assert stop(bench, True, broker_epoch=71).partitions == ((TP, Errors.UNKNOWN_SERVER_ERROR),)
    assert stop(bench, True, broker_epoch=69).partitions == ()


@pytest.mark.parametrize("epoch", [3, 2])
def test_a_leader_epoch_that_is_not_newer_is_refused_for_its_partition_alone(epoch: int) -> None:
    bench = Bench()
    bench.lead(3)
    response = bench.leader_and_isr(state(1, epoch), state(0, 0, tp=OTHER))
    assert response.error is Errors.NONE
    assert response.partitions == ((TP, Errors.STALE_CONTROLLER_EPOCH), (OTHER, Errors.NONE))
    assert bench.partition.is_leader
    assert bench.partition.leader_epoch == 3


def test_a_broker_that_is_not_a_replica_refuses_the_partition() -> None:
    bench = Bench()
    refused = bench.leader_and_isr(state(1, 0, replicas=(1, 2, 3)))
    assert refused.partitions == ((TP, Errors.UNKNOWN_TOPIC_OR_PARTITION),)
    again = bench.leader_and_isr(state(1, 1))
    assert again.partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),), "Kafka had created the partition, without a log"


def test_one_that_has_the_replica_keeps_it() -> None:
    bench = Bench()
    bench.follow()
    bench.leader_and_isr(state(1, 1, replicas=(1, 2, 3)))
    assert bench.leader_and_isr(state(1, 2)).partitions == ((TP, Errors.NONE),)


def test_what_is_added_and_removed_is_the_last_requests() -> None:
    """KIP-455: both leaders and followers adopt RS, AR and RR; a stale request changes nothing."""
    bench = Bench()
    moving = evolve(state(0, 1, replicas=(0, 1, 2, 3)), adding=(3,), removing=(2,))
    bench.leader_and_isr(moving)
    assert (bench.partition.adding, bench.partition.removing) == ((3,), (2,))
    assert list(bench.partition.remotes) == [1, 2, 3]
    bench.leader_and_isr(state(0, 1))
    assert bench.partition.adding == (3,)
    bench.manager.metadata.live_brokers = (0, 1, 2, 3)
    bench.leader_and_isr(evolve(moving, leader=1, leader_epoch=2))
    assert (bench.partition.is_leader, bench.partition.adding) == (False, (3,))
    bench.leader_and_isr(state(0, 3, replicas=(0, 1, 3)))
    assert not bench.partition.adding + bench.partition.removing
    assert list(bench.partition.remotes) == [1, 3]


def test_clients_learn_from_any_broker_which_is_the_controller() -> None:
    assert MetadataCache().answer(MetadataRequest(())).controller == NO_CONTROLLER
    bench = Bench()
    update_metadata(bench)
    ask = bench.manager.metadata.answer
    nothing, everything = ask(MetadataRequest(())), ask(MetadataRequest(None))
    assert (nothing.controller, everything.controller) == (9, 9)
    assert (nothing.partitions, [state.tp for state in everything.partitions]) == ((), [OTHER])


# -- roles -----------------------------------------------------------------------------------------------------


def test_a_follower_fetches_from_its_high_watermark() -> None:
    bench = Bench()
    log = Log(LogDirectory(bench.node.disk), TP)
    for base in range(5):
        log.append(batch(base))
    bench.manager.logs.directories[0].high_watermarks.put(TP, 3)
    seen = bench.see(BecameFollower)
    bench.follow(leader=1, epoch=4)
    start = bench.fetchers.added[0]
    assert (start.leader, start.leader_epoch, start.offset, start.log) == (1, 4, 3, bench.partition)
    assert (seen[0].log_end_offset, seen[0].high_watermark) == (5, 3)


def test_the_high_watermark_recovered_is_never_behind_the_log() -> None:
    bench = Bench()
    bench.manager.logs.directories[0].high_watermarks.put(TP, 8)
    assert bench.follow().high_watermark == 0


def test_a_leader_removes_its_fetcher_and_records_where_its_epoch_begins() -> None:
    bench = Bench()
    bench.follow(leader=1, epoch=0)
    partition = bench.partition
    partition.append_as_follower((batch(0), batch(1)), 1)
    bench.fetchers.removed.clear()
    seen = bench.see(BecameLeader)
    bench.lead(1)
    assert bench.fetchers.removed == [TP]
    assert partition.epoch_start_offset == 2
    assert partition.end_offset_for_epoch(0) == (0, 2)
    assert (seen[0].leader_epoch, seen[0].log_end_offset, seen[0].high_watermark) == (1, 2, 1)


def test_a_leader_that_is_not_alive_is_not_followed_and_its_epoch_not_recorded() -> None:
    bench = Bench()
    bench.follow(leader=1, epoch=0)
    bench.fetchers.removed.clear()
    request = state(7, 1)
    assert bench.leader_and_isr(request).partitions == ((TP, Errors.NONE),)
    assert (bench.partition.leader, bench.partition.leader_epoch) == (1, 0)
    assert not bench.fetchers.removed
    bench.manager.metadata.live_brokers = (0, 1, 2, 7)
    assert bench.leader_and_isr(request).partitions == ((TP, Errors.NONE),)
    assert (bench.partition.leader, bench.partition.leader_epoch) == (7, 1)


def test_before_kafka_2738_a_request_says_itself_which_leaders_are_alive() -> None:
    """The metadata that names a broker which has just registered comes after it."""
    bench = Bench(BrokerPolicies(request_names_live_leaders=True))
    bench.manager.metadata.live_brokers = ()
    bench.send(LeaderAndIsrRequest(9, 1, -1, (state(1, 0),), (1,)))
    assert (bench.partition.leader, bench.partition.leader_epoch) == (1, 0)
    bench.send(LeaderAndIsrRequest(9, 1, -1, (state(2, 1),), ()))
    assert (bench.partition.leader, bench.partition.leader_epoch) == (1, 0)


def test_leaders_are_made_before_followers_and_idle_threads_end_last() -> None:
    bench = Bench()
    seen: list[object] = []
    bench.trace.fold(BecameLeader, seen.append)
    bench.trace.fold(BecameFollower, seen.append)
    bench.leader_and_isr(state(1, 0), state(0, 0, tp=OTHER))
    assert [type(event) for event in seen] == [BecameLeader, BecameFollower]
    assert bench.fetchers.swept == 1


# -- delayed requests------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delete", [True, False])
def test_before_kafka_9198_a_stop_leaves_delayed_produces_to_their_timeout(delete: bool) -> None:
    bench = Bench(BrokerPolicies(stop_answers_waiting=False))
    partition = bench.lead(0)
    line = bench.produce(acks=-1)
    stop(bench, delete)
    assert partition.is_leader is not delete
    assert not line.replies
    bench.expire_produces(partition)
    response: ProduceResponse = line.last
    assert response.partitions == ((TP, Errors.REQUEST_TIMED_OUT, 0),)


def test_a_replica_that_is_deleted_and_comes_back_answers_those_that_still_wait() -> None:
    """2.3, seed 10332 of the default swarm under kip-461: a leader that knew too late that it was one no more."""
    bench = Bench(BrokerPolicies(stop_answers_waiting=False))
    bench.lead(0)
    line = bench.produce(acks=-1)
    stop(bench, True)
    assert not line.replies
    bench.follow(leader=1, epoch=1)
    assert line.last.partitions == ((TP, Errors.NOT_LEADER_FOR_PARTITION, 0),)


def test_a_fetch_under_the_old_epoch_is_fenced_even_if_nothing_is_new() -> None:
    bench = Bench()
    bench.lead(0)
    follower = bench.follower(1)
    follower.at(0)
    bench.lead(1, version=1)
    assert follower.answer(0) is None  # a new epoch alone completes no parked fetch
    answer = follower.expire()
    assert answer is not None
    assert answer.partitions[0].error is Errors.FENCED_LEADER_EPOCH


def test_a_deleted_replica_leaves_nothing_on_the_disk() -> None:
    bench = Bench()
    bench.lead(0, isr=(0,))
    bench.produce()
    seen = bench.see(ReplicaStopped)
    assert stop(bench, True).partitions == ((TP, Errors.NONE),)
    assert TP not in bench.manager.partitions
    assert Log(LogDirectory(bench.node.disk), TP).end_offset == 0
    assert bench.manager.logs.directories[0].high_watermarks.get(TP) == 0
    assert [event.deleted for event in seen] == [True]


@pytest.mark.parametrize("delete", [True, False])
@pytest.mark.parametrize(
    ("epochs", "stopped"), [((), True), ((-1,), True), ((-2,), True), ((4,), False), ((5,), False), ((6,), True)]
)
def test_kip_570_a_late_stop_is_refused_by_its_leader_epoch(
    epochs: tuple[int, ...], stopped: bool, delete: bool
) -> None:
    """The epoch is older than, or equal to, the one that this broker follows. A request without an epoch, for a
    partition that never had a leader or for a topic that is being deleted is not compared."""
    bench = Bench()
    bench.follow(leader=1, epoch=5)
    bench.fetchers.removed.clear()
    seen = bench.see(ReplicaStopped)
    response = stop(bench, delete, leader_epochs=epochs)
    assert response.partitions == ((TP, Errors.NONE if stopped else Errors.FENCED_LEADER_EPOCH),)
    assert bench.fetchers.removed == ([TP] if stopped else [])
    assert len(seen) == stopped
    assert (TP in bench.manager.partitions) == (not (stopped and delete))


def test_kip_570_a_replica_that_is_not_there_is_stopped_whatever_its_epoch() -> None:
    assert stop(Bench(), True, leader_epochs=(0,)).partitions == ((TP, Errors.NONE),)


def test_a_stopped_leader_goes_on_leading_in_its_own_view() -> None:
    bench = Bench()
    bench.lead(0)
    stop(bench, False)
    assert bench.partition.is_leader
    assert bench.fetchers.removed == [TP, TP]


def test_a_clean_stop_saves_logs_and_high_watermarks() -> None:
    bench = Bench()
    bench.lead(0, isr=(0,))
    bench.produce()
    bench.manager.close()
    bench.node.disk.lose_unflushed()
    bench.restart()
    partition = bench.follow(leader=1, epoch=1)
    assert (partition.log_end_offset, partition.high_watermark) == (1, 1)


def test_c103_a_leader_that_was_restarted_writes_under_its_new_epoch_only() -> None:
    bench = Bench()
    bench.lead(0, isr=(0,))
    bench.produce()
    bench.restart()
    partition = bench.lead(1, isr=(0,))
    bench.produce()
    assert partition.log.epochs.entries == ((0, 0), (1, 1))


def test_C85_deleting_a_replica_that_is_not_there_succeeds() -> None:
    """Its log directory did not exist any more, or the replica was deleted before and the response was lost."""
    bench = Bench()
    assert stop(bench, True).partitions == ((TP, Errors.NONE),)
    bench.lead(0)
    assert stop(bench, True).partitions == stop(bench, True).partitions == ((TP, Errors.NONE),)
    assert TP not in bench.manager.partitions


def test_before_kafka_7164_a_follower_keeps_its_fetcher_only_where_it_had_that_leader() -> None:
    bench = Bench(BrokerPolicies(restarts_every_fetcher=False))
    leaders = (1, 1, 2, 2, ME, 2)
    begins = []
    for epoch, leader in enumerate(leaders):
        bench.fetchers.added.clear()
        bench.leader_and_isr(state(leader, epoch))
        begins.append([start.leader for start in bench.fetchers.added])
    assert begins == [[1], [], [2], [], [], [2]]


@pytest.mark.parametrize("carries_out", [False, True])
@pytest.mark.parametrize("delete", [False, True])
def test_since_kafka_13972_a_stop_of_the_replicas_own_epoch_is_carried_out(carries_out: bool, delete: bool) -> None:
    bench = Bench(BrokerPolicies(stops_in_own_epoch=carries_out))
    bench.follow(epoch=3)
    assert stop(bench, delete, leader_epochs=(2,)).partitions == ((TP, Errors.FENCED_LEADER_EPOCH),)
    expected = Errors.NONE if carries_out else Errors.FENCED_LEADER_EPOCH
    assert stop(bench, delete, leader_epochs=(3,)).partitions == ((TP, expected),)
    assert (TP in bench.manager.partitions) is not (carries_out and delete)
