"""M8: a broker that shuts down waits for the controller."""

from __future__ import annotations

from attrs import define

from emulator.protocol.errors import Errors
from emulator.protocol.events import ControlledShutdownAnswered, Fault, NodeCrashed
from emulator.trace.events import ZkSession
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.control_facts import AsksOnceMore, LeavesEarly, SessionLeftOpen

SHUTDOWN = "broker.controlled_shutdown"
MOVED = (Errors.NONE.name, 0)
"""The answer to a broker that may leave."""
STOPS = ("broker.stop", "heal")
"""Other actions that end a process in order."""


@define(eq=False)
class Leaving:
    """A broker that shuts down.

    Attributes:
        since_us: when the shutdown began.
        answer: the last answer of a controller: error, and how many partitions are left to move.
    """

    since_us: int
    answer: tuple[str, int] | None = None


class LeavesInOrder(Checker):
    """A controlled shutdown ends when a controller has answered that no partition is left to move, or when all attempts
    are used up. A broker that ends by itself closes its ZooKeeper session (KafkaServer.shutdown, 0.8 to 3.9).

    Verified: when the process of a broker that was asked to shut down ends by itself: also that it has not asked again
        after that answer. Each session that expires though its process has ended by itself, 5 s after the last
        fault that could keep it from ZooKeeper.

    Not verified: brokers whose session has expired, or does so meanwhile; clusters without controlled.shutdown.enable.
    """

    ids = ("M8",)
    statement = (
        "leaves(b) ⇒ answer = (NONE, 0) or attempts are over: a broker that shuts down leaves when the controller has "
        "moved what it led, or does not get to it, and closes its session"
    )
    catches = ("KAFKA-1298",)
    fails_when = "a broker does not ask before it leaves"

    def begin(self) -> None:
        backoff_us = self.start.time_us("controlled.shutdown.retry.backoff.ms", 5_000)
        self._all_attempts_us = int(self.start.brokers.get("controlled.shutdown.max.retries", 3)) * backoff_us
        self._asks = bool(self.start.brokers.get("controlled.shutdown.enable", True))
        self._leaving: dict[int, Leaving] = {}
        self._in_session: dict[int, None] = {}
        self._asked: dict[int, None] = {}
        """Brokers whose process has been asked to shut down: once more changes nothing."""
        self._ended: dict[int, None] = {}
        """The open sessions whose processes have ended by themselves, and have reached ZooKeeper."""

    def on_fault(self, event: Fault) -> None:
        if event.action == SHUTDOWN and self._asks:
            for broker in event.brokers:
                if broker in self._in_session and broker not in self._asked:
                    self._leaving[broker] = Leaving(event.t_us)
                self._asked[broker] = None
        elif event.action in STOPS:
            self._leaving.clear()

    def on_answered(self, event: ControlledShutdownAnswered) -> None:
        leaving = self._leaving.get(event.node)
        if leaving is None:
            return
        if leaving.answer == MOVED:
            self.violated(event, AsksOnceMore(event.node), brokers=(event.node,))
        leaving.answer = event.error, event.remaining

    def on_session(self, event: ZkSession) -> None:
        if event.state == "created":
            self._in_session[event.client] = None
        else:
            self._in_session.pop(event.client, None)
        if event.state == "expired":
            self._leaving.pop(event.client, None)
            if event.session in self._ended:
                self.violated(event, SessionLeftOpen(event.client), brokers=(event.client,))
        self._ended.pop(event.session, None)

    def on_ended(self, event: NodeCrashed) -> None:
        leaving = self._leaving.pop(event.node, None)
        self._asked.pop(event.node, None)
        self._note_session(event)
        if leaving is None or event.kind != "stop":
            return
        lasted_us = event.t_us - leaving.since_us
        if leaving.answer != MOVED and lasted_us < self._all_attempts_us:
            self.violated(event, LeavesEarly(event.node, lasted_us, *(leaving.answer or (None, 0))))

    def _note_session(self, event: NodeCrashed) -> None:
        """Note that a process has ended by itself which was in a session that it could close."""
        cluster, broker = self.cluster, event.node
        session = cluster.newest_sessions.get(broker)
        is_open = session is not None and session.session in cluster.sessions.get(broker, {})
        calm = not self.now.troubled and event.t_us - self.now.calm_since_us > SETTLING_US
        reaches = calm and cluster.connected(broker, ZOOKEEPER) and not cluster.zookeeper_stopped
        if session is not None and is_open and event.kind == "stop" and reaches:
            self._ended[session.session] = None
