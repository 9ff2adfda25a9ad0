"""Tickets: where a release did what it did before their fix (``Deviated``)."""

from __future__ import annotations

from collections.abc import Iterator

from emulator.protocol.shown import Deviated
from scenarios.observe.reach.part import ReachPart, Release
from scenarios.profiles.tickets import TICKETS


class ReachedTickets(ReachPart):
    """The witnesses of tickets, each by its name."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        for ticket in TICKETS.values():
            if ticket.witness and ticket.done_by(release.policies):
                yield f"witness of {ticket.witness}"

    def on_deviated(self, event: Deviated) -> None:
        self.count(f"witness of {event.ticket}")
