"""Result of a comparison: plain values, no computation. The text, the JSON and the HTML report are views of it.

Every number of a metric is in the metric's own unit (``Row.unit``). ``None`` stands where there is no such number:
too few seeds, or no run that has the metric. A *level* is what is compared: an arm of the study, or, with ``--by``, all
arms that share a value of one axis.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from attrs import frozen

from scenarios.observe.measures.figure import Better

if TYPE_CHECKING:
    import pandas as pd

    from scenarios.studies.statistics.run_figures import RunFigures

CONFIDENCE = 0.95
"""The confidence of every interval."""
LARGEST_SHARE = 9.0
"""The largest change that is shown as a share of the baseline: ten times the baseline."""
SIGNIFICANT = 0.05
"""The significance level of all tests of one table together."""


class MetricVerdict(Enum):
    """A verdict on one metric of a level against the baseline."""

    BETTER = "better"
    WORSE = "worse"
    LOWER = "lower"
    """The metric is lower, and describes without judging: lower is neither better nor worse."""
    HIGHER = "higher"
    SAME = "no difference that matters"
    """The difference is smaller than the smallest difference of interest."""
    UNKNOWN = "not known"
    """The seeds are too few to tell."""
    DEPENDS = "depends"
    """The level is better at some values of the other axes and worse at others: there is no one answer over them."""


FEWEST_PAIRS = 6
"""Below it no finding is possible: of n pairs no p is below 2/2^n, and of five that is more than ``SIGNIFICANT``."""


DIFFERENT = (MetricVerdict.BETTER, MetricVerdict.WORSE, MetricVerdict.LOWER, MetricVerdict.HIGHER)
"""The verdicts that are findings."""


@frozen
class Interval:
    """A confidence interval of 95 %, both ends included. An end can be infinite."""

    low: float
    high: float


@frozen(kw_only=True)
class Sample:
    """One metric in one level. With ``--by`` each seed counts with the mean over the arms of the level.

    Attributes:
        seeds: how many seeds have the metric.
        mean: the value that the difference is about.
        median, median_interval: over the seeds; the interval is exact, from order statistics.
        smallest, largest: over the seeds.
        spread: standard deviation over the seeds.
        censored: runs that did not finish and count with a lower bound (``time_to_complete_s``).
    """

    seeds: int
    mean: float | None
    median: float | None
    median_interval: Interval | None
    smallest: float | None
    largest: float | None
    spread: float | None
    censored: int = 0


@frozen(kw_only=True)
class MetricDifference:
    """One metric of a level less the same metric of the baseline, paired by seed.

    Attributes:
        pairs: the seeds that both have.
        mean, interval: the mean difference, and its BCa interval.
        relative, relative_interval: both as a share of the baseline's mean over these seeds (0.1 is 10 % more);
            None where that mean is 0.
        median: the median difference.
        higher, lower, equal: on how many seeds the level is higher or lower than the baseline, or equal.
        dominance, dominance_interval: Cliff's delta within pairs: the share of the seeds on which the level is higher
            less the share on which it is lower, from -1 to 1.
        minimum: the smallest difference that matters.
        p: p-value of the hypothesis that the true difference is at most ``minimum``, two-sided, by flipping signs; None
            where every pair is equal, which needs no test.
        p_adjusted: this p after Holm's correction over the table.
        pairing: the variance of the difference if the seeds were not paired, divided by that of the paired one: above
            1 the pairing helps. None where nothing varies.
        verdict: the finding.
        seeds_needed: with ``UNKNOWN``, about how many seeds would settle it; None where that cannot be told.
        deterministic: the seeds hardly change the metric in either level, so that p and the intervals say how alike the
            runs are and not how far the finding carries.
        share, alike: where the metric has two peaks (``Row.split``), and only there: the difference of the share of
            runs in the upper one, and the difference over the pairs that are on the same side. They have the tests, and
            the verdict is theirs; the mean has none.
        strata: with ``DEPENDS``, the values of the other axes with the difference at each of them.
    """

    pairs: int
    mean: float | None
    interval: Interval | None
    relative: float | None
    relative_interval: Interval | None
    median: float | None
    higher: int
    lower: int
    equal: int
    dominance: float | None
    dominance_interval: Interval | None
    minimum: float
    p: float | None
    p_adjusted: float | None
    pairing: float | None
    verdict: MetricVerdict
    seeds_needed: int | None
    deterministic: bool
    share: MetricDifference | None = None
    alike: MetricDifference | None = None
    strata: tuple[Stratum, ...] = ()

    @property
    def is_share(self) -> bool:
        """Whether it is shown as a share of the baseline's mean, which is not next to 0: 1 s against 7 ms is no
        +14,000%."""
        if self.relative is None:
            return False
        ends = self.relative_interval
        return all(abs(share) <= LARGEST_SHARE for share in (self.relative, *((ends.low, ends.high) if ends else ())))

    @property
    def has_mean(self) -> bool:
        """Whether the mean difference says anything: not of two peaks, and not where its sign depends."""
        return self.share is None and self.verdict is not MetricVerdict.DEPENDS

    @property
    def telling(self) -> MetricDifference:
        """The difference that the verdict is about."""
        if self.share is None or self.alike is None:
            return self
        return self.alike if self.verdict is not self.share.verdict else self.share


@frozen(kw_only=True)
class Stratum:
    """A difference at one value of the axes that ``by`` leaves out.

    Attributes:
        axes, values: ``client.rate`` and ``8MB/s``.
        difference: difference at these values; its p is of its own test alone.
    """

    axes: tuple[str, ...]
    values: tuple[str, ...]
    difference: MetricDifference


@frozen(kw_only=True)
class Split:
    """Two peaks, or a tail far from the rest: values of which the mean is none.

    Attributes:
        at: the smallest value of the upper part.
        shares: share of each level's runs in the upper part.
    """

    at: float
    shares: dict[str, float]


@frozen(kw_only=True)
class Row:
    """One metric.

    Attributes:
        metric: name, as in ``understudy list metrics``. text: meaning.
        better: which of two values is the better one.
        samples: samples by the level's name, the baseline's first.
        differences: differences by the name of each other level, against its ``Level.against``.
        split: the division into two parts; None where the values have one peak.
    """

    metric: str
    text: str
    unit: str
    better: Better
    samples: dict[str, Sample]
    differences: dict[str, MetricDifference]
    split: Split | None = None


@frozen(kw_only=True)
class Level:
    """One of the things that are compared.

    Attributes:
        name: name, as in ``samples`` and ``differences``.
        arms: the names of the arms whose runs it has: one, or with ``--by`` all those with the same value on the axis.
        values: axis to value, for the axes on which all its runs agree.
        against: the level that it is compared with; None for the first. along: the single axis in which the two
            differ; None where there are several.
        runs: runs that have figures. seeds: how many seeds these have.
        moved: runs that had a move. finished: runs whose moves all finished.
        failed: runs that broke and have no figures.
    """

    name: str
    arms: tuple[str, ...]
    values: dict[str, str]
    against: str | None
    along: str | None
    runs: int
    seeds: int
    moved: int
    finished: int
    failed: int


@frozen(kw_only=True)
class Completion:
    """When the moves of one level's runs were finished; runs that did not finish are censored at their end.

    Attributes:
        times_s, finished, low, high: the completion curve (Kaplan and Meier): from each time on, the share of the runs
            that have finished, with its 95 % interval. Before the first time it is 0.
        median_s: when half of the runs have finished; None where less than half ever did.
        restricted_mean_s: the mean time to complete, restricted to ``Completions.horizon_s``.
        p, p_adjusted: log-rank against ``Level.against``; after Holm's correction over the levels. None for the first,
            and where neither has finished a run.
    """

    times_s: tuple[float, ...]
    finished: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    median_s: float | None
    restricted_mean_s: float | None
    p: float | None = None
    p_adjusted: float | None = None


@frozen(kw_only=True)
class Completions:
    """The times to complete of all levels, by name.

    Attributes:
        horizon_s: up to when every level was observed: the restricted means count times to it.
        unfinished: whether any run did not finish; if none, the curves are plain distribution functions.
    """

    horizon_s: float
    unfinished: bool
    levels: dict[str, Completion]


@frozen(kw_only=True)
class AxisEffect:
    """How much one axis, or two axes together, matter for a metric.

    Attributes:
        axes: one axis, a main effect; two, their interaction: how far the effect of one depends on the other.
        share: share of the metric's variance over all runs, 0 to 1.
        p, p_adjusted: p-value of the F test; after Holm's correction over all effects of all metrics. None where
            nothing is left to test against.
        means: means of a main effect: the axis's value to the mean over its runs.
    """

    axes: tuple[str, ...]
    share: float
    p: float | None
    p_adjusted: float | None
    means: dict[str, float]


@frozen(kw_only=True)
class Effects:
    """The effects of the axes on one metric; the shares add up to 1 with those of the seeds and of the rest.

    Attributes:
        seeds: the share of the variance between seeds. rest: that which neither axes nor seeds account for.
        runs: number of runs: those of the seeds that every arm has.
    """

    metric: str
    effects: tuple[AxisEffect, ...]
    seeds: float
    rest: float
    runs: int


@frozen(kw_only=True)
class Front:
    """The levels that no other level beats on all of some metrics (Pareto).

    Attributes:
        metrics: the objectives, each with a declared direction.
        points: level to its means, in the order of ``metrics``.
        best: the levels on the front, in the order of the comparison.
        beaten_by: each other level to one that is nowhere worse and somewhere better, by more than what matters; one
            on the front where there is one.
    """

    metrics: tuple[str, ...]
    points: dict[str, tuple[float, ...]]
    best: tuple[str, ...]
    beaten_by: dict[str, str]


@frozen(kw_only=True)
class Findings:
    """The figures of one level that have one verdict.

    Attributes:
        verdict: ``UNKNOWN`` for differences whose interval leaves out 0, although too few seeds make them findings.
        metrics: metrics that are stated in full, the gravest first.
        named: further ones, of which only the name is said. more: how many there are besides.
    """

    verdict: MetricVerdict
    metrics: tuple[str, ...]
    named: tuple[str, ...] = ()
    more: int = 0


@frozen(kw_only=True)
class NoFinding:
    """A level of which nothing is found.

    Attributes:
        of: how many differences it has; 0: the two levels have no seed in common.
        unknown: how many of them are not known; the others do not matter.
    """

    of: int
    unknown: int


@frozen(kw_only=True)
class FewSeeds:
    """Levels with fewer seeds than any finding needs.

    Attributes:
        seeds: the most that one of them has in common with the level that it is compared with.
        tests: how many of their differences are not 0 on every seed.
        enough: the seeds with which that many tests could make a finding.
    """

    seeds: int
    tests: int
    enough: int


@frozen(kw_only=True)
class OfLevel:
    """The result of one level against ``Level.against``, as the first screen states it.

    Attributes:
        findings: findings by verdict: first those that depend on other axes, then better, worse, lower, higher; last
            those that are not settled.
        none: set where no difference is found or not settled, and not all depend.
    """

    level: str
    findings: tuple[Findings, ...]
    none: NoFinding | None = None


@frozen(kw_only=True)
class Said:
    """The first screen of a comparison, as data (``scenarios.studies.statistics.said``).

    Attributes:
        levels: results of the levels with the gravest findings, the gravest first.
        more_levels: how many other levels have enough seeds.
        few: the levels that have too few seeds; None where all have enough.
        front: the Pareto front; None where none of its metrics has a finding.
    """

    levels: tuple[OfLevel, ...]
    more_levels: int = 0
    few: FewSeeds | None = None
    front: Front | None = None


@frozen(kw_only=True)
class Doubt:
    """A reason to doubt the table, or a part of it.

    Attributes:
        kind: one word for programs, such as ``deterministic`` or ``few-seeds``.
        text: one line for people.
        metrics: metrics that it is about; none: all.
    """

    kind: str
    text: str
    metrics: tuple[str, ...] = ()


@frozen(kw_only=True, repr=False)
class Comparison:
    """A comparison, and the runs that it is computed from.

    Attributes:
        title: title of the scenario.
        by: the axes in which the levels differ: ``strategy``, ``profile``, keys of the grid.
        levels: the baseline first.
        minimum: the smallest difference that matters, as it was asked for.
        rows: all metrics, in the order of their declaration.
        told: the rows and levels that say most, the most telling first: (metric, level).
        completions: completion times of moves; None where no run had a move.
        effects: effects on each metric, where the arms form a grid of two axes or more; else empty.
        front: the Pareto front; None with one level, or without objectives.
        said: the first screen: which level is better at what.
        doubts: reasons to doubt it, or parts of it.
    """

    title: str
    by: tuple[str, ...]
    levels: tuple[Level, ...]
    minimum: str
    rows: tuple[Row, ...]
    told: tuple[tuple[str, str], ...]
    completions: Completions | None
    effects: tuple[Effects, ...]
    front: Front | None
    said: Said
    doubts: tuple[Doubt, ...]
    runs: tuple[RunFigures, ...]

    @property
    def baseline(self) -> str:
        """The name of the first level."""
        return self.levels[0].name

    def against(self, level: str) -> str:
        """The name of the level that this one is compared with; of the first one itself."""
        return next((one.against for one in self.levels if one.name == level), None) or self.baseline

    @property
    def level_of(self) -> dict[str, str]:
        """The name of each arm to the level that it is in."""
        return {arm: level.name for level in self.levels for arm in level.arms}

    @property
    def headlines(self) -> tuple[str, ...]:
        """The sentences on the first screen: which level is better at what, by how much and how sure."""
        from scenarios.studies.statistics.sentences import headlines

        return headlines(self)

    @property
    def text(self) -> str:
        """The comparison for people: sentences, the ten most telling rows, what to mind."""
        from scenarios.studies.statistics.text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        """The text that an interactive Python shows; ``to_json`` has all."""
        return self.text

    def to_json(self) -> str:
        """All of it as one JSON object; what is infinite is null."""
        from scenarios.studies.statistics.as_json import as_json

        return as_json(self)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each metric and level but the baseline, in the order of ``rows``."""
        from scenarios.studies.report.notebook import comparison_frame

        return comparison_frame(self)

    def _repr_html_(self) -> str:
        from scenarios.studies.report.notebook import comparison_html

        return comparison_html(self)

    def level(self, name: str) -> Level:
        """The level of that name. Raises: KeyError where there is none."""
        for level in self.levels:
            if level.name == name:
                return level
        raise KeyError(name)

    def row(self, metric: str) -> Row:
        """Raises: KeyError for a metric that is no row."""
        for row in self.rows:
            if row.metric == metric:
                return row
        raise KeyError(metric)
