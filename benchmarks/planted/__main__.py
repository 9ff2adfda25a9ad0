"""The score of the default chaos on bugs that are made as a developer makes them: how many does it find, and how soon?

The bugs (``bugs/*.toml``) are changes of several lines on one path of controller, brokers, fetchers and emulator, a
third of them after tickets of Kafka that are not in the museum. They are put into a random order, always the same, so
that ``--bugs 0:20`` is a sample of all rooms. Up to ``--together`` bugs of a profile are switched on in one process;
its seeds are run from 0 on, and halving finds which of them causes a finding that no known behaviour of the release
explains. ``--budget``: CPU seconds of seeds for each bug. ``--room`` tries the bugs of one file alone; it can be given
several times. ``--checkout`` scores another checkout, with the bugs of this one. ``--out`` keeps a line for each bug
that is done, so that an interrupted run goes on.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from benchmarks.planted.bugs import Bug, read_bugs
from benchmarks.planted.hunting import Trial, Worker, groups, hunt
from benchmarks.planted.switch import Stale
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table

ROOT = Path(__file__).parents[2]
TARGETS = {60: 0.75, 240: 0.9}
"""The least share that is to be found within so many CPU seconds."""


def in_order(bugs: Sequence[Bug]) -> list[Bug]:
    """The bugs that count, in the order of the hashes of their names."""
    return sorted((bug for bug in bugs if not bug.equivalent), key=lambda bug: sha256(bug.name.encode()).digest())


def trials(bugs: Sequence[Bug], checkout: Path, budget_s: float, together: int, jobs: int, out: Path) -> list[Trial]:
    """The outcomes that ``out`` has already, then the others. A bug that was not found within a smaller budget is tried
    again."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    kept = [Trial(**json.loads(line)) for line in lines]
    done = {one.bug: one for one in kept if one.seen or one.cpu_s >= budget_s}
    left = [bug for bug in bugs if bug.name not in done]
    with out.open("a", encoding="utf-8") as file, ThreadPoolExecutor(jobs) as pool:

        def look_for(group: Sequence[Bug]) -> None:
            with Worker(checkout, group) as worker:
                for one in hunt([bug.name for bug in group], group[0].profile, budget_s, worker):
                    done[one.bug] = one
                    file.write(json.dumps(one._asdict()) + "\n")
                    file.flush()
                    print(f"{one.bug}: {one.seen or 'not found'} (seed {one.seed}, {one.cpu_s:.0f} s)", flush=True)

        list(pool.map(look_for, groups(left, checkout, together)))
    return [done[bug.name] for bug in bugs]


def report(
    bugs: Sequence[Bug], found: Sequence[Trial], budget_s: int, options: str = ""
) -> tuple[list[str], list[str]]:
    """The lines of the section, and what is missed. ``options``: those by which not all were tried."""
    pairs = list(zip(bugs, found, strict=True))
    limits = sorted({budget_s, *(limit for limit in TARGETS if limit < budget_s)})
    rooms = {room: [one for bug, one in pairs if bug.room == room] for room in sorted({bug.room for bug in bugs})}
    lines = [
        machine(f"python -m benchmarks.planted --budget {budget_s}{options} --write"),
        "",
        f"{sum(bug.of_kafka for bug in bugs)} of {len(bugs)} bugs are made after tickets.",
        "",
        *table(
            ("room", "bugs", *(f"within {limit} CPU s" for limit in limits)),
            [_row_of(room, of_room, limits) for room, of_room in (*rooms.items(), ("all", found))],
        ),
        "",
        *table(
            ("bug", "room", "after", "profile", "what goes wrong", "seen by", "seed", "CPU s"),
            [_row(bug, one, budget_s) for bug, one in sorted(pairs, key=lambda pair: (pair[0].room, pair[0].name))],
        ),
    ]
    shares = {limit: _within(found, limit) / len(bugs) for limit in limits if limit in TARGETS}
    return lines, [
        f"{share:.0%} are found within {limit} CPU s, less than {TARGETS[limit]:.0%}"
        for limit, share in shares.items()
        if share < TARGETS[limit]
    ]


def _within(found: Sequence[Trial], limit_s: float) -> int:
    return sum(bool(one.seen) and one.cpu_s <= limit_s for one in found)


def _row_of(room: str, found: Sequence[Trial], limits: Sequence[int]) -> Sequence[str]:
    """A room's row: how many are found within each limit, and how many that is for a CPU hour."""
    cells = []
    for limit in limits:
        hours = sum(min(one.cpu_s, limit) for one in found) / 3600
        count = _within(found, limit)
        cells.append(f"{count} ({count / len(found):.0%}; {count / hours:.0f} a CPU hour)")
    return room, str(len(found)), *cells


def _row(bug: Bug, one: Trial, budget_s: float) -> Sequence[str]:
    within = bool(one.seen) and one.cpu_s <= budget_s
    checker = f"`{one.seen.partition(':')[0]}`" if within else "-"
    head = (bug.name, bug.room, bug.after, bug.profile, bug.title)
    return *head, checker, str(one.seed) if within else "", f"{one.cpu_s:.0f}" if within else ""


def _slice(text: str) -> slice:
    first, _, end = text.partition(":")
    return slice(int(first or 0), int(end) if end else None)


def main() -> int:
    parser = parser_of("planted", __doc__)
    parser.add_argument("--budget", type=int, default=60, help="CPU seconds of seeds for each bug (default: 60)")
    parser.add_argument("--bugs", type=_slice, default=slice(None), metavar="A:B", help="a slice of their order")
    rooms = sorted({bug.room for bug in read_bugs()})
    parser.add_argument("--room", choices=rooms, action="append", help="only the bugs of this file (default: all)")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="the checkout that is scored (default: this one)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (default: 1)")
    parser.add_argument("--together", type=int, default=12, help="most bugs in one process (default: 12)")
    parser.add_argument("--out", type=Path, default=None, help="keep a line of JSON for each that is done")
    arguments = parser.parse_args()
    named = arguments.room or rooms
    bugs = in_order([bug for bug in read_bugs() if bug.room in named])[arguments.bugs]
    checkout = arguments.checkout.resolve()
    with tempfile.TemporaryDirectory() as folder:
        out = arguments.out or Path(folder) / "trials.jsonl"
        try:
            found = trials(bugs, checkout, arguments.budget, arguments.together, arguments.jobs, out)
        except Stale as error:
            parser.error(str(error))
    first, end = arguments.bugs.start, arguments.bugs.stop
    options = "".join(f" --room {room}" for room in arguments.room or ())
    options += "" if first is end is None else f" --bugs {first}:{'' if end is None else end}"
    return conclude("planted", *report(bugs, found, arguments.budget, options), write=arguments.write)


if __name__ == "__main__":
    raise SystemExit(main())
