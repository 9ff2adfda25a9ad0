"""The second half of a forecast: runs of each throttle and strategy over some seeds, and of the same with one broker
that dies in the middle of what the first took."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from math import inf, sqrt
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from scenarios.forecasting.arithmetic import Forecast, Outlook
from scenarios.forecasting.capacities import capacities_of
from scenarios.forecasting.variants import Death, variant
from scenarios.language import Scenario

if TYPE_CHECKING:
    from scenarios.language import Plan
    from scenarios.runs.batch import Workers
    from scenarios.runs.runner import Stage

CONFIDENCE = 0.95


@frozen
class TriedRun:
    """One run.

    Attributes:
        began_us: when the moves were requested, in virtual time; None: they never were.
        time_s: how long the moves took; None: not all of them ended.
        produce_p99_ms: of all batches; None: there were none.
        under_min_isr_s, at_min_isr_s: how long any partition had fewer replicas in sync than min.insync.replicas, or
            just as many.
        lost: records that were lost although they were acknowledged with acks=all.
        out, into: the most bytes that each broker sent, and received, in a second: clients and replication together.
    """

    seed: int
    began_us: int | None
    time_s: float | None
    produce_p99_ms: float | None
    under_min_isr_s: float
    at_min_isr_s: float
    lost: int
    out: Mapping[int, int]
    into: Mapping[int, int]

    @property
    def middle_us(self) -> int | None:
        """The middle of the moves, in virtual time; None where there is none."""
        if self.began_us is None or self.time_s is None:
            return None
        return self.began_us + round(1e6 * self.time_s / 2)


@frozen
class Mean:
    """A mean over runs, with its interval of 95 % (Student's t); without one from a single run."""

    value: float
    low: float | None
    high: float | None


@frozen
class TriedArm:
    """The runs of one throttle and strategy.

    Attributes:
        strategy, throttle: as in the outlook.
        crashed: the broker that dies for a minute in the middle of the moves, as the seed has them without its death,
            or in that of the estimate, where they do not end; None: none does.
        cards: the bandwidth of each broker's card, outwards and inwards, in bytes per second; None: unlimited.
        sampled: whether the runs leap over stretches (``fidelity``).
    """

    strategy: str
    throttle: int | None
    crashed: int | None
    cards: tuple[tuple[int | None, int | None], ...]
    sampled: bool
    samples: tuple[TriedRun, ...]

    @property
    def ended(self) -> int:
        """In how many runs all moves ended."""
        return sum(sample.time_s is not None for sample in self.samples)

    def mean(self, figure: Callable[[TriedRun], float | None]) -> Mean | None:
        """The mean of a figure; None where a run has none."""
        values = [figure(sample) for sample in self.samples]
        known = [value for value in values if value is not None]
        return mean_of(known) if len(known) == len(values) else None

    @property
    def peaks(self) -> dict[int, tuple[int, int]]:
        """The most bytes that each broker sent and received in a second of any of the runs."""
        brokers = sorted({broker for sample in self.samples for broker in (*sample.out, *sample.into)})
        return {
            broker: (
                max(sample.out.get(broker, 0) for sample in self.samples),
                max(sample.into.get(broker, 0) for sample in self.samples),
            )
            for broker in brokers
        }

    def to_json(self) -> dict[str, Any]:
        """The trial as JSON holds it: times in seconds, peaks in bytes per second."""
        time = self.mean(lambda sample: sample.time_s)
        return {**asdict(self), "ended": self.ended, "time_s": None if time is None else asdict(time)}


@frozen
class _Task:
    """A run to be done, in any process. ``document``: the scenario as plain tables."""

    document: dict[str, Any]
    source: str
    seed: int


def mean_of(values: Sequence[float]) -> Mean:
    """The mean of at least one value, with its interval."""
    if len(values) < 2:
        return Mean(values[0], None, None)
    from scipy import stats  # type: ignore[import-untyped]

    middle = mean(values)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * stdev(values) / sqrt(len(values))
    return Mean(middle, middle - half, middle + half)


def trials(
    scenario: Scenario, plan: Plan, forecast: Forecast, seeds: Sequence[int], workers: Workers,
    done: Callable[[int, int], object] = lambda done, all_: None, *, deaths: bool = True,
) -> tuple[TriedArm, ...]:  # fmt: skip
    """The trials of all outlooks that end by arithmetic, in their order: as the file is, and with a broker's death.

    Args:
        done: called after each run with the number of those that are done, and of all.
        deaths: whether there are those with a broker's death.
    """
    outlooks = [outlook for outlook in forecast.outlooks if outlook.estimate_s is not None]
    made = [_of(scenario, plan, outlook, None) for outlook in outlooks]
    count, all_, each = itertools.count(1), len(outlooks) * len(seeds) * (2 if deaths else 1), len(seeds)

    def tried(asked: Iterable[tuple[Scenario, int]]) -> list[TriedRun]:
        tasks, found = [_Task(one.to_table(), one.source, seed) for one, seed in asked], []
        with closing(workers.in_order(_sample, tasks)) as results:
            for sample in results:
                found.append(sample)
                done(next(count), all_)
        return found

    first = tried((one, seed) for one in made for seed in seeds)
    rounds: list[tuple[int | None, list[TriedRun]]] = [(None, first)]
    if deaths:
        broker, of_runs = _busiest(forecast), (outlook for outlook in outlooks for _ in seeds)
        rounds.append((broker, tried(
            (_of(scenario, plan, outlook, Death(broker, one.middle_us)), one.seed)
            for outlook, one in zip(of_runs, first, strict=True)
        )))  # fmt: skip
    cards = _cards(scenario)
    return tuple(
        TriedArm(
            outlook.strategy, outlook.throttle, crashed, cards, is_sampled(one),
            tuple(runs[number * each : (number + 1) * each]),
        )
        for number, (outlook, one) in enumerate(zip(outlooks, made, strict=True))
        for crashed, runs in rounds
    )  # fmt: skip


def _cards(scenario: Scenario) -> tuple[tuple[int | None, int | None], ...]:
    limits = capacities_of(scenario)
    return tuple(
        (None if out == inf else int(out), None if into == inf else int(into))
        for out, into in zip(limits.egress, limits.ingress, strict=True)
    )


def is_sampled(scenario: Scenario) -> bool:
    """Whether runs of the scenario leap."""
    return bool(getattr(scenario, "fidelity", "exact") != "exact")


def variants(scenario: Scenario, plan: Plan, forecast: Forecast) -> Iterator[Scenario]:
    """The scenarios that ``trials`` runs, for an estimate of what that costs."""
    for outlook in forecast.outlooks:
        if outlook.estimate_s is not None:
            yield from (_of(scenario, plan, outlook, death) for death in (None, Death(_busiest(forecast))))


def _of(scenario: Scenario, plan: Plan, outlook: Outlook, death: Death | None) -> Scenario:
    assert outlook.estimate_s is not None
    return variant(scenario, plan, outlook.name, outlook.estimate_s, death)


def _busiest(forecast: Forecast) -> int:
    """The broker that has to send the most bytes."""
    return max(forecast.brokers, key=lambda one: one.copied_out).broker


def _sample(task: _Task) -> TriedRun:
    from scenarios.runs.runner import Stage, conclude, prepare

    scenario = Scenario.from_table(task.document, source=task.source)
    stage = Stage(prepare(scenario, seed=task.seed))
    peaks, requested = _Peaks(stage), _requests(stage)
    stage.play()
    run, _ = conclude(stage, scenario, 0.0)
    figures: Mapping[str, Any] = run.metrics
    all_ended = figures["moves_finished"] == figures["moves"]
    out, into = peaks.found()
    return TriedRun(
        seed=task.seed,
        began_us=min(requested, default=None),
        time_s=figures["time_to_complete_s"] if all_ended else None,
        produce_p99_ms=figures["produce_p99_ms"],
        under_min_isr_s=figures["under_min_isr_any_s"],
        at_min_isr_s=figures["at_min_isr_any_s"],
        lost=figures["lost_acks_all_records"],
        out=out,
        into=into,
    )


def _requests(stage: Stage) -> list[int]:
    """When each move of a run is requested, in virtual time; filled by the run."""
    from emulator.protocol.events.moves import MovePlanned, MoveStarted

    times: list[int] = []

    def see(event: MovePlanned | MoveStarted) -> None:
        times.append(event.t_us)

    stage.cluster.trace.fold(MovePlanned, see)
    stage.cluster.trace.fold(MoveStarted, see)
    return times


class _Peaks:
    """The most bytes that each broker of a run sends and receives in a second, from the rows of its meters."""

    def __init__(self, stage: Stage) -> None:
        from scenarios.observe.measures.broker_traffic import BrokerTraffic
        from scenarios.observe.measures.fold import Measured, RunParts

        trace, past = stage.cluster.trace, stage.measures.past
        self._traffic = BrokerTraffic(RunParts(trace, past, Measured(keep_rows=True)))

    def found(self) -> tuple[dict[int, int], dict[int, int]]:
        """Sent, and received, by broker. Rows that stand for more than a second do not count."""
        from emulator.metrics.grid import METERS_US

        self._traffic.finish(0)
        out: dict[int, int] = {}
        into: dict[int, int] = {}
        for row in self._traffic.tables()["broker_traffic"]:
            if row.w_us == METERS_US:
                sent = row.bytes_out + (row.replication_bytes_out or 0)
                received = row.bytes_in + (row.replication_bytes_in or 0)
                out[row.node] = max(out.get(row.node, 0), sent)
                into[row.node] = max(into.get(row.node, 0), received)
        return out, into
