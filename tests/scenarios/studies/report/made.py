"""Studies made by arithmetic: the figures of runs as a sweep's data set has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from scenarios.observe.measures.figure import Value
from scenarios.observe.measures.figures import declared
from scenarios.runs.dataset.arm import Arm, named
from scenarios.runs.dataset.run_record import FAILED
from scenarios.studies.report.compared import Origin, compared_page
from scenarios.studies.report.over_time import Curve, Series
from scenarios.studies.statistics.run_figures import RunFigures
from scenarios.studies.statistics.study_comparison import ComparisonSpec, compare_runs

SEEDS = range(12)


def arms(*strategies: str, throttles: Sequence[str] = ()) -> tuple[Arm, ...]:
    """Strategies, under each of the throttles."""
    if not throttles:
        return named(Arm(strategy, "kafka-2.3") for strategy in strategies)
    points = [(("strategy.throttle", throttle),) for throttle in throttles]
    return named(Arm(strategy, "kafka-2.3", point) for strategy in strategies for point in points)


def run(arm: Arm, place: int, seed: int, *, finishes: bool | None = True) -> RunFigures:
    """Later arms take longer and have less lag; ``finishes``: None for a run without moves."""
    took_s = 5.0 + 3 * place + 0.1 * ((seed * 7) % 5)
    metrics: dict[str, Value] = {figure.metric: 0 for figure in declared().values()}
    metrics["time_to_complete_s"] = took_s if finishes else None
    metrics["under_min_isr_s"] = 2.0 + 0.1 * (seed % 3)
    metrics["lag_p99"] = 4_000 - 900 * place + 10 * (seed % 4)
    metrics["lost_acks_all_records"] = 3 if (place, seed) == (1, 4) else 0
    return RunFigures(
        run_id=f"{place:08}{seed:08}",
        arm=arm,
        seed=seed,
        completed=finishes,
        observed_s=None if finishes is None else took_s,
        metrics=metrics,
        agrees=True,
    )


def failed(arm: Arm, seed: int, error: str) -> RunFigures:
    """A run that broke."""
    return RunFigures(
        run_id=f"failed{seed:010}",
        arm=arm,
        seed=seed,
        completed=None,
        observed_s=None,
        metrics={},
        agrees=True,
        status=FAILED,
        error=error,
    )


def runs(of: Sequence[Arm], *, finishes: bool | None = True) -> list[RunFigures]:
    return [run(arm, place, seed, finishes=finishes) for place, arm in enumerate(of) for seed in SEEDS]


def over_time(of: Sequence[Arm]) -> list[Series]:
    """Two series that grow with time."""
    times = tuple(0.5 * step for step in range(20))
    curve = Curve(times, tuple(12 for _ in times), tuple(0.0 for _ in times), times, tuple(2 * time for time in times))
    return [
        Series(name="largest replica lag", unit="records", levels={arm.name: curve for arm in of}),
        Series(name="under-replicated partitions", unit="partitions", levels={of[0].name: curve}),
    ]


def page(
    of: Sequence[Arm],
    figures: Sequence[RunFigures],
    *,
    title: str = "A study",
    over_time: Sequence[Series] = (),
    asked: ComparisonSpec | None = None,
) -> str:
    """The report of these runs."""
    origin = Origin(
        files={"moves": "mine.toml"}, seeds=SEEDS, arms=of, command="understudy report moves -o report.html",
        spark=False, version="1.2",
    )  # fmt: skip
    return compared_page(compare_runs(figures, title=title, asked=asked), over_time, origin).render()


def text_of(made: str) -> str:
    """The text that a reader sees without any script."""
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", made.partition("<body>")[2].partition("<script")[0]))


def written(folder: Path, text: str) -> Path:
    """The page as a file."""
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path
