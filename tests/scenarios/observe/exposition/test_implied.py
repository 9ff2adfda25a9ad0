"""Gauges that follow from other events: what a scrape shows of them, and that they are no rows."""

from __future__ import annotations

import pytest

from emulator.metrics.metric_events import MeterMarked, MetricRegistered
from emulator.protocol import events as e
from emulator.trace.events import ZkSession
from scenarios.observe.exposition import MetricRows, ShownMetrics
from scenarios.observe.exposition.implied import REQUESTS, with_version
from scenarios.observe.exposition.shown import IMPLIED_METER
from scenarios.wire.released_versions import error_names

LOG = "kafka.log:type=Log,name={},topic=orders,partition=0"
STATE = "kafka.server:type=KafkaServer,name=BrokerState"
OFFLINE = "kafka.log:type=LogManager,name=OfflineLogDirectoryCount"
UNDER = "kafka.cluster:type=Partition,name=UnderReplicated,topic=orders,partition=0"
HISTORY = [
    e.NodeStarted(0, 1, 0, 7, 1),
    e.BrokerRegistered(1, 2, 0, 7, 40),
    e.LogLoaded(2, 3, 0, 7, "orders", 0, 0, 100, 100),
    e.BecameFollower(3, 4, 0, 7, "orders", 0, 5, 1, 100, 100),
    e.BatchesAppended(4, 5, 0, 7, "orders", False, (0, 0), (5, 5), (100, 110), (110, 130), (1, 2), (9, 9)),
    e.Truncated(5, 7, 0, 7, "orders", 0, 6, 120, 100),
    e.LogStartMoved(6, 8, 0, 7, "orders", 0, 50, "time"),
    e.ControlledShutdownAnswered(7, 9, 0, 7, 1, 1, "NONE", 0),
    e.LogDirFailed(8, 10, 0, 7, "logs-1", "disk", 0, False),
    e.ReplicaStopped(9, 11, 0, 7, "orders", 0, True),
    e.NodeCrashed(10, 12, 0, 7, 1, "process"),
]


def shown(upto_us: int, *lacks: str) -> dict[str, float]:
    metrics = ShownMetrics(lacks)
    metrics.see(HISTORY, upto_us)
    return {name: metric.value for name, metric in metrics.metrics(7, upto_us)}


def test_since_kafka_10223_one_error_has_another_name() -> None:
    name = "kafka.network:type=RequestMetrics,name=ErrorsPerSec,request=Produce,error="
    shown = {}
    for release in ("2.5.1", "2.6.3"):
        metrics = ShownMetrics(errors=error_names(release))
        for error in ("NOT_LEADER_FOR_PARTITION", "NONE"):
            metrics.see([MetricRegistered(1, 1, 0, 0, "meter", f"{name}{error}")])
        shown[release] = [found.removeprefix(name) for found, _ in metrics.metrics(0, 1)]
    assert shown == {"2.5.1": ["NONE", "NOT_LEADER_FOR_PARTITION"], "2.6.3": ["NONE", "NOT_LEADER_OR_FOLLOWER"]}


def test_what_a_broker_is_doing() -> None:
    assert [shown(at).get(STATE) for at in (0, 1, 7, 10)] == [1, 3, 6, None]


def test_where_a_log_begins_and_ends() -> None:
    ends = [shown(at).get(LOG.format("LogEndOffset")) for at in range(1, 10)]
    assert ends == [None, 100, 100, 130, 120, 120, 120, 120, None]
    assert [shown(at).get(LOG.format("LogStartOffset")) for at in (5, 6)] == [0, 50]


def test_how_many_log_directories_have_failed() -> None:
    assert [shown(at)[OFFLINE] for at in (7, 8)] == [0, 1]
    assert shown(8)["kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory=logs-1"] == 1


def test_a_replica_that_has_never_led_shows_zero() -> None:
    assert [shown(at).get(UNDER) for at in (2, 3)] == [None, 0]
    assert UNDER not in shown(3, "UnderReplicated")


THREAD = (
    "kafka.server:type=FetcherStats,name=RequestsPerSec,clientId=ReplicaFetcherThread-0-7,brokerHost=b,brokerPort=1"
)
COPIES = THREAD.replace("ReplicaFetcherThread", "ReplicaAlterLogDirsThread")
ASKED = [
    e.NodeStarted(0, 1, 0, 7, 1),
    e.ControlResponse(1, 2, 0, "LeaderAndIsr", 7, 0, 1, "NONE", (), ()),
    e.ControlResponse(2, 3, 0, "LeaderAndIsr", 7, 0, 1, "STALE_CONTROLLER_EPOCH", (), ()),
    MetricRegistered(2, 4, 0, 8, "meter", THREAD),
    MeterMarked(1_000_003, 5, 0, 8, THREAD, 10, 3),
    MeterMarked(2_000_003, 6, 0, 8, THREAD, 14, 1_000_003),
    MeterMarked(2_000_003, 7, 0, 7, COPIES, 14, 1_000_003),
    MetricRegistered(3_000_000, 8, 0, 8, "meter", THREAD),
    MeterMarked(4_000_000, 9, 0, 8, THREAD, 5, 3_000_000),
    e.NodeCrashed(5_000_000, 10, 0, 7, 1, "process"),
    MeterMarked(5_000_001, 11, 0, 8, THREAD, 6, 4_000_001),
]


@pytest.mark.parametrize(
    ("versions", "leader_and_isr", "fetch"),
    [
        ({}, "LeaderAndIsr", "FetchFollower"),
        ({"LeaderAndIsr": 4, "Fetch": 11}, "LeaderAndIsr,version=4", "FetchFollower,version=11"),
    ],
)
def test_requests_of_controllers_and_followers(versions: dict[str, int], leader_and_isr: str, fetch: str) -> None:
    """A follower's thread begins at 0 again, copies between directories ask no leader, one that is down has none."""
    metrics = ShownMetrics(versions=versions)
    metrics.see(ASKED, 4_000_000)
    found = {name: metric for name, metric in metrics.metrics(7, 4_000_000) if name.startswith(REQUESTS)}
    assert {name: (metric.kind, metric.value) for name, metric in found.items()} == {
        REQUESTS + leader_and_isr: (IMPLIED_METER, 2),
        REQUESTS + fetch: (IMPLIED_METER, 19),
        REQUESTS + fetch.replace("Follower", ""): (IMPLIED_METER, 19),
    }
    assert found[REQUESTS + fetch].spans[:2] == [(3, 1_000_003, 10), (1_000_003, 2_000_003, 4)]
    metrics.see(ASKED[9:])
    assert not list(metrics.metrics(7, 5_000_001))


def test_all_fetches_are_those_of_consumers_and_followers() -> None:
    consumers = REQUESTS + "FetchConsumer"
    metrics = ShownMetrics(versions={"Fetch": 11})
    metrics.see([
        *ASKED[:6], MetricRegistered(1, 7, 0, 7, "meter", consumers), MeterMarked(3_000_003, 8, 0, 7, consumers, 5, 7),
        MeterMarked(4_000_003, 9, 0, 7, consumers, 8, 3_000_003),
    ])  # fmt: skip
    found = {name: metric.value for name, metric in metrics.metrics(7, 4_000_003) if "request=Fetch" in name}
    assert found == {
        f"{REQUESTS}Fetch,version=11": 22, f"{REQUESTS}FetchConsumer,version=11": 8,
        f"{REQUESTS}FetchFollower,version=11": 14,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("versions", "name"),
    [
        ({}, "AlterIsr"),
        ({"AlterPartition": 0}, "AlterIsr,version=0"),
        ({"AlterPartition": 3}, "AlterPartition,version=3"),
    ],
)
def test_alter_isr_got_another_name(versions: dict[str, int], name: str) -> None:
    assert with_version(f"{REQUESTS}AlterIsr", versions) == REQUESTS + name


def test_sessions_that_have_expired() -> None:
    """A process has learned of it when it makes the next session; a restart makes its first one."""

    def session(t_us: int, state: str) -> ZkSession:
        return ZkSession(t_us, t_us, 0, 7, t_us, state)

    metrics, found = ShownMetrics(), []
    for event in (
        e.NodeStarted(0, 1, 0, 7, 1), session(1, "created"), session(2, "expired"), session(3, "created"),
        e.NodeCrashed(4, 12, 0, 7, 1, "process"), e.NodeStarted(5, 1, 0, 7, 2), session(6, "created"),
    ):  # fmt: skip
        metrics.see([event])
        shown = dict(metrics.metrics(7, event.t_us)).get(
            "kafka.server:type=SessionExpireListener,name=ZooKeeperExpiresPerSec"
        )
        found.append(None if shown is None else shown.value)
    assert found == [0, 0, 0, 1, None, 0, 0]


@pytest.mark.parametrize("history", [HISTORY, ASKED])
def test_they_are_no_rows(history: list[object]) -> None:
    rows = MetricRows()
    rows(history)
    assert not [row for row in rows.rows(11) if row.node == 7 and row.name != COPIES]
