"""``python -m benchmarks.mutations [--budget S] [--first N] [--tests unseen] [--jobs N] [--out FILE] [--draw]
[--write]``: what sees small mistakes?

At least 100 mistakes of one line, drawn by rule from all that can be made in brokers/, controller/ and fetchers/ and
reviewed by hand (``reviewed.toml``), are made one at a time. Each is looked for by random runs of the default chaos,
within a budget of CPU seconds (runs that do not execute the line are not made, and count with the time that they take
without the mistake), and by the tests of its room; ``--tests unseen`` runs the tests only for what chaos has
not seen, and ``--first 40`` tries so many, in the order of their hashes: a sample of all rooms. ``--out`` keeps a line
for each that is done, so that a broken-off run goes on. ``--draw`` draws again, after the code has changed, and keeps
the reviews that still apply.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from attrs import asdict

from benchmarks.mutations.drawn import Reviewed, draw, possible, reviewed, stale, write
from benchmarks.mutations.trial import Copy
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table

ROOT = Path(__file__).parents[2]
LEAST_BY_CHAOS = 0.8
SURVEYED = 1.2
"""The runs that are looked at without a mutation take so much more than the budget: with one they may be faster."""
Line = dict[str, Any]


def key(one: Reviewed) -> str:
    return json.dumps(asdict(one.mutation), sort_keys=True)


def in_order(mutants: Sequence[Reviewed]) -> list[Reviewed]:
    """The mutants ordered by their hashes, so that an interrupted run has done some of all rooms."""
    return sorted(mutants, key=lambda one: sha256(key(one).encode()).digest())


def redraw() -> None:
    reviews = {key(one): one.equivalent for one in reviewed()}
    write(Reviewed(mutation, reviews.get(key(Reviewed(mutation)), "")) for mutation in draw(possible(ROOT)))


def trials(
    mutants: Sequence[Reviewed], budget_s: int, jobs: int, out: Path, *, all_tests: bool = True
) -> Iterator[Line]:
    """The trials that ``out`` has already, then the others, each as soon as it is done. Its ``tests`` are None where
    they were not run, because chaos has found the mutation."""
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    yield from done
    known = {line["key"] for line in done}
    left = [one for one in mutants if key(one) not in known]
    if not left:
        return
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool, out.open("a") as file:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(jobs):
            copies.put(Copy(ROOT, Path(folder) / str(number)))
        first = copies.get()
        survey = first.survey(round(SURVEYED * budget_s), [one.mutation for one in left])
        copies.put(first)

        def trial(one: Reviewed) -> Line:
            copy = copies.get()
            try:
                runs = survey.runs(one.mutation, (ROOT / one.mutation.file).read_text(encoding="utf-8"))
                copy.plant(one.mutation)
                chaos = copy.chaos(budget_s, runs)
                tested = all_tests or not chaos["seen"]
                return {"key": key(one), "chaos": chaos, "tests": copy.tests(one.mutation) if tested else None}
            finally:
                copy.restore()
                copies.put(copy)

        for line in pool.map(trial, left):
            file.write(json.dumps(line) + "\n")
            file.flush()
            yield line


def report(
    mutants: Sequence[Reviewed], lines: Sequence[Line], budget_s: int, options: str = ""
) -> tuple[list[str], list[str]]:
    """The lines of the section, and what is missed. ``options``: those by which not all were tried."""
    found = {line["key"]: line for line in lines}
    equivalent = sum(bool(one.equivalent) for one in mutants)
    real = [one for one in mutants if not one.equivalent and key(one) in found]
    tested = [one for one in real if found[key(one)]["tests"] is not None]
    by_chaos = [one for one in real if found[key(one)]["chaos"]["seen"]]
    by_tests = [one for one in real if found[key(one)]["tests"]]
    neither = [one for one in real if one not in by_chaos and one not in by_tests]
    how = Counter(found[key(one)]["chaos"]["seen"].partition(":")[0] for one in by_chaos)
    share = len(by_chaos) / len(real)
    rows = [
        (one.room, one.mutation.rule, f"`{one.mutation.file}`", f"`{one.mutation.before}`", f"`{one.mutation.after}`")
        for one in neither
    ]
    head = [
        machine(f"python -m benchmarks.mutations --budget {budget_s}{options} --write"),
        "",
        f"{len(mutants)} mutations, of which {equivalent} change nothing that could be seen; {len(real)} were tried:",
        "",
        *table(
            ("seen by", "how many", "share"),
            [
                ("chaos", str(len(by_chaos)), f"{share:.0%}"),
                _row_of_tests(by_tests, tested, real),
                ("either", str(len(real) - len(neither)), f"{1 - len(neither) / len(real):.0%}"),
            ],
        ),
        "",
        "What saw them first in chaos: " + ", ".join(f"{name} {count}" for name, count in how.most_common()) + ".",
    ]
    unseen = ["", "Seen by neither:", "", *table(("room", "rule", "file", "line", "changed to"), rows)] if rows else []
    problems = []
    if share < LEAST_BY_CHAOS:
        problems.append(f"chaos alone sees {share:.0%} of the mutations, less than {LEAST_BY_CHAOS:.0%}")
    if neither:
        problems.append(f"{len(neither)} mutations are seen by neither")
    return [*head, *unseen], problems


def _row_of_tests(seen: Sequence[Reviewed], tested: Sequence[Reviewed], real: Sequence[Reviewed]) -> Sequence[str]:
    """The row of the tests' results, for the mutants for which they were run."""
    if len(tested) == len(real):
        return "the tests of the room", str(len(seen)), f"{len(seen) / len(real):.0%}"
    name = f"the tests of the room, run only for the {len(tested)} that chaos did not see"
    return name, str(len(seen)), f"{len(seen) / len(tested):.0%} of these" if tested else "-"


def main() -> int:
    parser = parser_of("mutations", __doc__)
    parser.add_argument("--budget", type=int, default=60, help="CPU seconds of chaos for each (default: 60)")
    parser.add_argument("--first", type=int, default=None, help="try so many only, of all rooms (default: all)")
    parser.add_argument("--tests", choices=("all", "unseen"), default="all", help="for which the tests are run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None, help="keep a line of JSON for each that is done")
    parser.add_argument("--draw", action="store_true", help="draw the mutations anew and run nothing")
    arguments = parser.parse_args()
    if arguments.draw:
        redraw()
        return 0
    mutants = reviewed()
    real = in_order([one for one in mutants if not one.equivalent])[: arguments.first]
    if gone := stale(real, ROOT):
        parser.error("\n".join(gone))
    with tempfile.TemporaryDirectory() as folder:
        out = arguments.out or Path(folder) / "trials.jsonl"
        all_tests = arguments.tests == "all"
        lines = list(trials(real, arguments.budget, arguments.jobs, out, all_tests=all_tests))
    stated = {"first": arguments.first, "tests": arguments.tests}
    options = "".join(f" --{name} {value}" for name, value in stated.items() if value not in (None, "all"))
    return conclude("mutations", *report(mutants, lines, arguments.budget, options), write=arguments.write)


if __name__ == "__main__":
    raise SystemExit(main())
