"""One run of the atlas: the undisturbed move, or a cell of it."""

from __future__ import annotations

from attrs import frozen

from emulator.kernel.collector import collector_off
from emulator.protocol.types import TopicPartition
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.observe.timeline.timeline import lines
from scenarios.runs.runner import Stage, prepare
from scenarios.studies.atlas.move_recorder import MoveRecorder
from scenarios.studies.atlas.plans import PARTITION
from scenarios.studies.atlas.run_summary import RunSummary, summarize


@frozen
class CellRun:
    """The run of a cell. ``digest``: the digest of the run's events; ``timeline``: the partition's, beginning with the
    request for the move."""

    summary: RunSummary
    digest: str
    timeline: tuple[str, ...]


@collector_off()
def execute(scenario: Scenario) -> CellRun:
    """Run a scenario that moves ``orders-0`` and record the move."""
    stage = Stage(prepare(scenario))
    tp, protocol = TopicPartition.parse(PARTITION), scenario.strategy.parsed.protocol
    recorder = MoveRecorder.of(tp, protocol, stage.cluster.trace, stage.measures.past)
    stage.play()
    summary = summarize(stage, recorder)
    digest = stage.cluster.trace.digest()
    started_us = stage.method.started.value
    return CellRun(summary, digest, tuple(lines(stage.control_plane.events(), PARTITION, started_us)))


def execute_undisturbed(scenario: Scenario) -> CellRun:
    """Run the undisturbed move. Raises: BadInput where it does not end, so that cells cannot be compared with it."""
    executed = execute(scenario)
    summary = executed.summary
    if summary.open or summary.not_done:
        raise BadInput(
            f"the undisturbed move does not end ({summary.not_done or f'it waits at {summary.waiting}'}); "
            "give the cluster less load or more time",
            source=scenario.source or scenario.title,
        )
    return executed
