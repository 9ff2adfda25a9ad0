"""``python -m benchmarks.sampled [--cases A:B] [--seeds N] [--kept FILE] [--write]``: drawn scenarios, exact and
sampled. How far are the means over the seeds from each other, and how much less CPU time does a sampled run take?

Runs are kept in a file, so a slice that was interrupted goes on, and slices of several processes add up: run
``--cases 0:50`` and ``--cases 50:100`` at the same time, then ``--cases 0:100 --write``, which runs what is missing and
writes the tables into RESULTS.md and docs/understand/sampled.md.

``--long``: moves of hours, and what their exact runs would cost, from their first ten minutes.

Single runs are never compared: one throttled run is bimodal.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.program import conclude, parser_of, quiet
from benchmarks.results import machine
from benchmarks.sampled.case import one
from benchmarks.sampled.contract import FIDELITIES, cases
from benchmarks.sampled.drawn_cases import DEFAULT_CASES, DEFAULT_SEEDS
from benchmarks.sampled.kept_runs import KeptRuns
from benchmarks.sampled.long_moves import costs
from benchmarks.sampled.report import of_all, report, told, write_page

KEPT = "sampled-runs.jsonl"


def play(kept: KeptRuns, numbers: Sequence[int], seeds: int) -> None:
    """Run what is missing."""
    for number in numbers:
        for seed in range(seeds):
            for fidelity in FIDELITIES:
                key = number, fidelity, seed
                if key not in kept.runs:
                    kept.add(key, one(number, seed, fidelity))
        print(f"case {number} done", file=sys.stderr, flush=True)


def numbers_in(text: str) -> list[int]:
    """The numbers of the cases in ``text``."""
    parts = [[int(end) for end in part.split(":")] for part in text.split(",")]
    return [number for part in parts for number in range(part[0], part[-1] + (len(part) == 1))]


def main() -> int:
    parser = parser_of("sampled", __doc__)
    parser.add_argument(
        "--cases",
        default=DEFAULT_CASES,
        metavar="A:B",
        help="cases A to B - 1 (0:200 are all), or some: 4,14,28:30",
    )
    parser.add_argument("--seeds", type=int, default=DEFAULT_SEEDS)
    parser.add_argument("--kept", type=Path, default=Path(KEPT), metavar="FILE", help="the file of the runs")
    parser.add_argument("--long", action="store_true", help="the moves of hours alone")
    options = parser.parse_args()
    if options.long:
        lines = [machine("python -m benchmarks.sampled --long --write"), "", *costs()]
        return conclude("sampled-long", lines, write=options.write)
    quiet()
    numbers = numbers_in(options.cases)
    play(KeptRuns(options.kept).read(), numbers, options.seeds)
    found = cases(KeptRuns(options.kept).read().runs, numbers, options.seeds)
    lines = [machine(f"python -m benchmarks.sampled --cases {options.cases} --seeds {options.seeds} --write"), ""]
    if options.write:
        leaping = [case for case in found if case.leapt]
        write_page([*lines, *told(found, leaping, options.seeds), "", *of_all(leaping)])
    return conclude("sampled", [*lines, *report(found, options.seeds)], write=options.write)


if __name__ == "__main__":
    sys.exit(main())
