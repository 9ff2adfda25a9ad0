"""E8: a broker without a session writes nothing to ZooKeeper."""

from __future__ import annotations

from typing import ClassVar

from emulator.trace.events import ZkSession, ZkWritten
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.history.history import History

CREATED, EXPIRED = "created", "expired"


class NoWriteAfterExpiry(Checker):
    """Once a broker's newest session has expired, no write of that broker takes effect until its next session.

    Verified: each write that ZooKeeper applies for a broker.

    Not verified: that the broker has registered before it writes under the new session (a leader's ISR write may come
        before the registration, which is an event in the controller's queue).
    """

    name: ClassVar[str] = "no_write_after_expiry"
    ids: ClassVar[tuple[str, ...]] = ("E8",)
    statement: ClassVar[str] = (
        "session_b expired ⇒ no write of b until its next session: a broker without a session writes nothing"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-7165",)

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._newest: dict[int, int] = {}
        self._expired: dict[int, int] = {}

    def on_session(self, event: ZkSession) -> None:
        if event.state == CREATED:
            self._newest[event.client] = event.session
            self._expired.pop(event.client, None)
        elif event.state == EXPIRED and self._newest.get(event.client) == event.session:
            self._expired[event.client] = event.t_us

    def on_written(self, event: ZkWritten) -> None:
        expired_us = self._expired.get(event.client)
        if expired_us is not None and event.client >= 0:
            self.violated(
                event,
                f"broker {event.client} writes {event.path} ({event.op}); its session expired at {expired_us} µs",
            )
