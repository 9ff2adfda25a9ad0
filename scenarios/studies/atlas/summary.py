"""The atlas as text: the numbers of cells with each outcome, for each protocol and step, and the worst of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from scenarios.language import STEPS
from scenarios.runs.dataset.table_rows import CellRow
from scenarios.studies.atlas.atlas import Baseline
from scenarios.studies.atlas.outcome import HARMS, OUTCOMES

ORDER = tuple(OUTCOMES)
_HARM_ORDER = (*HARMS, "")
_WHY = 60


@frozen
class UndisturbedMove:
    """An undisturbed move and the harms that it does without any fault."""

    protocol: str
    profile: str
    plan: str
    title: str
    harms: dict[str, str]

    @classmethod
    def of(cls, baseline: Baseline) -> UndisturbedMove:
        profile = baseline.undisturbed.profile
        return cls(baseline.protocol, profile, baseline.plan.id, baseline.plan.title, baseline.own_harms)


def badness(row: CellRow) -> tuple[int, int]:
    """A key for sorting: larger is worse."""
    return ORDER.index(row.outcome), len(_HARM_ORDER) - _HARM_ORDER.index(row.harm)


def counts(rows: Iterable[CellRow]) -> dict[str, int]:
    """The number of cells with each of the four outcomes."""
    found = Counter(row.outcome for row in rows)
    return {outcome: found[outcome] for outcome in ORDER}


def summary(rows: Sequence[CellRow], undisturbed: Sequence[UndisturbedMove]) -> Iterator[str]:
    """The lines for people."""
    for own in undisturbed:
        told = "; ".join(f"{harm}: {what}" for harm, what in own.harms.items())
        yield f"{own.protocol} {own.title} ({own.profile}), undisturbed: {told or 'no harm'}"
    for protocol in dict.fromkeys(row.protocol for row in rows):
        yield ""
        yield from _protocol(protocol, [row for row in rows if row.protocol == protocol])
    yield ""
    yield from _harms(rows)


def _protocol(protocol: str, rows: list[CellRow]) -> Iterator[str]:
    width = max(len(row.step) for row in rows)
    heads = "".join(f"{outcome:>9}" for outcome in ORDER)
    yield f"{protocol:<{width}}{heads}  worst"
    steps = {step: None for step in STEPS if any(row.step == step for row in rows)}
    for step in steps:
        of_step = [row for row in rows if row.step == step]
        yield f"{step:<{width}}{_numbers(of_step)}  {_worst(of_step)}".rstrip()
    yield f"{'all':<{width}}{_numbers(rows)}"


def _numbers(rows: list[CellRow]) -> str:
    return "".join(f"{number or '.':>9}" for number in counts(rows).values())


def _worst(rows: list[CellRow]) -> str:
    worst = max(rows, key=badness)
    if worst.outcome == "finished":
        return ""
    what = worst.outcome if worst.outcome in ("unsafe", "stuck") else worst.harm
    why = worst.why if len(worst.why) <= _WHY else worst.why[: _WHY - 1] + "…"
    return f"{what} after {worst.fault} of {worst.actor}: {why}"


def _harms(rows: Sequence[CellRow]) -> Iterator[str]:
    """The number of times that each harm occurs, and a command that shows an example."""
    for outcome in ("unsafe", "stuck"):
        found = [row for row in rows if row.outcome == outcome]
        if found:
            yield f"{len(found):>6} {outcome:<26} such as {found[0].command}"
    for harm in HARMS:
        found = [row for row in rows if harm in row.harms]
        if found:
            shown = next((row for row in found if row.harm == harm and row.outcome == "harmed"), found[0])
            yield f"{len(found):>6} {harm:<26} such as {shown.command}"
