"""The cluster's cases in this checkout and in another: which one is faster, and by how much."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from benchmarks.cluster.cases import CHAOS, CHAOS_NAME, Case
from benchmarks.cluster.targets import Target

HERE = Path(__file__).parents[2]
HEADINGS = ("set-up", "per CPU s", "before", "after", "after / before", "target", "lowest to highest", "events per run")

MEASURE = """
import json, sys
import benchmarks.cluster.__main__ as program
program.quiet()
case = program.Case(**json.loads(sys.argv[1]))
timing = program.cluster(case)
print(json.dumps({"amount": case.virtual_s, "cpu_s": timing.seconds, "events": timing.events}))
"""
MEASURE_RUNS = """
import json, sys, time
import scenarios.runs
from scenarios.language import Scenario
text, seeds = json.loads(sys.argv[1])
scenario = Scenario.loads(text)
scenario.run(seed=0)
began = time.process_time()
runs = [scenario.run(seed=seed) for seed in range(1, seeds + 1)]
took = time.process_time() - began
assert all(run.passed for run in runs)
print(json.dumps({"amount": seeds, "cpu_s": took, "events": sum(run.events for run in runs)}))
"""
"""The programs of one measurement each. They have only names that every checkout has."""


@frozen
class Run:
    """One measurement in a process of its own.

    Attributes:
        amount: the measured amount: virtual seconds, or runs of a scenario.
        cpu_s: the CPU seconds that it took.
        events: the number of events that were recorded in it.
    """

    amount: float
    cpu_s: float
    events: int

    @property
    def speed(self) -> float:
        """Amount per CPU second."""
        return self.amount / self.cpu_s


@frozen
class Pair:
    """One run in the other checkout and one in this, one straight after the other."""

    before: Run
    after: Run

    @property
    def ratio(self) -> float:
        """The speed of this checkout as a multiple of the other's."""
        return self.after.speed / self.before.speed


@frozen
class Compared:
    """The pairs of runs of one case, and the target for the median of their ratios."""

    name: str
    unit: str
    target: Target | None
    pairs: Sequence[Pair]

    @property
    def ratio(self) -> float:
        return statistics.median(pair.ratio for pair in self.pairs)

    def cells(self) -> tuple[str, ...]:
        """The row of ``HEADINGS``: medians of the speeds and of the ratios, pair by pair, and their spread."""
        before, after = (
            statistics.median(speeds)
            for speeds in zip(*((pair.before.speed, pair.after.speed) for pair in self.pairs), strict=True)
        )
        ratios = [pair.ratio for pair in self.pairs]
        old, new = self.pairs[0].before.events, self.pairs[0].after.events
        return (
            self.name,
            self.unit,
            f"{before:,.1f}",
            f"{after:,.1f}",
            f"{self.ratio:.2f}",
            self.target.words(self.ratio) if self.target else "",
            f"{min(ratios):.2f} to {max(ratios):.2f}",
            f"{new:,}" if old == new else f"{old:,} before, {new:,} after",
        )

    def missed(self) -> list[str]:
        return self.target.missed(f"{self.name}, after / before", self.ratio) if self.target else []


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


def commit(checkout: Path) -> str:
    """The short hash of its commit, with ``-dirty`` where tracked files differ from it."""
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def commits(before: Path) -> str:
    """The sentence that says which two commits are compared."""
    return f"Before: {commit(before)}, after: {commit(HERE)}."


def compared(before: Path, cases: Sequence[Case], repeats: int, *, seeds: int) -> list[Compared]:
    """The cases in turn, ``repeats`` times, with ``seeds`` chaos-like runs each time (0: without them)."""

    def measuring(program: str, argument: object) -> Callable[[Path], Run]:
        return lambda checkout: Run(**child(checkout, program, argument))

    measures = {case.name: measuring(MEASURE, fields(case)) for case in cases}
    about: dict[str, tuple[str, Target | None]] = {case.name: ("virtual s", case.to_before) for case in cases}
    if seeds:
        measures[CHAOS_NAME] = measuring(MEASURE_RUNS, [CHAOS.read_text(encoding="utf-8"), seeds])
        about[CHAOS_NAME] = ("runs", None)
    found = pairs(before, measures, repeats)
    return [Compared(name, *about[name], some) for name, some in found.items()]


def pairs(before: Path, measures: Mapping[str, Callable[[Path], Run]], repeats: int) -> dict[str, list[Pair]]:
    """The measures in turn, ``repeats`` times; every second time this checkout runs first, so that neither gains from a
    machine that slows down or speeds up."""
    found: dict[str, list[Pair]] = {name: [] for name in measures}
    for number in range(repeats):
        for name, measure in measures.items():
            order = (before, HERE) if number % 2 == 0 else (HERE, before)
            first, second = (measure(checkout) for checkout in order)
            found[name].append(Pair(first, second) if number % 2 == 0 else Pair(second, first))
    return found
