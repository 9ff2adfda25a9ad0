"""docs/understand/calibration.md: what real Kafka was recorded doing, and where the emulator does otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.calibration.compare import Declared, Row, declared, problems, reasons, rows, seeds
from benchmarks.calibration.emulated import LATE_START_US, LATE_US
from benchmarks.calibration.normal import CLUSTER
from benchmarks.calibration.recording import THROTTLE, case_names, load_case, read, recordings
from benchmarks.calibration.releases import MAIN, RELEASES
from benchmarks.tables import table

PAGE = Path(__file__).parents[2] / "docs" / "understand" / "calibration.md"
COMMAND = "python -m benchmarks.calibration page --write"

HEAD = f"""\
# Calibration

For those who decide whether to believe the emulator: real Kafka beside Understudy, step by step. Clusters of real
brokers and ZooKeeper played the scenario files of `benchmarks/calibration/cases`, and the emulator plays the same
files. Compared are

- every write to ZooKeeper (znode, data, version), and every LeaderAndIsr, UpdateMetadata and StopReplica with its
  answer, in order for each broker, field by field;
- in cases named `clients-` the answers that clients get (scripts in `benchmarks/calibration/clients`): error, offset,
  high watermark, leader epoch, metadata, generation, members, markers of transactions; in `clients-counts` what
  brokers' metrics have counted of produce requests, by JMX;
- in `tool-throttle` the settings that the release's kafka-reassign-partitions writes.

This page is written by `{COMMAND}` from the recordings. `tests/calibration` compares on every run of the
tests, without Java, and fails where something differs that is not declared, or where a declared difference is gone.

**Set aside**, because two runs of the same Kafka differ in it: times, addresses, the ids of topics, everything before
the first topic; the order in which followers join the ISR, and how many joins one announcement carries; which of
several brokers becomes controller; the order of what happens to different znodes, or to different brokers and topics.
Sizes and throttles make moves long enough for a fault to fall into the copying; what depends on the speed of the
machine is not compared. How long throttled moves take is on [a page of its own](reality.md).

**A cell** says *identical* where the emulator does what the real cluster did in each of its runs; else the numbers of
the [reasons](#reasons). It says how many runs there are if more than one, and how many outcomes they had where not all
were the same (races in Kafka): each of these comes out here under one of the [seeds](#seeds). An empty cell was not
recorded.
"""

FOOT = """\
## New recordings

```sh
python -m benchmarks.calibration record CASE --release 2.4.1    # Java 17 and Maven; one to four minutes
python -m benchmarks.calibration compare CASE --full            # what differs, line by line
python -m benchmarks.calibration page --write
```

A case is a scenario file in `benchmarks/calibration/cases` whose entries wait for `after` alone and do what a real
cluster can be asked for (`ACTIONS` in `benchmarks/calibration/real/player.py`). A recording counts for the scenario
that was played: a case that is changed has to be recorded again. Recording a case twice tells a race from a fact: a run
that comes out like an earlier one is counted there, another outcome is kept beside it. A difference is declared in
`benchmarks/calibration/differences.toml`, with its reason; `compare` prints the entry. `--keep FOLDER` keeps the
brokers' logs.

Up to 3.0.2 it is Kafka for Scala 2.12, from 3.3.2 on for Scala 2.13; the emulator plays the same build
(`cluster.scala`). ZooKeeper is the one that the release brings; up to 2.3 it is 3.4.12, since 3.4.13 and 3.4.14 cannot
connect on Java 14 and later. Brokers have small heaps and few threads, and the defaults of their release otherwise.
Releases before 1.0 write their request logs in another form, which is not read (0.8.2.2 runs on Java 17).
"""


EXPIRY = """\
The session times out 6 s after the last ping, which is up to 2 s old, and is found at a tick of 2 s: 4 to 8 s after the
kill. The emulator's are within that too (`tests/calibration`)."""


SEEDS = f"""\
Where real Kafka has a race, the emulator plays the case with several seeds, and each recorded outcome has to come out
with one of them. With a seed other than 0 each entry comes up to {LATE_US / 1e6:g} s later, and the start of a
broker up to {LATE_START_US / 1e6:g} s, as on a real machine. All other cases are played with seed 0.
`compare CASE --seeds 100` finds such seeds; they are kept in `differences.toml`."""


CURVE_AT_S = (1, 2, 5, 10, 15, 20, 25, 30)
CURVE = """\
Case `throttle`: three new replicas copy 60 MB each, and their leader, from which one follower fetches all the time, may
send 6 MB/s. MB that the new replicas hold together, in each run of real Kafka:"""


def page() -> str:
    """The page's text."""
    found = [row for case in case_names() for row in rows(case)]
    known = declared()
    numbers = {name: number for number, name in enumerate(reasons(), 1)}
    releases = [name for name in RELEASES if any(row.release == name for row in found)]
    cells = {row.name: _cell(row, known, numbers) for row in found}
    alike: dict[tuple[str, ...], list[str]] = {}
    for case, topic in dict.fromkeys((row.case, row.topic) for row in found):
        line = (f"`{case}`", *(cells.get((case, topic, each), "") for each in releases))
        alike.setdefault(line, []).append(_name(case, topic))
    rows_of_table = [(case, ", ".join(names), *line) for (case, *line), names in alike.items()]
    cases = dict.fromkeys(row.case for row in found)
    return "\n".join(
        (
            HEAD,
            *table(("case", "what is compared", *releases), rows_of_table),
            "",
            "| case | what happens |\n| --- | --- |",
            *(f"| `{case}` | {load_case(case).title} |" for case in cases),
            "",
            "## Reasons",
            "",
            *_reasons(known, numbers),
            "",
            *_seeds(),
            "",
            *_expiries(),
            "",
            *_curves(),
            FOOT,
        )
    )


def _seeds() -> Iterator[str]:
    yield from ("## Seeds", "", SEEDS, "")
    lists = [(f"`{name.split()[0]}`", name.split()[1], ", ".join(map(str, used))) for name, used in seeds().items()]
    yield from table(("case", "release", "seeds"), lists)


def _expiries() -> Iterator[str]:
    """From kill -9 to the end of the session, in the runs with Kafka's default time-out."""
    yield "## From kill -9 to the end of the session"
    yield ""
    yield f"{EXPIRY} In seconds:"
    yield ""
    lists = []
    for release in MAIN:
        cases = [case for case in case_names() if load_case(case).cluster.zk.session_timeout_us is None]
        found = [read(path) for case in cases for path in recordings(case, release)]
        lists.append((release, *_spread([after_s for each in found for after_s in each.expiries_s])))
    yield from table(("release", "kills", "least", "mean", "most"), lists)


def _curves() -> Iterator[str]:
    """The progress of throttled copies over time."""
    lists = []
    for release in RELEASES:
        for recording in map(read, recordings(THROTTLE, release)):
            for curve in recording.copied:
                done = [max((size for after_s, size in curve if after_s <= at_s), default=0) for at_s in CURVE_AT_S]
                lists.append((release, *(f"{size / 1e6:.0f}" for size in done), f"{curve[-1][0]:.1f}"))
    if lists:
        heads = ("release", *(f"{at_s} s" for at_s in CURVE_AT_S), "done after, s")
        yield from ("## A throttled copy", "", CURVE, "", *table(heads, lists), "")


def _spread(seconds: Sequence[float]) -> tuple[str, ...]:
    if not seconds:
        return "0", "-", "-", "-"
    return str(len(seconds)), f"{min(seconds):.1f}", f"{fmean(seconds):.1f}", f"{max(seconds):.1f}"


def _name(case: str, topic: str) -> str:
    if topic == CLUSTER:
        return "brokers and controller"
    scenario = load_case(case)
    before, after = scenario.assignments(), scenario.targets()
    moves = [f": {list(before[name])} to {list(after[name])}" for name in after if name in before]
    mine = [move for name, move in zip(after, moves, strict=False) if name.rpartition("-")[0] == topic]
    return f"`{topic}`{mine[0] if len(mine) == 1 else ''}"


def _cell(row: Row, known: Mapping[tuple[str, str, str], Declared], numbers: Mapping[str, int]) -> str:
    runs = "" if row.runs == 1 else f" ({row.runs} runs)"
    if row.outcomes > 1:
        runs = f" ({row.runs} runs, {row.outcomes} outcomes)"
    if not row.seen:
        return f"identical{runs}"
    entry = known.get(row.name)
    why = ", ".join(str(numbers[name]) for name in entry.reasons) if entry else "not declared"
    return f"**{why}**{runs}"


def _reasons(known: Mapping[tuple[str, str, str], Declared], numbers: Mapping[str, int]) -> Iterator[str]:
    for name, text in reasons().items():
        examples = [entry for entry in known.values() if name in entry.reasons]
        if examples:
            yield f"{numbers[name]}. {text.strip()}"


def show_page(*, write: bool) -> int:
    """Print or write the page; 1 where a difference is not as declared."""
    text = page()
    if write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)
    known = declared()
    return int(any(problems(row, known) for case in case_names() for row in rows(case)))
