"""Each bug with its minimal scenario, and the run of it with and without the bug."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from scenarios.language import Scenario
from scenarios.museum.densities import densities
from scenarios.profiles.bug import Bug
from scenarios.profiles.bugs import BUGS

if TYPE_CHECKING:
    from scenarios.runs import Run

_CASES = files(__package__).joinpath("cases")


@frozen
class Exhibit:
    """A bug and its case.

    Attributes:
        scenario: the smallest scenario that was found in which ``bug.checker`` sees the bug. It switches the bug on.
    """

    bug: Bug
    scenario: Scenario

    def show(self) -> Shown:
        """Run the case with the bug and without it."""
        from scenarios.runs import run_scenario

        return Shown(self, self.run_broken(), run_scenario(evolve(self.scenario, bugs=())))

    def run_broken(self) -> Run:
        """Run the case with the bug only."""
        from scenarios.runs import run_scenario

        return run_scenario(self.scenario)


@frozen
class Shown:
    """The two runs of an exhibit."""

    exhibit: Exhibit
    broken: Run
    fixed: Run

    @property
    def caught(self) -> bool:
        """Whether the bug's checker sees it."""
        return any(violation.invariant == self.exhibit.bug.checker for violation in self.broken.violations)

    @property
    def clean(self) -> bool:
        """Whether the same scenario passes without the bug."""
        return self.fixed.passed

    @property
    def seen_by(self) -> tuple[str, ...]:
        """All checkers that see it, in the order in which they did."""
        return tuple(dict.fromkeys(violation.invariant for violation in self.broken.violations))

    def to_json(self) -> dict[str, Any]:
        """``switch``: the policies that it puts back, by place; ``density``: see ``scenarios.museum.densities``, None
        where it was not measured."""
        bug = self.exhibit.bug
        measured = densities().get(bug.ticket)
        return {
            "bug": bug.ticket,
            "switch": list(bug.policies),
            "checker": bug.checker,
            "caught": self.caught,
            "clean": self.clean,
            "density": None if measured is None else measured.per_1000,
            "seen_by": list(self.seen_by),
        }


def case_text(ticket: str) -> str:
    """The file of a bug's case. Raises: FileNotFoundError where it has none."""
    return _CASES.joinpath(f"{ticket}.toml").read_text(encoding="utf-8")


def exhibit(ticket: str) -> Exhibit:
    return Exhibit(BUGS[ticket], Scenario.loads(case_text(ticket), source=f"{ticket}.toml"))


def exhibits() -> Iterator[Exhibit]:
    """All of them, in the order of ``BUGS``."""
    return map(exhibit, BUGS)
