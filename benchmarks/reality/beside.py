"""The emulator's answer beside what real Kafka did."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from attrs import frozen

from benchmarks.experiments.emulate import emulate
from benchmarks.reality.folder import Reality, read, recorded
from benchmarks.reality.imported import scenario_of
from benchmarks.tables import table

SEEDS = range(1, 6)
TARGET, CLOSE = 0.10, 0.03
"""The errors that every move, and most of them, have to keep within."""


@frozen
class Beside:
    """One move, measured and emulated.

    Attributes:
        recording: its folder's name.
        emulated_s: the durations of the seeds.
    """

    recording: str
    reality: Reality
    emulated_s: tuple[float, ...]

    @property
    def error(self) -> float:
        """By how much the mean of the emulated durations is longer, as a share of the measured one."""
        return fmean(self.emulated_s) / self.reality.duration_s - 1


def beside(folder: Path, seeds: Sequence[int] = SEEDS) -> Beside:
    """Run the scenario of a recording. Raises: AssertionError, where a run fails."""
    reality = read(folder)
    scenario = scenario_of(reality, folder)
    runs = [emulate(scenario.for_run(seed=seed)) for seed in seeds]
    return Beside(folder.name, reality, tuple(run.seconds("time_to_complete_s") for run in runs))


def lines(found: Sequence[Beside]) -> Iterator[str]:
    """The table, and how many moves are within the targets."""
    heads = ("move", "release, profile", "date", "load average", "measured, s", "emulated, s", "off by")
    yield from table(heads, [_row(each) for each in found])
    close = sum(abs(each.error) <= CLOSE for each in found)
    within = sum(abs(each.error) <= TARGET for each in found)
    yield ""
    yield f"Within {TARGET:.0%}: {within} of {len(found)}; within {CLOSE:.0%}: {close}."


def _row(each: Beside) -> tuple[str, ...]:
    reality, (low, high) = each.reality, (min(each.emulated_s), max(each.emulated_s))
    spread = f"{fmean(each.emulated_s):.1f}" + (f" ({low:.1f} to {high:.1f})" if high - low >= 0.1 else "")
    return (
        f"`{each.recording}`: {reality.title}; throttle {reality.throttle / 1e6:.0f} MB/s",
        f"{reality.release}, {reality.profile}",
        reality.date,
        f"{reality.load[1]:.1f}, {reality.load[2]:.1f} at most",
        f"{reality.duration_s:.1f}",
        spread,
        f"{each.error:+.1%}",
    )


def problems(found: Sequence[Beside]) -> list[str]:
    return [
        f"{each.recording}: off by {each.error:+.1%}, wanted at most {TARGET:.0%}"
        for each in found
        if abs(each.error) > TARGET
    ]


def all_beside() -> list[Beside]:
    """All recordings of the repository."""
    return [beside(folder) for folder in recorded()]
