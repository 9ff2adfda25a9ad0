"""Which tests one worker runs together, when the suite runs in several processes (pytest-xdist).

A file's tests stay together, since they may share what is expensive to make: a module's fixture, a cached run. All
files with Spark stay together as well, so that there is one JVM, and one session for those that take ``spark``; with
them those that share a wheel, which one of them installs for Spark. They come first: they are a third of the work.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[1]
SPARK = "spark"
_SPARK = re.compile(r"\bmark\.spark\b|\bspark: SparkSession\b|\bproject: Project\b")


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """The collected tests in the order in which workers get them."""
    return sorted(items, key=lambda item: group(item.nodeid.partition("::")[0]) != SPARK)


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
    return SPARK if _SPARK.search((ROOT / file).read_text(encoding="utf-8")) else file
