"""Guards of the core that are taken out one at a time (``mutations.toml``): does the oracle refuse each, and first in
the action of the specification that has the guard?

``python -m benchmarks.specification --mutations`` makes all of them and prints the list; ``--only NAME`` some.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from attrs import evolve, frozen

from benchmarks.planted.switch import Edit, Switch
from scenarios.language import Scenario
from scenarios.language.files import load
from scenarios.museum.exhibits import exhibit
from scenarios.runs import run_scenario

ROOT = Path(__file__).parents[2]
HEADS = ("Guard", "Changed in", "Run", "Refused first in", "Accepted with it")


@frozen(kw_only=True)
class Mutation:
    """A guard that is taken out.

    Attributes:
        name: what happens without it.
        file, old, new: the change.
        case, library: the run: a case of the museum, which is run without its bug, or a scenario of the library.
        profile: of the run, where it is not the file's.
        refused: the module and the action of the sentence that the run breaks first.
    """

    name: str
    file: str
    old: str
    new: str
    case: str = ""
    library: str = ""
    profile: str | None = None
    refused: str

    @property
    def scenario(self) -> Scenario:
        """The run."""
        return evolve(exhibit(self.case).scenario, bugs=()) if self.case else load(self.library)

    @contextmanager
    def made(self) -> Iterator[None]:
        """Run the emulator without the guard, in this process and inside the block. Raises: Stale where the core has
        another text."""
        switch = Switch(ROOT, {self.name: (Edit(self.file, self.old, self.new),)})
        switch.set([self.name])
        try:
            yield
        finally:
            switch.set([])


class Tried(NamedTuple):
    """A mutation under the oracle.

    Attributes:
        first: the action that is broken first without the guard; none where nothing is refused.
        sound: whether the same run is accepted with the guard.
    """

    mutation: Mutation
    first: str | None
    sound: bool


def mutations() -> list[Mutation]:
    """All of them."""
    text = files(__package__).joinpath("mutations.toml").read_text(encoding="utf-8")
    return [Mutation(**entry) for entry in tomllib.loads(text)["mutation"]]


def attempt(mutation: Mutation) -> Tried:
    """Run a mutation, and the same run without it."""
    with mutation.made():
        first = _first(mutation)
    return Tried(mutation, first, _first(mutation) is None)


def _first(mutation: Mutation) -> str | None:
    run = run_scenario(mutation.scenario, profile=mutation.profile, against_specification=True)
    sentences = [one.sentence for one in run.rejections[:1]]
    return f"{sentences[0].module}.{sentences[0].action}" if sentences else None


def rows(tried: Sequence[Tried]) -> list[tuple[str, ...]]:
    """The lines of the list."""
    return [
        (one.name, f"`{one.file}`", one.case or one.library, f"`{first}`" if first else "no", "yes" if sound else "no")
        for one, first, sound in tried
    ]


def problems_of(tried: Sequence[Tried]) -> list[str]:
    """Mutations that are not refused, or not at the right step, and runs that are refused without one."""
    wrong = [
        f"{one.name}: refused in {first or 'nothing'} instead of {one.refused}"
        for one, first, _ in tried
        if first != one.refused
    ]
    return [*wrong, *(f"{one.name}: the run is refused with the guard too" for one, _, sound in tried if not sound)]
