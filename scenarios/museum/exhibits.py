"""Each bug and each guard with its minimal scenario, and the runs with and without the bug or the guard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from scenarios.language import Scenario
from scenarios.museum.densities import densities
from scenarios.museum.guards import GUARDS
from scenarios.museum.guards.guard import Guard
from scenarios.profiles.ticket import Ticket
from scenarios.profiles.tickets import BUGS

if TYPE_CHECKING:
    from scenarios.runs import Run

_CASES = files(__package__).joinpath("cases")


@frozen
class Exhibit:
    """A bug or a guard, and its case.

    Attributes:
        scenario: the smallest known scenario in which ``entry.checker`` finds the bug, or that the guard is missing. It
            switches the bug on; a guard is no switch.
    """

    entry: Ticket | Guard
    scenario: Scenario

    @property
    def name(self) -> str:
        """The bug's ticket or the guard's name."""
        return self.entry.key if isinstance(self.entry, Ticket) else self.entry.name

    @property
    def is_bug(self) -> bool:
        """Whether a scenario can switch it on."""
        return isinstance(self.entry, Ticket)

    @property
    def story(self) -> tuple[str, ...]:
        """The failure in Kafka, if there was one, and its form here."""
        return (self.entry.happened, self.entry.here) if isinstance(self.entry, Ticket) else (self.entry.here,)

    @property
    def kind_in_words(self) -> str:
        """The releases that had the bug; for a guard, that it is none."""
        return (
            self.entry.releases
            if isinstance(self.entry, Ticket)
            else "a guard that is taken out, no bug that Kafka had"
        )

    @property
    def otherwise(self) -> str:
        """The setting in which its case passes: without the bug, or with the guard."""
        return "without the bug" if isinstance(self.entry, Ticket) else "with the guard"

    def show(self) -> ExhibitRuns:
        """Run the case with the bug and without it, or without the guard and with it."""
        from scenarios.runs import run_scenario

        return ExhibitRuns(self, self.run_broken(), run_scenario(evolve(self.scenario, bugs=())))

    def run_broken(self) -> Run:
        """Run the case with the bug only, or without the guard only."""
        from scenarios.runs import run_scenario

        with nullcontext() if isinstance(self.entry, Ticket) else self.entry.missing():
            return run_scenario(self.scenario)


@frozen
class ExhibitRuns:
    """The two runs of an exhibit."""

    exhibit: Exhibit
    broken: Run
    fixed: Run

    @property
    def caught(self) -> bool:
        return any(violation.invariant == self.exhibit.entry.checker for violation in self.broken.violations)

    @property
    def clean(self) -> bool:
        """Whether the same scenario passes without the bug, or with the guard."""
        return self.fixed.passed

    @property
    def seen_by(self) -> tuple[str, ...]:
        """All checkers that find it, in the order in which they did."""
        return tuple(dict.fromkeys(violation.invariant for violation in self.broken.violations))

    @property
    def explanation(self) -> str:
        """The case's explanation, without the command that repeats it: that names a file which does not exist, and the
        program has every guard."""
        return self.broken.explanation.partition("\nreplay it:")[0]

    def to_json(self) -> dict[str, Any]:
        """``kind``: bug or guard; ``switch``: the policies that the bug puts back, by place, or the functions that the
        guard is made of; ``density``: see ``scenarios.museum.densities``, None where it was not measured."""
        name, entry = self.exhibit.name, self.exhibit.entry
        measured = densities().get(name)
        return {
            "bug": name,
            "kind": "bug" if isinstance(entry, Ticket) else "guard",
            "switch": list(entry.policies) if isinstance(entry, Ticket) else [one.place for one in entry.taken_out],
            "checker": entry.checker,
            "caught": self.caught,
            "clean": self.clean,
            "density": None if measured is None else measured.per_1000,
            "seen_by": list(self.seen_by),
        }


def _case(name: str) -> Path | Traversable:
    """The file of the case of a bug or a guard; a plug-in's bug names its own."""
    named = BUGS[name].case if name in BUGS else ""
    return Path(named) if named else _CASES.joinpath(f"{name}.toml")


def case_text(name: str) -> str:
    """The text of a case's file. Raises: OSError where there is none."""
    return _case(name).read_text(encoding="utf-8")


def names() -> tuple[str, ...]:
    """Tickets of bugs and names of guards, in the order of ``BUGS`` and ``GUARDS``, that have a case; a plug-in's
    bug need not have one."""
    return tuple(name for name in (*BUGS, *GUARDS) if _case(name).is_file())


def checkers() -> tuple[str, ...]:
    """The checkers that find any of them."""
    return tuple(dict.fromkeys((BUGS[name] if name in BUGS else GUARDS[name]).checker for name in names()))


def exhibit(name: str) -> Exhibit:
    """The exhibit of a bug, by its ticket, or of a guard, by its name. Raises: KeyError where there is none."""
    entry = BUGS[name] if name in BUGS else GUARDS[name]
    return Exhibit(entry, Scenario.loads(case_text(name), source=f"{name}.toml"))


def exhibits() -> Iterator[Exhibit]:
    return map(exhibit, names())
