"""``python -m benchmarks.reality``: moves on real Kafka, measured, beside what the emulator says of the same.

--compare          runs and forecasts each recording's scenario, beside the measured durations (Python alone)
--write            the same, into benchmarks/RESULTS.md and docs/understand/reality.md
--record MOVE...   carries moves out on real Kafka on this machine and keeps what they did (Java 17, Maven; 2 to 6
                   minutes and up to 12 GB of disk each)

Exit code 1 where a duration is off by more than 10 %, or fewer than four moves are within 3 %.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.program import conclude, quiet, record_each
from benchmarks.reality.folder import RECORDINGS
from benchmarks.reality.moves import MOVES
from benchmarks.results import between_marks, machine

PAGE = Path(__file__).parents[2] / "docs" / "understand" / "reality.md"
COMMAND = "python -m benchmarks.reality --write"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--compare", action="store_true", help="run the scenarios of all recordings")
    what.add_argument("--write", action="store_true", help="write the table down as well")
    what.add_argument("--record", nargs="+", choices=tuple(MOVES), metavar="MOVE", help=", ".join(MOVES))
    parser.add_argument("--folder", type=Path, default=RECORDINGS, help="where recordings go; else the repository")
    options = parser.parse_args(arguments)
    return _record(options.record, options.folder) if options.record else _compare(write=options.write)


def _record(names: Sequence[str], folder: Path) -> int:
    from benchmarks.reality.measuring import measure  # with what runs real clusters

    def recorded(name: str) -> str:
        reality = measure(MOVES[name], folder)
        return f"{reality.duration_s:.1f} s, load average {reality.load}"

    return record_each("benchmarks.reality", names, recorded)


def _compare(*, write: bool) -> int:
    from benchmarks.reality.beside import all_beside, lines, problems

    quiet()
    found = all_beside()
    table = [*lines(found)]
    if write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(between_marks(page, "reality", [machine(COMMAND), "", *table]), encoding="utf-8")
    return conclude("reality", [machine(COMMAND), "", *table], problems(found), write=write)


if __name__ == "__main__":
    sys.exit(main())
