"""The runs of a study, planned: one spec for each arm and seed, without Spark.

``scenarios.studies.spark.sweep`` hands them out to workers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from attrs import frozen

from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.identity import code_digest
from scenarios.runs.dataset.manifest import Manifest
from scenarios.runs.dataset.run_record import RunSpec
from scenarios.studies.design import Design


@frozen
class Planned:
    """The runs of a design.

    Attributes:
        specs: by arm, in the order of ``Design.arms``; an arm's specs are in the order of the seeds.
    """

    specs: Mapping[Arm, tuple[RunSpec, ...]]

    def __len__(self) -> int:
        return sum(map(len, self.specs.values()))

    def blocks(self, seeds: int) -> Iterator[tuple[Arm, tuple[RunSpec, ...]]]:
        """The runs in blocks of at most ``seeds`` runs of one arm. Neighbours have the same seeds, each under another
        arm, so a study that was interrupted has pairs to compare."""
        most = max(map(len, self.specs.values()), default=0)
        for start in range(0, most, seeds):
            for arm, specs in self.specs.items():
                yield arm, specs[start : start + seeds]


def plan_runs(design: Design) -> Planned:
    """All runs of a design, by this program as it is on disk now."""
    code, digest = code_digest(), design.scenario.digest()
    found = {}
    for arm in design.arms():
        document = json.dumps(design.scenario_of(arm).to_table(), sort_keys=True)
        found[arm] = tuple(
            RunSpec.plan(scenario=document, scenario_digest=digest, arm=arm, seed=seed, code=code)
            for seed in design.seeds
        )
    return Planned(found)


def manifest_of(design: Design, experiment: str) -> Manifest:
    """The manifest of a design's data set: what it holds."""
    scenario = design.scenario
    return Manifest(
        experiment=experiment,
        file=scenario.source,
        scenario=scenario.digest(),
        document=scenario.to_table(),
        title=scenario.title,
        arms=design.arms(),
        seeds=tuple(sorted(design.seeds)),
        compare=design.compare,
        minimum=design.minimum,
    )
