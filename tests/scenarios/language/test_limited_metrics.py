"""A plug-in's figure is a metric of scenario files, in whatever order the two are imported."""

from collections.abc import Iterator
from typing import Any

import pytest

from emulator.protocol.events import FetcherStarted
from scenarios.language import Scenario
from scenarios.observe.measures.figure import Figure, Limit
from scenarios.observe.measures.figures import FOLDS
from scenarios.observe.measures.fold import Fold, RunParts

FILE = """
title = "three brokers"
horizon = "20s"
[cluster]
brokers = 3
[[topics]]
name = "orders"
assignment = [[0, 1, 2]]
[[method]]
when = { metric = "threads_begun", above = 1 }
action = "broker.crash"
target = 2
[[expect]]
metric = "threads_begun"
tolerance = 2
"""


class Threads(Fold):
    FIGURES = (Figure(name="threads_begun", text="fetchers", unit="threads", limit=Limit.AT_ANY_TIME),)

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self.counts = {"threads_begun": 0}
        source.trace.fold(FetcherStarted, self._started)

    def _started(self, _: Any) -> None:
        self.counts["threads_begun"] += 1


@pytest.fixture
def registered() -> Iterator[None]:
    FOLDS.append(Threads)
    yield
    FOLDS.remove(Threads)


@pytest.mark.usefixtures("registered")
def test_a_file_waits_for_it_and_expects_it() -> None:
    run = Scenario.loads(FILE).run()
    assert run.passed, run.explanation
    assert run.metrics["threads_begun"] == 2
