"""How often chaos finds each bug, as it was measured (``python -m benchmarks.density --write``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("densities.json")


class Density(NamedTuple):
    """One measurement.

    Attributes:
        seeds: how many seeds of the default chaos were run with the bug.
        found: how many of them had a finding that they do not have without it.
        by: checker to the number of those seeds in which it saw something.
        stopped: the measurement was stopped at the last seed that found it.
    """

    bug: str
    seeds: int
    found: int
    by: Mapping[str, int]
    stopped: bool

    @property
    def per_1000(self) -> float:
        """Seeds of 1,000 that find it. Where it was stopped at the last of them, that one says nothing about the share,
        and is left out (inverse sampling, Haldane 1945)."""
        if self.stopped and self.seeds > 1:
            return 1000 * (self.found - 1) / (self.seeds - 1)
        return 1000 * self.found / self.seeds if self.seeds else 0.0


@cache
def densities() -> Mapping[str, Density]:
    """Bug to its measurement; bugs that were not measured are not in it."""
    if not FILE.exists():
        return {}
    return {one["bug"]: Density(**one) for one in json.loads(FILE.read_text(encoding="utf-8"))}


def write_densities(path: Path, measured: Iterable[Density]) -> None:
    """Write them, one a line."""
    lines = ",\n".join(json.dumps(one._asdict()) for one in sorted(measured))
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
