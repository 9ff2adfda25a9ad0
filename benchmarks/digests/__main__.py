"""``python -m benchmarks.digests [--quick] [--out FILE] [--against FILE] [--write]``: one line for the result of each
run.

Three parts, each run by the command line as a user would: the scenario library with three seeds each, the default
atlas, and a move under load with 500 seeds. A line has the run's name, its digest (of all events) and a hash of
everything else that the command reports of it: verdict, violations, expectations, figures. ``--out`` keeps the lines;
``--against`` compares them with those of an earlier commit, and ends with 1 where one differs or is missing.
``--quick`` does a sample of the same runs, for use while working; it can be compared with a file of all. ``--reports``
leaves the digests out of the comparison: for a change of what an event records and not of what happens.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.sweep.__main__ import SCENARIO
from benchmarks.tables import table

LIBRARY_SEEDS = "0:3"
UNSTABLE = ("wall_s", "run_id", "replay", "command")
"""The keys of a report that depend on the machine, on the code's own digest, or on how the run was started."""


def understudy(*arguments: str) -> list[Any]:
    """The JSON values that a command prints, one a line. It may end with 1: a failed run has a digest too."""
    command = [sys.executable, "-m", "scenarios.cli", *arguments, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def line(name: str, result: Mapping[str, Any]) -> tuple[str, str]:
    """The run's name, and the hashes that have to stay equal."""
    rest = {key: value for key, value in result.items() if key not in (*UNSTABLE, "digest")}
    figures = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    return name, f"{result['digest']} {figures[:16]}"


def library(quick: bool) -> Iterator[tuple[str, str]]:
    seeds = ("--seeds", "0:1" if quick else LIBRARY_SEEDS)
    for path in sorted(Path("scenarios/library").glob("*.toml")):
        for run in understudy("run", path.stem, *seeds, "--jobs", "1"):
            yield line(f"library/{path.stem}/{run['seed']}", run)


def atlas(quick: bool) -> Iterator[tuple[str, str]]:
    only = ("--actor", "controller", "--fault", "crash") if quick else ()
    [found] = understudy("atlas", *only)
    for cell in found["cells_list"]:
        yield line(f"atlas/{cell['cell']}", cell)


def sweep(quick: bool) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "move-under-load.toml")
        file.write_text(SCENARIO, encoding="utf-8")
        for run in understudy("run", str(file), "--seeds", "0:20" if quick else "0:500", "--jobs", "2"):
            yield line(f"sweep/{run['seed']}", run)


PARTS = {"library": library, "atlas": atlas, "sweep": sweep}


def differences(found: Mapping[str, str], expected: Mapping[str, str], *, part_of: bool) -> list[str]:
    """A line for each run that is not as expected. ``part_of``: ``found`` need not have all of them."""
    problems = [
        f"{name}: {found[name]} was {expected[name]}" if name in expected else f"{name}: is new"
        for name in found
        if found[name] != expected.get(name)
    ]
    return problems if part_of else problems + [f"{name}: is gone" for name in expected if name not in found]


def main() -> int:
    parser = parser_of("digests", __doc__)
    parser.add_argument("--quick", action="store_true", help="a sample: one seed, one fault, 20 seeds of the sweep")
    parser.add_argument("--part", choices=tuple(PARTS), action="append", help="only this part (may be repeated)")
    parser.add_argument("--out", metavar="FILE", type=Path, help="keep the lines there")
    parser.add_argument("--against", metavar="FILE", type=Path, help="compare with the lines kept there")
    parser.add_argument("--reports", action="store_true", help="compare what is reported of each run, not its digest")
    options = parser.parse_args()
    found: dict[str, str] = {}
    rows = []
    for part in options.part or PARTS:
        lines = dict(PARTS[part](options.quick))
        found |= lines
        whole = hashlib.sha256("\n".join(f"{name} {kept}" for name, kept in sorted(lines.items())).encode())
        rows.append((part, str(len(lines)), f"`{whole.hexdigest()[:32]}`"))
    if options.out:
        options.out.write_text("".join(f"{name} {kept}\n" for name, kept in found.items()), encoding="utf-8")
    problems: list[str] = []
    if options.against:
        kept = (text.split(" ", 1) for text in options.against.read_text(encoding="utf-8").splitlines())
        expected = dict(kept)
        if options.reports:
            found, expected = ({name: kept.split()[1] for name, kept in lines.items()} for lines in (found, expected))
        problems = differences(found, expected, part_of=options.quick or bool(options.part))
    return conclude(
        "digests",
        [
            machine("python -m benchmarks.digests --write"),
            "",
            "Runs, and one hash over their digests and figures: the same on every machine until behaviour changes.",
            "",
            *table(("part", "runs", "hash"), rows),
        ],
        problems,
        write=options.write,
    )


if __name__ == "__main__":
    sys.exit(main())
