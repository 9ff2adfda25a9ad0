"""The findings of checkers in the cluster of a test. New ones fail the test; those that its release's known behaviour
explains are shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import evolve, frozen

from emulator.protocol.shown import Deviated
from scenarios.observe.checkers import Violation
from scenarios.observe.timeline.explain import explain
from scenarios.runs.finding import Finding
from scenarios.runs.known.reason import Reason
from scenarios.runs.known_findings import Explained, explained_violations, shown


class KnownFinding(UserWarning):
    """A finding that the release's known behaviour explains. It has a ticket, and fails no test, even where warnings
    are made errors (``-W error``)."""

    @classmethod
    def of(cls, profile: str, known: Iterable[tuple[Reason, Iterable[Finding]]]) -> tuple[KnownFinding, ...]:
        """One for each reason, with the checkers whose findings it explains."""
        return tuple(cls(f"known under {profile}: {shown(reason, of_it)}") for reason, of_it in known)


def warn_of(known: Iterable[KnownFinding], stacklevel: int = 1) -> None:
    """Warn of each, at the caller's line or, by ``stacklevel``, that of its caller."""
    for one in known:
        try:
            warnings.warn(one, stacklevel=stacklevel + 1)
        except KnownFinding:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.warn(one, stacklevel=stacklevel + 1)


@frozen
class Verdict:
    """The violations of a cluster so far.

    Attributes:
        profile: the profile of the cluster.
        violations: the violations in the order in which they were found.
        control_plane: the events of the control plane, as a run keeps them.
        witnesses: where the release did what a ticket is about.
    """

    profile: str
    violations: tuple[Violation, ...]
    control_plane: tuple[Any, ...]
    witnesses: tuple[Deviated, ...]
    _explained: Explained

    @classmethod
    def of(
        cls,
        profile: str,
        violations: Sequence[Violation],
        control_plane: tuple[Any, ...],
        witnesses: tuple[Deviated, ...],
    ) -> Verdict:
        """The verdict on what the checkers have found, which is explained once."""
        nothing = Explained((), ())
        bare = cls(profile, tuple(violations), control_plane, witnesses, nothing)
        return evolve(bare, explained=explained_violations(bare)) if violations else bare

    @property
    def new(self) -> tuple[Violation, ...]:
        """The violations that the release's known behaviour does not explain."""
        return tuple(one for one in self.violations if Finding.of(one) in self._explained.new)

    @property
    def known(self) -> tuple[KnownFinding, ...]:
        """The findings that the release's known behaviour explains."""
        return KnownFinding.of(self.profile, self._explained.known)

    def notes(self) -> list[str]:
        """Lines for a test that has failed for another reason."""
        return [*(f"violated before: {one}" for one in self.new), *map(str, self.known)]

    def explanation(self, seed: int) -> str:
        """The events that led to the first new violation."""
        first, *others = self.new
        text = explain(first, self.control_plane, first.seq, seed=seed)
        return "\n".join([text, *([f"and {len(others)} more violations"] if others else []), *map(str, self.known)])
