"""A likelihood as JSON: what ``--format json`` prints, and what is kept beside a recorded run for its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.errors import BadInput
from scenarios.reading import parse_json, read_text
from scenarios.whole_files import save

if TYPE_CHECKING:
    from scenarios.studies.likely.likelihood import Likelihood, Point

NAME = "likely.json"
MOST_EVENTS = 12
"""The most events that are shown of those around the steepest rise: the last ones."""


def as_json(found: Likelihood, seed: int) -> dict[str, Any]:
    """The whole of it, with events in words."""
    return {
        "seed": seed,
        "checker": found.finding.checker,
        "statement": found.finding.statement,
        "points": [_point(point) for point in found.points],
        "before": _point(found.before),
        "after": _point(found.after),
        "acts": [{"place": act.place, "action": act.action, "at_s": act.t_us / 1e6} for act in found.acts],
        "events": list(_events(found)),
    }


def _point(point: Point) -> dict[str, Any]:
    low, high = point.interval
    return {"at_s": point.at_us / 1e6, "found": point.found, "of": point.of, "low": low, "high": high}


def _events(found: Likelihood) -> Iterator[dict[str, Any]]:
    from scenarios.observe.timeline.log_changes import is_data
    from scenarios.observe.timeline.words import words

    news = [event for event in found.events if not is_data(event)]
    for event in news[-MOST_EVENTS:]:
        yield {"at_s": event.t_us / 1e6, "seq": event.seq, "text": words(event)}


def keep(folder: Path, found: dict[str, Any]) -> None:
    """Keep it in the folder of its run. Raises: BadInput."""
    save(folder / NAME, json.dumps(found, indent=1) + "\n")


def kept_likelihood(folder: Path, seed: int) -> dict[str, Any] | None:
    """The likelihood that a folder keeps of the run with that seed; None: there is none. Raises: BadInput."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        found = parse_json(read_text(path, "a likelihood"))
        return found if found["seed"] == seed else None
    except (KeyError, TypeError, ValueError):
        raise BadInput("was not written by `understudy likely`; delete it", source=str(path)) from None
