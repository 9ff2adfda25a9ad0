"""The parts that all benchmark programs share: they read options, run cases in processes of their own, print, write
down what they found, and end with 1 where a target is missed."""

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.calibration.errors import CannotRecord
from benchmarks.results import write_section
from emulator import logger
from scenarios.cluster.cluster import Cluster
from scenarios.observe.checkers import Checkers
from scenarios.observe.measures import Measured, Measures


def parser_of(name: str, description: str | None, repeats: int | None = None) -> argparse.ArgumentParser:
    """The parser of ``python -m benchmarks.NAME``: ``--write``, and ``--repeats`` where it has them."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    if repeats is not None:
        parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--write", action="store_true", help="write the table into benchmarks/RESULTS.md")
    return parser


def conclude(name: str, lines: Sequence[str], problems: Sequence[str] = (), *, write: bool) -> int:
    """Print ``lines``, into RESULTS.md too if that is wanted, and say what was missed. Returns the exit code."""
    print("\n".join(lines))
    if write:
        write_section(name, lines)
    for problem in problems:
        print(f"missed: {problem}", file=sys.stderr)
    return 1 if problems else 0


def exit_on_sigterm() -> None:
    """Let SIGTERM raise an exception, so that no process which this one starts outlives it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def record_each(program: str, names: Sequence[str], record: Callable[[str], str]) -> int:
    """Record each of ``names`` on a real cluster, and print what ``record`` says of it. Returns the exit code: 2 where
    one cannot be recorded, and those after it are not tried."""
    exit_on_sigterm()
    for name in names:
        try:
            print(f"{name}: {record(name)}", flush=True)
        except CannotRecord as error:
            print(f"{program}: {name}: {error}", file=sys.stderr)
            return 2
    return 0


def alone(module: str, *arguments: object) -> Any:
    """The JSON that ``python -m MODULE ARGUMENTS`` prints: one run in a process of its own."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def watch(cluster: Cluster) -> None:
    """Add checkers and measures, as ``understudy run`` has them."""
    measures = Measures(cluster.trace, Measured(keep_rows=False))
    Checkers(cluster.trace, past=measures.past)


def quiet() -> None:
    """Turn the log off."""
    logger.silence()
