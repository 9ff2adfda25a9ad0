"""M8: a broker that shuts down waits for the controller."""

from __future__ import annotations

from attrs import define

from emulator.protocol.errors import Errors
from emulator.protocol.events import ControlledShutdownAnswered, Fault, NodeCrashed
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkSession
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.control_facts import AsksOnceMore, LeavesEarly, LeftToMove, SessionLeftOpen
from scenarios.observe.past.changes import StateWritten

SHUTDOWN = "broker.controlled_shutdown"
MOVED = (Errors.NONE.name, 0)
"""The answer to a broker that may leave."""
MOVED_WITHIN_US = 2_000_000
"""How long before its answer a controller may have looked at what a broker leads."""
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
        after that answer. Each answer that something is left to move: nothing of what the broker leads, that 2 s ago
        had another member of its ISR that works, and has not changed since (selectControlledShutdownLeader). Each
        session that expires though its process has ended by itself, 5 s after the last fault that could keep it from
        ZooKeeper.

    Not verified: brokers whose session has expired, or does so meanwhile; clusters without controlled.shutdown.enable.
    """

    ids = ("M8",)
    statement = (
        "leaves(b) ⇒ answer = (NONE, 0) or attempts are over: a broker that shuts down leaves when the controller has "
        "moved what it led and another one can lead, or does not get to it, and closes its session"
    )
    catches = ("KAFKA-1298",)
    fails_when = "a broker does not ask before it leaves"

    def begin(self) -> None:
        self._written_us: dict[TopicPartition, int] = {}
        """When the state of a partition was written last."""
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
        if event.error == MOVED[0] and event.remaining and not self.now.troubled:
            self._look_at_rest_of(event)

    def on_state(self, event: StateWritten) -> None:
        self._written_us[event.tp] = event.t_us

    def _look_at_rest_of(self, event: ControlledShutdownAnswered) -> None:
        """Report the partitions that the broker still leads, and another one could."""
        cluster, broker, before_us = self.cluster, event.node, event.t_us - MOVED_WITHIN_US
        if (self.now.controlled_since_us() or event.t_us) > before_us:
            return
        for tp, state in cluster.states.items():
            if state.leader != broker or cluster.is_deleting(tp.topic) or self._written_us.get(tp, 0) > before_us:
                continue
            able = tuple(one for one in state.isr if one != broker and self._may_lead(one, before_us))
            if able and len(cluster.assignment(tp)) > 1:
                self.violated(event, LeftToMove(broker, able), tp, (broker,))

    def _may_lead(self, broker: int, before_us: int) -> bool:
        since_us, cluster = self.now.reached_since_us(broker), self.cluster
        lacks = broker in self.now.impaired or cluster.lacks_dirs(broker) or cluster.is_shutting_down(broker)
        return since_us is not None and since_us <= before_us and broker not in self._asked and not lacks

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
