"""Small runs to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve

from scenarios.runs.dataset.manifest import Manifest, write_manifest
from scenarios.runs.dataset.record import RunRecord, RunSpec
from scenarios.runs.dataset.writer import chunk_name, write_chunk
from tests.scenarios.observe.measures.streams import Stream


def spec(seed: int = 0, strategy: str = "wiki") -> RunSpec:
    return RunSpec.plan(scenario="{}", scenario_digest="abc", profile="kafka-2.3", strategy=strategy, seed=seed)


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
        profile="kafka-2.3",
        strategies=("wiki",),
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


def files(root: Path) -> dict[str, bytes]:
    """Every Parquet file that counts or could, by its place."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.glob("*/*/*/*.parquet"))}
