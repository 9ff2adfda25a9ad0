"""``python -m benchmarks.questions [--repeats 5] [--before CHECKOUT] [--write]``: CPU time of a question about a moment
of a recorded run of half a million events.

Each command is a process of its own, in turn, with .pyc files present; CPU time is user and system of the process. Exit
code 1 where a question takes longer than the target.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.start.__main__ import ROOT, Command, environment, measure
from benchmarks.tables import table

SCENARIO = "scenarios/library/throttled-move-stands-still.toml"
TARGET_S = 2.0
QUESTIONS = (
    ("state", "TRACE"),
    ("state", "TRACE", "--at", "100s"),
    ("why", "TRACE", "--partition", "orders-1"),
    ("why", "TRACE", "--partition", "orders-0", "--move", "--at", "100s"),
    ("why", "TRACE", "--partition", "orders-0", "--batch", "1"),
)


def commands(checkout: Path, trace: str, mark: str = "") -> list[Command]:
    return [
        Command(
            f"understudy {' '.join(words)}{mark}",
            checkout,
            ("-m", "scenarios.cli", *(trace if word == "TRACE" else word for word in words)),
        )
        for words in QUESTIONS
    ]


def main() -> int:
    parser = parser_of("questions", __doc__, repeats=5)
    parser.add_argument("--before", metavar="CHECKOUT", type=Path, help="measure that checkout's commands too")
    options = parser.parse_args()
    with TemporaryDirectory() as trace:
        words = ("-m", "scenarios.cli", "run", SCENARIO, "--trace", trace, "--format", "json")
        subprocess.run([sys.executable, *words], cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, check=False)
        before = commands(options.before, trace, ", before") if options.before else []
        seconds = measure([*commands(ROOT, trace), *before], options.repeats)
    medians = {command.name: statistics.median(spent) for command, spent in seconds.items()}
    lines = [
        f"CPU seconds of a process, medians of {options.repeats}. The trace is that of `{SCENARIO}`: 500,719 events.",
        "",
        machine(f"python -m benchmarks.questions {'--before CHECKOUT ' if options.before else ''}--write"),
        "",
        *table(
            ("command", "CPU s", "lowest to highest"),
            [
                (f"`{command.name}`", f"{medians[command.name]:.2f}", f"{min(spent):.2f} to {max(spent):.2f}")
                for command, spent in seconds.items()
            ],
        ),
    ]
    slow = [name for name, median in medians.items() if median > TARGET_S and not name.endswith(", before")]
    problems = [f"{name}: {medians[name]:.2f} s, target {TARGET_S} s" for name in slow]
    return conclude("questions", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
