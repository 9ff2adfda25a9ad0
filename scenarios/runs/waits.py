"""Conditions that an entry of the method can wait for: a settled cluster, full ISRs, the end of all moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import BROKER_IDS, TOPICS
from scenarios.cluster.cluster import Cluster
from scenarios.faults.arming import Disarm, Fire
from scenarios.language.schema.spans import certain
from scenarios.language.triggers import ISR_FULL, MOVES_DONE, WhenMetric
from scenarios.observe.measures import Measures

LOOK_US = 100_000
"""How often a wait looks."""

RETRY_US = 2_000_000
"""Longer than brokers wait before they retry: to fetch, to register, to reach ZooKeeper."""


@define(eq=False)
class Alert:
    """Looks at a metric until it has been beyond its limit for long enough, as often as asked."""

    cluster: Cluster
    measures: Measures
    when: WhenMetric
    fire: Fire
    _since_us: int | None = None
    _counted: bool = False
    _seen: int = 0
    _over: bool = False

    def look(self, _: Any) -> None:
        if self._over:
            return
        world, when = self.cluster.world, self.when
        if not when.holds(self.measures.now(when.metric)):
            self._since_us, self._counted = None, False
        elif self._since_us is None:
            self._since_us = world.now
        if self._since_us is not None and not self._counted and world.now - self._since_us >= when.lasting_us:
            self._counted = True
            self._seen += 1
            if self._seen == certain(when.occurrence):
                self._over, self.cluster.trace.cause = True, 0
                self.fire(None)
                return
        world.call_later(LOOK_US, self.look, None, True)

    def end(self) -> None:
        self._over = True


@define(eq=False)
class Waits:
    """The waits of one run.

    Attributes:
        asking: whether the operator's tool is going to request more moves.
    """

    cluster: Cluster
    measures: Measures
    asking: Callable[[], bool]

    def begin(self, wait: str, done: Callable[[], object]) -> Disarm:
        """Call ``done`` once, as soon as ``wait`` holds, one of ``scenarios.language.triggers.WAITS``. Returns a
        function that ends the wait."""
        if wait == ISR_FULL:
            return self._look_until(self.isrs_are_full, done)
        if wait == MOVES_DONE:
            return self._look_until(self.moves_are_done, done)
        return self._look_until(Quiet(Settled(self.cluster)).holds, done)

    def _look_until(self, holds: Callable[[], bool], done: Callable[[], object]) -> Disarm:
        over = False

        def look(_: Any = None) -> None:
            if over:
                return
            if holds():
                done()
            else:
                self.cluster.world.call_later(LOOK_US, look, None, True)

        def end() -> None:
            nonlocal over
            over = True

        look()
        return end

    def arm(self, when: WhenMetric, fire: Fire) -> Disarm:
        """Call ``fire`` once, when a metric has crossed its limit as ``when`` says. Returns what disarms it."""
        alert = Alert(self.cluster, self.measures, when, fire)
        self.cluster.world.call_later(0, alert.look, None, True)
        return alert.end

    def moves_are_done(self) -> bool:
        """Whether no move is under way, none is going to be requested, and no command of the operator is."""
        return not (self.measures.any_open_moves or self.asking() or self.cluster.operator.under_way)

    def isrs_are_full(self) -> bool:
        """Whether each replica, but for those that a move is adding, is in the ISR that ZooKeeper has, and its broker
        registered; and no session is about to change."""
        cluster, past = self.cluster, self.measures.past
        tree = cluster.zookeeper.tree
        registered = dict.fromkeys(int(name) for name in tree.children(BROKER_IDS))
        partitions = (tp for topic in tree.children(TOPICS) for tp in past.now.partitions(topic))
        return cluster.sessions_stand and all(self._is_full(tp, registered) for tp in partitions)

    def _is_full(self, tp: TopicPartition, registered: dict[int, None]) -> bool:
        now, adding = self.measures.past.now, self.measures.adding(tp)
        isr, own = now.isr(tp), (broker for broker in now.assignment(tp) if broker not in adding)
        return all(broker in isr and broker in registered for broker in own)


@define(eq=False)
class Settled:
    """Whether the world was settled at some moment since the last look, with no session about to change.

    A load has messages in flight at many moments, perhaps at every look, so any moment between two looks counts.

    Attributes:
        noted: called at each such moment, at most one between two looks.
    """

    cluster: Cluster
    noted: Callable[[], object] = lambda: None
    _seen: bool = False
    _asked: bool = False

    def since_last_look(self) -> bool:
        """Look now."""
        seen, self._seen = self._seen, False
        if not self._asked:
            self._asked = True
            self.cluster.world.when_settled(self._note)
        return seen and self.cluster.sessions_stand

    def _note(self) -> None:
        self._seen, self._asked = True, False
        self.noted()


@define(eq=False)
class Quiet:
    """Whether the world was settled at a look, and is so again ``RETRY_US`` later."""

    settled: Settled
    _since_us: int | None = None

    def holds(self) -> bool:
        """Look now."""
        now, seen = self.settled.cluster.world.now, self.settled.since_last_look()
        if seen and self._since_us is None:
            self._since_us = now
        return seen and self._since_us is not None and now >= self._since_us + RETRY_US
