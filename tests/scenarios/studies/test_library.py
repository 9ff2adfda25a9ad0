"""The studies that come with the tool: each is one file that the commands find by name, and its design can be run."""

from __future__ import annotations

import pytest

from scenarios.language.files import load, studies
from scenarios.observe.measures.figures import declared
from scenarios.runs.runner import prepare
from scenarios.studies.design import Design


@pytest.mark.parametrize("name", studies())
def test_every_arm_can_be_run(name: str) -> None:
    scenario = load(name)
    assert scenario.study is not None
    design = Design.of(scenario)
    arms = design.arms()
    assert len(arms) > 1, "there is something to compare"
    assert len(design.seeds) >= 8
    for arm in (arms[0], arms[-1]):
        assert prepare(design.scenario_of(arm), seed=1).draws == {}


@pytest.mark.parametrize("name", studies())
def test_seeds_draw_more_than_phases(name: str) -> None:
    """Runs that differ by their phases alone are one run, done again and again."""
    drawn = [prepare(load(name), seed=seed) for seed in range(5)]
    moments = [str(entry.trigger) for entry in drawn[0].method]
    assert len({run.drawn for run in drawn}) == len(drawn) or any("Span" in moment for moment in moments)


@pytest.mark.parametrize("name", studies())
def test_what_is_compared_is_a_row_of_the_table(name: str) -> None:
    study = load(name).study
    assert study is not None
    assert set(study.compare) <= {figure.metric for figure in declared().values()}
    assert study.minimum
