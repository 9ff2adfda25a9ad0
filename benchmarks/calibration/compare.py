"""The comparison of the emulator with the recordings, and with what ``differences.toml`` declares."""

import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from attrs import field, frozen

from benchmarks.calibration import emulated
from benchmarks.calibration.facts import BY_TOOL
from benchmarks.calibration.normal import CLUSTER, Difference, Normal, Stream, differences, normal
from benchmarks.calibration.recording import CASES, case_names, digest, load_case, read, recordings
from benchmarks.calibration.releases import RELEASES, Release

DECLARED = CASES.parent / "differences.toml"
MARK = "# The differences, written by python -m benchmarks.calibration compare --update; reasons are added by hand."


@frozen
class Declared:
    """A difference that is known: in which row, why, and what is seen of it.

    Attributes:
        reasons: names of entries of ``[reason]`` in the file.
        streams: the names of the streams that differ.
        lines: the number of lines that one side alone has.
        kafka, understudy: the first of those on either side, in the first stream; "" where there is none.
    """

    case: str
    topic: str
    release: str
    reasons: tuple[str, ...] = field(converter=tuple)
    streams: tuple[str, ...] = field(converter=tuple)
    lines: int
    kafka: str
    understudy: str

    @property
    def seen(self) -> tuple[object, ...]:
        """The result that a comparison has to show."""
        return self.streams, self.lines, self.kafka, self.understudy


@frozen
class Row:
    """The comparison of one case's topic on one release.

    Attributes:
        topic: the topic; ``-`` for facts about no topic.
        runs: the number of runs of the real cluster.
        outcomes: the number of different outcomes that they had.
        differences: those of the outcome that is the farthest from what the emulator does with any of the seeds that it
            is played with; empty where it does each of them.
    """

    case: str
    topic: str
    release: str
    runs: int
    outcomes: int
    differences: tuple[Difference, ...]

    @property
    def name(self) -> tuple[str, str, str]:
        return self.case, self.topic, self.release

    @property
    def seen(self) -> tuple[object, ...]:
        """The result that a declaration has to state; empty where nothing differs."""
        if not self.differences:
            return ()
        first = self.differences[0]
        streams = tuple(each.stream.name for each in self.differences)
        return streams, sum(each.lines for each in self.differences), *map(_first, (first.kafka, first.understudy))


@cache
def rows(case: str) -> tuple[Row, ...]:
    """Each topic of a case, on each release that it has been recorded with."""
    return tuple(_rows(case))


def _rows(case: str) -> Iterator[Row]:
    for release in RELEASES.values():
        runs, real = _real(case, release)
        if real:
            ours = [_played(case, release, seed) for seed in seeds().get(f"{case} {release.name}", (0,))]
            for topic in _topics(*ours, *real):
                found = _unreached(topic, real, ours)
                yield Row(case, topic, release.name, runs, len(_outcomes(topic, real)), tuple(found))


def _real(case: str, release: Release) -> tuple[int, list[Normal]]:
    """The number of recorded runs of a case, and their outcomes."""
    scenario = load_case(case)
    found = [read(path) for path in recordings(case, release.name)]
    assert all(each.scenario == digest(scenario) for each in found), f"{case} was recorded as another scenario"
    settings = BY_TOOL in scenario.tags
    return sum(each.runs for each in found), [normal(each.facts, settings=settings) for each in found]


def _outcomes(topic: str, real: Iterable[Normal]) -> list[Normal]:
    """The different outcomes for one topic."""
    return list({str(part): part for part in (_about(topic, each) for each in real)}.values())


def _unreached(topic: str, real: Iterable[Normal], ours: Iterable[Normal]) -> list[Difference]:
    """The differences of that outcome of real Kafka which is the farthest from all of ours; empty where each is one of
    ours."""
    mine = [_about(topic, each) for each in ours]
    closest = [min((differences(part, each) for each in mine), key=_size) for part in _outcomes(topic, real)]
    return max(closest, key=_size)


def find_seeds(case: str, release: Release, tried: Iterable[int]) -> tuple[list[int], list[str]]:
    """The seeds with which an outcome of the recordings comes out that does not with those tried before, and the topics
    that have one which does not come out."""
    _, real = _real(case, release)
    topics = _topics(_played(case, release, 0), *real)
    left = [(topic, part) for topic in topics for part in _outcomes(topic, real)]
    used = []
    for seed in tried:
        mine = _played(case, release, seed)
        unmet = [(topic, part) for topic, part in left if differences(part, _about(topic, mine))]
        if len(unmet) < len(left):
            used.append(seed)
        left = unmet
        if not left:
            break
    return used, [topic for topic, _ in left]


def _played(case: str, release: Release, seed: int) -> Normal:
    return emulated_normal(case, release.profile, release.scala, seed)


@cache
def emulated_normal(case: str, profile: str, scala: str, seed: int = 0) -> Normal:
    """The emulator's outcome of a case, with the brokers' build for ``scala``."""
    scenario = load_case(case).with_overrides({"profile": profile, "cluster.scala": f'"{scala}"'})
    return normal(emulated.played(scenario, profile, seed).facts, settings=BY_TOOL in scenario.tags)


def _topics(*runs: Normal) -> list[str]:
    return sorted({stream.topic for run in runs for stream in run}, key=lambda topic: (topic == CLUSTER, topic))


def _about(topic: str, run: Normal) -> Mapping[Stream, list[str]]:
    return {stream: lines for stream, lines in run.items() if stream.topic == topic}


def _size(found: Iterable[Difference]) -> int:
    return sum(each.lines for each in found)


# -- what is declared -------------------------------------------------------------------------------------------------


def reasons() -> dict[str, str]:
    """The reasons for differences, by name."""
    found: dict[str, str] = tomllib.loads(DECLARED.read_text(encoding="utf-8"))["reason"]
    return found


@cache
def seeds() -> dict[str, tuple[int, ...]]:
    """The seeds with which the emulator plays a case on a release, by the two names; those that are absent: 0."""
    found = tomllib.loads(DECLARED.read_text(encoding="utf-8")).get("seeds", {})
    return {name: tuple(each) for name, each in found.items()}


def declared() -> dict[tuple[str, str, str], Declared]:
    """The declared differences by case, topic and release."""
    entries = tomllib.loads(DECLARED.read_text(encoding="utf-8")).get("difference", [])
    found = [Declared(**entry) for entry in entries]
    return {(each.case, each.topic, each.release): each for each in found}


def problems(row: Row, known: Mapping[tuple[str, str, str], Declared]) -> str:
    """The error of a row, given the declarations; "" where there is none."""
    entry = known.get(row.name)
    if entry is None:
        return f"a new difference in {' '.join(row.name)}; declare or remove it:\n{as_entry(row)}" if row.seen else ""
    if not row.seen:
        return f"the declared difference in {' '.join(row.name)} is gone; remove it from {DECLARED.name}"
    if entry.seen != row.seen:
        return f"the declared difference in {' '.join(row.name)} has changed:\n{as_entry(row, entry.reasons)}"
    return ""


def update() -> list[str]:
    """Write ``differences.toml`` again, as the comparison shows them: each keeps its reasons, and a new one has none,
    which the tests do not accept. Returns the names of those without."""
    known = declared()
    found = [row for case in case_names() for row in rows(case) if row.seen]
    entries = [as_entry(row, known[row.name].reasons if row.name in known else ()) for row in found]
    head, mark, _ = DECLARED.read_text(encoding="utf-8").partition(MARK)
    DECLARED.write_text("\n".join([head + mark + "\n", *entries]), encoding="utf-8")
    return [" ".join(row.name) for row in found if row.name not in known or not known[row.name].reasons]


def as_entry(row: Row, why: Iterable[str] = ()) -> str:
    """The entry that declares a row's difference."""
    streams, lines, kafka, understudy = row.seen
    return "\n".join(
        (
            "[[difference]]",
            f'case = "{row.case}"',
            f'topic = "{row.topic}"',
            f'release = "{row.release}"',
            f"reasons = {_list(why)}",
            f"streams = {_list(streams)}",  # type: ignore[arg-type]
            f"lines = {lines}",
            f"kafka = '''{kafka}'''",
            f"understudy = '''{understudy}'''",
            "",
        )
    )


def _list(texts: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def show_seeds(cases: Iterable[str], most: int) -> int:
    """Print the seeds that reach what was recorded, as lines of ``[seeds]``; 1 where some outcome is not reached."""
    code = 0
    for case in cases:
        for release in RELEASES.values():
            if recordings(case, release.name):
                used, left = find_seeds(case, release, range(most))
                missing = f"  # not reached: {', '.join(left)}" * bool(left)
                print(f'"{case} {release.name}" = {used}{missing}', flush=True)
                code |= bool(left)
    return code


def show(cases: Iterable[str], *, full: bool) -> int:
    """Print each row; 1 where one is not as declared."""
    known, code = declared(), 0
    for case in cases:
        for row in rows(case):
            state = "differs" if row.seen else "identical"
            print(f"{case:18} {row.topic:12} {row.release:8} {state} ({row.runs} runs, {row.outcomes} outcomes)")
            if full:
                _print_all(row)
            problem = problems(row, known)
            if problem:
                code = 1
                print(problem, file=sys.stderr)
    return code


def _first(lines: tuple[str, ...]) -> str:
    return lines[0] if lines else ""


def _print_all(row: Row) -> None:
    for each in row.differences:
        print(f"  {each.stream.name}")
        for who, lines in (("Kafka", each.kafka), ("Understudy", each.understudy)):
            for line in lines:
                print(f"    {who:10} {line}")
