"""``python -m benchmarks.calibration``: record cases on real Kafka, compare the emulator with them, write the page.

record CASE... --release 2.4.1   play cases on a real cluster of that release and keep what it did (Java 17, Maven)
compare [CASE...]                what the emulator does otherwise, case by case; exit code 1 for what is not declared
page [--write]                   docs/understand/calibration.md
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.recording import RECORDINGS, case_names
from benchmarks.calibration.releases import MAIN, RELEASES
from benchmarks.program import exit_on_sigterm


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    try:
        if options.command == "record":
            return _record(options)
        if options.command == "compare":
            from benchmarks.calibration.compare import show, show_seeds, update

            if options.seeds:
                return show_seeds(options.case or case_names(), options.seeds)
            if options.update:
                print("\n".join(f"without a reason: {name}" for name in update()))
                return 0
            return show(options.case or case_names(), full=options.full)
        from benchmarks.calibration.page import show_page

        return show_page(write=options.write)
    except CannotRecord as error:
        print(f"benchmarks.calibration: {error}", file=sys.stderr)
        return 2


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="play cases on a real cluster")
    record.add_argument("case", nargs="+", choices=case_names(), metavar="CASE")
    record.add_argument("--release", action="append", choices=tuple(RELEASES), help=f"again for more; {MAIN} if absent")
    record.add_argument(
        "--folder", type=Path, default=RECORDINGS, help="where recordings are kept; those of the tests if absent"
    )
    record.add_argument("--keep", type=Path, metavar="FOLDER", help="copy the logs of each run below FOLDER")
    compare = commands.add_parser("compare", help="hold the emulator against the recordings")
    compare.add_argument("case", nargs="*", metavar="CASE")
    compare.add_argument("--full", action="store_true", help="every line of every stream that differs")
    compare.add_argument("--seeds", type=int, metavar="N", help="find the seeds below N that reach what was recorded")
    compare.add_argument("--update", action="store_true", help="write differences.toml as all recordings show them")
    commands.add_parser("page", help="docs/understand/calibration.md").add_argument("--write", action="store_true")
    return parser.parse_args(arguments)


def _record(options: argparse.Namespace) -> int:
    from benchmarks.calibration.record import record  # with what plays on real clusters

    exit_on_sigterm()
    failed = 0
    for case in options.case:
        for release in options.release or MAIN:
            try:
                keep = options.keep and options.keep / f"{case}-{release}"
                print(f"{case} on {release}: {record(case, release, options.folder, keep).name}", flush=True)
            except CannotRecord as error:
                failed = 2
                print(f"{case} on {release}: {error}", file=sys.stderr, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
