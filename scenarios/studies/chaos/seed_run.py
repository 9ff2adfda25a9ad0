"""One seed of a campaign: drawn, run, and judged by its findings."""

from __future__ import annotations

import json
import math
import time
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from attrs import evolve, field, frozen
from attrs.validators import instance_of

from scenarios.chaos.draw import Weights, concrete
from scenarios.errors import BadInput, PartFailed
from scenarios.language.scenario import Scenario
from scenarios.reading import parse_json
from scenarios.runs.batch import Chunk
from scenarios.runs.finding import EXPECTATION
from scenarios.runs.findings import findings
from scenarios.runs.known_findings import explained_findings
from scenarios.runs.record import run_scenario
from scenarios.runs.run import Run
from scenarios.studies.chaos.leaning import packed, unpacked

_NUMBER: Any = instance_of(int)
_TEXT: Any = instance_of(str)
TOOL = "tool"
"""The checker's name in a finding that is not about the cluster: the program raised an exception."""
SPECIFICATION = "specification"
"""The checker's name where a run left docs/specification: no checker has found it."""


class ResultFinding(NamedTuple):
    """A finding as a line of the results has it. ``tickets``: of what the release does wrong by itself; none for what
    is new. ``about``: what it is about, with its facts (``scenarios.observe.findings.facts.about``)."""

    checker: str
    statement: str
    state: str
    tickets: tuple[str, ...] = ()
    about: dict[str, Any] = {}  # noqa: RUF012

    @property
    def kind(self) -> str:
        """The finding's kind: its checker, and the tickets that explain it."""
        return " ".join((self.checker, *sorted(set(self.tickets))))

    @property
    def in_short(self) -> str:
        """The finding in short; an expectation's own text first, since its name does not say which it is."""
        words = (self.statement, self.state) if self.checker == EXPECTATION else (self.state or self.statement,)
        return "; ".join(filter(None, words))


@frozen(kw_only=True)
class SeedResult:
    """The result of one seed.

    Attributes:
        found: findings of the run, the known ones too.
        virtual_us, events: the length of the run in virtual time, and the number of events of its trace.
        error: the traceback of an exception of the program.
        reach: the things that it reached (``leaning.packed``).
        weights: the shares by which its kinds were drawn, where they are not those of the blocks.
        path: the branches at which it went on otherwise (``scenarios.studies.chaos.paths``).
        rare: in a branching search the places that few runs have visited, each with the time of its first visit.
    """

    seed: int = field(validator=_NUMBER)
    found: tuple[ResultFinding, ...] = ()
    virtual_us: int = field(default=0, validator=_NUMBER)
    events: int = field(default=0, validator=_NUMBER)
    error: str = field(default="", validator=_TEXT)
    reach: str = field(default="", validator=_TEXT)
    weights: Weights = field(factory=dict, validator=instance_of(dict))
    path: tuple[tuple[int, int], ...] = ()
    rare: tuple[tuple[int, int], ...] = ()

    def to_line(self) -> str:
        """The result as a line of JSON, without its end."""
        table: dict[str, Any] = {"seed": self.seed, "virtual_us": self.virtual_us, "events": self.events}
        if self.found:
            table["found"] = self.found
        table |= {
            name: getattr(self, name) for name in ("error", "reach", "weights", "path", "rare") if getattr(self, name)
        }
        return json.dumps(table, separators=(",", ":"))

    @property
    def new(self) -> tuple[ResultFinding, ...]:
        """The findings that no known behaviour of the release explains."""
        return tuple(one for one in self.found if not one.tickets)

    def has_reached(self, name: str, names: Sequence[str]) -> bool:
        """Whether the seed has reached ``name``; ``names`` are those by which ``reach`` was packed."""
        return bool(name) and name in unpacked(self.reach, names)

    @classmethod
    def from_line(cls, line: str) -> SeedResult:
        """The result in a line. Raises: ValueError, KeyError or TypeError for a line that is not whole."""
        table = parse_json(line)
        table["found"] = tuple(
            ResultFinding(checker, statement, state, tuple(tickets), about)
            for checker, statement, state, tickets, about in table.get("found", ())
        )
        if not all(isinstance(text, str) for one in table["found"] for text in (*one[:3], *one.tickets)):
            raise TypeError("a finding is made of texts")
        int(table.get("reach") or "0", 16)
        for name in ("path", "rare"):
            table[name] = tuple((int(one), int(other)) for one, other in table.get(name, ()))
        return cls(**table)


@frozen(kw_only=True)
class Drawn:
    """The scenario and shares from which all seeds of a campaign are drawn.

    Attributes:
        weights: the shares by which kinds are drawn, where they are not those of the blocks.
        names: the things whose reaching is counted; empty: none is.
        against_specification: hold every run against docs/specification too.
    """

    scenario: Scenario
    weights: Weights = field(factory=dict)
    names: tuple[str, ...] = ()
    against_specification: bool = False

    def with_weights(self, weights: Weights) -> Drawn:
        """A copy with other shares."""
        return evolve(self, weights=weights)

    def concrete(self, seed: int) -> Scenario:
        """The scenario of a seed. Raises: BadInput."""
        return concrete(self.scenario, seed, self.weights)


@frozen
class SeedChunk(Chunk[Drawn, int]):
    """Seeds that one worker runs.

    Attributes:
        ends_s: the time from which on no seed begins, in seconds as ``time.time`` has them: that clock is the only one
            that processes on different machines share.
        until: the name of a thing to be reached: no seed begins after one that has reached it; "": all begin.
    """

    ends_s: float = math.inf
    until: str = ""


def work(chunk: SeedChunk) -> tuple[SeedResult, ...]:
    """Run the seeds of a chunk, in any process. A failure of the program at one does not concern the others. There are
    fewer results than seeds where the chunk's end comes first.

    Raises: BadInput where what the file states and what is drawn do not fit.
    """
    return tuple(_results(chunk))


def _results(chunk: SeedChunk) -> Iterator[SeedResult]:
    for seed in chunk.items:
        if time.time() >= chunk.ends_s:
            return
        result = _result(chunk.common, seed)
        yield result
        if result.has_reached(chunk.until, chunk.common.names):
            return


def _result(drawn: Drawn, seed: int) -> SeedResult:
    try:
        return run_seed(drawn, seed)
    except BadInput as error:
        raise error.in_file(f"{drawn.scenario.source or 'the file'}, seed {seed}") from None
    except Exception as error:  # a defect of the program is a result too: it has a seed
        return failed_result(error, seed)


def failed_result(error: Exception, seed: int) -> SeedResult:
    """The result of a seed at which the program has just raised ``error``."""
    part = error.part if isinstance(error, PartFailed) else "the program"
    what = error.what if isinstance(error, PartFailed) else f"{type(error).__name__}: {_first_line(error)}"
    found = ResultFinding(TOOL, f"{part} does not raise exceptions", f"{part} failed: {what}")
    return SeedResult(seed=seed, found=(found,), error=traceback.format_exc())


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")


def run_seed(drawn: Drawn, seed: int) -> SeedResult:
    run = run_scenario(
        evolve(drawn.concrete(seed), source=""), counts_reach=bool(drawn.names), figures=False,
        against_specification=drawn.against_specification,
    )  # fmt: skip
    return result_of(run, drawn, seed)


def result_of(run: Run, drawn: Drawn, seed: int) -> SeedResult:
    known = explained_findings(run).known
    found = tuple(
        ResultFinding(
            one.checker,
            one.statement,
            one.state,
            tuple(reason.ticket for reason, of_it in known if one in of_it),
            one.about,
        )
        for one in findings(run)
    )
    rejected = tuple(ResultFinding(SPECIFICATION, str(one.sentence), one.state) for one in run.rejections)
    return SeedResult(
        seed=seed,
        found=(*found, *rejected),
        virtual_us=round(run.virtual_s * 1e6),
        events=run.events,
        reach=packed(run.reach, drawn.names) if drawn.names else "",
        weights=drawn.weights,
    )
