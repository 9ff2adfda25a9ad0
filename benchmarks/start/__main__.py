"""``python -m benchmarks.start [--repeats 9] [--before CHECKOUT] [--write]``: CPU time of commands from start to end.

Each is a process of its own, in turn, with .pyc files present; CPU time is user and system of the process. The measure
is the time of a process that only imports Trio, attrs and structlog. Exit code 1 where a target is missed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table

ROOT = Path(__file__).parents[2]
SCENARIO = "scenarios/library/controller-dies-mid-move.toml"
"""The demo's."""

BARE = "import trio, attrs, structlog"
COUNTED = "import sys; from scenarios.cli import main; main({words!r}); print(len(sys.modules), file=sys.stderr)"
TARGET = 2.0
"""``run`` costs at most this many times the bare imports."""


@frozen
class Command:
    """A command line that is measured, in a checkout."""

    name: str
    checkout: Path
    words: tuple[str, ...]

    def cpu_s(self) -> float:
        """CPU seconds of one process, user and system."""
        process = subprocess.Popen(
            [sys.executable, *self.words], cwd=self.checkout, env=environment(), stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, self.words
        return usage.ru_utime + usage.ru_stime

    def modules(self) -> int:
        """The number of modules that are loaded at its end."""
        module, *rest = self.words[1:]
        code = f"{module}; import sys; print(len(sys.modules), file=sys.stderr)"
        if self.words[0] == "-m":
            code = COUNTED.format(words=rest)
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=self.checkout, env=environment(), check=True, capture_output=True
        )
        return int(done.stderr.split()[-1])


def environment() -> Mapping[str, str]:
    """This process's, without what would change how Python starts, such as PYTHONDONTWRITEBYTECODE."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def commands(checkout: Path, mark: str = "") -> list[Command]:
    words = ("-m", "scenarios.cli")
    return [
        Command(f"understudy validate FILE{mark}", checkout, (*words, "validate", SCENARIO)),
        Command(f"understudy run FILE{mark}", checkout, (*words, "run", SCENARIO)),
    ]


def main() -> int:
    parser = parser_of("start", __doc__, repeats=9)
    parser.add_argument("--before", metavar="CHECKOUT", type=Path, help="measure that checkout's commands too")
    options = parser.parse_args()
    bare = Command(BARE, ROOT, ("-c", BARE))
    measured = [bare, *commands(ROOT), *(commands(options.before, ", before") if options.before else [])]
    seconds = measure(measured, options.repeats)
    ratios = {
        command.name: statistics.median(a / b for a, b in zip(seconds[command], seconds[bare], strict=True))
        for command in measured
    }
    lines = [
        f"`{BARE}` against whole commands on the demo's scenario: CPU ms of a process from its start to its end,",
        f"in turn, medians of {options.repeats}; a ratio is the median of the ratios of each turn.",
        "",
        machine(f"python -m benchmarks.start {'--before CHECKOUT ' if options.before else ''}--write"),
        "",
        *table(
            ("command", "CPU ms", "lowest to highest", "times the bare imports", "modules"),
            [
                (
                    f"`{command.name}`",
                    f"{statistics.median(seconds[command]) * 1000:.0f}",
                    f"{min(seconds[command]) * 1000:.0f} to {max(seconds[command]) * 1000:.0f}",
                    f"{ratios[command.name]:.2f}",
                    str(command.modules()),
                )
                for command in measured
            ],
        ),
    ]
    ratio = ratios["understudy run FILE"]
    problems = [f"run: {ratio:.2f} times the bare imports, target {TARGET}"] if ratio > TARGET else []
    return conclude("start", lines, problems, write=options.write)


def measure(measured: list[Command], repeats: int) -> Mapping[Command, list[float]]:
    """CPU seconds of each command, turn by turn. The first turn only writes the .pyc files."""
    seconds: dict[Command, list[float]] = {command: [] for command in measured}
    for turn in range(repeats + 1):
        for command in measured:
            spent = command.cpu_s()
            if turn:
                seconds[command].append(spent)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
