"""The cluster's cases in this checkout and in another: which one is faster, and by how much."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from benchmarks.cluster.cases import Case

HERE = Path(__file__).parents[2]
HEADINGS = ("set-up", "before", "after", "after / before", "lowest to highest", "events per run")

MEASURE = """
import json, sys
import benchmarks.cluster.__main__ as program
program.quiet()
case = program.Case(**json.loads(sys.argv[1]))
timing = program.cluster(case)
print(json.dumps({"virtual_s": case.virtual_s, "cpu_s": timing.seconds, "events": timing.events}))
"""
"""The program of one run. It has only names that every checkout's ``benchmarks.cluster`` offers."""


@frozen
class Run:
    """One run of a case in a process of its own: the measured stretch in virtual seconds, its CPU seconds, and the
    events recorded in it."""

    virtual_s: float
    cpu_s: float
    events: int

    @property
    def speed(self) -> float:
        """Virtual seconds per CPU second."""
        return self.virtual_s / self.cpu_s


@frozen
class Pair:
    """One run in the other checkout and one in this, one straight after the other."""

    before: Run
    after: Run

    @property
    def ratio(self) -> float:
        """How many times as fast this checkout is."""
        return self.after.speed / self.before.speed


def child(checkout: Path, program: str, argument: object) -> Any:
    """The JSON that ``program`` prints with the code of ``checkout``, in a process of its own; ``argument`` is its
    first, as JSON. Raises ``CalledProcessError`` where it fails."""
    command = [sys.executable, "-c", program, json.dumps(argument)]
    done = subprocess.run(
        command, cwd=checkout, env=environment(checkout), check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def environment(checkout: Path) -> dict[str, str]:
    """The variables of a process that runs the code of ``checkout``; hashes are the same in each."""
    return {**os.environ, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}


def fields(case: Case) -> dict[str, object]:
    """The fields that ``Case`` has in every checkout."""
    names = ("name", "brokers", "partitions", "load", "virtual_s", "target", "watched")
    return {name: getattr(case, name) for name in names}


def measured(checkout: Path, case: Case) -> Run:
    """One run of the case with the code of ``checkout``. Raises ``CalledProcessError`` where that fails."""
    return Run(**child(checkout, MEASURE, fields(case)))


def commit(checkout: Path) -> str:
    """The short hash of its commit, with ``-dirty`` where tracked files differ from it."""
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def commits(before: Path) -> str:
    """The sentence that says which two commits are compared."""
    return f"Before: {commit(before)}, after: {commit(HERE)}."


def pairs(before: Path, cases: Sequence[Case], repeats: int) -> dict[str, list[Pair]]:
    """The cases in turn, ``repeats`` times; every second time this checkout runs first, so that neither gains from a
    machine that slows down or speeds up."""
    found: dict[str, list[Pair]] = {case.name: [] for case in cases}
    for number in range(repeats):
        for case in cases:
            order = (before, HERE) if number % 2 == 0 else (HERE, before)
            first, second = (measured(checkout, case) for checkout in order)
            found[case.name].append(Pair(first, second) if number % 2 == 0 else Pair(second, first))
    return found


def rows(found: Mapping[str, Sequence[Pair]]) -> Iterator[tuple[str, ...]]:
    """Medians of the speeds and of the ratios, pair by pair, and how far the ratios spread."""
    for name, some in found.items():
        before, after, ratio = (
            statistics.median(values)
            for values in zip(*((pair.before.speed, pair.after.speed, pair.ratio) for pair in some), strict=True)
        )
        ratios = [pair.ratio for pair in some]
        old, new = some[0].before.events, some[0].after.events
        events = f"{new:,}" if old == new else f"{old:,} before, {new:,} after"
        yield name, f"{before:,.1f}", f"{after:,.1f}", f"{ratio:.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}", events
