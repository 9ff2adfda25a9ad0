"""Gauges that follow from other events: what a scrape shows of them, and that they are no rows."""

from __future__ import annotations

from emulator.protocol import events as e
from scenarios.observe.exposition import MetricRows, ShownMetrics

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


def test_they_are_no_rows() -> None:
    rows = MetricRows()
    rows(HISTORY)
    assert rows.rows(11) == []
