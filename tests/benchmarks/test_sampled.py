"""The campaign of sampled runs: what is kept adds up, and what the tables say of it. A slice of it is run."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sampled.__main__ import numbers_in, play
from benchmarks.sampled.case import COUNTS, names
from benchmarks.sampled.contract import EXACT, FIDELITIES, SAMPLED, Case, Finding, arms_findings, cases, of_figures
from benchmarks.sampled.drawn_cases import DEFAULT_CASES, drawn
from benchmarks.sampled.kept_runs import KeptRuns, code_without_leaps
from benchmarks.sampled.report import report

SLICE = range(16, 17)
"""An arm of a drawn move."""


def run(figures: dict[str, float], **more: Any) -> dict[str, Any]:
    of_all = {**dict.fromkeys(names()), **dict.fromkeys(COUNTS, 1), **figures}
    leapt = {"leapt_s": 50.0}
    return {"cpu_s": 1.0, "virtual_s": 100.0, "sampled": leapt, "figures": of_all, "verdict": "passed", **more}


def test_cases_are_named_by_ranges_and_by_numbers() -> None:
    assert numbers_in("0:3") == [0, 1, 2]
    assert numbers_in("4,14,28:30") == [4, 14, 28, 29]


def test_exact_runs_outlast_a_change_of_leaps(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    for fidelity in FIDELITIES:
        KeptRuns(path).read().add((0, fidelity, 0), run({}))
    other = KeptRuns(path, code={SAMPLED: "another", EXACT: code_without_leaps()})
    assert list(other.read().runs) == [(0, EXACT, 0)]


def made(number: int, exact: list[float], sampled: list[float], name: str = "time_to_complete_s") -> Case:
    values = {EXACT: exact, SAMPLED: sampled}
    return Case(number, {fidelity: [run({name: value}) for value in values[fidelity]] for fidelity in FIDELITIES})


def test_runs_are_kept_and_slices_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[tuple[int, int, str]] = []

    def one(number: int, seed: int, fidelity: str) -> dict[str, Any]:
        played.append((number, seed, fidelity))
        return run({"time_to_complete_s": 10.0})

    monkeypatch.setattr("benchmarks.sampled.__main__.one", one)
    path = tmp_path / "kept.jsonl"
    first, second = KeptRuns(path).read(), KeptRuns(path).read()
    play(first, [0], 2)
    play(second, [1], 2)
    with path.open("a") as file:
        file.write('{"case": 2, "fide')  # a process was killed
    again = KeptRuns(path).read()
    assert len(again.runs) == len(played) == 8
    play(again, [0, 1], 2)
    assert len(played) == 8, "nothing is run twice"
    assert [case.number for case in cases(again.runs, [0, 1, 2], 2)] == [0, 1]
    lines = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(lines[0]), "code": "other"}), *lines[1:-1]]) + "\n")
    assert len(KeptRuns(path).read().runs) == 7, "a run of other code does not count"


def test_bias_differs_from_noise() -> None:
    biased = [made(n, [100.0, 101.0], [102.0 + n / 100, 103.0]) for n in range(10)]
    [figure] = list(of_figures(biased, ["time_to_complete_s"]))
    assert figure.bias == pytest.approx(0.02, abs=0.002)
    assert figure.is_biased
    noisy = [made(n, [100.0, 101.0], [100.0 + (-3) ** (n % 2), 101.0]) for n in range(10)]
    assert not next(iter(of_figures(noisy, ["time_to_complete_s"]))).is_biased


def test_an_interval_covers_or_does_not() -> None:
    near, far = made(0, [100.0, 104.0], [101.0, 105.0]), made(1, [100.0, 100.1], [104.0, 104.1])
    [figure] = of_figures([near, far], ["time_to_complete_s"])
    assert figure.covered == (1, 2)


def of_arms(*found: Case, name: str = "time_to_complete_s") -> list[Finding]:
    return list(arms_findings(found, [name]))


def test_arms_agree_or_are_opposed() -> None:
    exact = [10.0, 10.1, 10.2], [12.0, 12.1, 12.3]
    [same] = of_arms(made(0, exact[0], exact[0]), made(1, exact[1], exact[1]))
    assert same.same
    assert same.matters
    assert not same.opposed
    [opposed] = of_arms(made(0, exact[0], exact[1]), made(1, exact[1], exact[0]))
    assert opposed.opposed
    assert not opposed.same
    assert not of_arms(made(1, exact[0], exact[0]), made(2, exact[1], exact[1])), "they are not arms of one case"


def test_arms_are_opposed_only_by_more_than_what_sampled_runs_are_off_by() -> None:
    """The seeds of sampled runs agree on a difference of 0.4 %, and ``compare`` states an error of 2 % for lags."""
    exact, sampled = ([1000.0, 1001.0, 1000.0], [999.0, 1000.0, 999.0]), ([1000.0, 1000.1, 1000.0], [1004.0] * 3)
    [finding] = of_arms(
        made(18, exact[0], sampled[0], "lag_p95"), made(19, exact[1], sampled[1], "lag_p95"), name="lag_p95"
    )
    assert not finding.same
    assert not finding.opposed
    assert not finding.matters
    without = made(18, exact[0], sampled[0], "isr_expands"), made(19, exact[1], sampled[1], "isr_expands")
    [finding] = of_arms(*without, name="isr_expands")
    assert finding.opposed, "counts of the control plane have no such error"


def test_unequal_counts_are_seen() -> None:
    case = made(0, [1.0, 2.0], [1.0, 2.0])
    case.runs[SAMPLED][1]["figures"][COUNTS[0]] = 2
    assert case.same_counts == [True, False]


def test_cases_are_arms_of_all_kinds() -> None:
    all_cases = [drawn(number) for number in range(200)]
    arms = list(zip(all_cases[::2], all_cases[1::2], strict=True))
    assert all(one.topics == other.topics and one.plan == other.plan for one, other in arms)
    assert all(one.strategy.name != other.strategy.name or one.profile != other.profile for one, other in arms)
    assert {case.topics[0].partitions for case in all_cases} == {1, 2, 3, 4, 6, 8, 12, 20, 50}
    kinds = ("throttle" not in case.strategy.name for case in all_cases)
    assert 10 <= sum(kinds) <= 60
    assert sum(len(case.method) > 1 for case in all_cases) >= 20
    assert sum(bool(case.workloads[0].key_skew) for case in all_cases) >= 20
    assert len({case.profile for case in all_cases}) == 3
    assert DEFAULT_CASES.startswith("0:")


@pytest.mark.slow
def test_a_slice_of_the_campaign_keeps_the_contract(tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path / "kept.jsonl").read()
    play(kept, SLICE, 1)
    found = cases(kept.runs, SLICE, 1)
    assert all(case.leapt > 0.25 for case in found)
    for name in ("time_to_complete_s", "extra_replica_s", "bytes_moved", "acked_batches"):
        errors = [error.share for case in found if (error := case.error(name)) is not None]
        assert max(map(abs, errors)) < 0.03, name
    assert all(all(case.same_counts) for case in found)
    assert statistics.fmean(case.faster for case in found) > 1
    assert any("`time_to_complete_s`" in line for line in report(found, 1))
