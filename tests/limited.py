"""``understudy`` in a process of its own with a limit of time and memory, forked from one that has imported what it
needs: hundreds of calls take seconds."""

from __future__ import annotations

import json
import math
import os
import resource
import sys
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from attrs import frozen

IMPORTED = [
    "scenarios.cli.program",
    "scenarios.language.files",
    "scenarios.runs.dataset.reader",
    "scenarios.studies.atlas.atlas",
    "scenarios.studies.chaos.campaign",
    "scenarios.studies.report.compared",
    "scenarios.studies.report.run.run_page",
    "scenarios.studies.shrink",
    "scenarios.studies.statistics.of_data_set",
    "scenarios.wire.recording.replay",
]
"""Also what ``compare`` and ``report`` import, which takes them seconds."""
CPU_S, MB, MB_OF_A_RUN = 5, 256, 400
"""The most CPU and memory that a refusal may take, and the memory of a run or a page. What is imported beforehand takes
115 MB of it. The time on the clock does not count: the machine has other work."""
HANGS_S = 60.0
SILENT_S = 0.1
"""So long a pipe may give nothing, here."""


@frozen
class Called:
    """The end of a call. ``code``: None where it was killed at a limit."""

    code: int | None
    out: str
    err: str
    mb: int


def calls(*command_lines: Sequence[str], cwd: Path, file_bytes: int | None = None) -> list[Called]:
    """``understudy`` with each of these words, one after the other, in the folder ``cwd``. ``file_bytes``: the largest
    file that it may write."""
    context = get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        process = context.Process(target=_call, args=(command_lines, cwd, place, file_bytes))
        process.start()
        process.join(HANGS_S)
        hangs = process.is_alive()
        process.kill()
        process.join()
        end = "hangs" if hangs else f"killed ({process.exitcode})"
        return [_called(place, number, end) for number in range(len(command_lines))]


def call(*words: str, cwd: Path, file_bytes: int | None = None) -> Called:
    """One call."""
    (called,) = calls(words, cwd=cwd, file_bytes=file_bytes)
    return called


def _called(place: Path, number: int, end: str) -> Called:
    texts = [place / f"{number}.{name}" for name in ("out", "err")]
    out, err = (path.read_text(errors="surrogateescape") if path.exists() else "" for path in texts)
    ended = place / f"{number}.ended"
    code, mb = json.loads(ended.read_text()) if ended.exists() else (None, 0)
    return Called(code, out, err if ended.exists() else f"{err}{end}", mb)


def _call(command_lines: Sequence[Sequence[str]], cwd: Path, place: Path, file_bytes: int | None) -> None:
    from scenarios import reading
    from scenarios.cli import main

    reading.SILENT_S = SILENT_S
    sys.dont_write_bytecode = True  # Python does not notice that it has written half a module at a limit
    os.chdir(cwd)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    for number, words in enumerate(command_lines):
        for descriptor, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(place / f"{number}.{name}", os.O_WRONLY | os.O_CREAT), descriptor)
        sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", closefd=False) for descriptor in (1, 2))
        used_s = math.ceil(process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used_s + CPU_S, -1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most[0] if file_bytes is None else file_bytes, most[1]))
        code = main(words)
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
        mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        (place / f"{number}.ended").write_text(json.dumps([code, mb]))


def refused(called: Called, what: object) -> None:
    """Assert that a call was refused, cheaply, in a line for each thing that is wrong."""
    in_limits(called, what)
    assert called.code == 2, (what, called)
    assert called.mb <= MB, (what, called.mb)
    lines = called.err.splitlines()
    assert 1 <= len(lines) <= 21, (what, called)
    assert all(line.startswith("understudy: ") and len(line) < 4000 for line in lines), (what, called)


def in_limits(called: Called, what: object) -> None:
    """Assert that a call came to an end that is no defect of the program, within the limits."""
    assert called.code in (0, 1, 2, 3), (what, called)
    assert called.mb <= MB_OF_A_RUN, (what, called.mb)
    assert not any(character < " " and character not in "\n\t" for character in called.out + called.err), (what, called)
