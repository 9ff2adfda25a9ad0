"""Small runs to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve

from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.manifest import Manifest, write_manifest
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.runs.dataset.run_record import RunRecord, RunSpec
from scenarios.runs.dataset.table_schemas import SCHEMAS
from scenarios.runs.dataset.writer import chunk_name, write_chunk
from tests.scenarios.observe.measures.streams import Stream


def spec(seed: int = 0, strategy: str = "wiki") -> RunSpec:
    return spec_of(Arm(strategy, "kafka-2.3"), seed)


def spec_of(arm: Arm, seed: int, scenario: str = "abc") -> RunSpec:
    return RunSpec.plan(scenario="{}", scenario_digest=scenario, arm=arm, seed=seed, code="code")


def record(seed: int = 0, strategy: str = "wiki") -> RunRecord:
    """One partition on [0,1] that loses a follower after ``seed`` + 1 seconds, of ten."""
    stream = Stream()
    stream.topic("orders", {0: (0, 1)})
    stream.state(0, (0, 1))
    stream.at(1000 * (seed + 1)).state(0, (0,))
    figures = stream.finish(10_000)
    return RunRecord(
        spec=spec(seed, strategy),
        verdict="passed",
        reason="",
        digest=stream.trace.digest(),
        virtual_us=10_000_000,
        events=stream.trace.seq,
        figures=figures,
        tables=stream.measures.tables(),
    )


def manifest(seeds: tuple[int, ...] = (0, 1), **changed: Any) -> Manifest:
    usual = Manifest(
        experiment="e",
        scenario="abc",
        title="a title",
        arms=(Arm("wiki", "kafka-2.3"),),
        seeds=seeds,
    )
    return evolve(usual, **changed)


def write(root: Path, *seeds: int) -> str:
    """Write runs as one chunk of a data set; returns the chunk's name."""
    write_manifest(root, manifest(seeds))
    records = [record(seed) for seed in seeds]
    chunk = chunk_name([record.spec.run_id for record in records])
    write_chunk(root, "e", "wiki", chunk, records)
    return chunk


def write_arm(root: Path, arm: Arm, *seeds: int, scenario: str = "abc", **changed: Any) -> None:
    """Write runs of an arm as one chunk of a data set of ``scenario``."""
    write_manifest(root, manifest(seeds, scenario=scenario, arms=(arm,), **changed))
    records = [evolve(record(seed), spec=spec_of(arm, seed, scenario)) for seed in seeds]
    write_chunk(root, "e", arm.strategy, chunk_name([record.spec.run_id for record in records]), records)


def files(root: Path) -> dict[str, bytes]:
    """Every Parquet file that counts or could, by its place."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.glob("*/*/*/*.parquet"))}


def rows(root: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The content of a data set, however its runs are divided into files: rows of each table, by ``run_id``."""
    data = open_data_set(root)
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for table in SCHEMAS:
        of_table = found.setdefault(table, {})
        for row in read_table(data, table).to_pylist():
            of_table.setdefault(row["run_id"], []).append(row)
    return found
