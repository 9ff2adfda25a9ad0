"""The page of a forecast: what ends and when, why the rest does not, and what runs of it showed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scenarios.forecasting import amounts
from scenarios.forecasting import forecast_words as words
from scenarios.forecasting.arithmetic import Forecast, Outlook
from scenarios.forecasting.trials import TriedArm
from scenarios.studies.report.html_page import Page, Section, figure, figures, note, table, tile, tiles
from scenarios.studies.report.markup import Html, element, joined

PEAKS = "The most bytes of a second in any run without a fault, clients and replication together"


def forecast_page(forecast: Forecast, trials: Sequence[TriedArm], command: str, version: str) -> Page:
    """The page. ``trials``: none where nothing was run."""
    sections = [
        Section(id="ranking", title="Throttles and strategies", body=_ranking(forecast)),
        *([Section(id="runs", title="Runs", body=_runs(trials))] if trials else []),
        Section(
            id="brokers", title="Brokers", body=_rows(words.broker_rows(forecast), "What goes out of and into them")
        ),
    ]
    return Page(
        title=forecast.title,
        about=words.what_moves(forecast),
        lead=_lead(forecast),
        sections=sections,
        script="forecast",
        data={"outlooks": _drawn(forecast, trials), "peaks": list(_peaks(trials))},
        command=command,
        version=version,
    )


def _lead(forecast: Forecast) -> Html:
    ending = [one for one in forecast.outlooks if not one.never_ends]
    never = len(forecast.outlooks) - len(ending)
    best = ending[0] if ending else None
    return tiles(
        tile("Soonest", amounts.time(best.estimate_s if best else None), _named(best) if best else "nothing ends"),
        tile("To copy", amounts.size(forecast.copied)),
        tile("Never end", f"{never} of {len(forecast.outlooks)}", tone="bad" if never else "good"),
    )


def _named(one: Outlook | TriedArm) -> str:
    return f"{one.strategy}, throttle {words.throttle(one)}"


def _ranking(forecast: Forecast) -> Html:
    caption = "By arithmetic: an estimate, and the time below which it cannot be over"
    left_out = ", ".join(forecast.left_out)
    return joined(
        _rows(words.outlook_rows(forecast.outlooks), caption),
        *(element("pre", "\n".join(lines)) for one in forecast.outlooks if (lines := list(words.never_ends(one)))),
        note(f"The arithmetic leaves out: {left_out}.", tone="warning") if left_out else None,
        figures(
            figure("times", "How long the moves take", caption + "; where runs were made, their mean with its interval")
        ),
    )


def _runs(trials: Sequence[TriedArm]) -> Html:
    return joined(
        note(words.about_trials(trials) + "."),
        _rows(words.trial_rows(trials), "Means over the runs"),
        figures(figure("peaks", "Peaks of traffic by broker", PEAKS, wide=True)),
    )


def _rows(rows: Iterable[tuple[str, ...]], caption: str) -> Html:
    heads, *rest = rows
    return table(heads, rest, caption=caption)


def _drawn(forecast: Forecast, trials: Sequence[TriedArm]) -> list[dict[str, Any]]:
    """An object for each outlook that ends, with the mean of its runs without a fault."""
    tried = {(one.strategy, one.throttle): one for one in trials if one.crashed is None}
    found = []
    for one in forecast.outlooks:
        if one.estimate_s:
            trial = tried.get((one.strategy, one.throttle))
            mean = None if trial is None else trial.mean(lambda sample: sample.time_s)
            found.append(
                {
                    "name": _named(one),
                    "estimate_s": one.estimate_s,
                    "at_least_s": one.at_least_s or None,  # the axis is logarithmic
                    "mean_s": None if mean is None else mean.value,
                    "low_s": None if mean is None else mean.low,
                    "high_s": None if mean is None else mean.high,
                }
            )
    return found


def _peaks(trials: Iterable[TriedArm]) -> Iterable[dict[str, Any]]:
    for one in trials:
        if one.crashed is None:
            for broker, (out, into) in one.peaks.items():
                yield {"name": _named(one), "broker": str(broker), "side": "out", "rate": out}
                yield {"name": _named(one), "broker": str(broker), "side": "in", "rate": into}
