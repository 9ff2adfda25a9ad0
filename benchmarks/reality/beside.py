"""The emulator's answers beside what real Kafka did: exact runs, and ``understudy forecast``."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from attrs import frozen

from benchmarks.experiments.emulate import emulate
from benchmarks.reality.folder import Reality, read, recorded
from benchmarks.reality.imported import scenario_of
from benchmarks.tables import table
from scenarios.forecasting.arithmetic import forecast
from scenarios.forecasting.trials import Mean, trials
from scenarios.language import Scenario
from scenarios.runs.batch import ThisProcess

SEEDS = range(1, 6)
TARGET, CLOSE, MOST = 0.10, 0.03, 4
"""The errors that every move, and so many of the moves, have to keep within."""


@frozen
class Foretold:
    """The answer of ``understudy forecast`` about a move.

    Attributes:
        computed_s: by arithmetic.
        run_s: the mean of its runs, with its interval of 95 %.
    """

    computed_s: float
    run_s: Mean


@frozen
class Beside:
    """One move, measured, emulated and foretold.

    Attributes:
        recording: its folder's name.
        emulated_s: the durations of the seeds.
    """

    recording: str
    reality: Reality
    emulated_s: tuple[float, ...]
    foretold: Foretold

    def error(self, seconds: float) -> float:
        """The share of the measured duration by which another is longer."""
        return seconds / self.reality.duration_s - 1

    @property
    def emulated_error(self) -> float:
        return self.error(fmean(self.emulated_s))

    @property
    def foretold_error(self) -> float:
        return self.error(self.foretold.run_s.value)


ANSWERS: tuple[tuple[str, Callable[[Beside], float]], ...] = (
    ("exact runs", lambda each: each.emulated_error),
    ("estimates by arithmetic", lambda each: each.error(each.foretold.computed_s)),
    ("runs of the forecast", lambda each: each.foretold_error),
)
"""The answers that have to keep within the errors."""


def beside(folder: Path, seeds: Sequence[int] = SEEDS) -> Beside:
    """Run and forecast the scenario of a recording. Raises: AssertionError, where a run fails."""
    reality = read(folder)
    scenario = scenario_of(reality, folder)
    runs = [emulate(scenario.for_run(seed=seed)) for seed in seeds]
    emulated_s = tuple(run.seconds("time_to_complete_s") for run in runs)
    return Beside(folder.name, reality, emulated_s, foretold(scenario, seeds))


def foretold(scenario: Scenario, seeds: Sequence[int] = SEEDS) -> Foretold:
    """The forecast of a scenario. Raises: AssertionError, where the plan does not end."""
    (plan,) = scenario.plans
    found = forecast(scenario, plan)
    (outlook,) = found.outlooks
    (arm,) = trials(scenario, plan, found, seeds, ThisProcess(), deaths=False)
    run_s = arm.mean(lambda sample: sample.time_s)
    assert outlook.estimate_s is not None, scenario.title
    assert run_s is not None, scenario.title
    return Foretold(outlook.estimate_s, run_s)


def lines(found: Sequence[Beside]) -> Iterator[str]:
    """The tables, and how many moves are within the targets."""
    heads = ("move", "release, profile", "date", "load average", "measured, s", "exact runs, s", "off by")
    yield from table(heads, [_row(each) for each in found])
    yield ""
    foretold_heads = ("forecast of", "measured, s", "by arithmetic, s", "off by", "by sampled runs, s", "off by")
    yield from table(foretold_heads, [_foretold_row(each) for each in found])
    yield ""
    for name, error in ANSWERS:
        errors = [abs(error(each)) for each in found]
        within, close = (sum(one <= most for one in errors) for most in (TARGET, CLOSE))
        always = f"{len(close_moves(found, error))} moves each time"
        yield f"Of the {name} within {TARGET:.0%}: {within} of {len(found)}; within {CLOSE:.0%}: {close}, {always}.  "


def _row(each: Beside) -> tuple[str, ...]:
    reality, (low, high) = each.reality, (min(each.emulated_s), max(each.emulated_s))
    return (
        f"`{each.recording}`: {reality.title}; throttle {reality.throttle / 1e6:.0f} MB/s",
        f"{reality.release}, {reality.profile}",
        reality.date,
        f"{reality.load[1]:.1f}, {reality.load[2]:.1f} at most",
        f"{reality.duration_s:.1f}",
        _spread(fmean(each.emulated_s), low, high),
        f"{each.emulated_error:+.1%}",
    )


def _foretold_row(each: Beside) -> tuple[str, ...]:
    computed_s, run_s = each.foretold.computed_s, each.foretold.run_s
    return (
        f"`{each.recording}`",
        f"{each.reality.duration_s:.1f}",
        f"{computed_s:.1f}",
        f"{each.error(computed_s):+.1%}",
        _spread(run_s.value, run_s.low or run_s.value, run_s.high or run_s.value),
        f"{each.foretold_error:+.1%}",
    )


def _spread(middle: float, low: float, high: float) -> str:
    return f"{middle:.1f}" + (f" ({low:.1f} to {high:.1f})" if high - low >= 0.1 else "")


def close_moves(found: Sequence[Beside], error: Callable[[Beside], float]) -> list[str]:
    """The moves whose every recording is close."""
    errors: dict[str, list[float]] = defaultdict(list)
    for each in found:
        errors[each.reality.name].append(abs(error(each)))
    return [name for name, of in errors.items() if max(of) <= CLOSE]


def problems(found: Sequence[Beside]) -> list[str]:
    far = [
        f"{each.recording}: {name} off by {error(each):+.1%}, wanted at most {TARGET:.0%}"
        for name, error in ANSWERS
        for each in found
        if abs(error(each)) > TARGET
    ]
    few = [
        f"{name}: {len(close_moves(found, error))} moves within {CLOSE:.0%}, wanted {MOST}"
        for name, error in ANSWERS
        if len(close_moves(found, error)) < MOST
    ]
    return [*far, *few]


def all_beside() -> list[Beside]:
    """All recordings of the repository."""
    return [beside(folder) for folder in recorded()]
