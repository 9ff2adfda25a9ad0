"""The trace of a cluster that a test has driven is what ``run --trace`` leaves."""

from pathlib import Path
from typing import Any

from emulator.kernel import World
from emulator.protocol.events import NodeCrashed
from emulator.trace import Trace
from scenarios.language import Scenario
from scenarios.observe.measures import Measures
from scenarios.runs.dataset.events import read_events
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.runs.runner import Stage, measured_of, prepare
from scenarios.testing.cluster_from_keywords import cluster
from scenarios.testing.virtual_time import in_virtual_time
from tests.docs.pages import ROOT


def test_what_is_measured_afterwards_is_what_is_measured_meanwhile() -> None:
    asked = prepare(Scenario.load(ROOT / "scenarios" / "library" / "controller-dies-mid-move.toml"))
    stage, events = Stage(asked, keep_rows=True), list[Any]()
    stage.cluster.trace.sink(events.extend, as_rows=False)
    stage.play()
    stage.cluster.trace.flush()
    trace = Trace(World(asked.seed))
    measures = Measures(trace, measured_of(asked))
    trace.retrace(events)
    now_us = stage.world.now
    assert measures.finish(now_us) == stage.measures.finish(now_us)
    assert measures.tables() == stage.measures.tables()


def test_a_cluster_writes_its_trace_in_the_midst_of_a_test_and_again(tmp_path: Path) -> None:
    @in_virtual_time(seed=5)
    async def drives() -> None:
        async with cluster(topics={"orders": [[0, 1]]}) as c:
            c.write_trace(tmp_path)
            c.crash(0)
            await c.until(lambda: c.leader("orders-0") == 1)
            c.write_trace(tmp_path, why="because", replay="again")
            seen.append(c.digest)

    seen = list[str]()
    drives()
    data_set = open_data_set(tmp_path)
    assert data_set.manifest.seeds == (5,)
    assert read_table(data_set, "runs")["digest"].to_pylist() == seen
    events = list(read_events(read_table(data_set, "events").sort_by("seq")))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert any(isinstance(event, NodeCrashed) for event in events)
    assert [row["text"] for row in read_table(data_set, "account").to_pylist()] == ["because", "again"]
