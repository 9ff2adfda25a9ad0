"""Reasons to doubt a comparison, a line each: what the seeds, the runs or the set-up cannot tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from scenarios.observe.measures.sampling_errors import sampling_error
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.run_record import DONE
from scenarios.studies.statistics.differences import POWER
from scenarios.studies.statistics.result import FEWEST_PAIRS, Completions, Doubt, Level, MetricVerdict, Row
from scenarios.studies.statistics.run_figures import TIME_TO_COMPLETE, RunFigures, has_leapt

FEW_SEEDS = 10
"""Below it, intervals and p say little."""
_NO_HELP = 0.9
"""Independent levels have 1, less what chance takes away."""
_NAMED = 3
"""Metrics and runs that a line names; it counts the others."""


def doubts(
    rows: Sequence[Row],
    levels: Sequence[Level],
    completions: Completions | None,
    runs: Sequence[RunFigures],
    planned: Mapping[Arm, int],
) -> tuple[Doubt, ...]:
    """All doubts, the gravest first. ``planned``: how many runs each arm was to have."""
    found = [
        *_about_runs(runs, planned),
        *_about_moves(levels, completions),
        *_about_seeds(rows, levels),
        *_about_spread(rows),
        *_about_sampling(runs),
    ]
    return tuple(found)


def _about_runs(runs: Sequence[RunFigures], planned: Mapping[Arm, int]) -> Iterator[Doubt]:
    failed = [run for run in runs if run.status != DONE]
    if failed:
        first = failed[0]
        yield Doubt(
            kind="failed",
            text=f"{_number(len(failed), 'run')} failed and {_has(len(failed))} no figures; "
            f"the first: {first.arm.name}, seed {first.seed}: {first.error}",
        )
    have = Counter(run.arm for run in runs)
    short = [arm for arm, wanted in planned.items() if have[arm] < wanted]
    if short:
        more = f", and {len(short) - 1} more arms lack some" if len(short) > 1 else ""
        yield Doubt(
            kind="incomplete",
            text=f"{short[0].name}: {have[short[0]]} of {planned[short[0]]} runs are here{more}; the sweep did not end",
        )
    disagreeing = [f"{run.arm.name} with seed {run.seed}" for run in runs if not run.agrees]
    if disagreeing:
        yield Doubt(
            kind="disagree",
            text=f"the figures of {_number(len(disagreeing), 'run')} differ from their own account: {disagreeing[0]}",
        )


def _about_sampling(runs: Sequence[RunFigures]) -> Iterator[Doubt]:
    leapt = sum(map(has_leapt, runs))
    if leapt:
        yield Doubt(
            kind="sampled",
            text=f"{_number(leapt, 'run')} leapt over a part of the messages: intervals include what such runs are off "
            f"by, {100 * sampling_error(TIME_TO_COMPLETE):g} % of a time for each arm (docs/understand/sampled.md)",
        )


def _about_moves(levels: Sequence[Level], completions: Completions | None) -> Iterator[Doubt]:
    if completions is None or not completions.unfinished:
        return
    moved, finished = sum(level.moved for level in levels), sum(level.finished for level in levels)
    if not finished:
        yield Doubt(
            kind="all-unfinished",
            text=f"no run finished its moves, so {TIME_TO_COMPLETE} says only how long the runs were; "
            "lengthen the horizon",
            metrics=(TIME_TO_COMPLETE,),
        )
        return
    yield Doubt(
        kind="unfinished",
        text=f"{moved - finished} of {moved} runs did not finish their moves and count as lasting until their end, "
        f"{completions.horizon_s:.4g} s at most",
        metrics=(TIME_TO_COMPLETE,),
    )


def _about_seeds(rows: Sequence[Row], levels: Sequence[Level]) -> Iterator[Doubt]:
    if len(levels) < 2:
        yield Doubt(kind="one-level", text=f"{levels[0].name} was run alone, so there is nothing to compare it with")
        return
    cells = [cell for row in rows for cell in row.differences.values() if cell.pairs]
    pairs = min((cell.pairs for cell in cells), default=0)
    if FEWEST_PAIRS <= pairs < FEW_SEEDS:
        yield Doubt(
            kind="few-seeds",
            text=f"{_number(pairs, 'seed')} in common, fewer than {FEW_SEEDS}: intervals and p values say little",
        )
    unknown = [cell for cell in cells if cell.verdict is MetricVerdict.UNKNOWN and cell.pairs >= FEWEST_PAIRS]
    if unknown:
        needed = sorted(cell.seeds_needed for cell in unknown if cell.seeds_needed is not None)
        text = f"{len(unknown)} of {len(cells)} differences are not known; {_that_settle(needed, len(unknown), pairs)}"
        yield Doubt(kind="more-seeds", text=text)


def _that_settle(needed: Sequence[int], unknown: int, pairs: int) -> str:
    """How many seeds would settle what is not known; ``needed``: the numbers, where more seeds would settle it."""
    if not needed:
        return f"more seeds than {pairs} would hardly settle them"
    most = needed[min(len(needed) - 1, int(POWER * len(needed)))]
    if len(needed) == unknown:
        return f"about {most:,} seeds would settle most of them (now {pairs})"
    which = "one" if len(needed) == 1 else f"most of {len(needed)}"
    return f"about {most:,} seeds would settle {which} of them (now {pairs}), and hardly the others"


def _about_spread(rows: Sequence[Row]) -> Iterator[Doubt]:
    cells = [(row.metric, cell) for row in rows for cell in row.differences.values()]
    fixed = tuple(dict.fromkeys(metric for metric, cell in cells if cell.deterministic))
    if fixed:
        yield Doubt(
            kind="deterministic",
            text=f"the seeds hardly change {_named(fixed)}: more of them repeat the run and do not say how far the "
            "finding carries. Let the seed vary more of the scenario",
            metrics=fixed,
        )
    ratios = [cell.pairing for _, cell in cells if cell.pairing is not None and not cell.deterministic]
    if ratios and median(ratios) < _NO_HELP:
        yield Doubt(
            kind="pairing",
            text=f"pairing by seed does not help: it makes variances {1 / median(ratios):.2g} times as large in the "
            "median metric, so the levels do not meet the same conditions under the same seed",
        )


def _named(metrics: Sequence[str]) -> str:
    more = f" and {len(metrics) - _NAMED} more" if len(metrics) > _NAMED else ""
    return ", ".join(metrics[:_NAMED]) + more


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _has(number: int) -> str:
    return "has" if number == 1 else "have"
