"""A controller's gauges after each event, compared with a count over its whole memory."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.controller import Controller
from controller.metrics import is_offline_by_leader, is_offline_by_state
from controller.metrics.controller_metrics import ControllerMetrics, IsOffline, is_imbalanced
from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from controller.states import ReplicaState
from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered, MetricRemoved, TimerUpdated
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run

TP = TopicPartition("orders", 0)
rules = pytest.mark.parametrize("rule", [is_offline_by_state, is_offline_by_leader])


def short(metric: str) -> str:
    return metric.partition("name=")[2]


def shown(lab: Lab, broker: int) -> dict[str, int]:
    """The gauges of one broker as the trace has them."""
    return {short(event.metric): event.value for event in lab.of(GaugeSet) if event.node == broker}


def gauges(lab: Lab, *names: str) -> tuple[int, ...]:
    values = shown(lab, lab.active.id)
    return tuple(values.get(name, 0) for name in names)


@pytest.fixture(autouse=True)
def recounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time the gauges are updated, all is counted again."""
    show = ControllerMetrics.show

    def check(metrics: ControllerMetrics, *, active: bool) -> None:
        show(metrics, active=active)
        context, rule = metrics.context, metrics.is_offline
        everything = list(context.partitions())
        assert list(filter(lambda tp: rule(context, tp), everything)) == sorted(metrics.offline)
        replicas = [replica for topic in context.deletions.queued for replica in context.replicas_of(topic)]
        states = [context.replica_state(*replica) for replica in replicas]
        left = sum(state is not ReplicaState.DELETION_SUCCESSFUL for state in states)
        assert metrics.gauges["ReplicasToDeleteCount"].value == left
        ineligible = states.count(ReplicaState.DELETION_INELIGIBLE)
        assert metrics.gauges["ReplicasIneligibleToDeleteCount"].value == ineligible
        assert list(filter(lambda tp: is_imbalanced(context, tp), everything)) == sorted(metrics.imbalanced)

    monkeypatch.setattr(ControllerMetrics, "show", check)


def play(test: Callable[[Lab], Any], **policies: Any) -> None:
    """With broker 0 as the first controller."""
    run(test, policies=ControllerPolicies(pinned=0, **policies))


@rules
def test_a_partition_without_live_replicas_is_offline(rule: IsOffline) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (2, 1), 1: (1, 2), 2: (0, 1)})
        names = ("OfflinePartitionsCount", "PreferredReplicaImbalanceCount", "GlobalTopicCount", "GlobalPartitionCount")
        assert lab.active.id == 0
        assert gauges(lab, *names) == (0, 0, 1, 3)
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        assert gauges(lab, *names) == (0, 1, 1, 3)
        lab.nodes[1].crash()
        await lab.pass_time(EXPIRY_US)
        assert gauges(lab, *names) == (2, 2, 1, 3)
        lab.restart(1)
        await lab.pass_time(EXPIRY_US)
        assert gauges(lab, *names) == (0, 1, 1, 3)

    play(test, is_offline=rule)


@rules
def test_a_new_controller_knows_what_is_offline(rule: IsOffline) -> None:
    """KAFKA-1068 (0.8.1): right after a failover the count was wrong."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (2,), 1: (1,)})
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        lab.nodes[0].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.active.id == 1
        assert gauges(lab, "ActiveControllerCount", "OfflinePartitionsCount") == (1, 1)

    play(test, is_offline=rule)


def test_a_controller_that_resigns_shows_zeros() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (2,), 1: (1, 0)})
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        before = lab.active
        assert shown(lab, before.id)["OfflinePartitionsCount"] == 1
        await lab.operator.delete("/controller")
        await lab.settle()
        active = [broker for broker in (0, 1) if shown(lab, broker).get("ActiveControllerCount")]
        assert active == [lab.active.id]
        for broker in (0, 1):
            assert shown(lab, broker).get("OfflinePartitionsCount", 0) == int(broker in active)

    play(test)


def test_a_topic_that_is_deleted_is_not_offline() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (1, 2), 1: (2, 1)})
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        names = (
            "OfflinePartitionsCount", "PreferredReplicaImbalanceCount", "TopicsToDeleteCount", "ReplicasToDeleteCount",
            "TopicsIneligibleToDeleteCount", "ReplicasIneligibleToDeleteCount",
        )  # fmt: skip
        assert gauges(lab, *names) == (0, 0, 1, 2, 1, 0), "what could not be deleted is made ready to be tried again"
        lab.restart(2)
        await lab.pass_time(EXPIRY_US)
        assert gauges(lab, *names) == (0, 0, 0, 0, 0, 0)

    play(test)


@pytest.mark.parametrize(("discounts", "shown_then"), [(True, -4), (False, 0)])
def test_a_topic_that_waits_for_its_deletion_is_taken_out_again(discounts: bool, shown_then: int) -> None:
    """ControllerContextTest.testPreferredReplicaImbalanceMetricOnConcurrentTopicDeletion (KAFKA-13572): with its two
    partitions when another topic is to be deleted, and once more when that is done."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (1, 2), 1: (2, 1)})
        await lab.create_topic("payments", {0: (1, 0)})
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        assert gauges(lab, "PreferredReplicaImbalanceCount", "TopicsToDeleteCount") == (0, 1)
        await lab.delete_topic("payments")
        assert gauges(lab, "PreferredReplicaImbalanceCount") == (shown_then,)
        await lab.operator.delete("/controller")
        await lab.settle()
        assert gauges(lab, "PreferredReplicaImbalanceCount") == (0,)

    play(test, discounts_queued_again=discounts)


def test_an_adding_preferred_replica_counts_once_it_is_in_the_isr() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (1, 2)})
        lab.joins = False
        await lab.alter({TP: (0, 1)})
        assert gauges(lab, "PreferredReplicaImbalanceCount") == (0,)
        await lab.write_isr(TP, (1, 2, 0))
        imbalanced = [event.value for event in lab.of(GaugeSet) if "PreferredReplicaImbalance" in event.metric]
        assert imbalanced == [] or imbalanced[-1] == gauges(lab, "PreferredReplicaImbalanceCount")[0]

    play(test, reassignment=Kip455())


def test_every_event_is_timed_in_the_queue_and_at_work() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (1, 2)})
        timed = lab.of(TimerUpdated)
        waits = [event for event in timed if "EventQueueTimeMs" in event.metric]
        works = [event for event in timed if event.metric.endswith("RateAndTimeMs")]
        assert len(waits) == len(works) > 0
        assert any(event.duration_us > 0 for event in works)
        assert shown(lab, 0)["ControllerState"] == 0
        names = {short(event.metric) for event in works}
        assert {"TopicChangeRateAndTimeMs", "ControllerChangeRateAndTimeMs"} <= names

    play(test)


def test_every_broker_has_the_timers_of_every_state() -> None:
    async def test(lab: Lab) -> None:
        found = {event.node: [] for event in lab.of(MetricRegistered)}  # type: dict[int, list[str]]
        for event in lab.of(MetricRegistered):
            if "ControllerStats" in event.metric:
                found[event.node].append(short(event.metric))
        assert found[1] == found[2]
        assert len(found[1]) == 16, "fifteen states and the meter of unclean elections"
        assert "LeaderElectionRateAndTimeMs" in found[1]
        assert "PartitionReassignmentRateAndTimeMs" in found[1]

    play(test)


def test_an_unclean_election_is_counted() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (1, 2)})
        await lab.write_isr(TP, (1,))
        lab.nodes[1].crash()
        await lab.pass_time(EXPIRY_US)
        counts = [event.total for event in lab.of(MeterMarked) if "UncleanLeaderElections" in event.metric]
        assert counts == [1]

    play(test, unclean_leader_election=True)


def test_the_queue_to_each_broker_shows_while_there_is_one() -> None:
    async def test(lab: Lab) -> None:
        timed = [event.metric for event in lab.of(TimerUpdated) if "RequestRateAndQueueTimeMs" in event.metric]
        assert {short(metric) for metric in timed} == {
            f"RequestRateAndQueueTimeMs,broker-id={broker}" for broker in range(3)
        }
        for tp in range(5):
            await lab.create_topic(f"t{tp}", {0: (1, 2)})
        lab.nodes[2].crash()
        await lab.pass_time(200_000)
        await lab.create_topic("orders", {0: (1, 2)})
        await lab.pass_time(EXPIRY_US)
        removed = [short(event.metric) for event in lab.of(MetricRemoved)]
        assert removed == ["QueueSize,broker-id=2", "RequestRateAndQueueTimeMs,broker-id=2"]
        waiting = [event.value for event in lab.of(GaugeSet) if short(event.metric) == "QueueSize,broker-id=2"]
        total = [event.value for event in lab.of(GaugeSet) if short(event.metric) == "TotalQueueSize"]
        assert max(waiting) > 0
        assert total[-1] == 0

    play(test)


def test_one_broker_shows_that_it_is_the_controller() -> None:
    async def test(lab: Lab) -> None:
        controllers: list[Controller] = [lab.controllers[broker] for broker in range(3)]
        assert [shown(lab, c.id).get("ActiveControllerCount", 0) for c in controllers] == [1, 0, 0]

    play(test)
