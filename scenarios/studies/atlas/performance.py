"""One run of the atlas: the undisturbed move, or a cell of it."""

from __future__ import annotations

from attrs import frozen

from emulator.protocol.types import TopicPartition
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.observe.timeline import lines
from scenarios.runs.runner import Stage, prepare
from scenarios.studies.atlas.courses import PARTITION
from scenarios.studies.atlas.sight import Sight, see
from scenarios.studies.atlas.witness import Witness


@frozen
class Performance:
    """``digest``: of the run's events; ``timeline``: of the partition, from the request for the move on."""

    sight: Sight
    digest: str
    timeline: tuple[str, ...]


def perform(scenario: Scenario) -> Performance:
    """Run a scenario of ``orders-0`` and look at what becomes of it."""
    stage = Stage(prepare(scenario))
    witness = Witness(TopicPartition.parse(PARTITION), scenario.strategy.parsed.protocol)
    witness.watch(stage.cluster.trace, stage.measures.topology)
    stage.play()
    sight = see(stage, witness)
    digest = stage.cluster.trace.digest()
    started_us = stage.method.started.value
    return Performance(sight, digest, tuple(lines(stage.story.events(), PARTITION, started_us)))


def perform_undisturbed(scenario: Scenario) -> Performance:
    """The move itself. Raises: BadInput where it does not come to its end: there is nothing to hold cells against."""
    performed = perform(scenario)
    sight = performed.sight
    if sight.open or sight.not_done:
        raise BadInput(
            f"the undisturbed move does not end ({sight.not_done or f'it waits at {sight.waiting}'}); "
            "give the cluster less load or more time",
            source=scenario.source or scenario.title,
        )
    return performed
