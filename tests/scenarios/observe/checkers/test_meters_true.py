"""T9: meters of brokers, beside what they count."""

from __future__ import annotations

import pytest

from emulator.metrics import mbean
from emulator.metrics.metric_events import MeterMarked, MetricRegistered, MetricRemoved
from emulator.protocol import events as e
from emulator.protocol.shown import ProduceRefused
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

LEADER, FOLLOWER = 0, 1
LATE_S = 12


def of_topics(name: str, topic: str = "") -> str:
    return mbean("kafka.server", "BrokerTopicMetrics", name, topic=topic)


def of_replicas(name: str) -> str:
    return mbean("kafka.server", "ReplicaManager", name)


def of_requests(name: str, **tags: str) -> str:
    return mbean("kafka.network", "RequestMetrics", name, **tags)


NO_ERRORS = of_requests("ErrorsPerSec", request="Produce", error="NONE")
UNCLEAN = mbean("kafka.controller", "ControllerStats", "UncleanLeaderElectionsPerSec")


class Metered(Cluster):
    """Broker 0 leads orders-0, which broker 1 fetches from it. Both have the meters of all topics."""

    def __init__(self) -> None:
        super().__init__("meters_true")
        self.assigned((0, 1, 2))
        self.leads(LEADER, 1, replicas=(0, 1, 2))
        self.follows(FOLLOWER, LEADER, 1)
        self.fetches()
        names = "BytesInPerSec", "MessagesInPerSec", "BytesOutPerSec", "TotalProduceRequestsPerSec"
        more = "FailedProduceRequestsPerSec", "TotalFetchRequestsPerSec", "ReplicationBytesInPerSec"
        for node in (LEADER, FOLLOWER):
            for name in (*names, *more, "ReplicationBytesOutPerSec", "ReassignmentBytesOutPerSec"):
                self.registers_meter(node, of_topics(name))
            for name in ("IsrExpandsPerSec", "IsrShrinksPerSec", "FailedIsrUpdatesPerSec"):
                self.registers_meter(node, of_replicas(name))
            for api in ("Produce", "FetchConsumer"):
                self.registers_meter(node, of_requests("RequestsPerSec", request=api))
            self.registers_meter(node, NO_ERRORS)
            self.registers_meter(node, UNCLEAN)
        self.passes(6)

    def registers_meter(self, node: int, metric: str) -> None:
        self.emit(MetricRegistered, node, "meter", metric)

    def fetches(self) -> None:
        self.emit(e.FetchPosition, FOLLOWER, *ORDERS_0, LEADER, 1, 0)

    def marks(self, node: int, metric: str, total: int) -> None:
        self.emit(MeterMarked, node, metric, total, 0)

    def counts(self, node: int, **totals: int) -> None:
        """A broker writes meters of the topic, and the same of all topics."""
        for name, total in totals.items():
            self.marks(node, of_topics(name, "orders"), total)
            self.marks(node, of_topics(name), total)

    def found(self, after_s: int = LATE_S) -> list[str]:
        self.passes(after_s)
        return [violation.state for violation in self.violations()]


def replicates(run: Metered) -> Metered:
    """A batch of ten messages and 100 bytes, with all its counts but those of the leader's followers."""
    run.append(LEADER, 0, 1, 1, leader=True)
    run.append(FOLLOWER, 0, 1, 1)
    run.counts(LEADER, BytesInPerSec=100, MessagesInPerSec=10, TotalProduceRequestsPerSec=1)
    run.marks(FOLLOWER, of_topics("ReplicationBytesInPerSec"), 100)
    return run


def test_what_is_counted_is_what_has_happened() -> None:
    run = replicates(Metered())
    run.counts(LEADER, TotalFetchRequestsPerSec=2)
    run.marks(LEADER, of_topics("ReplicationBytesOutPerSec"), 100)
    assert run.found() == []


def test_a_count_that_lacks() -> None:
    assert replicates(Metered()).found(after_s=5) == [], "it is written late"
    assert replicates(Metered()).found() == [
        "broker 0 shows ReplicationBytesOutPerSec = 0, and has had 100 to count for 10 s",
        "broker 0 shows TotalFetchRequestsPerSec of orders = 0, and has had 1 to count for 10 s",
    ]


def test_a_count_that_is_too_large() -> None:
    run = Metered()
    run.append(LEADER, 0, 1, 1, leader=True)
    run.counts(LEADER, BytesInPerSec=200, MessagesInPerSec=10, TotalProduceRequestsPerSec=1)
    assert run.found() == ["broker 0 shows BytesInPerSec of orders = 200, and has had 100 to count"]


def test_a_sum_that_is_none() -> None:
    run = Metered()
    run.marks(LEADER, of_topics("BytesOutPerSec", "orders"), 70)
    run.marks(LEADER, of_topics("BytesOutPerSec", "clicks"), 30)
    run.marks(LEADER, of_topics("BytesOutPerSec"), 70)
    assert run.found() == ["broker 0 shows BytesOutPerSec = 70; its topics have 100 together"]


def test_a_meter_that_ends_begins_again_at_0() -> None:
    run = replicates(Metered())
    run.counts(LEADER, TotalFetchRequestsPerSec=1)
    run.marks(LEADER, of_topics("ReplicationBytesOutPerSec"), 100)
    run.emit(MetricRemoved, LEADER, of_topics("BytesInPerSec", "orders"))
    run.append(LEADER, 10, 2, 1, leader=True)
    run.registers_meter(LEADER, of_topics("BytesInPerSec", "orders"))
    run.marks(LEADER, of_topics("BytesInPerSec", "orders"), 100)
    run.marks(LEADER, of_topics("BytesInPerSec"), 200)
    run.counts(LEADER, MessagesInPerSec=20, TotalProduceRequestsPerSec=2)
    assert run.found() == []


@pytest.mark.parametrize("happens", ["crashes", "pauses", "leaps", "nothing"])
def test_what_excuses_a_count_that_lacks(happens: str) -> None:
    run = Metered()
    run.emit(e.IsrChanged, LEADER, *ORDERS_0, 1, "shrink", (0, 1), 4)
    if happens == "crashes":
        run.emit(e.NodeCrashed, LEADER, 0, "process")
    elif happens == "pauses":
        run.fault("broker.pause", "0")
    elif happens == "leaps":
        run.emit(e.LeapBegan, 0, 0)
    expected = ["broker 0 shows IsrShrinksPerSec = 0, and has had 1 to count for 10 s"]
    assert run.found() == (expected if happens == "nothing" else [])


def test_errors_and_requests_of_producers() -> None:
    run = Metered()
    run.acked(0, 1)
    assert run.found() == [
        "broker 0 shows ErrorsPerSec of NONE = 0, and has had 1 to count for 10 s",
        "broker 0 shows RequestsPerSec of Produce = 0, and has had 1 to count for 10 s",
    ]


@pytest.mark.parametrize(
    ("total", "found"), [(1, []), (2, ["broker 0 shows ErrorsPerSec of NONE = 2, and has had 1 to count"])]
)
def test_no_more_answers_have_no_error_than_batches_were_appended(total: int, found: list[str]) -> None:
    run = Metered()
    run.append(LEADER, 0, 1, 1, leader=True)
    run.counts(LEADER, BytesInPerSec=100, MessagesInPerSec=10, TotalProduceRequestsPerSec=1)
    run.marks(LEADER, NO_ERRORS, total)
    assert run.found() == found


@pytest.mark.parametrize(
    ("counted", "found"), [(0, "0, and has had 1 to count for 10 s"), (1, ""), (2, "2, and has had 1 to count")]
)
def test_unclean_elections_are_those_of_the_controller_in_whose_term_they_are(counted: int, found: str) -> None:
    run = Metered()
    for epoch, broker in ((1, FOLLOWER), (2, LEADER)):
        run.emit(e.ControllerElected, broker, epoch)
    for unclean in (False, True):
        run.emit(e.LeaderElected, *ORDERS_0, 2, 3, (2,), "offline", 2, unclean)
    if counted:
        run.marks(LEADER, UNCLEAN, counted)
    assert run.found() == ([f"broker 0 shows UncleanLeaderElectionsPerSec = {found}"] if found else [])


def test_a_leap_passes_over_requests() -> None:
    run = Metered()
    run.emit(e.LeapBegan, 0, 0)
    run.acked(0, 1)
    assert run.found() == []


def test_a_request_that_has_failed() -> None:
    run = Metered()
    run.show(ProduceRefused, LEADER, *ORDERS_0, -1, "NOT_ENOUGH_REPLICAS")
    run.counts(LEADER, TotalProduceRequestsPerSec=1)
    assert run.found() == ["broker 0 shows FailedProduceRequestsPerSec of orders = 0, and has had 1 to count for 10 s"]
    run = Metered()
    run.show(ProduceRefused, LEADER, *ORDERS_0, -1, "UNKNOWN_TOPIC_OR_PARTITION")
    assert run.found() == []


def test_bytes_for_a_replica_that_a_move_adds() -> None:
    run = Metered()
    run.emit(e.BecameLeader, LEADER, *ORDERS_0, 2, 0, 0, (0,), (0, 1), (FOLLOWER,), ())
    run.passes(6)
    run.append(FOLLOWER, 0, 1, 2)
    run.counts(LEADER, TotalFetchRequestsPerSec=1)
    run.marks(LEADER, of_topics("ReplicationBytesOutPerSec"), 100)
    run.marks(FOLLOWER, of_topics("ReplicationBytesInPerSec"), 100)
    assert run.found() == ["broker 0 shows ReassignmentBytesOutPerSec = 0, and has had 100 to count for 10 s"]


def test_what_a_reader_has_got() -> None:
    run = Metered()
    run.emit(e.Fetched, -3, *ORDERS_0, 0, 10, (1,), LEADER, 1, 10)
    run.counts(LEADER, BytesOutPerSec=100, TotalFetchRequestsPerSec=1)
    assert run.found() == ["broker 0 shows RequestsPerSec of FetchConsumer = 0, and has had 1 to count for 10 s"]


def test_an_answer_of_the_process_before() -> None:
    """wiki-text, seed 7239: a broker was killed and started at once, and what it had answered came later."""
    run = Metered()
    run.emit(e.NodeCrashed, LEADER, 0, "process")
    run.emit(e.NodeStarted, LEADER, 0)
    run.registers_meter(LEADER, NO_ERRORS)
    run.acked(0, 1)
    assert run.found() == []


def test_what_a_paused_follower_takes_later() -> None:
    """kafka-1.1, seed 21020: the leader was restarted while a follower was paused, which then took an answer of the
    leader's process before."""
    run = Metered()
    run.fault("broker.resume", str(FOLLOWER))
    replicates(run)
    assert run.found() == []
