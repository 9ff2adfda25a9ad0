"""The cost of a case in counts, which do not depend on how busy the machine is: calls, recorded events, kernel events,
and with valgrind the instructions. Equal in every run of the same code."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from benchmarks.cluster.before import HERE, child, environment, fields
from benchmarks.cluster.cases import CHAOS, Case

CALLS = """
import cProfile, json, pstats, sys
import benchmarks.cluster.__main__ as program
program.quiet()
profile = cProfile.Profile()
timing = program.cluster(program.Case(**json.loads(sys.argv[1])), profile)
print(json.dumps({"acked": timing.acked, "events": timing.events, "functions": [
    [*function, calls, own] for function, (_, calls, own, _, _) in pstats.Stats(profile).stats.items()
]}))
"""
CALLS_OF_THE_FLOOR = """
import cProfile, json, pstats, sys
import benchmarks.cluster.cases as cases
from benchmarks.cluster.recording_floor import RecordingFloor
profile = cProfile.Profile()
timing = cases.floor(cases.Case(**json.loads(sys.argv[1])), RecordingFloor, profile)
print(json.dumps({"acked": timing.acked, "events": timing.events, "functions": [
    [*function, calls, own] for function, (_, calls, own, _, _) in pstats.Stats(profile).stats.items()
]}))
"""
CALLS_OF_A_RUN = """
import cProfile, json, pstats, sys
import scenarios.runs
from scenarios.language import Scenario
scenario = Scenario.loads(json.loads(sys.argv[1]))
scenario.run(seed=0)
profile = cProfile.Profile()
run = profile.runcall(scenario.run, seed=1)
print(json.dumps({"acked": run.metrics["acked_batches"], "events": run.events, "functions": [
    [*function, calls, own] for function, (_, calls, own, _, _) in pstats.Stats(profile).stats.items()
]}))
"""
ONCE = """
import json, sys
import benchmarks.cluster.__main__ as program
program.quiet()
program.cluster(program.Case(**json.loads(sys.argv[1])))
"""
ONCE_THE_FLOOR = """
import json, sys
import benchmarks.cluster.cases as cases
from benchmarks.cluster.recording_floor import RecordingFloor
cases.floor(cases.Case(**json.loads(sys.argv[1])), RecordingFloor)
"""
RUNS = """
import json, sys
import scenarios.runs
from scenarios.language import Scenario
text, seeds = json.loads(sys.argv[1])
for seed in range(seeds):
    Scenario.loads(text).run(seed=seed)
"""
"""The programs of one count each. Those of the emulator have only names that every checkout has."""

RECORD = ("emit", "emit_columns")
"""The methods of ``Trace`` that record an event."""
KERNEL = ("<built-in method _heapq.heappop>", "<method 'send' of 'coroutine' objects>")
"""The calls by which the kernel handles an event: a callback from the heap, or a task that goes on."""

HEADINGS = (
    "set-up", "per", "Python calls", "calls of built-ins", "recorded events", "their rows", "kernel events",
    "1000 instructions",
)  # fmt: skip


@frozen
class Function:
    """The calls of one function, and the seconds in it without those that it calls (under the profiler)."""

    file: str
    line: int
    name: str
    calls: int
    own_s: float

    @property
    def in_python(self) -> bool:
        return self.file != "~"

    @property
    def place(self) -> str:
        """The end of the file's path, and the line."""
        return f"{'/'.join(Path(self.file).parts[-3:])}:{self.line}" if self.in_python else "built in"


@frozen
class Counts:
    """The counts of one stretch.

    Attributes:
        unit: the divisor of the counts: a ``batch`` that was acknowledged, a ``virtual s``, or the ``run``.
        units: the number of them in the stretch.
        rows: the rows of the recorded events: one for each event, or one for each partition where it has columns.
        instructions: the instructions of the processor; None where they were not counted.
    """

    unit: str
    units: int
    rows: int
    functions: Sequence[Function] = field(repr=False)
    instructions: int | None = None

    def calls(self, *, in_python: bool) -> int:
        """The calls of functions in Python, or of built-in ones."""
        return sum(function.calls for function in self.functions if function.in_python == in_python)

    @property
    def events(self) -> int:
        """The number of recorded events."""
        return sum(
            function.calls
            for function in self.functions
            if function.name in RECORD and function.place.startswith("emulator/trace/")
        )

    @property
    def kernel_events(self) -> int:
        return sum(function.calls for function in self.functions if function.name in KERNEL)

    def cells(self) -> tuple[str, ...]:
        """The row of ``HEADINGS``, without its name."""
        counted = (self.calls(in_python=True), self.calls(in_python=False), self.events, self.rows, self.kernel_events)
        instructions = "" if self.instructions is None else f"{self.instructions / self.units / 1000:,.1f}"
        return self.unit, *(f"{count / self.units:,.2f}" for count in counted), instructions


def counted(checkout: Path, case: Case, *, instructions: bool) -> Counts:
    """The counts of a case, over a sixth of its time, with the code of ``checkout``."""
    return _counted(checkout, case, CALLS, ONCE, instructions=instructions)


def counted_floor(case: Case, *, instructions: bool) -> Counts:
    """The counts of the floor that records, over the same stretch."""
    return _counted(HERE, case, CALLS_OF_THE_FLOOR, ONCE_THE_FLOOR, instructions=instructions)


def _counted(checkout: Path, case: Case, calls: str, once: str, *, instructions: bool) -> Counts:
    case = shorter(case)
    found = child(checkout, calls, fields(case))
    unit, units = ("batch", found["acked"]) if case.load else ("virtual s", case.virtual_s)
    counts = _counts(found, unit, units)
    if not instructions:
        return counts
    less, more = (_instructions(checkout, once, fields(evolve(case, virtual_s=n * case.virtual_s))) for n in (1, 2))
    return evolve(counts, instructions=more - less)


def counted_run(checkout: Path, *, instructions: bool, scenario: Path = CHAOS) -> Counts:
    """The counts of one run of ``scenario``, from its start to the verdict, in a warm process."""
    text = scenario.read_text(encoding="utf-8")
    counts = _counts(child(checkout, CALLS_OF_A_RUN, text), "run", 1)
    if not instructions:
        return counts
    less, more = (_instructions(checkout, RUNS, [text, seeds]) for seeds in (1, 2))
    return evolve(counts, instructions=more - less)


def shorter(case: Case) -> Case:
    """The case over a sixth of its time: counts do not vary, and a profiled run takes long."""
    return evolve(case, virtual_s=max(1, case.virtual_s // 6))


def _counts(found: Mapping[str, object], unit: str, units: int) -> Counts:
    functions = found["functions"]
    assert isinstance(functions, list)
    return Counts(unit, units, int(str(found["events"])), [Function(*function) for function in functions])


def _instructions(checkout: Path, program: str, argument: object) -> int:
    """The number of instructions of the process, imports included. Raises ``CalledProcessError`` where it fails."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise SystemExit("--instructions needs valgrind on the PATH")
    command = [valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*command, sys.executable, "-c", program, json.dumps(argument)], cwd=checkout, env=environment(checkout),
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1].replace(",", ""))


def heaviest(name: str, counts: Counts, most: int) -> list[str]:
    """The lines of a table of the ``most`` functions with the largest share of own time."""
    total = sum(function.own_s for function in counts.functions)
    lines = [f"*{name}*: calls per {counts.unit}, share of own time (under the profiler, which adds to each call):", ""]
    for function in sorted(counts.functions, key=lambda function: -function.own_s)[:most]:
        share, calls = function.own_s / total, function.calls / counts.units
        lines.append(f"- {share:6.1%} {calls:9,.3f} `{function.name}` ({function.place})")
    return lines
