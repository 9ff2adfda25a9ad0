"""Sweeps as processes of their own, and the processes below them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[4]
PATIENCE_S = 180.0


@contextmanager
def process(
    arguments: Sequence[str], *, cwd: Path = PROJECT, log: Path | None = None, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A process that is gone afterwards, with all that it started. ``log``: takes what it says, else pipes do."""
    with open(log or os.devnull, "w") as file:
        started = subprocess.Popen(
            arguments,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=file if log else subprocess.PIPE,
            stderr=file if log else subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    try:
        yield started
    finally:
        if started.poll() is None:
            below = descendants(started.pid)  # executors lead groups of their own
            for pid in (started.pid, *below):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        started.communicate()


@contextmanager
def sweeping(
    out: Path, master: str, scenario: str, seeds: int, *, path: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """``tests.scenarios.studies.spark.sweeping``: a sweep with a driver of its own. ``path``: a folder more that it
    imports from."""
    arguments = [sys.executable, "-m", "tests.scenarios.studies.spark.sweeping", str(out), master, scenario, str(seeds)]
    more = {} if path is None else {"PYTHONPATH": os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])}
    with process(arguments, env={"SPARK_LOCAL_IP": "127.0.0.1", **more}) as started:
        yield started


def wait_for(condition: Callable[[], bool], *running: subprocess.Popen[str], patience_s: float = PATIENCE_S) -> None:
    """Polls other processes' progress: there is nothing of ours to wait for."""
    until = time.monotonic() + patience_s
    while not condition():
        for one in running:
            assert one.poll() is None, f"process {one.pid} ended: {one.communicate()[1]}"
        assert time.monotonic() < until, "it does not get on"
        time.sleep(0.05)


def descendants(pid: int) -> list[int]:
    """All processes below ``pid``, by /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it ended meanwhile
            children.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        below = sorted(children.get(todo.pop(), []))
        found += below
        todo += below
    return found


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
