"""Series beneath the Gantt, from written rows."""

from __future__ import annotations

import pyarrow as pa

from emulator.trace.events import ZkWritten
from scenarios.runs.dataset.table_schemas import SCHEMAS
from scenarios.studies.report.run import drawn_series
from scenarios.studies.report.run.drawn_series import Bins
from scenarios.studies.report.run.role_spans import TimeSpan

SECOND = 1_000_000


def test_bins_are_as_narrow_as_their_number_allows() -> None:
    assert Bins.over(17_500_000) == Bins(100_000, 175)
    assert Bins.over(600 * SECOND) == Bins(2 * SECOND, 300)
    assert Bins.over(5 * SECOND, SECOND) == Bins(SECOND, 5)
    assert Bins.over(0) == Bins(100_000, 1)


def meters(rows: list[tuple[int, int, int]]) -> pa.Table:
    name = drawn_series.METERS["written"]
    return pa.Table.from_pylist(
        [
            {"t_us": t_us, "w_us": 0, "node": node, "kind": "meter", "name": name, "value": value}
            for t_us, node, value in rows
        ],
        schema=SCHEMAS["broker_metrics"],
    )


def test_throughput_is_the_growth_of_all_brokers_and_begins_again_after_a_restart() -> None:
    rows = meters(
        [(0, 0, 0), (SECOND, 0, 100), (2 * SECOND, 0, 300), (3 * SECOND, 0, 0), (4 * SECOND, 0, 50), (SECOND, 1, 7)]
    )
    found = drawn_series.throughput(rows, 4 * SECOND)
    assert found["bin_us"] == SECOND
    assert found["lines"] == {"written": [107, 200, 0, 50]}


def test_the_throttle_is_the_highest_rate_of_a_broker() -> None:
    def written(t_us: int, broker: int, config: str) -> ZkWritten:
        data = f'{{"version":1,"config":{{{config}}}}}'
        return ZkWritten(t_us, t_us, 0, -2, "setData", f"/config/brokers/{broker}", 1, 1, data)

    rate = '"leader.replication.throttled.rate":"{}"'
    events = [written(1, 0, rate.format(10)), written(2, 1, rate.format(30)), written(5, 1, ""), written(8, 0, "")]
    assert drawn_series.throttles(events, 10) == [TimeSpan(1, 2, "10"), TimeSpan(2, 5, "30"), TimeSpan(5, 8, "10")]
    assert drawn_series.throttles(events[:1], 10) == [TimeSpan(1, 10, "10")]


def lags(rows: list[tuple[int, int, int, int]]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {"t_us": t_us, "w_us": w_us, "topic": "orders", "partition": 0, "node": node, "leader": 0, "true_lag": lag}
            for t_us, w_us, node, lag in rows
        ],
        schema=SCHEMAS["replica_lag"],
    )


def test_a_lag_counts_in_every_bin_in_which_it_held() -> None:
    rows = [(0, 150_000, 1, 5), (150_000, 100_000, 1, 9), (250_000, 50_000, 1, 0), (400_000, 100_000, 1, 3)]
    assert drawn_series.lags(lags(rows), 500_000)["lines"] == {"orders-0 on broker 1": [5, 9, 9, 0, 3]}


def test_followers_with_little_lag_are_drawn_together() -> None:
    rows = [(0, 100_000, node, node) for node in range(9)]
    found = drawn_series.lags(lags(rows), 100_000)
    assert list(found["lines"])[:2] == ["orders-0 on broker 8", "orders-0 on broker 7"]
    assert found["lines"][drawn_series.OTHERS] == [2]
    assert found["others"] == 2


def test_latencies_are_those_of_acknowledged_batches_and_errors_are_counted_by_name() -> None:
    def batch(t_us: int, latency_us: int, outcome: str = "acked", error: str = "NONE") -> dict[str, object]:
        return {"t_us": t_us, "latency_us": latency_us, "outcome": outcome, "error": error}

    rows = [batch(1, 2_000), batch(2, 4_000), batch(SECOND, 9, "expired", "TIMED_OUT"), batch(SECOND, 9, "unfinished")]
    found = drawn_series.produced(rows, 2 * SECOND)
    assert found["lines"]["median"] == [3.0, None]
    assert found["lines"]["slowest"] == [4.0, None]
    assert found["errors"] == [[1, "TIMED_OUT", 1]]
    assert drawn_series.produced([], SECOND)["lines"] == {}
