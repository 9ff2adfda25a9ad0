"""The report of a data set: a view of a ``Comparison``, which it adds no statistics to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from attrs import frozen

from scenarios.observe.measures.figure import Better
from scenarios.runs.dataset.arm import FOLDER, Arm
from scenarios.runs.dataset.run_record import DONE
from scenarios.studies.report.arm_axes import ArmAxes
from scenarios.studies.report.compared_data import compared_data
from scenarios.studies.report.compared_tables import axes_table, comparison_tables, completion_table, varying
from scenarios.studies.report.first_screen import answer, brief, doubts, scores
from scenarios.studies.report.html_page import Page, Section, choice, command, figure, figures, note, tile, tiles
from scenarios.studies.report.markup import Html, Node, element, joined
from scenarios.studies.report.over_time import Series
from scenarios.studies.report.written_numbers import number, percent
from scenarios.studies.statistics.result import CONFIDENCE, SIGNIFICANT, Comparison

FEW = " (where a panel has at most four arms)"
LOST = "lost_acks_all_records"
MOST_LISTED = 12
"""Runs that the page lists of a kind; the data set has all."""


@frozen(kw_only=True)
class Origin:
    """The origin of a data set, and what makes its page.

    Attributes:
        files: the folders of the data set, as they were named, each with its scenario file; empty where it had none.
        seeds: seeds of the study, present here or not.
        arms: arms of the study, with their names.
        where: axis and value: only arms with these were compared.
        command: the command line that makes the page.
        spark: whether Spark computed the figures from the tables; else they are the runs' own.
    """

    files: Mapping[str, str]
    seeds: Sequence[int]
    arms: Sequence[Arm]
    where: Sequence[tuple[str, str]] = ()
    command: str
    spark: bool
    version: str

    @property
    def replays(self) -> dict[str, str]:
        """Arm's name to the command that runs it again, without ``--seed``."""
        words = {arm.name: ["understudy", "run", self._file(arm) or "FILE", *arm.options] for arm in self.arms}
        return {name: shlex.join(line) for name, line in words.items()}

    def _file(self, arm: Arm) -> str:
        """The file of the arm's folder; where folders are no axis, all have the same scenario."""
        return self.files[arm.value_of(FOLDER)] if FOLDER in arm.axes else next(iter(self.files.values()))

    @property
    def names(self) -> str:
        """The scenario files, for people."""
        return ", ".join(dict.fromkeys(file or "a scenario built in Python" for file in self.files.values()))


def compared_page(comparison: Comparison, series: Sequence[Series], origin: Origin) -> Page:
    """The page about a data set. ``series``: none leaves out the figure over time."""
    return Page(
        title=comparison.title,
        about=_about(comparison, origin),
        lead=_lead(comparison, origin),
        sections=_sections(comparison, origin, series),
        script="compared",
        data=compared_data(comparison, origin.replays, series),
        command=origin.command,
        version=origin.version,
    )


def _about(comparison: Comparison, origin: Origin) -> str:
    levels, arms = len(comparison.levels), comparison.baseline
    if len(comparison.level_of) > levels:
        arms = f"{levels} values of {', '.join(comparison.by)}, over {len(comparison.level_of)} arms"
    elif levels > 1:
        arms = f"{levels} arms by {', '.join(comparison.by)}"
    only = [f"only {axis}={value}" for axis, value in origin.where]
    return "; ".join([arms, *only, counted_seeds(origin), origin.names])


def counted_seeds(origin: Origin) -> str:
    """``20 seeds``."""
    count = len(origin.seeds)
    return f"{count:,} seed{'' if count == 1 else 's'}"


# -- the first screen ------------------------------------------------------------------------------------------------


def _lead(comparison: Comparison, origin: Origin) -> Html:
    return joined(
        brief(comparison),
        _picture(comparison),
        _tiles(comparison, origin),
    )


def _picture(comparison: Comparison) -> Html:
    """The picture that answers the page's title: the figures that matter most, by arm."""
    title = "The figures that say most"
    return figure(
        "answer",
        f"{title}, by {', '.join(comparison.by)}" if comparison.by else title,
        "A mark for each run, a bar at their median. A legend entry hides and shows its arms in all figures.",
        wide=True,
    )


def _tiles(comparison: Comparison, origin: Origin) -> Html:
    levels = comparison.levels
    moved, finished = sum(level.moved for level in levels), sum(level.finished for level in levels)
    failed = sum(level.failed for level in levels)
    done = [run for run in comparison.runs if run.status == DONE]
    lost = sum(run.value(LOST) or 0 for run in done)
    losing = sum(bool(run.value(LOST)) for run in done)
    return tiles(
        tile("Runs", number(len(done)), "with figures"),
        tile("Seeds", number(len({run.seed for run in comparison.runs})), f"of {number(len(origin.seeds))} asked for"),
        tile("Compared", number(len(levels)), f"by {', '.join(comparison.by)}" if comparison.by else ""),
        tile(
            "Moves finished",
            f"{number(finished)} of {number(moved)}" if moved else "no moves",
            "runs whose moves all finished",
            tone="bad" if finished < moved else "",
        ),
        tile("Failed runs", number(failed), "broke, and have no figures", tone="bad" if failed else ""),
        tile(
            "Acknowledged data lost",
            f"{number(lost)} record{'' if lost == 1 else 's'}" if lost else "none",
            f"acks=all, in {number(losing)} of {number(len(done))} runs" if lost else "acks=all",
            tone="bad" if lost else "good",
        ),
    )


# -- sections --------------------------------------------------------------------------------------------------------


def _sections(comparison: Comparison, origin: Origin, series: Sequence[Series]) -> list[Section]:
    found = [("findings", "Findings", _findings(comparison))] if len(comparison.levels) > 1 else []
    found.append(("comparison", "Comparison" if len(comparison.levels) > 1 else "Figures", _compared(comparison)))
    if comparison.completions is not None:
        found.append(("completion", "Completion", _completion(comparison)))
    if series:
        found.append(("time", "Over time", _over_time(series)))
    if len(comparison.by) > 1 and len(comparison.levels) > 1:
        found.append(("grid", "Grid", _grid(comparison)))
    if len(comparison.levels) > 1:
        found.append(("trade-offs", "Trade-offs", _trade_offs(comparison)))
    found += [
        ("runs", "Runs", _runs(comparison, origin)),
        ("methods", "Methods", _methods(comparison, origin)),
    ]
    return [Section(id=id, title=title, body=body) for id, title, body in found]


def _findings(comparison: Comparison) -> Html:
    return joined(
        answer(comparison),
        scores(comparison, varying(comparison)),
        doubts(comparison),
    )


def _compared(comparison: Comparison) -> Html:
    if len(comparison.levels) == 1:
        return comparison_tables(comparison)
    controls = joined(
        choice("forest-rows", "Show", [("told", "the figures that say most"), ("found", "all differences found"),
                                       ("all", "all figures")], "told"),
        _level_choice("forest-level", comparison, every=True) if len(comparison.levels) > 2 else None,
    )  # fmt: skip
    drawn = figure(
        "forest",
        "Differences, paired by seed",
        f"Mean difference as a share of the mean of {_compared_with(comparison)}, with its {percent(CONFIDENCE)} "
        f"interval. Grey band: no difference that matters (below {comparison.minimum}). Filled mark: a finding; "
        "hollow: none. A figure whose mean is 0 there, or next to 0, has no share; the table has it.",
        controls=controls,
        wide=True,
    )
    return joined(drawn, comparison_tables(comparison))


def _compared_with(comparison: Comparison) -> str:
    against = dict.fromkeys(comparison.against(level.name) for level in comparison.levels[1:])
    return (
        ArmAxes.of(comparison).labels[next(iter(against))]
        if len(against) == 1
        else "the arm that differs in a single axis"
    )


def _level_choice(name: str, comparison: Comparison, *, every: bool) -> Html:
    labels = ArmAxes.of(comparison).labels
    others = [(level.name, labels[level.name]) for level in comparison.levels[1:]]
    return choice(name, "Arm", [("", "all"), *others] if every else others)


def _completion(comparison: Comparison) -> Html:
    assert comparison.completions is not None
    unfinished = comparison.completions.unfinished
    how = "Kaplan and Meier's estimate; runs that did not finish count up to their end." if unfinished else ""
    drawn = figure(
        "completed",
        "Share of the runs whose moves have finished",
        f"From the first move's start. Band: {percent(CONFIDENCE)} interval{FEW}. {how}".strip(),
        wide=True,
    )
    return joined(drawn, completion_table(comparison, comparison.completions))


def _over_time(series: Sequence[Series]) -> Html:
    names = [(str(place), f"{one.name} ({one.unit})") for place, one in enumerate(series)]
    controls = joined(
        choice("time-series", "Show", names),
        choice("time-scale", "Scale", [("linear", "linear"), ("symlog", "logarithmic")]),
    )
    return figure(
        "over-time",
        "Over virtual time",
        f"Line: the median over the runs of an arm; band{FEW}: from their 10th to their 90th percentile. A run counts "
        "until its end.",
        controls=controls,
        wide=True,
    )


def _grid(comparison: Comparison) -> Html:
    axes = [(axis, axis) for axis in comparison.by]
    controls = joined(
        _metric_choice("heat-metric", "Figure", comparison),
        choice("heat-x", "Across", axes, axes[1][0]),
        choice("heat-y", "Down", axes, axes[0][0]),
    )
    more = " Over the other axes it is the mean of the arms." if len(axes) > 2 else ""
    drawn = figure(
        "heat", "A figure over two axes of the grid", f"Mean over the seeds.{more}", controls=controls, wide=True
    )
    return joined(drawn, axes_table(comparison))


def _trade_offs(comparison: Comparison) -> Html:
    objectives = comparison.front.metrics if comparison.front is not None else ()
    judged = [row.metric for row in comparison.rows if row.better is not Better.NEITHER]
    first, second, *_ = (*objectives, *judged, "", "")
    controls = joined(
        _metric_choice("pareto-x", "Across", comparison, first, judged=True),
        _metric_choice("pareto-y", "Up", comparison, second, judged=True),
    )
    drawn = figure(
        "pareto",
        "Two figures against each other",
        "Large mark: mean of an arm; small: one seed. Ringed: no other arm is better in one of the two figures without "
        "being worse in the other (Pareto front).",
        controls=controls,
    )
    spread = figure(
        "spread",
        "A figure, seed by seed",
        "Each mark is a run, the bar the mean of the arm. A line joins the runs of one seed: their random draws are "
        "the same.",
        controls=_metric_choice("spread-metric", "Figure", comparison),
    )
    return figures(drawn, spread)


def _metric_choice(name: str, label: str, comparison: Comparison, chosen: str = "", *, judged: bool = False) -> Html:
    """A choice of the metrics that vary; those that say most come first."""
    found = [row for row in varying(comparison) if not (judged and row.better is Better.NEITHER)]
    told = list(dict.fromkeys(metric for metric, _level in comparison.told))
    ordered = sorted(found, key=lambda row: told.index(row.metric) if row.metric in told else len(told))
    options = [(row.metric, f"{row.metric} ({row.unit})") for row in ordered]
    return choice(name, label, options, chosen or (options[0][0] if options else ""))


def _runs(comparison: Comparison, origin: Origin) -> Html:
    alone = len(comparison.levels) == 1
    return joined(
        figure(
            "spread", "A figure, seed by seed", "Each mark is a run, the bar the mean.",
            controls=_metric_choice("spread-metric", "Figure", comparison),
        ) if alone else None,
        element("h3", "The extreme runs, and the commands that run them again"),
        element("div", _metric_choice("extreme-metric", "Figure", comparison), class_="controls"),
        element("div", id="extremes"),
        _failed(comparison, origin),
    )  # fmt: skip


def _failed(comparison: Comparison, origin: Origin) -> Node:
    failed = [run for run in comparison.runs if run.status != DONE]
    if not failed:
        return None
    listed = [
        element(
            "li", element("b", f"{run.arm.name}, seed {run.seed}: "), run.error, _replay(origin, run.arm.name, run.seed)
        )
        for run in failed[:MOST_LISTED]
    ]
    left = len(failed) - len(listed)
    rest = note(f"{left} more are in the table runs of {' '.join(origin.files)}.") if left > 0 else None
    return joined(element("h3", "Runs that failed"), element("ul", *listed, class_="plain"), rest)


def _replay(origin: Origin, arm: str, seed: int) -> Html | None:
    return command(f"{origin.replays[arm]} --seed {seed}") if arm in origin.replays else None


def _methods(comparison: Comparison, origin: Origin) -> Html:
    seeds = f"{min(origin.seeds):,} to {max(origin.seeds):,}" if origin.seeds else "none"
    share = percent(CONFIDENCE)
    lines: list[Node] = [
        "Every arm runs the same seeds. A seed fixes all random draws: the runs of one seed differ by the arm alone.",
        _computed(origin),
        f"A difference is the mean of the differences seed by seed, with its {share} interval (BCa bootstrap).",
        "p: by flipping signs, after Holm's correction over all figures and arms of the page.",
        f"A difference below {comparison.minimum} does not matter; a finding exceeds that with p < {SIGNIFICANT}.",
        f"No difference that matters: the whole interval is below {comparison.minimum}.",
        _unfinished(comparison),
        _paired(comparison),
        joined("Data: ", element("code", shlex.join(origin.files)), f"; {len(comparison.runs):,} runs; seeds {seeds}."),
        joined("Scenario: ", element("code", origin.names), "."),
    ]
    return element("ul", *(element("li", line) for line in lines if line is not None))


def _paired(comparison: Comparison) -> str | None:
    """The sentence about pairing, for a comparison in which a level has several arms; else None."""
    if all(len(level.arms) == 1 for level in comparison.levels):
        return None
    [axis] = comparison.by
    return (
        f"The values of {axis} are compared over all values of the other axes: runs are paired by seed at each point "
        "of those, and a seed counts once, with its mean."
    )


def _unfinished(comparison: Comparison) -> str | None:
    completions = comparison.completions
    if completions is None or not completions.unfinished:
        return None
    horizon = number(completions.horizon_s, "s")
    return f"Not every run finished its moves: times to complete count up to {horizon}, until which all were observed."


def _computed(origin: Origin) -> str:
    over_time = "Spark computed what is drawn over time" if origin.spark else "what is drawn over time is left out"
    return f"The figures are those that each run computed itself; {over_time}{'' if origin.spark else ' (--quick)'}."
