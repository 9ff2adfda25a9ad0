"""Runs that several tests look at: each is done once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from scenarios.language.files import load
from scenarios.runs import run_scenario
from scenarios.runs.dataset.reader import open_data_set
from scenarios.studies.report.run.recorded import RecordedRun, read_recorded


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], RecordedRun]:
    """The recorded run of a scenario of the library."""

    @cache
    def of(name: str) -> RecordedRun:
        folder: Path = tmp_path_factory.mktemp(name)
        run = run_scenario(load(name), trace_dir=folder)
        return read_recorded(open_data_set(folder), run.run_id)

    return of
