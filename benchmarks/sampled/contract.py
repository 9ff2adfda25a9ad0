"""The contract of sampled runs in numbers: errors of the means over seeds, by case and over all cases."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from math import hypot, sqrt
from typing import NamedTuple

from attrs import frozen
from scipy import stats  # type: ignore[import-untyped]

from benchmarks.sampled.case import COUNTS
from benchmarks.sampled.kept_runs import Found, Key
from scenarios.observe.measures.minimum import Minimum
from scenarios.observe.measures.sampling_errors import sampling_error

FIDELITIES = EXACT, SAMPLED = "exact", "sampled"
SURE = 0.975
BIAS = 0.005
"""The bias that is allowed."""


class Error(NamedTuple):
    """The error of one figure in one case.

    Attributes:
        share: by how much the sampled mean is above the exact one, as a share of it.
        sure: half of the interval of that, by the seeds (Welch) and the error that ``compare`` states for sampled runs;
            None: there are too few seeds.
    """

    share: float
    sure: float | None

    @property
    def covers(self) -> bool | None:
        """Whether the interval has 0 in it."""
        return None if self.sure is None else abs(self.share) <= self.sure + 1e-12


@frozen
class Case:
    """The runs of one case, by fidelity, with the same seeds."""

    number: int
    runs: Mapping[str, Sequence[Found]]

    def values(self, fidelity: str, name: str) -> list[float] | None:
        """A figure of each run; None where a run has none."""
        found = [run["figures"].get(name) for run in self.runs[fidelity]]
        return None if None in found else [float(value) for value in found]

    def error(self, name: str) -> Error | None:
        """The error of a figure; None where it has none, or is 0 in exact runs."""
        exact, sampled = self.values(EXACT, name), self.values(SAMPLED, name)
        if not exact or not sampled or not (mean := statistics.fmean(exact)):
            return None
        half = _half(exact, sampled, abs(mean))
        stated = None if half is None else hypot(half, float(stats.norm.ppf(SURE)) * sampling_error(name))
        return Error((statistics.fmean(sampled) - mean) / mean, stated)

    @property
    def same_counts(self) -> list[bool]:
        """For each seed, whether all counts of the control plane are equal."""
        pairs = zip(*(self.runs[each] for each in FIDELITIES), strict=True)
        return [all(one["figures"][name] == other["figures"][name] for name in COUNTS) for one, other in pairs]

    @property
    def leapt(self) -> float:
        """The part of the time that is in leaps."""
        return statistics.fmean(run["sampled"]["leapt_s"] / run["virtual_s"] for run in self.runs[SAMPLED])

    @property
    def long_s(self) -> float:
        return statistics.fmean(run["virtual_s"] for run in self.runs[EXACT])

    @property
    def faster(self) -> float:
        return self.cpu_s(EXACT) / self.cpu_s(SAMPLED)

    def cpu_s(self, fidelity: str) -> float:
        """The processor time of all of its runs."""
        return float(sum(run["cpu_s"] for run in self.runs[fidelity]))


def cases(runs: Mapping[Key, Found], numbers: Sequence[int], seeds: int) -> list[Case]:
    """The cases of which all runs are there."""
    found = []
    for number in numbers:
        of_it = {each: [runs.get((number, each, seed)) for seed in range(seeds)] for each in FIDELITIES}
        if all(None not in some for some in of_it.values()):
            found.append(Case(number, {each: [run for run in some if run] for each, some in of_it.items()}))
    return found


class OfFigure(NamedTuple):
    """The errors of one figure over the cases that leap.

    Attributes:
        lacking: the cases in which sampled runs have none and exact ones do.
        bias, sure: the mean of the errors, and half of its interval; None with fewer than two cases.
        spread: the standard deviation of the errors.
        covered: in how many cases the stated interval has 0 in it, of those with such an interval.
    """

    name: str
    errors: tuple[Error, ...]
    lacking: int
    bias: float
    sure: float | None
    spread: float | None
    covered: tuple[int, int]

    @property
    def is_biased(self) -> bool:
        """Whether the interval excludes what is allowed."""
        return self.sure is not None and abs(self.bias) - self.sure > BIAS


def of_figures(found: Sequence[Case], names: Sequence[str]) -> Iterator[OfFigure]:
    """The errors of each figure that some exact run has."""
    for name in names:
        errors = tuple(error for case in found if (error := case.error(name)) is not None)
        lacking = sum(case.values(SAMPLED, name) is None and case.values(EXACT, name) is not None for case in found)
        if not errors and not lacking:
            continue
        shares = [error.share for error in errors]
        told = [error.covers for error in errors if error.covers is not None]
        spread = statistics.stdev(shares) if len(shares) > 1 else None
        yield OfFigure(
            name, errors, lacking, statistics.fmean(shares) if shares else 0.0,
            None if spread is None else float(stats.t.ppf(SURE, len(shares) - 1)) * spread / sqrt(len(shares)),
            spread, (sum(told), len(told)),
        )  # fmt: skip


class Finding(NamedTuple):
    """A difference of two arms that exact runs show: its interval over the seeds excludes 0.

    Attributes:
        number: the first of the two cases.
        share: the exact difference, as a share of the larger mean.
        same: whether the sampled difference has the same sign.
        opposed: whether it is a finding of the other sign: its interval excludes 0, too. That is the interval of
            ``compare``, by the seeds and by the error that it states for sampled runs.
    """

    number: int
    name: str
    share: float
    same: bool
    opposed: bool

    @property
    def matters(self) -> bool:
        """Whether it is as large as what ``compare`` takes for a difference that matters, where nothing is asked."""
        return abs(self.share) >= Minimum().share


def arms_findings(found: Sequence[Case], names: Sequence[str]) -> Iterator[Finding]:
    """The findings of exact runs, of the arms 2 n and 2 n + 1, compared by each figure, seed by seed."""
    by_number = {case.number: case for case in found}
    for case in found:
        other = by_number.get(case.number + 1)
        if case.number % 2 or other is None:
            continue
        for name in names:
            exact, sampled = (_difference(case, other, each, name) for each in FIDELITIES)
            if exact is None or sampled is None or abs(exact.mean) <= exact.half:
                continue
            same = exact.mean * sampled.mean > 0
            stated = hypot(sampled.half, float(stats.norm.ppf(SURE)) * sampling_error(name) * hypot(*sampled.means))
            opposed = exact.mean * sampled.mean < 0 and abs(sampled.mean) > stated
            yield Finding(case.number, name, exact.mean / max(map(abs, exact.means)), same, opposed)


class _Difference(NamedTuple):
    """The mean difference of two arms, half of its interval, paired by seed, and the mean of each arm."""

    mean: float
    half: float
    means: tuple[float, float]


def _difference(one: Case, other: Case, fidelity: str, name: str) -> _Difference | None:
    befores, afters = one.values(fidelity, name), other.values(fidelity, name)
    if befores is None or afters is None or len(befores) < 2:
        return None
    differences = [after - before for before, after in zip(befores, afters, strict=True)]
    t = float(stats.t.ppf(SURE, len(differences) - 1))
    half = t * statistics.stdev(differences) / sqrt(len(differences))
    return _Difference(statistics.fmean(differences), half, (statistics.fmean(befores), statistics.fmean(afters)))


def _half(exact: Sequence[float], sampled: Sequence[float], mean: float) -> float | None:
    """Half of Welch's interval of the difference of the means, as a share of ``mean``."""
    if len(exact) < 2:
        return None
    parts = [statistics.variance(each) / len(each) for each in (exact, sampled)]
    if not sum(parts):
        return 0.0
    freedom = sum(parts) ** 2 / sum(part**2 / (len(exact) - 1) for part in parts)
    return float(stats.t.ppf(SURE, freedom)) * sqrt(sum(parts)) / mean
