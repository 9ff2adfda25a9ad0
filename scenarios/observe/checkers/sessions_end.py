"""E11: ZooKeeper ends the sessions that are silent, with what belongs to them, and no others."""

from __future__ import annotations

from emulator.protocol.events import Fault
from emulator.protocol.znodes import CONTROLLER, broker_path
from emulator.trace.events import ZkSession
from emulator.trace.shown_znodes import ExpiryInjected
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.epoch_facts import EndedEarly, LivesOn, OutlivesSession
from scenarios.observe.past.cluster_past import ZOOKEEPER_STARTS

EXPIRES = "zk.expire"

TICKS_US = 5_000_000
"""Two ticks of ZooKeeper, and a second: how long a silent session may live beside its timeout."""


class SessionsEnd(Checker):
    """A session that is not heard from for its timeout expires, and its ephemeral znodes go with it; one that is heard
    from stays (ZooKeeper 3.4; SessionTrackerImpl, ZooKeeperServer.killSession).

    Verified: once a second, that each broker in /brokers/ids and /controller has a session, and that a broker whose
        process has ended has none, once its timeout and two ticks are over. Each newest session of a machine that
        expires: its process did not run, stood still or did not reach ZooKeeper, or a fault has disturbed something
        within the timeout. Once ZooKeeper is back, each that it has not lost then has its whole timeout again
        (SessionTrackerImpl, 3.4).

    Not verified: sessions of machines that are paused or cut off, which may live on; that a client learns of it.
    """

    ids = ("E11",)
    statement = (
        "silent(s) > timeout ⇔ expired(s), and z ∈ ephemerals(s) ⇒ alive(s): "
        "ZooKeeper ends the sessions that are silent, with their znodes, and no others"
    )
    fails_when = "the ephemeral znodes of a session outlive it"

    def begin(self) -> None:
        self._timeout_us = self.start.session_timeout_us
        self._reported: dict[tuple[str, int], None] = {}
        self._back_us: int | None = None
        """When ZooKeeper was there again; None once a scenario ends sessions."""
        self._injected: dict[int, None] = {}

    def on_fault(self, event: Fault) -> None:
        if event.action == ZOOKEEPER_STARTS:
            self._back_us = event.t_us
        elif event.action == EXPIRES:
            self._back_us = None

    def on_injected(self, event: ExpiryInjected) -> None:
        self._injected[event.session] = None

    def on_session(self, event: ZkSession) -> None:
        broker, cluster = event.client, self.cluster
        newest, started_us = cluster.newest_sessions.get(broker), cluster.started_us(broker)
        if event.state != "expired" or started_us is None or newest is None or newest.session != event.session:
            return
        if event.session in self._injected:
            return
        if self._back_us is not None and 0 <= event.t_us - self._back_us < self._timeout_us:
            self.violated(event, EndedEarly(broker, event.session), None, (broker,))
            return
        since_us = max(started_us, self.now.calm_since_us)
        hears = not cluster.is_paused(broker) and cluster.connected(broker, ZOOKEEPER) and not self.now.troubled
        if hears and event.t_us - since_us > self._timeout_us + TICKS_US:
            self.violated(event, EndedEarly(broker, event.session), None, (broker,))

    def look(self, moment: Moment) -> None:
        cluster = self.cluster
        for broker in cluster.registrations:
            if not cluster.has_session(broker):
                self._report_once(moment, broker_path(broker), broker)
        written = cluster.znodes.get(CONTROLLER)
        by_hand = written is not None and written.client < 0  # no session of a broker has that znode
        if cluster.controller >= 0 and not by_hand and not cluster.has_session(cluster.controller):
            self._report_once(moment, CONTROLLER, cluster.controller)
        if not self.now.troubled and not cluster.zookeeper_stopped:
            self._find_silent(moment)

    def _report_once(self, moment: Moment, path: str, broker: int) -> None:
        if (path, broker) not in self._reported:
            self._reported[path, broker] = None
            self.violated(moment, OutlivesSession(path, broker), None, (broker,))

    def _find_silent(self, moment: Moment) -> None:
        """Find the sessions of processes that have ended for too long."""
        for broker, end in self.cluster.ends.items():
            silent_us = moment.t_us - max(end.t_us, self.now.calm_since_us)
            if silent_us > self._timeout_us + TICKS_US and self.cluster.is_down(broker):
                session = self.cluster.session(broker)
                if session is not None and ("", session.session) not in self._reported:
                    self._reported["", session.session] = None
                    self.violated(moment, LivesOn(broker, session.session, silent_us), None, (broker,))
