"""Topic ids at the broker (KIP-516, 2.8): partition.metadata, and LeaderAndIsr for the log of another topic."""

from attrs import evolve

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from tests.brokers.bench import ME, TP, Bench, state

FIRST, SECOND = "AAAAAAAAQACAAAAAAAAAAQ", "AAAAAAAAQACAAAAAAAAAAg"


def told(bench: Bench, epoch: int, topic_id: str, *, is_new: bool = False) -> Errors:
    """The answer to a LeaderAndIsr that makes the broker leader of ``TP``, in a topic with that id."""
    partition = evolve(state(ME, epoch), is_new=is_new)
    request = LeaderAndIsrRequest(9, 1, -1, (partition,), (), {TP.topic: topic_id} if topic_id else {})
    [(_tp, error)] = bench.send(request).last.partitions
    return Errors(error)


def test_a_log_of_another_topic_is_refused_whatever_the_leader_epoch() -> None:
    bench = Bench()
    assert [told(bench, epoch, FIRST) for epoch in (0, 1)] == [Errors.NONE, Errors.NONE]
    for epoch in (0, 1, 5):
        assert told(bench, epoch, SECOND) is Errors.INCONSISTENT_TOPIC_ID
    assert bench.partition.leader_epoch == 1
    assert told(bench, 2, FIRST) is Errors.NONE


def test_the_first_request_of_a_process_neither_checks_nor_sets_the_id() -> None:
    """Partition.checkOrSetTopicId, 2.8.2: there is no log yet. A late request sets the id, too."""
    bench = Bench()
    told(bench, 3, FIRST)
    assert told(bench, 4, SECOND) is Errors.NONE
    bench.restart()
    assert told(bench, 5, FIRST) is Errors.NONE
    assert told(bench, 6, FIRST) is Errors.INCONSISTENT_TOPIC_ID

    bench = Bench()
    told(bench, 3, FIRST)
    assert told(bench, 3, FIRST) is Errors.STALE_CONTROLLER_EPOCH
    assert told(bench, 4, SECOND) is Errors.INCONSISTENT_TOPIC_ID


def test_a_request_without_an_id_is_for_any_log() -> None:
    bench = Bench()
    for epoch in (0, 1):
        told(bench, epoch, FIRST)
    assert told(bench, 2, "") is Errors.NONE
    assert told(bench, 3, SECOND) is Errors.INCONSISTENT_TOPIC_ID


def test_a_deleted_log_takes_its_id_along() -> None:
    bench = Bench()
    for epoch in (0, 1):
        told(bench, epoch, FIRST)
    bench.send(StopReplicaRequest(9, 1, -1, True, (TP,)))
    assert [told(bench, epoch, SECOND) for epoch in (0, 1)] == [Errors.NONE, Errors.NONE]


def of_3_0() -> Bench:
    return Bench(BrokerPolicies(identifies_logs=True))


def test_since_3_0_a_log_has_its_id_from_the_beginning_and_every_request_is_checked() -> None:
    """ReplicaManager.hasConsistentTopicId, Partition.createLogIfNotExists (KAFKA-13132)."""
    bench = of_3_0()
    assert told(bench, 3, FIRST) is Errors.NONE
    assert told(bench, 4, SECOND) is Errors.INCONSISTENT_TOPIC_ID
    bench.restart()
    assert told(bench, 4, SECOND) is Errors.INCONSISTENT_TOPIC_ID
    assert not bench.manager.partitions
    assert told(bench, 4, FIRST) is Errors.NONE


def test_since_3_0_a_request_of_the_same_epoch_gives_an_id_once() -> None:
    bench = of_3_0()
    assert told(bench, 3, "") is Errors.NONE
    assert told(bench, 2, FIRST) is Errors.STALE_CONTROLLER_EPOCH
    assert told(bench, 3, FIRST) is Errors.NONE
    assert told(bench, 3, FIRST) is Errors.STALE_CONTROLLER_EPOCH
    assert told(bench, 4, SECOND) is Errors.INCONSISTENT_TOPIC_ID
    assert bench.partition.leader_epoch == 3
