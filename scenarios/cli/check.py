"""``run --check``: one run in two fresh processes with different PYTHONHASHSEEDs, compared event by event.

Equal streams have the same digest. Otherwise the first event that differs is shown, as it is in each stream.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import Any

from attrs import frozen

from scenarios import plugins
from scenarios.cli import exits, recording
from scenarios.cli.first_difference import FirstDifference, difference_lines, parse_event
from scenarios.cli.output import note, say
from scenarios.language import Scenario
from scenarios.runs.dataset.identity import IMPORT_ROOT

HASH_SEEDS = ("1", "4242")
"""PYTHONHASHSEED of the two: sets of texts are iterated in different orders."""


@frozen
class ProcessResult:
    """The result of a process. With a ``code`` other than 0 it ended without a digest, and ``trouble`` says why."""

    path: Path
    code: int
    digest: str
    trouble: str


def check(scenario: Scenario, *, as_json: bool = False, recorder: str = recording.RECORDER) -> int:
    """Exit code 0 when both runs are equal, 3 when they differ; if both failed alike, the exit code of that failure."""
    with tempfile.TemporaryDirectory(prefix="understudy-check-") as folder:
        first, second = _record_twice(scenario, Path(folder), recorder)
        if first.code and first.code == second.code:
            note(first.trouble)
            return first.code if first.code > 0 else exits.TOOL_FAILED
        found = None if first.code or second.code else compare(first, second)
    if first.code or second.code:
        note(first.trouble or second.trouble)
        note("understudy: not deterministic: one of the two runs did not finish")
        return exits.NOT_DETERMINISTIC
    _tell(scenario, first, second, found, as_json)
    return exits.PASSED if found is None else exits.NOT_DETERMINISTIC


def compare(first: ProcessResult, second: ProcessResult) -> FirstDifference | None:
    """The first event at which the two streams differ, None when they and the digests are equal."""
    with first.path.open() as left, second.path.open() as right:
        for index, (a, b) in enumerate(zip_longest(left, right), start=1):
            if a != b:
                return FirstDifference(index, parse_event(a), parse_event(b))
    if first.digest != second.digest:
        # The digest covers every event, so the recorder must have left something out.
        return FirstDifference(0, {"digest": first.digest}, {"digest": second.digest})
    return None


def _record_twice(scenario: Scenario, folder: Path, recorder: str) -> tuple[ProcessResult, ProcessResult]:
    """Run both processes at the same time."""
    paths = [folder / f"events-{hash_seed}.jsonl" for hash_seed in HASH_SEEDS]
    processes: list[subprocess.Popen[str]] = []
    try:
        for path, hash_seed in zip(paths, HASH_SEEDS, strict=True):
            processes.append(_start(hash_seed))
            _ask(processes[-1], scenario, path, recorder)
        first, second = (_finish(process, path) for process, path in zip(processes, paths, strict=True))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    return first, second


def _start(hash_seed: str) -> subprocess.Popen[str]:
    paths = [str(IMPORT_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", recording.__name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _ask(process: subprocess.Popen[str], scenario: Scenario, path: Path, recorder: str) -> None:
    request: dict[str, Any] = {
        "scenario": scenario.to_table(),
        "source": scenario.source,
        "path": str(path),
        "recorder": recorder,
        "plugins": plugins.loaded(),
    }
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(request))
        process.stdin.flush()
    except BrokenPipeError:
        pass  # it ended already; its exit code says why


def _finish(process: subprocess.Popen[str], path: Path) -> ProcessResult:
    digest, trouble = process.communicate()
    code = process.returncode
    if code < 0:
        trouble = f"understudy: a recording was killed by signal {-code}"
    return ProcessResult(path, code, digest.strip(), trouble.strip())


def _tell(
    scenario: Scenario, first: ProcessResult, second: ProcessResult, found: FirstDifference | None, as_json: bool
) -> None:
    if as_json:
        digests = {"digest": first.digest} if found is None else {"digests": [first.digest, second.digest]}
        named = {} if found is None else {"first_difference": found.to_json()}
        identity = {
            "seed": scenario.seed,
            "strategy": scenario.strategy.name,
            "profile": scenario.profile,
        }
        say(json.dumps({"deterministic": found is None, **identity, **digests, **named}))
    elif found is None:
        say(f"deterministic: two processes with PYTHONHASHSEED {' and '.join(HASH_SEEDS)}, one digest")
        say(f"digest {first.digest}")
    else:
        for line in difference_lines(found, HASH_SEEDS):
            say(line)
