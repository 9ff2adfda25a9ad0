"""A forecast in words: the lines of the console, and what its page says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from scenarios.forecasting import amounts
from scenarios.forecasting.arithmetic import Forecast, Outlook
from scenarios.forecasting.capacities import LimitKind
from scenarios.forecasting.fluid import Full
from scenarios.forecasting.outages import Outage
from scenarios.forecasting.trials import Mean, TriedArm
from scenarios.forecasting.variants import DEAD_S
from scenarios.units import counted

_THROTTLED = {LimitKind.LEADER_QUOTA: "as a leader", LimitKind.FOLLOWER_QUOTA: "as a follower"}


def what_moves(forecast: Forecast) -> str:
    """How much is copied, in one line."""
    moving = [one for one in forecast.moving if one.added]
    if not moving:
        planned = counted(len(forecast.moving), "partitions")
        return f"no partition gets a new replica: nothing to copy ({planned} in the plan)"
    written = sum(one.written for one in moving)
    replicas = sum(len(one.added) for one in moving)
    meanwhile = f"; {amounts.rate(written)} are written to them meanwhile" if written else ""
    partitions, copies = counted(len(moving), "partitions"), counted(replicas, "replicas")
    get = "gets" if len(moving) == 1 else "get"
    return f"{partitions} {get} {copies}: {amounts.size(forecast.copied)} to copy{meanwhile}"


def broker_rows(forecast: Forecast) -> Iterator[tuple[str, ...]]:
    """A table of what the plan and the loads send out of and into each broker."""
    yield "broker", "copies out", "copies in", "written to it", "to followers in sync", "of these its throttle counts"
    for one in forecast.brokers:
        yield (
            str(one.broker),
            amounts.size(one.copied_out),
            amounts.size(one.copied_in),
            amounts.rate(one.written),
            amounts.rate(one.in_sync_out),
            amounts.rate(one.counted),
        )


def outlook_rows(outlooks: Iterable[Outlook]) -> Iterator[tuple[str, ...]]:
    """A table of the outlooks, as they are ranked."""
    yield "strategy", "throttle", "estimate", "at least", "held back by"
    for one in outlooks:
        yield (
            one.strategy,
            throttle(one),
            amounts.time(one.estimate_s),
            amounts.time(one.at_least_s),
            ", ".join(held_back(one.full)) or "-",
        )


def throttle(outlook: Outlook | TriedArm) -> str:
    """The throttle of an outlook or a trial."""
    return "none" if outlook.throttle is None else amounts.rate(outlook.throttle)


def held_back(fulls: Iterable[Full]) -> Iterator[str]:
    """Each kind of limit with its brokers: ``throttle as a leader (0, 1)``."""
    brokers: dict[LimitKind, list[int]] = {}
    for full in fulls:
        brokers.setdefault(full.kind, []).append(full.broker)
    for kind, ids in brokers.items():
        yield f"{kind.value} ({', '.join(map(str, sorted(ids)))})"


def never_ends(outlook: Outlook) -> Iterator[str]:
    """Why a plan does not end: a line for each limit with equal figures, and the throttle that would do."""
    if outlook.estimate_s is not None:
        return
    if outlook.waits_for:
        ids, several = ", ".join(map(str, outlook.waits_for)), len(outlook.waits_for) > 1
        who, them = (f"brokers {ids} are", "them") if several else (f"broker {ids} is", "it")
        yield f"{outlook.strategy} at {throttle(outlook)} never ends: moves wait for {them}, as {who} never back"
        return
    certainly = " (whatever is copied first)" if outlook.at_least_s == float("inf") else ""
    yield f"{outlook.strategy} at {throttle(outlook)} never ends{certainly}:"
    alike: dict[tuple[LimitKind, str, str, str, str], list[int]] = {}
    for full in outlook.full:
        figures = tuple(map(amounts.rate, (full.needed, full.in_sync, full.new, full.capacity)))
        alike.setdefault((full.kind, *figures), []).append(full.broker)  # type: ignore[arg-type]
    for (kind, needed, in_sync, new, capacity), brokers in alike.items():
        yield "  " + _needs(outlook, kind, brokers, needed, in_sync, new, capacity)
    if outlook.least_throttle is not None:
        yield f"  it ends with a throttle above {amounts.rate(outlook.least_throttle)}"


def _needs(
    outlook: Outlook, kind: LimitKind, brokers: list[int], needed: str, in_sync: str, new: str, capacity: str
) -> str:
    several = len(brokers) > 1
    who = (
        f"{'brokers' if several else 'broker'} {', '.join(map(str, sorted(brokers)))} {'need' if several else 'needs'}"
    )
    each = " each" if several else ""
    parts = f"{in_sync} to followers in sync and {new} of new data for the copies"
    if kind is LimitKind.FOLLOWER_QUOTA:
        parts = f"{in_sync} for what is in sync and {new} of new data for the copies"
    if kind in _THROTTLED:
        return (
            f"{who} {needed}{each} for new writes alone ({parts}); a throttle of {throttle(outlook)} lets {capacity} "
            f"through {_THROTTLED[kind]}"
        )
    return f"{who} {needed}{each} for new writes alone ({parts}); {kind.value}: {capacity}"


def lines(forecast: Forecast) -> Iterator[str]:
    """The lines that follow the tables."""
    for outlook in forecast.outlooks:
        yield from never_ends(outlook)
        if outlook.near and outlook.least_throttle is not None:
            least = amounts.rate(outlook.least_throttle)
            yield (
                f"{outlook.strategy} at {throttle(outlook)} is near the least throttle that ends, {least}: the "
                "estimate may be off by tens of per cent"
            )
        if forecast.copied and outlook.instant:
            yield (
                f"{outlook.strategy} at throttle {throttle(outlook)}: no throttle, card or disk holds the copies back; "
                "round trips of fetchers are left, whose time only runs have"
            )
    for outage in forecast.outages:
        yield f"broker {outage.broker} {_is_down(outage)}: the estimates have that"
    if forecast.left_out:
        yield f"the arithmetic leaves out {', '.join(forecast.left_out)}: the estimates are without, the runs with it"


def _is_down(outage: Outage) -> str:
    """When a broker is down: ``is down from 40 s to 55 s after the request``."""
    begins = (
        "already at the request" if outage.begins_s <= 0 else f"from {amounts.time(outage.begins_s)} after the request"
    )
    ends = (
        "and never back" if outage.ends_s == inf else f"for {amounts.time(outage.ends_s - max(0.0, outage.begins_s))}"
    )
    return f"is down {begins}, {ends}"


def trial_rows(trials: Iterable[TriedArm]) -> Iterator[tuple[str, ...]]:
    """A table of trials, in their order."""
    yield (
        "strategy", "throttle", "broker down", "moves take", "produce p99", "under min ISR", "at min ISR", "lost",
        "peak out", "peak in",
    )  # fmt: skip
    for one in trials:
        yield (
            one.strategy,
            throttle(one),
            "-" if one.crashed is None else str(one.crashed),
            _took(one),
            _mean(one.mean(lambda sample: sample.produce_p99_ms), " ms"),
            _mean(one.mean(lambda sample: sample.under_min_isr_s), " s"),
            _mean(one.mean(lambda sample: sample.at_min_isr_s), " s"),
            str(sum(sample.lost for sample in one.samples)),
            *(peak(one, side) for side in (0, 1)),
        )


def _took(trial: TriedArm) -> str:
    if trial.ended < len(trial.samples):
        return f"ends in {trial.ended} of {counted(len(trial.samples), 'runs')}"
    return _mean(trial.mean(lambda sample: sample.time_s), " s")


def _mean(mean: Mean | None, unit: str) -> str:
    """``85.8 s (84.1 to 87.5)``; ``-`` for none."""
    if mean is None:
        return "-"
    value = f"{_digits(mean.value)}{unit}"
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return value
    return f"{value} ({_digits(max(0, mean.low))} to {_digits(mean.high)})"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def peak(trial: TriedArm, side: int) -> str:
    """The broker with the highest peak, and the peak: outwards (0) or inwards (1)."""
    if not trial.peaks:
        return "-"
    broker, peaks = max(trial.peaks.items(), key=lambda item: item[1][side])
    card = trial.cards[broker][side]
    share = "" if card is None else f", {peaks[side] / card:.0%} of its card"
    return f"{amounts.rate(peaks[side])} (broker {broker}{share})"


def about_trials(trials: Sequence[TriedArm]) -> str:
    """The meaning of the table of trials, in one line."""
    first = trials[0]
    runs = counted(len(first.samples), "runs")
    how = "sampled" if first.sampled else "exact"
    interval = " (95 % intervals of the mean)" if len(first.samples) > 1 else ""
    return (
        f"{runs} each{interval}, {how}; and again with the broker that sends the most down for {DEAD_S} s from the "
        "middle of its moves on. Peaks: the most in a second, which broker's, and its share of that broker's card"
    )
