"""The measured densities of bugs: how often chaos finds each (``python -m benchmarks.density --write``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("densities.json")


class Density(NamedTuple):
    """One measurement.

    Attributes:
        seeds: the number of seeds of the default chaos that were run with the bug.
        found: the number of those that had a finding which they do not have without it.
        by: for each checker, the number of those seeds in which it found something.
        stopped: whether the measurement was stopped at the last seed that found the bug.
    """

    bug: str
    seeds: int
    found: int
    by: Mapping[str, int]
    stopped: bool

    @property
    def per_1000(self) -> float:
        """Seeds of 1,000 that find the bug. If the measurement was stopped at the last of them, that one says nothing
        about the share, and is left out (inverse sampling, Haldane 1945)."""
        if self.stopped and self.seeds > 1:
            return 1000 * (self.found - 1) / (self.seeds - 1)
        return 1000 * self.found / self.seeds if self.seeds else 0.0


@cache
def densities() -> Mapping[str, Density]:
    """The measurement of each bug; bugs that were not measured are not in it."""
    return {one["bug"]: Density(**one) for one in _measured()["bugs"]}


def measured_swarm() -> str:
    """The digest of the default swarm that the bugs were measured with (``draw.swarm_digest``)."""
    return str(_measured()["swarm"])


def _measured() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"swarm": "", "bugs": []}


def write_densities(path: Path, swarm: str, measured: Iterable[Density]) -> None:
    """Write the digest of the swarm, and the measurements, one a line."""
    lines = ",\n".join(json.dumps(one._asdict()) for one in sorted(measured))
    path.write_text(f'{{"swarm": {json.dumps(swarm)}, "bugs": [\n{lines}\n]}}\n', encoding="utf-8")
