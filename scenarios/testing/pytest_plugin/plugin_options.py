"""The plugin's options, checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import frozen

from scenarios.errors import BadInput
from scenarios.language.strategies import parse_strategy
from scenarios.units import parse_duration


@frozen(kw_only=True)
class Options:
    """The options of one session.

    Attributes:
        seeds: the seeds to run with; None: the file's own.
        strategies: the full names of strategies; none: the file's own.
        shrink_s: how long a failed run is shrunk, in real time.
    """

    KEY = pytest.StashKey["Options"]()

    seeds: range | None
    jobs: int
    strategies: tuple[str, ...]
    plugins: tuple[str, ...]
    artifacts: Path
    shrink_s: float

    @classmethod
    def of(cls, config: pytest.Config) -> Options:
        """The options of a session. Raises: BadInput."""
        jobs = config.getoption("--understudy-jobs")
        if jobs < 1:
            raise BadInput(f"{jobs} processes run nothing; write 1 or more", where="--understudy-jobs")
        return cls(
            seeds=_seeds(config.getoption("--understudy-seeds")),
            jobs=jobs,
            strategies=tuple(_strategy(name) for name in config.getoption("--understudy-strategy")),
            plugins=tuple(config.getoption("--understudy-plugin")),
            artifacts=config.rootpath / config.getoption("--understudy-artifacts"),
            shrink_s=_time_s(config.getoption("--understudy-shrink")),
        )


def _seeds(text: str | None) -> range | None:
    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        found = range(int(first), int(last)) if colon else range(int(first))
    except ValueError:
        found = range(0)
    if not found or found[0] < 0:
        raise BadInput(f"{text!r} names no seeds; write a number, or A:B such as 3:4", where="--understudy-seeds")
    return found


def _strategy(name: str) -> str:
    try:
        return parse_strategy(name).name
    except BadInput as error:
        raise error.under("--understudy-strategy") from None


def _time_s(text: str) -> float:
    try:
        return parse_duration(text) / 1_000_000
    except BadInput as error:
        raise error.under("--understudy-shrink") from None
