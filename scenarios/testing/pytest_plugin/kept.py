"""The files of failed tests, each in a folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.dataset.identity import command_line
from scenarios.testing.pytest_plugin.plugin_options import Options

if TYPE_CHECKING:
    import pytest

    from scenarios.runs.run import Run
    from scenarios.testing.instance import ClusterInstance


def folder_of(item: pytest.Item) -> Path:
    """The folder of a test: a name that every file system accepts, and a shell without quotes."""
    name = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in item.nodeid).strip("-")
    return item.config.stash[Options.KEY].artifacts / name


def new_recording(item: pytest.Item) -> Path | None:
    """The folder that the fixture ``kafka`` of a test records in, in place of an earlier one; None where none can be
    made."""
    folder = folder_of(item) / "recording"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


def without_empty(recording: Path) -> None:
    """Remove the folder of a recording that there is not, then that of the test, then the one for all tests: each
    where nothing is left in it."""
    for folder in (recording, recording.parent, recording.parent.parent):
        if folder.exists():
            with suppress(OSError):  # it holds something
                folder.rmdir()


def keep_driven(folder: Path, cluster: ClusterInstance, why: str, replay: str) -> str:
    """Write the trace of the cluster that a test has driven; give the lines that name it."""
    trace = folder / "trace"
    try:
        trace.mkdir(parents=True, exist_ok=True)
        cluster.write_trace(trace, why=why, replay=replay)
    except BadInput as error:
        return f"the trace could not be kept: {error.what}"
    except Exception as error:  # the failure itself is what has to be shown
        return f"the trace could not be kept: {type(error).__name__}: {error}"
    return f"kept:\n  its trace: {command_line('timeline', _shown(trace))}"


class Kept:
    """The files of a failed run, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, run: Run, shrink_s: float) -> Iterator[str]:
        """Write the file that was run, the trace, and the shrunk file; give the lines that name them."""
        from scenarios.runs import run_scenario

        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / "scenario.toml"
        file.write_text(run.scenario.to_toml(), encoding="utf-8")
        again = Scenario.load(file)
        yield "kept:"
        yield f"  the scenario, with everything that the seed has drawn: {command_line('run', _shown(file))}"
        try:
            run_scenario(again, trace_dir=self._folder / "trace", overwrite=True)
            yield f"  its trace: {command_line('timeline', _shown(self._folder / 'trace'))}"
        except BadInput as error:
            yield f"  no trace: {error.what}"
        if shrink_s > 0:
            yield from self._shrunk(again, run, shrink_s)

    def _shrunk(self, scenario: Scenario, run: Run, within_s: float) -> Iterator[str]:
        from scenarios.runs.findings import findings
        from scenarios.runs.known_findings import explained_findings
        from scenarios.studies.shrink import Limits, Shrinker
        from scenarios.studies.shrink.shrinking_state import State

        found = explained_findings(run).new or findings(run)
        if not found:
            return
        file = self._folder / "shrunk.toml"
        state = State.at(self._folder / "shrunk.state", run.run_id)
        shrunk = Shrinker(scenario, found[0], Limits(seconds=within_s), state, lambda _: None).shrink()
        file.write_text(shrunk.scenario.to_toml(), encoding="utf-8")
        yield f"  the smallest scenario that shows it, after {shrunk.runs} runs: {command_line('run', _shown(file))}"


def _shown(path: Path) -> str:
    """The path as the user would write it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
