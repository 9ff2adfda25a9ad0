"""Times and history of ISRs, from rows written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.testing import assertDataFrameEqual

from scenarios.studies.spark.aggregations.isr import any_partition, at_once, in_states, isr_times
from scenarios.studies.spark.aggregations.isr_history import flaps, unnecessary_elections
from scenarios.studies.spark.aggregations.recoveries import episodes, recoveries, worst
from tests.scenarios.studies.spark.aggregations.rows import RUN, table, values

pytestmark = pytest.mark.spark

REPLICAS = [0, 1, 2]


def state(begin: int, end: int, isr: list[int], leader: int = 0, **other: Any) -> dict[str, Any]:
    """A row of ``isr_events`` from second to second."""
    usual = {"assignment": REPLICAS, "original": [], "target": [], "min_isr": 2, "seq": begin}
    return {
        "t_us": begin * 1_000_000,
        "w_us": (end - begin) * 1_000_000,
        "isr": isr,
        "leader": leader,
        **usual,
        **other,
    }


def test_each_state_is_summed_over_partitions_and_counted_once_on_the_wall(spark: SparkSession) -> None:
    rows = table(
        spark,
        "isr_events",
        state(0, 10, REPLICAS),
        state(10, 14, [0, 1]),
        state(14, 20, [0]),
        state(20, 20, [], -1),  # lasts no time
        state(20, 21, [0], -1),
        state(0, 12, REPLICAS, partition=1),
        state(12, 17, [0, 1], partition=1),
        state(17, 18, [0, 1, 2, 3], partition=1, assignment=[0, 1, 2, 3], original=REPLICAS, target=[0, 1, 3]),
    )
    s = 1_000_000
    assertDataFrameEqual(
        isr_times(rows).select(
            "under_replicated_final_us", "under_min_isr_us", "at_min_isr_us", "last_replica_us", "offline_us",
            "excess_isr_us", "extra_replica_us", "peak_replicas",
        ),
        [values(16 * s, 7 * s, 9 * s, 7 * s, s, s, s, 4)],
    )  # fmt: skip
    assertDataFrameEqual(
        any_partition(rows),
        [
            Row(
                run_id=RUN, under_replicated_any_us=11 * s, under_min_isr_any_us=7 * s, at_min_isr_any_us=7 * s,
                offline_any_us=s, excess_isr_any_us=s, last_replica_any_us=7 * s, under_replicated_peak=2,
                under_replicated_until_us=21 * s,
            )
        ],
    )  # fmt: skip


def test_intervals_become_steps_up_and_down(spark: SparkSession) -> None:
    rows = table(spark, "isr_events", state(1, 4, [0]), state(2, 5, [0], partition=1), state(5, 6, [0], partition=1))
    counted = at_once(in_states(rows).where("state = 'last_replica'")).orderBy("t_us")
    assert [(row["t_us"] // 1_000_000, row["count"]) for row in counted.collect()] == [
        (1, 1), (2, 2), (4, 1), (5, 1), (6, 0)
    ]  # fmt: skip


def test_flaps_are_replicas_that_come_back_within_a_minute(spark: SparkSession) -> None:
    rows = table(
        spark,
        "isr_events",
        state(0, 1, REPLICAS),
        state(1, 2, [0]),
        state(2, 61, [0, 1]),  # 1 is back after a second
        state(61, 62, [0, 1, 2]),  # 2 after a minute
        state(62, 63, [0, 1]),
        state(63, 200, [0, 1, 3]),  # 3 has never left
        state(200, 201, [0, 1, 2, 3]),  # 2 again, after too long
        state(0, 5, [0, 1], run_id="run-b"),
    )
    assertDataFrameEqual(flaps(rows), [Row(run_id=RUN, isr_flaps=2)])


def test_an_election_is_unnecessary_where_the_old_leader_stays_in_sync_and_wanted(spark: SparkSession) -> None:
    rows = table(
        spark,
        "isr_events",
        state(0, 1, REPLICAS, 0),
        state(1, 2, REPLICAS, 1),  # 0 stays
        state(2, 3, [0, 2], 2),  # 1 has left
        state(3, 4, [0, 2], -1),
        state(4, 5, [0, 2], 0),  # there was none before
        state(5, 6, REPLICAS, 0, original=REPLICAS, target=[1, 2, 3]),
        state(6, 7, REPLICAS, 1, original=REPLICAS, target=[1, 2, 3]),  # 0 is not in the target
    )
    assertDataFrameEqual(unnecessary_elections(rows), [Row(run_id=RUN, unnecessary_elections=1)])


def test_recoveries_of_each_fault(spark: SparkSession) -> None:
    isr = table(
        spark,
        "isr_events",
        state(0, 7, REPLICAS),
        state(7, 8, [0, 1]),
        state(8, 9, [0]),
        state(9, 10, REPLICAS),
        state(10, 11, [0, 1]),
        state(11, 25, REPLICAS),
        state(25, 30, [0, 1]),
    )
    faults = table(
        spark,
        "faults",
        {"t_us": 1_000_000, "seq": 1, "action": "broker.crash", "target": "2"},
        {"t_us": 8_000_000, "seq": 2, "action": "broker.start", "target": "2"},
        {"t_us": 10_500_000, "seq": 3, "action": "link.cut", "target": "1"},
        {"t_us": 20_000_000, "seq": 4, "action": "zk.expire", "target": "0"},
    )
    runs = table(spark, "runs", {"virtual_us": 30_000_000})
    assertDataFrameEqual(
        episodes(isr).select(F.col("begin_us") / 1e6, F.col("end_us") / 1e6),
        [values(7.0, 9.0), values(10.0, 11.0), values(25.0, 30.0)],
    )
    found = recoveries(faults, isr, runs)
    assertDataFrameEqual(
        found.select("action", F.col("recovery_us") / 1e6, "recovered"),
        [values("broker.crash", 10.0, True), values("link.cut", 0.5, True), values("zk.expire", 10.0, False)],
    )
    assertDataFrameEqual(worst(faults, isr, runs), [Row(run_id=RUN, recovery_max_us=10_000_000, unrecovered_faults=1)])
