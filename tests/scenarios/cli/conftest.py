"""The command line in this process: its exit code and what it printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
from attrs import frozen

from scenarios.cli import main


@frozen
class Called:
    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


Call = Callable[..., Called]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Iterator[Call]:
    """``call("run", "FILE")``; structlog's settings are as before afterwards."""

    def called(*words: str | Path) -> Called:
        capsys.readouterr()
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return Called(code, said.out, said.err)

    before = structlog.get_config()
    yield called
    structlog.configure(**before)


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A scenario that takes no time to run and has an expectation that is not met."""
    path = tmp_path / "failing.toml"
    path.write_text(FAILING)
    return path


FAILING = """\
schema = "scenario/1"
title = "expects too much"
horizon = "5s"

[cluster]
brokers = 3

[[topics]]
name = "orders"
assignment = [[0, 1]]

[[workloads]]
topic = "orders"
producerRate = 100

[plan]
version = 1
partitions = [{ topic = "orders", partition = 0, replicas = [1, 2] }]

[[method]]
at = "1s"
action = "reassign.execute"

[[expect]]
within = "2s"
assignment = { "orders-0" = [2, 1] }
"""
