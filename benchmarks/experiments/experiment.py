"""An experiment: figures that were published or predicted, beside the emulator's."""

import math
from collections.abc import Callable, Sequence

from attrs import field, frozen

from benchmarks.experiments.charts import Chart
from benchmarks.tables import table

NEVER = math.inf
"""The time of what does not happen. It agrees with itself only."""


@frozen
class Tolerance:
    """The allowed distance of the emulated figure from the expected one. ``holds(expected, emulated)``."""

    text: str
    holds: Callable[[float, float], bool] = field(repr=False)


def within(share: float) -> Tolerance:
    """At most ``share`` of what was expected away from it, on either side."""

    def holds(expected: float, emulated: float) -> bool:
        return expected == emulated or abs(emulated - expected) <= share * abs(expected) < NEVER

    return Tolerance(f"{100 * share:g} %", holds)


def about(amount: float) -> Tolerance:
    """At most ``amount`` away from what was expected, in the figure's own unit."""
    return Tolerance(f"± {amount:g}", lambda expected, emulated: abs(emulated - expected) <= amount)


def at_least(share: float = 1.0) -> Tolerance:
    """``share`` of what was expected, or more."""
    return Tolerance(_bound("at least", share), lambda expected, emulated: emulated >= share * expected)


def at_most(share: float = 1.0) -> Tolerance:
    """``share`` of what was expected, or less."""
    return Tolerance(_bound("at most", share), lambda expected, emulated: emulated <= share * expected)


EXACT = Tolerance("exact", lambda expected, emulated: expected == emulated)


def _bound(words: str, share: float) -> str:
    return words if share == 1 else f"{words} {share:g} of it"


@frozen(kw_only=True)
class Finding:
    """One figure: expected and emulated.

    Attributes:
        why: the emulation's reason where the two disagree, in words; printed only then.
    """

    what: str
    expected: float
    emulated: float
    tolerance: Tolerance
    unit: str = "s"
    why: str = ""

    @property
    def agrees(self) -> bool:
        return self.tolerance.holds(self.expected, self.emulated)

    def cells(self, reasons: Sequence[str]) -> tuple[str, ...]:
        """A row of the table. ``reasons``: those below the table, each by its number."""
        verdict = "yes" if self.agrees else f"no: {reasons.index(self.why) + 1}" if self.why else "no: not understood"
        values = (amount(value, self.unit) for value in (self.expected, self.emulated))
        return (self.what, *values, self.tolerance.text, verdict)


def amount(value: float, unit: str) -> str:
    """A number as people read it: up to four significant digits, whole from 1,000 on."""
    if math.isinf(value):
        return "never"
    digits = f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"
    return f"{digits} {unit}".rstrip()


@frozen(kw_only=True)
class Outcome:
    """The result of an experiment. ``remarks``: what a table cannot say, one paragraph each."""

    findings: tuple[Finding, ...]
    charts: tuple[Chart, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        return all(finding.agrees for finding in self.findings)

    def lines(self) -> list[str]:
        """The table, and the remarks."""
        heads = ("figure", "published or predicted", "emulated", "tolerance", "agrees")
        reasons = list(dict.fromkeys(each.why for each in self.findings if each.why and not each.agrees))
        lines = table(heads, (finding.cells(reasons) for finding in self.findings))
        if reasons:
            lines += ["", "Why not:", "", *(f"{number}. {why}" for number, why in enumerate(reasons, 1))]
        for remark in self.remarks:
            lines += ["", remark]
        return lines


@frozen(kw_only=True)
class Experiment:
    """One experiment.

    Attributes:
        source: the person who published or predicted the figures, and the place.
        carry_out: does it; True: a scaled-down version with predictions of its own, for a test.
    """

    name: str
    title: str
    source: str
    carry_out: Callable[[bool], Outcome]
