"""The cases in this process: the emulator, the two floors and the chaos-like run, in turn."""

import statistics
from collections.abc import Sequence

from attrs import define, field, frozen

from benchmarks.cluster.cases import (
    CHAOS_NAME,
    CHAOS_TARGET,
    DEMO_TARGET,
    WATCHED,
    WATCHING,
    Case,
    Timing,
    chaos_seconds,
    cluster,
    demo_seconds,
    floor,
)
from benchmarks.cluster.floor import Floor
from benchmarks.cluster.recording_floor import RecordingFloor
from benchmarks.cluster.targets import Target
from benchmarks.tables import table

HEADINGS = (
    "set-up", "virtual s per CPU s", "target", "floor that records", "emulator / floor", "target", "bare floor",
    "events per virtual s",
)  # fmt: skip
SEEDS = 3
"""Chaos-like runs in each round."""


@define
class Rounds:
    """The timings of one case, round by round.

    Attributes:
        ours: the figures of the emulator.
        recording, bare: the figures of the two floors; empty for a case with checkers and measures.
    """

    case: Case
    ours: list[Timing] = field(factory=list)
    recording: list[Timing] = field(factory=list)
    bare: list[Timing] = field(factory=list)

    def measure(self) -> None:
        """One round more."""
        self.ours.append(cluster(self.case))
        if not self.case.watched:
            self.recording.append(floor(self.case, RecordingFloor))
            self.bare.append(floor(self.case, Floor))

    @property
    def speed(self) -> float:
        return self._speed(self.ours)

    @property
    def to_floor(self) -> float:
        """The emulator's speed over that of the floor that records, round by round."""
        return ratio(self.recording, self.ours)

    def cells(self) -> tuple[str, ...]:
        """The row of ``HEADINGS``."""
        case = self.case
        floors = [f"{self._speed(self.recording):,.0f}", f"{self.to_floor:.2f}"] if self.recording else ["", ""]
        return (
            case.name,
            f"{self.speed:,.1f}",
            Target(case.target).words(self.speed) if case.target else "",
            *floors,
            case.to_floor.words(self.to_floor) if case.to_floor else "",
            f"{self._speed(self.bare):,.0f}" if self.bare else "",
            f"{self.ours[0].events / case.virtual_s:,.0f}",
        )

    def missed(self) -> list[str]:
        """A line for each target that is missed, and for a number of batches that the floors do not have."""
        case, acked = self.case, self.ours[0].acked
        found = Target(case.target).missed(f"{case.name}, virtual s per CPU s", self.speed) if case.target else []
        if case.to_floor:
            found += case.to_floor.missed(f"{case.name}, emulator / floor", self.to_floor)
        return found + [
            f"{case.name}: {acked} batches acknowledged, a floor has {timings[0].acked}"
            for timings in (self.recording, self.bare)
            if timings and abs(timings[0].acked - acked) > 2 * case.partitions
        ]

    def _speed(self, timings: Sequence[Timing]) -> float:
        return statistics.median(self.case.virtual_s / timing.seconds for timing in timings)


@frozen
class Found:
    """The measurements: the cases, runs per CPU second of the chaos-like run round by round, and the CPU seconds of the
    demo (None: not measured)."""

    cases: Sequence[Rounds]
    chaos: Sequence[float]
    demo_s: float | None

    def figures(self) -> list[tuple[str, float, Target]]:
        """The figures that are no case's own: what they are, how large, and their target."""
        plain = {rounds.case.name: rounds for rounds in self.cases if not rounds.case.watched}
        found = [
            (
                f"{name}: CPU time with checkers and measures, over that without",
                ratio(rounds.ours, plain[name].ours),
                WATCHING,
            )
            for rounds in self.cases
            if rounds.case.watched and (name := rounds.case.name.removesuffix(WATCHED)) in plain
        ]
        if self.chaos:
            found.append((f"{CHAOS_NAME}: seeds per second and core", statistics.median(self.chaos), CHAOS_TARGET))
        if self.demo_s is not None:
            found.append(("one run of the demo, file to verdict: CPU s", self.demo_s, DEMO_TARGET))
        return found

    def lines(self) -> list[str]:
        """The two tables."""
        figures = ((what, f"{figure:.2f}", target.words(figure)) for what, figure, target in self.figures())
        return [
            *table(HEADINGS, [rounds.cells() for rounds in self.cases]),
            "",
            *table(("figure", "", "target"), figures),
        ]

    def missed(self) -> list[str]:
        found = [line for rounds in self.cases for line in rounds.missed()]
        return found + [line for what, figure, target in self.figures() for line in target.missed(what, figure)]


def measured(cases: Sequence[Case], repeats: int, *, chaos: bool) -> Found:
    """Everything in turn, ``repeats`` times; with ``chaos`` the chaos-like run and the demo too."""
    rounds = [Rounds(case) for case in cases]
    runs: list[float] = []
    if chaos:
        chaos_seconds([0])  # what a first run imports and keeps is not measured
    for number in range(repeats):
        for one in rounds:
            one.measure()
        if chaos:
            first = 1 + number * SEEDS
            runs.append(SEEDS / chaos_seconds(range(first, first + SEEDS)))
    return Found(rounds, runs, demo_seconds(repeats) if chaos else None)


def ratio(numerators: Sequence[Timing], denominators: Sequence[Timing]) -> float:
    """The median over the rounds of one timing's seconds over the other's."""
    return statistics.median(a.seconds / b.seconds for a, b in zip(numerators, denominators, strict=True))
