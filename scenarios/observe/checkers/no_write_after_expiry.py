"""E8: a broker without a session writes nothing to ZooKeeper."""

from __future__ import annotations

from emulator.protocol.znodes import BROKER_IDS, CONTROLLER
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import ZnodeCreated
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.epoch_facts import Session, WrittenAfterExpiry, ZnodeOfWrongKind

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

    ids = ("E8",)
    statement = "session_b expired ⇒ no write of b until its next session: a broker without a session writes nothing"
    catches = ("KAFKA-7165",)
    fails_when = "ZooKeeper lets a client go on with a session that has expired"

    def on_written(self, event: ZkWritten) -> None:
        expiry = self.cluster.expiry(event.client)
        if expiry is not None and event.client >= 0:
            self.violated(event, WrittenAfterExpiry(event.client, event.path, event.op, expiry.t_us))

    def on_made(self, event: ZnodeCreated) -> None:
        meant = event.path == CONTROLLER or event.path.startswith(REGISTRATIONS)
        if event.ephemeral is not meant and event.client >= 0:
            self.violated(
                event, ZnodeOfWrongKind(event.client, event.path, event.ephemeral), part=Session.HAS_ITS_ZNODES
            )
