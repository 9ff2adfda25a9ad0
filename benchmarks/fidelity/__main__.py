"""``python -m benchmarks.fidelity [--write]``: a new replica of 20 GB catches up at 50 MB/s while 10 MB/s are written.

It takes S / (R - W) = 500 s by arithmetic; the emulator may be 2 % off. Exit code 1 where it is further off.
"""

import sys
import time
from collections.abc import Mapping

from attrs import frozen

from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.moves import MANY, Move
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table

SIZE_MB, WRITE_MB, RATE_MB = 20_000, 10, 50
TARGET = 0.02


def arithmetic_s(size_mb: float) -> float:
    return size_mb / (RATE_MB - WRITE_MB)


@frozen
class Case:
    """The third of three replicas moves to broker 3. ``target`` None: shown, not judged."""

    name: str
    partitions: int
    config: Mapping[str, object]
    target: float | None = TARGET

    def took_s(self, size_mb: float) -> float:
        """Seconds until all of it has moved."""
        move = Move(
            brokers=5, before=(0, 1, 2), target=(0, 1, 3), size_mb=size_mb, write_mb=WRITE_MB, strategy="wiki",
            horizon_s=2 * arithmetic_s(size_mb), partitions=self.partitions, config=self.config,
            network={"cards": [{"brokers": [3], "ingress": f"{RATE_MB}MB/s"}]},
        )  # fmt: skip
        return emulate(move.scenario()).seconds("time_to_complete_s")


CASES = (
    Case("20 partitions of 1 GB, Kafka's fetch sizes", 20, {}),
    Case("1 partition of 20 GB, fetches of 10 MiB", 1, MANY),
    Case("1 partition of 20 GB, Kafka's fetch sizes: 1 MiB, then a round trip of 1 ms", 1, {}, None),
)


def main() -> int:
    options = parser_of("fidelity", __doc__).parse_args()
    rows, problems, by_arithmetic_s = [], [], arithmetic_s(SIZE_MB)
    for each in CASES:
        began = time.process_time()
        took_s = each.took_s(SIZE_MB)
        cpu_s = time.process_time() - began
        off = took_s / by_arithmetic_s - 1
        if each.target is not None and abs(off) > each.target:
            problems.append(f"{each.name}: off by {off:+.1%}, wanted at most {each.target:.0%}")
        target = "" if each.target is None else f"{each.target:.0%}"
        rows.append((each.name, f"{by_arithmetic_s:.0f}", f"{took_s:.1f}", f"{off:+.1%}", target, f"{cpu_s:.1f}"))
    lines = [
        machine("python -m benchmarks.fidelity --write"),
        "",
        "One broker's new replicas, 20 GB, catch up at 50 MB/s while 10 MB/s are written: S / (R - W) by arithmetic.",
        "",
        *table(("set-up", "S / (R - W), s", "emulated, s", "off by", "allowed", "CPU s"), rows),
    ]
    return conclude("fidelity", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
