"""Bugs looked for together: a seed is run with all of them, and halved to the one that is seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol

from benchmarks.planted.bugs import Bug, fit_together


class Sight(NamedTuple):
    """One run: its first finding that the release does not explain, "" for none, and its CPU seconds."""

    seen: str
    cpu_s: float


class Runs(Protocol):
    """A place where runs are carried out."""

    def run(self, bugs: Sequence[str], profile: str, seed: int) -> Sight:
        """Run a seed with these bugs on."""


class Trial(NamedTuple):
    """The outcome for one bug: what saw it and at which seed, "" and -1 where nothing did, and the CPU seconds of the
    seeds until then."""

    bug: str
    seen: str
    seed: int
    cpu_s: float


class Worker:
    """A process of a checkout that carries out runs, and is started again where a run ends it."""

    def __init__(self, checkout: Path, bugs: Sequence[Bug]) -> None:
        self._checkout = checkout
        self._edits = json.dumps({bug.name: bug.edits for bug in bugs})
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def run(self, bugs: Sequence[str], profile: str, seed: int) -> Sight:
        process = self._process = self._process or self._started()
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps([bugs, profile, seed]) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line or "does not end" in line or process.poll() is not None:  # such a run ends its process, soon
            self.__exit__()
        if not line and not bugs:
            raise ChildProcessError(f"seed {seed} of {profile} ends its process without a bug")
        return Sight(**json.loads(line)) if line else Sight("a run that ends its process: ", 0)

    def _started(self) -> subprocess.Popen[str]:
        paths = os.pathsep.join([str(self._checkout), str(self._checkout / "scenarios/package")])
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("worker.py"))], cwd=self._checkout, text=True,
            env={**os.environ, "PYTHONPATH": paths}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin
        process.stdin.write(self._edits + "\n")
        return process


def groups(bugs: Sequence[Bug], root: Path, most: int) -> list[list[Bug]]:
    """The bugs in groups that can be on together: of one profile, not more than ``most``."""
    found: list[list[Bug]] = []
    for bug in bugs:
        fit_together([bug], root)
        for group in found:
            fits = len(group) < most and group[0].profile == bug.profile
            if fits and fit_together([*group, bug], root):
                group.append(bug)
                break
        else:
            found.append([bug])
    return found


def hunt(names: Sequence[str], profile: str, budget_s: float, runs: Runs) -> Iterator[Trial]:
    """Run seeds from 0 on with all of the bugs, for ``budget_s`` of CPU time. Each that is seen is switched off, and
    the seed is run again. A seed that has a finding without any bug counts for its time alone. What telling them apart
    takes does not count: a bug that is looked for alone needs none of it."""
    left, spent_s = list(names), 0.0
    for seed in count():
        if spent_s >= budget_s or not left:
            break
        while True:
            sight = runs.run(left, profile, seed)
            culprit = "" if not sight.seen or runs.run([], profile, seed).seen else _halved(left, profile, seed, runs)
            if not culprit:
                break
            left.remove(culprit)
            yield Trial(culprit, runs.run([culprit], profile, seed).seen, seed, spent_s + sight.cpu_s)
        spent_s += sight.cpu_s
    yield from (Trial(name, "", -1, spent_s) for name in left)


def _halved(names: Sequence[str], profile: str, seed: int, runs: Runs) -> str:
    """One of the bugs that is seen alone at this seed; "" where they are seen only together."""
    if len(names) < 2:
        return "".join(name for name in names if runs.run([name], profile, seed).seen)
    middle = len(names) // 2
    for half in (names[:middle], names[middle:]):
        if runs.run(half, profile, seed).seen:
            return _halved(half, profile, seed, runs)
    return next((name for name in names if runs.run([name], profile, seed).seen), "")
