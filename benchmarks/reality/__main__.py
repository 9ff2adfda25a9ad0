"""``python -m benchmarks.reality``: moves on real Kafka, measured, beside what the emulator says of the same.

record MOVE...   carry moves out on real Kafka on this machine and keep what they did (Java 17, Maven; minutes each)
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.calibration.errors import CannotRecord
from benchmarks.reality.folder import RECORDINGS
from benchmarks.reality.measuring import measure
from benchmarks.reality.moves import MOVES


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", nargs="+", choices=tuple(MOVES), metavar="MOVE")
    parser.add_argument("--folder", type=Path, default=RECORDINGS)
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that no process outlives this one
    for name in options.record or ():
        try:
            reality = measure(MOVES[name], options.folder)
        except CannotRecord as error:
            print(f"benchmarks.reality: {name}: {error}", file=sys.stderr)
            return 2
        print(f"{name}: {reality.duration_s:.1f} s, load {reality.load}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
