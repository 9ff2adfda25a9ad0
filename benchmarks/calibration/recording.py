"""Recordings of real clusters: one file for each case, release and different outcome, as lines of JSON.

The first line says what was recorded; the others are facts, in the form that ``benchmarks.calibration.facts`` gives
them. Requests to several brokers with the same content are one line.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.facts import Fact, Request, from_json, to_json
from scenarios.language import Scenario

CASES = Path(__file__).parent / "cases"
THROTTLE = "throttle"
"""The case whose copy is measured."""

RECORDINGS = Path(__file__).parents[2] / "tests" / "calibration" / "recordings"


@frozen
class Recording:
    """The recorded actions of a real cluster.

    Attributes:
        scenario: the ``digest`` of the scenario that was played.
        runs: the number of runs of the real cluster with this outcome, after irrelevant differences are removed.
        copied: for each run of ``throttle``: seconds after the move began, and bytes that new replicas held.
        expiries_s: the seconds from each kill of a broker to the end of its session, of all these runs.
    """

    case: str
    release: str
    scenario: str
    runs: int = 1
    facts: tuple[Fact, ...] = ()
    expiries_s: tuple[float, ...] = ()
    copied: tuple[tuple[tuple[float, int], ...], ...] = ()

    @property
    def head(self) -> dict[str, Any]:
        """The first line."""
        return {name: value for name, value in asdict(self, recurse=False).items() if name != "facts"}


def case_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in CASES.glob("*.toml")))


def load_case(name: str) -> Scenario:
    """The scenario of a case. Raises: CannotRecord, for an unknown name."""
    path = CASES / f"{name}.toml"
    if not path.exists():
        raise CannotRecord(f"unknown case {name!r}; known: {', '.join(case_names())}")
    return Scenario.load(path)


def digest(scenario: Scenario) -> str:
    """The identity of the scenario that was played: its words do not count."""
    return evolve(scenario, title="", description="").digest()


def recordings(case: str, release: str, folder: Path = RECORDINGS) -> list[Path]:
    """The files of a case and a release: the outcomes that its runs had."""
    return sorted(folder.glob(f"{case}-{release}.*.jsonl"))


def write(recording: Recording, path: Path) -> None:
    lines = [json.dumps(recording.head), *_packed(recording.facts)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path: Path) -> Recording:
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    about = json.loads(head)
    expiries_s = tuple(about.pop("expiries_s", ()))
    copied = tuple(tuple((after_s, size) for after_s, size in curve) for curve in about.pop("copied", ()))
    return Recording(facts=tuple(_unpacked(lines)), expiries_s=expiries_s, copied=copied, **about)


def again(recording: Recording, other: Recording) -> Recording:
    """One more run has come out like this one."""
    return evolve(
        recording,
        runs=recording.runs + 1,
        expiries_s=(*recording.expiries_s, *other.expiries_s),
        copied=(*recording.copied, *other.copied),
    )


def _packed(facts: Iterable[Fact]) -> Sequence[str]:
    """Writes as they are; each different content of a request once, then the numbers of each broker's requests."""
    lines: list[str] = []
    contents: dict[str, int] = {}
    order: dict[int, list[int]] = {}
    for fact in facts:
        if not isinstance(fact, Request):
            lines.append(_dumps(to_json(fact)))
        else:
            content = to_json(evolve(fact, to=-1))
            number = contents.setdefault(_dumps(content), len(contents))
            order.setdefault(fact.to, []).append(number)
    return [*lines, *contents, *(_dumps(["to", broker, *numbers]) for broker, numbers in sorted(order.items()))]


def _unpacked(lines: Iterable[str]) -> list[Fact]:
    facts: list[Fact] = []
    contents: list[Any] = []
    for line in map(json.loads, lines):
        if line[0] in ("zk", "log", "answer", "count"):
            facts.append(from_json(line))
        elif line[0] == "to":
            facts += [evolve(from_json(contents[number]), to=line[1]) for number in line[2:]]
        else:
            contents.append(line)
    return facts


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
