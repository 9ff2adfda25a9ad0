"""Which tests one worker runs together, and in which order, when the suite runs in several processes (pytest-xdist).

A file's tests stay together, since they may share what is expensive to make: a module's fixture, a cached run. All
files with Spark stay together as well, so that there is one JVM, and one session for those that take ``spark``; with
them those that share a wheel, which one of them installs for Spark. They come first, being a fourth of the work, then
the longest files, so that none of them is left to a single worker at the end. The others are shuffled, always in the
same way: many tests with real clients wait for most of their time, and beside one of those another worker should have
something to compute. Those with a browser come last: it leaves a loop of asyncio in its process.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[1]
SPARK = "spark"
LONGEST = (
    "tests/scenarios/cli/test_any_content.py",
    "tests/scenarios/wire/clients/test_matrix.py",
    "tests/scenarios/wire/clients/test_clients_by_lot.py",
    "tests/scenarios/museum/test_exhibits.py",
    "tests/scenarios/wire/clients/test_transactions.py",
    "tests/calibration/test_recordings.py",
    "tests/scenarios/studies/chaos/test_killed.py",
    "tests/docs/test_recipes.py",
    "tests/scenarios/runs/leaping/test_sampled_runs.py",
)
"""Each takes longer than ten seconds."""
_SPARK = re.compile(r"\bmark\.spark\b|\bspark: SparkSession\b|\bproject: Project\b")
_BROWSER = re.compile(r"\bbrowser: Browser\b")


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """The collected tests in the order in which workers get them."""
    return sorted(items, key=lambda item: _place(item.nodeid.partition("::")[0]))


@cache
def _place(file: str) -> tuple[int, int, str]:
    if group(file) == SPARK:
        return -1, 0, ""
    if file in LONGEST:
        return LONGEST.index(file), 0, file
    return len(LONGEST) + bool(_BROWSER.search(_text(file))), crc32(file.encode()), file


@cache
def _text(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


class Files(LoadScopeScheduling):
    """Gives a worker the next file, in the order of the collection, when it is almost done with its last one."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid.partition("::")[0])


@cache
def group(file: str) -> str:
    """The name of the group of a file: ``spark``, or its own."""
    return SPARK if _SPARK.search(_text(file)) else file
