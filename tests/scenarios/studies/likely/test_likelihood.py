"""When a finding became likely: the entry that made it so is named, and a finding that was always sure names none."""

from functools import cache
from pathlib import Path

import pytest

from scenarios.museum.exhibits import exhibit
from scenarios.runs.batch import Processes, ThisProcess
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.studies.likely.kept_likelihood import as_json, keep, kept_likelihood
from scenarios.studies.likely.likelihood import Likelihood, Original, likelihood
from scenarios.studies.likely.likely_words import headline, lines


def original(ticket: str) -> Original:
    case = exhibit(ticket)
    finding = next(one for one in findings(case.run_broken()) if one.checker == case.entry.checker)
    return Original.of(case.scenario, finding)


@cache
def of(ticket: str, branches: int = 8, jobs: int = 1) -> Likelihood:
    return likelihood(original(ticket), branches, 8, ThisProcess() if jobs == 1 else Processes(jobs))


def test_the_crash_that_decides_is_named() -> None:
    found = of("KAFKA-10301")
    assert [(act.place, act.action) for act in found.acts] == [("method[1]", "broker.crash")]
    assert found.before.share < 1 == found.after.share
    assert "became likely with method[1] broker.crash at 1.000000 s" in headline(as_json(found, 0))


def test_no_entry_is_named_where_many_acted() -> None:
    found = as_json(of("KAFKA-10301"), 0)
    many = headline({**found, "acts": found["acts"] * 4})
    assert "became likely while 4 entries acted; more --points tell which" in many
    assert "broker.crash" not in many


@pytest.mark.slow
def test_the_points_do_not_depend_on_the_number_of_processes() -> None:
    assert of("KAFKA-1028", 12).points == of("KAFKA-1028", 12, jobs=2).points


def test_a_share_has_its_interval() -> None:
    point = of("KAFKA-1028", 12).points[0]
    low, high = point.interval
    assert 0 <= low < point.share < high <= 1


def test_it_is_kept_beside_its_run(tmp_path: Path) -> None:
    found = as_json(of("KAFKA-1028", 12), 3)
    keep(tmp_path, found)
    assert kept_likelihood(tmp_path, 3) == found
    assert kept_likelihood(tmp_path, 4) is None
    assert next(iter(lines(found))).startswith("finding  unclean_where_allowed")


def test_another_finding_is_not_counted() -> None:
    """The guard of the count: continuations are asked for the finding itself, and not whether they fail."""
    one = original("KAFKA-1028")
    other = Finding("no_such_checker")
    one.finding = other
    found = likelihood(one, 4, 3, ThisProcess())
    assert [point.found for point in found.points[:-1]] == [0] * (len(found.points) - 1)
