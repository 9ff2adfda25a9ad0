"""``spark.read.format("understudy")``: the rows of runs as a DataFrame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructType

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.runs.dataset.table_schemas import SCHEMAS
from scenarios.runs.record import Recording
from scenarios.studies.spark.emulator_source import NAME, EmulatorSource, register
from scenarios.studies.spark.source_options import OPTIONS
from scenarios.studies.spark.source_rows import RunsStream
from tests.docs.pages import text_of

FILE = str(Path(__file__).parents[4] / "scenarios" / "library" / "quick-move.toml")
BOTH = "wiki, kafka-6794"


def source(**options: str) -> EmulatorSource:
    return EmulatorSource({"scenario": FILE, **options})


def rows(asked: EmulatorSource, schema: StructType | None = None) -> list[dict[str, Any]]:
    """All rows, without Spark."""
    reader = asked.reader(schema or asked.schema())
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


@pytest.mark.spark
def test_spark_reads_the_rows_that_a_data_set_has(spark: SparkSession, tmp_path: Path) -> None:
    scenario = Scenario.load(FILE)
    for strategy in ("wiki", "kafka-6794"):
        scenario.run(seed=3, strategy=strategy, trace_dir=tmp_path)
    register(spark)
    read = spark.read.format(NAME).options(seeds="3", strategies=BOTH, experiment="run")
    frame = read.option("table", "isr_events").load(FILE)
    expected = read_table(open_data_set(tmp_path), "isr_events").to_pylist()
    found = [row.asDict() for row in frame.drop("experiment", "strategy", "profile", "grid").collect()]
    assert len(found) > 10
    assert sorted(found, key=str) == sorted(expected, key=str)


@pytest.mark.spark
def test_a_stream_hands_out_the_seeds_in_micro_batches(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    stream = spark.readStream.format(NAME).options(scenario=FILE, seeds="0:3", runsPerBatch="2").load()
    written = stream.select("seed").writeStream.format("memory").queryName("seeds_of_a_stream")
    query = written.trigger(availableNow=True).start()
    query.awaitTermination()
    assert sorted(row.seed for row in spark.table("seeds_of_a_stream").collect()) == [0, 1, 2]
    assert [progress.numInputRows for progress in query.recentProgress] == [2, 1]


def test_partitions_are_runs_and_a_seed_s_strategies_are_neighbours() -> None:
    asked = source(seeds="0:30", strategies=BOTH, runsPerPartition="25")
    parts = asked.reader(asked.schema()).partitions()
    assert [len(part.value) for part in parts] == [25, 25, 10]
    assert [(spec.seed, spec.arm.strategy) for spec in parts[0].value][:3] == [
        (0, "wiki"), (0, "kafka-6794"), (1, "wiki"),
    ]  # fmt: skip
    assert len({spec.run_id for part in parts for spec in part.value}) == 60


def test_every_combination_of_the_axes_is_an_arm_and_its_rows_say_which() -> None:
    grid = "strategy.throttle=10MB/s,20MB/s; horizon=2m"
    found = rows(source(seeds="1", strategies=BOTH, profiles="kafka-2.3, kafka-2.4", grid=grid, table="moves"))
    arms = [(row["strategy"], row["profile"], row["grid"]) for row in found]
    points = [f'{{"strategy.throttle": "{rate}MB/s", "horizon": "2m"}}' for rate in (10, 20)]
    both = ("wiki", "kafka-6794")
    assert arms == [(name, f"kafka-2.{n}", point) for name in both for n in (3, 4) for point in points]
    assert len({row["run_id"] for row in found}) == 8


def test_a_schema_of_the_reader_chooses_columns() -> None:
    schema = StructType().add("strategy", StringType()).add("seed", LongType())
    assert rows(source(seeds="4:6"), schema) == [{"strategy": "wiki", "seed": 4}, {"strategy": "wiki", "seed": 5}]


@pytest.mark.parametrize("table", ["runs", "replica_lag", *Recording.TABLES])
def test_every_kind_of_table_has_its_columns(table: str) -> None:
    found = rows(source(seeds="1", table=table))
    assert found
    arm = [name for name in ("profile", "grid") if name not in SCHEMAS[table].names]
    assert list(found[0]) == [*SCHEMAS[table].names, "experiment", "strategy", *arm]
    assert {(row["experiment"], row["strategy"]) for row in found} == {("sweep", "wiki")}


def test_offsets_of_a_stream_end_with_the_seeds() -> None:
    asked = source(seeds="0:5", strategies=BOTH, runsPerBatch="4")
    stream = asked.streamReader(asked.schema())
    assert isinstance(stream, RunsStream)
    offsets = [stream.initialOffset()]
    while (after := stream.latestOffset(offsets[-1], stream.getDefaultReadLimit())) != offsets[-1]:
        offsets.append(after)
    assert [offset["runs"] for offset in offsets] == [0, 4, 8, 10]
    seeds = [spec.seed for part in stream.partitions(offsets[1], offsets[2]) for spec in part.value]
    assert seeds == [2, 2, 3, 3]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"sedes": "0:3"}, "option: there is no option 'sedes'; did you mean 'seeds'?"),
        ({"seeds": "0-3"}, "option seeds: '0-3' names no seeds; write A:B such as 0:20, or one number"),
        ({"seeds": "3:3"}, "option seeds: '3:3' are 0 seeds; write at least one, at most 10000000"),
        ({"strategies": "wikki"}, "option strategies: unknown strategy 'wikki'; did you mean 'wiki'?"),
        ({"strategies": "wiki,wiki"}, "option strategies: names wiki twice; name it once"),
        ({"profiles": "kafka-2,3"}, "option profiles: unknown profile 'kafka-2'; did you mean 'kafka-2.8'?"),
        (
            {"grid": "horizon"},
            (
                "option grid: 'horizon' names no key with its values; write KEY=A,B such as "
                "strategy.throttle=10MB/s,20MB/s"
            ),
        ),
        ({"grid": "horizn=1m,2m"}, "option grid horizn=1m: unknown key 'horizn'; did you mean 'horizon'?"),
        ({"grid": "seed=1,2"}, "option grid seed: seeds are no key of the grid; write --seeds A:B"),
        ({"table": "run"}, "option table: there is no table 'run'; did you mean 'runs'?"),
        ({"runsPerPartition": "0"}, "option runsPerPartition: '0' is no number from 1; write one such as 1"),
        ({"path": FILE}, "option scenario: is named twice, by the option and by load(FILE); leave one out"),
    ],
)
def test_a_wrong_option_is_one_line(options: dict[str, str], line: str) -> None:
    with pytest.raises(BadInput) as caught:
        source(**options).schema()
    assert str(caught.value) == line


def test_a_scenario_is_needed() -> None:
    with pytest.raises(BadInput, match="option scenario: is missing; name the file of a scenario"):
        EmulatorSource({}).schema()


def test_columns_that_the_table_lacks_are_refused() -> None:
    asked = source(table="runs")
    with pytest.raises(BadInput, match="table 'runs' has no column 'sed'; did you mean 'seed'"):
        asked.reader(StructType().add("sed", LongType()))
    with pytest.raises(BadInput, match="column 'seed' is of type bigint"):
        asked.reader(StructType().add("seed", StringType()))


def test_the_page_names_every_option() -> None:
    text = text_of("spark.md")
    assert [line for name, help in OPTIONS.items() if (line := f"| `{name}` | {help} |") not in text] == []
