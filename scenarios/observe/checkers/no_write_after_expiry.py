"""E8: a broker without a session writes nothing to ZooKeeper."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.znodes import BROKER_IDS, CONTROLLER
from emulator.trace.events import ZkSession, ZkWritten
from emulator.trace.shown import ZnodeCreated
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.epoch_facts import Session, WrittenAfterExpiry, ZnodeOfWrongKind
from scenarios.observe.history.history import History

CREATED, EXPIRED = "created", "expired"
REGISTRATIONS = f"{BROKER_IDS}/"


class NoWriteAfterExpiry(Checker):
    """Once a broker's sessions have expired, no write of that broker takes effect until its next session. It can have
    two: it gave the first attempt to connect up, and ZooKeeper served both, in either order.

    Verified: each write that ZooKeeper applies for a broker. Of what it creates, its registration and /controller are
        ephemeral, and nothing else: a notification or a request waits for the controller also when its writer is gone
        (KafkaZkClient, 1.1 to 2.7; ZkUtils before).

    Not verified: that the broker has registered before it writes under the new session (a leader's ISR write may come
        before the registration, which is an event in the controller's queue).
    """

    name: ClassVar[str] = "no_write_after_expiry"
    ids: ClassVar[tuple[str, ...]] = ("E8",)
    statement: ClassVar[str] = (
        "session_b expired ⇒ no write of b until its next session: a broker without a session writes nothing"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-7165",)
    fails_when: ClassVar[str | None] = "ZooKeeper lets a client go on with a session that has expired"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._sessions: dict[int, dict[int, None]] = {}
        self._expired: dict[int, int] = {}

    def on_session(self, event: ZkSession) -> None:
        sessions = self._sessions.setdefault(event.client, {})
        if event.state == CREATED:
            sessions[event.session] = None
            self._expired.pop(event.client, None)
        elif sessions.pop(event.session, event) is None and not sessions and event.state == EXPIRED:
            self._expired[event.client] = event.t_us

    def on_written(self, event: ZkWritten) -> None:
        expired_us = self._expired.get(event.client)
        if expired_us is not None and event.client >= 0:
            self.violated(event, WrittenAfterExpiry(event.client, event.path, event.op, expired_us))

    def on_made(self, event: ZnodeCreated) -> None:
        meant = event.path == CONTROLLER or event.path.startswith(REGISTRATIONS)
        if event.ephemeral is not meant and event.client >= 0:
            self.violated(
                event, ZnodeOfWrongKind(event.client, event.path, event.ephemeral), part=Session.HAS_ITS_ZNODES
            )
