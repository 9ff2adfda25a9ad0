"""A run as text: the scenario, the verdict, every expectation, the key figures; for a failed run, why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli.output import red, table
from scenarios.observe.measures.figure import Value
from scenarios.observe.measures.figures import declared
from scenarios.runs.dataset.identity import command_line
from scenarios.runs.headlines import Headline, headlines
from scenarios.units import counted, number

if TYPE_CHECKING:
    from scenarios.runs import Run

KEY_METRICS = (
    "under_min_isr_s",
    "lag_p99",
    "true_lag_p99",
    "isr_shrinks",
    "isr_expands",
    "leader_elections",
    "acked_batches",
    "failed_batches",
    "produce_p99_ms",
    "produce_max_ms",
)
"""The figures in the text; ``--format json`` has all."""
CONSUMER_METRICS = ("consumed_messages", "consumer_lag_p99", "consume_p99_ms", "consumer_lag_max")
"""Further figures in the text of a run with consumers."""
_MOST_DRAWN = 8
"""The most drawn values that the text shows."""


def report(run: Run, trace: Path | None = None) -> Iterator[str]:
    """The lines of the report. ``trace``: the folder that the run was written to."""
    yield run.scenario.title
    schedule = run.scenario.schedule
    drawn = "" if schedule == "fifo" else f", schedule {schedule}"
    yield f"strategy {run.strategy}, profile {run.profile}, seed {run.seed}{drawn}"
    yield from _plan(run)
    yield from (f"warning: {line}" for line in run.scenario.topic_hints())
    if run.drawn:
        values = [f"{entry} {key} = {value}".removeprefix("draws ") for entry, key, value in run.drawn]
        more = len(values) - _MOST_DRAWN
        shown = [*values[:_MOST_DRAWN], f"and {more} more (--format json)"] if more > 1 else values
        yield "drawn: " + ", ".join(shown)
    yield ""
    yield verdict(run)
    yield from known(run)
    yield from (red(f"  not in the specification: {one}") for one in run.rejections)
    if run.leaping is not None:
        yield f"  {run.leaping}"
    yield from _headlines(list(headlines(run, None if trace is None else str(trace))))
    yield ""
    if run.expectations:
        yield from _expectations(run)
        yield ""
    else:
        yield "nothing was asked: the file has no [[expect]] and no [[steady_state]]; what must always hold was checked"
        yield ""
    yield from _metrics(run)
    if not run.passed:
        yield ""
        yield from run.explanation.splitlines()
    yield ""
    yield f"run {run.run_id}  digest {run.digest}"
    if trace is not None:
        yield f"trace written to {trace}; next: {command_line('timeline', str(trace))}"


def _plan(run: Run) -> Iterator[str]:
    """The moves of a plan that the file states in words."""
    from scenarios.language import GeneratedPlan

    if isinstance(run.scenario.plan, GeneratedPlan):
        from scenarios.cli.commands.plan import summary

        yield f"plan: {run.scenario.plan.words}: {summary(run.scenario, run.scenario.plan)} (understudy plan)"


def verdict(run: Run) -> str:
    reason = f" ({run.reason})" if run.reason else ""
    word = run.verdict.upper()
    return (
        f"{word if run.passed else red(word)}{reason} after {run.virtual_s:.3f} virtual seconds"
        f" ({run.wall_s:.2f} s here, {run.events:,} events)"
    )


def known(run: Run) -> Iterator[str]:
    """A line for each known behaviour of the release, with the findings that come from it."""
    if run.passed:
        return
    from scenarios.runs.known_findings import shown  # which few runs need

    for reason, of_it in run.known:
        yield f"  known: {shown(reason, of_it)}"


def _headlines(found: Sequence[Headline]) -> Iterator[str]:
    width = max(len(headline.label) for headline in found)
    before = ""
    for label, text, bad in found:
        for part in bad:
            text = text.replace(part, red(part))
        yield f"  {('' if label == before else label).ljust(width)}  {text}"
        before = label


def _expectations(run: Run) -> Iterator[str]:
    """A line for each expectation, with the time at which it came true, recovered, or was found broken; without one it
    is the end of the run."""
    width = max(len(_mark(expectation.ok)) for expectation in run.expectations)
    for expectation in run.expectations:
        mark = _mark(expectation.ok)
        shown = mark if expectation.ok else red(mark)
        t_us, detail = expectation.t_us, expectation.detail
        at_the_end = t_us is None or t_us >= round(run.virtual_s * 1e6)
        when = "" if t_us is None or at_the_end or expectation.ok else f"at {t_us / 1e6:.3f} s"
        found = detail if when in detail else ", ".join(part for part in (detail, when) if part)
        yield f"  {shown}{' ' * (width - len(mark))}  {expectation.statement}" + (f"  {found}" if found else "")


def _mark(ok: bool) -> str:
    return "ok" if ok else "FAILED"


def _with_unit(value: Value, unit: str) -> str:
    if value is None:
        return number(value)
    return counted(value, unit) if isinstance(value, int) else f"{number(value)} {unit}"


def _metrics(run: Run) -> Iterator[str]:
    """The figures, two to a line."""
    names = (*KEY_METRICS, *CONSUMER_METRICS) if run.scenario.consumers else KEY_METRICS
    units = {figure.metric: figure.unit for figure in declared().values()}
    cells = [(name, _with_unit(run.metrics[name], units[name])) for name in names if name in run.metrics]
    if len(cells) % 2:
        cells.append(("", ""))
    rows = [(*left, *right) for left, right in zip(cells[::2], cells[1::2], strict=True)]
    yield from table(rows) if rows else ()
