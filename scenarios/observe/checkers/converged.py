"""V: once all faults have ended, a cluster gets well within a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from emulator.metrics import short_name
from emulator.protocol.events import Fault, IsrProposed
from emulator.protocol.shown import FollowerReached
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import DELETE_TOPICS, REASSIGN_PARTITIONS, LeaderAndIsr
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.convergence_facts import (
    Broken,
    Condition,
    ControllerMissing,
    ControllerNotShown,
    DoesNotLead,
    FetcherDead,
    GaugeNotAtRest,
    GivenUp,
    IsrDiffers,
    LeaderGone,
    LogEndDiffers,
    MoveInTopic,
    NeverLed,
    NotCommitted,
    NotRead,
    ReplicaStays,
    RequestStays,
    Unregistered,
)
from scenarios.observe.findings.facts import Facts
from scenarios.observe.history.replica_logs import ReplicaLogHistory
from scenarios.observe.history.shown_values import AT_REST
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS, OFFLINE

HEAL = "heal"
UNCLEAN = "unclean.leader.election.enable"

LAGS = (Condition.SAME_LOGS, Condition.COMMITTED)
"""Conditions that come and go while clients produce."""

FRESH_US = 2_000_000
"""With a load that never ends, a replica counts as caught up if it holds what its leader held this long ago."""


class Mark(NamedTuple):
    """How far the leaders' logs reached at a time."""

    t_us: int
    ends: Mapping[TopicPartition, int]


class Converged(Checker):
    """After the last fault has ended the cluster gets well within the time that the scenario allows, in the sense of
    TigerBeetle's simulator: it does not only stay safe, it makes progress again.

    Verified: where a scenario expects ``converged``, at the end of that time and at the end of the run. Every
        condition that does not hold is one violation: one controller; all brokers of the core registered; no request
        waits below /admin; every partition has a leader that runs, an ISR that is its assignment, equal logs and high
        watermarks at their ends; no stray replica; no partition, copy or thread of a fetcher given up; gauges at rest;
        a new record with acks=all is accepted by every partition; consumers have read everything. With a core
        (``heal`` with ``brokers``) all of that holds for the replicas in it.

    Not verified: replicas that are left on a broker whose process ended or whose session expired, or that a controller
        left which was replaced before or after it wrote the new assignment, and perhaps before its last StopReplica
        (``LeftReplicas``); the metrics of such a broker, and what consumers read where it leads; metadata caches; a
        partition of which no in-sync replica lives, unless unclean elections are allowed, and moves of such partitions
        alone, which cannot end; a topic that is to be deleted, and of which a broker outside of the core has a replica.
    """

    ids = ("V1", "V2", "V4", "V5", "V6", "V7", "V8", "V9", "V10", "R5")
    statement = (
        "heal ⇒ ◇≤T (led ∧ Z.isr = assignment ∧ equal logs ∧ nothing asked): "
        "once all faults have ended, the cluster gets well within the time allowed"
    )
    catches = ("KAFKA-2729", "KAFKA-13091")
    fails_when = "a leader does not expand its ISR"

    def begin(self) -> None:
        self._shown = self.history.shown
        self._logs = self.history.commits.logs  # with their high watermarks
        self._core: tuple[int, ...] = ()
        self._left = self.history.left_replicas
        self._reached: dict[tuple[TopicPartition, int], None] = {}
        """The replicas that might have joined the ISR at a fetch, and for which their leader has not asked since."""
        self._marks: tuple[Mark, ...] = ()
        self._by_marks = False
        """Whether a replica was found to hold only what its leader held a while ago."""
        self._else_well_us: int | None = None
        """Time since which only conditions are broken that come and go under load."""
        self.unaccepted: Callable[[], Iterable[tuple[TopicPartition, Facts]]] = tuple
        """The writes that probe partitions and failed. ``ConvergenceJudge``, which makes them, sets this."""
        self.readers: Callable[[], Mapping[int, tuple[TopicPartition, ...]]] = dict
        """The consumers that read now, each with its partitions; set by who starts them."""

    def on_fault(self, event: Fault) -> None:
        if event.action == HEAL:
            self._core = event.brokers

    @property
    def core(self) -> tuple[int, ...]:
        """The brokers that have to get well: those of the last ``heal``; without one, all."""
        return self._core or tuple(self.cluster.lives)

    def on_reached(self, event: FollowerReached) -> None:
        self._reached[TopicPartition.of(event.topic, event.partition), event.replica] = None

    def on_proposed(self, event: IsrProposed) -> None:
        for broker in event.replicas:
            self._reached.pop((TopicPartition.of(event.topic, event.partition), broker), None)

    # -- what does not hold -------------------------------------------------------------------------------------------

    def well_since(self, now_us: int) -> int | None:
        """The time at which every condition held but for those of clients: now, or, where replicas hold only what their
        leaders held a while ago, then; None: they do not hold."""
        self.mark(now_us)
        self._by_marks, lag = False, False
        for broken in self.broken(now_us, probed=False):
            if broken.condition not in LAGS:
                self._else_well_us = None
                return None
            lag = True
        if self._else_well_us is None:
            self._else_well_us = now_us
        if lag:
            return None
        return max(self._marks[0].t_us, self._else_well_us) if self._by_marks else now_us

    @property
    def went_by_us(self) -> int | None:
        """When the log ends were seen by which the last look took something as caught up; None: it took nothing so."""
        return self._marks[0].t_us if self._by_marks else None

    def lacks_only_copies(self, now_us: int) -> bool:
        """Whether all is well but for copies between log directories that failed, which Kafka does not take up by
        itself."""
        copies = False
        for broken in self.broken(now_us):
            copies = isinstance(broken.facts, GivenUp) and broken.facts.copy
            if not copies:
                return False
        return copies

    def serves(self, now_us: int) -> bool:
        """Whether the conditions of clients hold."""
        return not any(self._clients(now_us))

    def broken(self, now_us: int, *, probed: bool = True) -> Iterator[Broken]:
        """The conditions that do not hold, those of the whole cluster first. What follows from another one that does
        not hold is left out. Who wants to know whether there is any looks no further than to the first."""
        well = True
        for broken in self._of_the_cluster():
            well = False
            yield broken
        for tp in self._partitions():
            for broken in self._of_partition(tp, now_us):
                well = False
                yield broken
        yield from self._strays()
        yield from self._fetchers()
        if well:
            yield from self._gauges()
            if probed:
                yield from self._clients(now_us)

    def _clients(self, now_us: int) -> Iterator[Broken]:
        yield from (Broken(Condition.ACCEPTED, facts, tp) for tp, facts in self.unaccepted())
        yield from self._consumers(now_us)

    def report(self, moment: Moment) -> None:
        """Each condition that does not hold is a violation: those that differ in kind first."""
        left = list(self.broken(moment.t_us))
        firsts = {broken.condition: broken for broken in reversed(left)}
        ordered = dict.fromkeys([broken for broken in left if firsts[broken.condition] is broken] + left)
        for broken in ordered:
            self.violated(moment, broken.facts, broken.partition, broken.brokers, broken.condition)

    def _of_the_cluster(self) -> Iterator[Broken]:
        cluster, core, gauges = self.cluster, self.core, self._shown.gauges
        for broker in core:
            if not cluster.is_up(broker):
                yield Broken(Condition.REGISTERED, Unregistered(broker, runs=False))
            elif not cluster.is_registered(broker):
                yield Broken(Condition.REGISTERED, Unregistered(broker, runs=True))
        shown = [node for node in cluster.running() if gauges.get(node, {}).get(ACTIVE_CONTROLLERS)]
        controller = cluster.controller
        if controller not in core or not cluster.is_up(controller):
            yield Broken(Condition.CONTROLLED, ControllerMissing(controller))
        elif [node for node in shown if node in core] != [controller]:
            yield Broken(Condition.CONTROLLED, ControllerNotShown(controller, tuple(shown)))
        for path in cluster.requests():
            if self._can_end(path):
                yield Broken(Condition.NOTHING_ASKED, RequestStays(path))

    def _can_end(self, path: str) -> bool:
        """Whether the core can do all that a request in ZooKeeper asks for: move a partition that can be led, delete a
        topic of which no other broker has a replica."""
        cluster = self.cluster
        if path == REASSIGN_PARTITIONS:
            moving = cluster.requested_moves()
            return not moving or any(map(self.can_be_led, moving))
        parent, _, topic = path.rpartition("/")
        return parent != DELETE_TOPICS or not self._is_left_undeleted(topic)

    def _is_left_undeleted(self, topic: str) -> bool:
        """Whether a topic is to be deleted, and a broker outside of the core has a replica of it."""
        cluster = self.cluster
        replicas = {broker for tp in cluster.partitions(topic) for broker in cluster.assignment(tp)}
        return cluster.is_deleting(topic) and not replicas <= set(self.core)

    def _partitions(self) -> Iterator[TopicPartition]:
        yield from self.cluster.all_partitions()

    def can_be_led(self, tp: TopicPartition) -> bool:
        """Whether a replica lives in the core that may lead: one that is in sync, or, where unclean elections are
        allowed, any. None may where the topic is to be deleted, and cannot be."""
        if self._is_left_undeleted(tp.topic):
            return False
        state = self.cluster.state(tp)
        if state is None or self._any_able(state.isr):
            return True
        unclean = self.history.settings.value(tp.topic, UNCLEAN, False) == "true"
        return unclean and self._any_able(self.cluster.assignment(tp))

    def _any_able(self, brokers: Iterable[int]) -> bool:
        core = self.core
        return any(broker in core and self.cluster.is_up(broker) for broker in brokers)

    def _of_partition(self, tp: TopicPartition, now_us: int) -> Iterator[Broken]:
        cluster, core = self.cluster, self.core
        state, assigned = cluster.state(tp), cluster.assignment(tp)
        wanted = [broker for broker in assigned if broker in core]
        if not wanted or not self.can_be_led(tp):
            return
        if state is None:
            yield Broken(Condition.LED, NeverLed(), tp)
            return
        log = self._logs.get(state.leader, tp)
        if not cluster.is_up(state.leader):
            yield Broken(Condition.LED, LeaderGone(state.leader, state.isr), tp)
            return
        if log is None or not (log.leads and log.leader_epoch == state.leader_epoch):
            yield Broken(Condition.LED, DoesNotLead(state.leader, state.leader_epoch), tp, (state.leader,))
            return
        missing = [broker for broker in wanted if broker not in state.isr]
        beyond = [broker for broker in state.isr if broker not in assigned or not cluster.is_up(broker)]
        if missing or beyond:
            lack_little = not beyond and all(self._lacks_what_is_new(tp, node, log, now_us) for node in missing)
            about = (*filter(cluster.is_up, missing), *beyond)
            yield Broken(Condition.IN_SYNC, IsrDiffers(state.isr, assigned, state.leader, lack_little), tp, about)
        elif cluster.is_reassigning(tp):
            yield Broken(Condition.NOTHING_ASKED, MoveInTopic(), tp)
        else:
            yield from self._replicas(tp, state, log, now_us)

    def _replicas(
        self, tp: TopicPartition, state: LeaderAndIsr, leader: ReplicaLogHistory, now_us: int
    ) -> Iterator[Broken]:
        for broker in state.isr:
            log = self._logs.get(broker, tp)
            if log is None or not log.known or not leader.known:
                continue
            if log.end_offset != leader.end_offset and not self._reaches(tp, log.end_offset, now_us):
                differs = LogEndDiffers(broker, log.end_offset, state.leader, leader.end_offset)
                yield Broken(Condition.SAME_LOGS, differs, tp, (broker,))
            elif (log.high_watermark or 0) < log.end_offset and not (
                self._is_held(tp, state, now_us) or self._reaches(tp, log.high_watermark or 0, now_us)
            ):
                lags = NotCommitted(broker, log.high_watermark, log.end_offset, state.leader, state.isr)
                yield Broken(Condition.COMMITTED, lags, tp, (broker,))

    def _is_held(self, tp: TopicPartition, state: LeaderAndIsr, now_us: int) -> bool:
        """Whether the leader commits nothing, because its ISR is below min.insync.replicas (KAFKA-15583, 3.7)."""
        settings = self.history.settings
        least = max(settings.min_isrs(tp.topic, len(self.cluster.assignment(tp)), now_us))
        return settings.start.holds_high_watermark and len(state.isr) < least

    def _strays(self) -> Iterator[Broken]:
        for node, tp in self._beyond_assignment():
            if node in self.core and not self._is_forgotten(node, tp):
                assigned = self.cluster.assignment(tp)
                yield Broken(Condition.NO_STRAYS, ReplicaStays(node, assigned), tp, (node,))

    def _beyond_assignment(self) -> Iterator[tuple[int, TopicPartition]]:
        """The brokers that run and have a replica that is not assigned to them, with its partition."""
        return ((node, tp) for node, tp in self._logs.beyond(self.cluster.topics) if self.cluster.is_up(node))

    def _is_forgotten(self, broker: int, tp: TopicPartition) -> bool:
        """Whether Kafka may never stop a replica that is not assigned to its broker."""
        return self.cluster.was_interrupted(broker) or self._left.may_stay(broker, tp)

    def _fetchers(self) -> Iterator[Broken]:
        for broker in self.core:
            for tp in self.cluster.failed.get(broker, ()):
                # Where none may lead, there is no leader to fetch from.
                if broker in self.cluster.assignment(tp) and self.can_be_led(tp):
                    yield Broken(Condition.FETCHED, GivenUp(broker, copy=False), tp, (broker,))
            for tp in self.cluster.copies_failed.get(broker, ()):
                yield Broken(Condition.FETCHED, GivenUp(broker, copy=True), tp, (broker,))
            for fetcher in self.cluster.dead_fetchers.get(broker, ()):
                yield Broken(Condition.FETCHED, FetcherDead(broker, fetcher))

    def _gauges(self) -> Iterator[Broken]:
        """Looked at where every partition is well, so that they have to be 0; with a core that is not all, not at all.
        Not of a broker that is left with a replica: where it led the partition it goes on, and fails to shrink the ISR
        for ever."""
        if len(self.core) < len(self.cluster.lives):
            return
        for broker in self.core:
            for name, value in self._shown.gauges.get(broker, {}).items():
                wanted = name in AT_REST and (name != OFFLINE or broker == self.cluster.controller)
                if wanted and value and not any(node == broker for node, _tp in self._forgotten()):
                    yield Broken(Condition.GAUGES, GaugeNotAtRest(broker, short_name(name), value), brokers=(broker,))

    def _forgotten(self) -> Iterator[tuple[int, TopicPartition]]:
        """The replicas with which brokers are left."""
        return (stray for stray in self._beyond_assignment() if self._is_forgotten(*stray))

    def _consumers(self, now_us: int) -> Iterator[Broken]:
        cluster, shown = self.cluster, self._shown
        for consumer, partitions in self.readers().items():
            positions = shown.positions.get(consumer, {})
            for tp in partitions if not cluster.was_interrupted(consumer) else ():
                state = cluster.state(tp)
                if state is None or (consumer, tp) in shown.given_up:
                    continue
                if not self.can_be_led(tp) or self._leads_astray(tp):
                    continue
                offset, log = positions.get(tp, -1), self._logs.get(state.leader, tp)
                end = 0 if log is None else log.high_watermark or 0
                if offset < end and not self._reaches(tp, offset, now_us):
                    yield Broken(Condition.READ, NotRead(consumer, offset, end), tp)

    def _leads_astray(self, tp: TopicPartition) -> bool:
        """Whether a broker that is left with a replica still leads the partition in its own view: who reads there
        learns of nothing before metadata.max.age.ms, 5 minutes, which clients here do not have."""
        logs = [self._logs.get(broker, left) for broker, left in self._forgotten() if left == tp]
        return any(log is not None and log.leads for log in logs)

    # -- under load ---------------------------------------------------------------------------------------------------

    def mark(self, now_us: int, every_us: int = FRESH_US) -> None:
        """Keep the leaders' ends of now and of a while ago."""
        if self._marks and now_us - self._marks[-1].t_us < every_us:
            return
        ends = {}
        for tp in self._partitions():
            state = self.cluster.state(tp)
            log = None if state is None else self._logs.get(state.leader, tp)
            ends[tp] = 0 if log is None else log.end_offset
        self._marks = (*self._marks[-1:], Mark(now_us, ends))

    def _lacks_what_is_new(self, tp: TopicPartition, broker: int, leader: ReplicaLogHistory, now_us: int) -> bool:
        """Whether ``broker`` follows and lacks nothing that its leader had a while ago, while that has more since. It
        may have all of it at this moment, and not at that of its next fetch; one that had it then might have joined."""
        log = self._logs.get(broker, tp)
        if log is None or log.leads or log.leader_epoch != leader.leader_epoch or not self._marks:
            return False
        if (tp, broker) in self._reached:
            return False
        then = self._marks[0]
        end = then.ends.get(tp, 0)
        return now_us - then.t_us >= FRESH_US and end <= log.end_offset and end < leader.end_offset

    def _reaches(self, tp: TopicPartition, offset: int, now_us: int) -> bool:
        """Whether ``offset`` is at least what the leader had a while ago."""
        if not self._marks or now_us - self._marks[0].t_us < FRESH_US:
            return False
        reaches = offset >= self._marks[0].ends.get(tp, offset)
        self._by_marks = self._by_marks or reaches
        return reaches
