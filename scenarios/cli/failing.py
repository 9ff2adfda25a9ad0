"""The failing run that a command is about: of a file, of a seed of a file with ``[[chaos]]``, or of a recorded run."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import options
from scenarios.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from scenarios.language import Scenario
    from scenarios.runs.finding import Finding


def failing_scenario(arguments: Namespace, command: str) -> Scenario:
    """The scenario that is asked for, with its seed, and with its ``[[chaos]]`` blocks if it has any. Raises:
    BadInput."""
    from scenarios.language import Scenario
    from scenarios.language.checks import refuse_sampled
    from scenarios.language.files import load

    folder, strategy, seed = Path(arguments.file), None, arguments.seed
    if folder.is_dir():
        from scenarios.runs.dataset.manifest import read_manifest

        manifest = read_manifest(folder)
        if len(manifest.arms) != 1 or (len(manifest.seeds) != 1 and seed is None):
            raise BadInput("holds several runs; name one with --seed", source=str(folder))
        (arm,) = manifest.arms
        scenario = Scenario.from_table(manifest.document, source=manifest.file)
        strategy, seed = arm.strategy, manifest.seeds[0] if seed is None else seed
        profile = arguments.profile or arm.profile
    else:
        scenario, profile = load(arguments.file, options.changes(arguments)), arguments.profile
    scenario = scenario.for_run(seed=seed, strategy=strategy, profile=profile)
    refuse_sampled(scenario, command)
    return scenario


def chosen_finding(scenario: Scenario, checker: str | None, command: str) -> Finding:
    """The finding that a command is about: the first, or the first of that checker. Raises: BadInput where there is
    none."""
    from scenarios.studies.shrink.trial import found_in

    found = found_in(scenario)
    if not found:
        raise BadInput(f"its run shows nothing that is wrong, so there is nothing to {command}", source=scenario.source)
    if checker is None:
        return found[0]
    names = list(dict.fromkeys(one.checker for one in found))
    if checker not in names:
        raise BadInput(f"the run has no finding {checker!r}; {did_you_mean(checker, names)}", where="--finding")
    return next(one for one in found if one.checker == checker)
