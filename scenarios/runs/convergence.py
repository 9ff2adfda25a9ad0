"""Whether the cluster of a run gets well once its last fault has ended, and how soon."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import define, field, frozen

from brokers.topic_creation import INTERNAL_TOPICS
from emulator.protocol.events import BatchesProduced, Fault
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS, decode_config, topic_entity
from scenarios.cluster.clients.workload import Workload
from scenarios.cluster.cluster import FIRST_CONSUMER, Cluster
from scenarios.language import Scenario
from scenarios.observe.checkers import Checkers
from scenarios.observe.checkers.checker import Moment
from scenarios.observe.checkers.converged import FRESH_US, Converged
from scenarios.observe.findings.convergence_facts import Broken, NotAccepted
from scenarios.observe.findings.facts import about
from scenarios.observe.history.settings_history import MIN_ISR

WITHIN_US = 120_000_000
"""The time that is allowed where an expectation states none."""

LOOKED_AT = 100
"""The most partitions of a cluster that is judged all the time, where nothing expects it; larger ones at the end."""
BETWEEN_MARKS_US = 20_000
"""The time for each partition between two looks at how far the logs of such a larger cluster are. Under a load that
never ends the last batch is on its way at the end, so it is judged by what leaders held a while ago."""

COPIES_US = 30_000_000
"""How long a cluster is waited for that is well but for failed copies. Only another leader epoch would take them up."""

SELDOM_US = 1_000_000
"""How often the conditions are looked at once they have held, so that it is known how far logs were a while ago."""

PROBE_LINGER_US = 10_000
PROBE_BYTES = 1024


@frozen
class Convergence:
    """The result of the judge: whether, and when, the cluster has converged.

    Attributes:
        since_us: when the last action of the method, or of a rollback, began or ended; 0: there was none.
        met_us: the first time after that at which every condition held; None: not known, or never.
        broken: the conditions that do not hold at the end; none: it has converged.
    """

    since_us: int
    met_us: int | None
    broken: tuple[Broken, ...] = ()

    @property
    def after_s(self) -> float | None:
        """How long it took; None where that is not known."""
        return None if self.met_us is None or self.broken else (self.met_us - self.since_us) / 1_000_000

    def to_json(self) -> dict[str, Any]:
        """The result as ``run --format json`` has it."""
        broken = [{"condition": one.condition.words, "found": one.found, **about(one)} for one in self.broken]
        return {"converged": not broken, "after_s": self.after_s, "broken": broken}


@define(eq=False)
class ConvergenceJudge:
    """Looks at the conditions of ``Converged`` while a run goes on; where they are expected, once the method is over.

    Where the scenario expects ``converged``, each partition is probed with a record once everything else is well, and
    what does not hold in time is reported as a violation, once.
    """

    cluster: Cluster
    scenario: Scenario
    checkers: Checkers
    method_is_over: Callable[[], bool]
    _checker: Converged = field(init=False)
    _within_us: int | None = field(init=False)
    _partitions: int = field(init=False)
    _since_us: int = 0
    _met_us: int | None = None
    _copies_us: int | None = None
    """Since when only failed copies are missing."""
    _found_us: int = 0
    """When ``_met_us`` was found, which may be later: it may go by earlier ends of logs."""
    _unaccepted: dict[TopicPartition, NotAccepted] | None = None
    """The partitions whose probe was not accepted, and why; None: nothing was probed yet."""
    _probes: dict[int, None] = field(factory=dict)
    _reported: bool = False
    _looked_us: int = 0
    """When the conditions were last verified since all of them held."""

    def __attrs_post_init__(self) -> None:
        checker = self.checkers.get(Converged)
        assert checker is not None
        self._checker = checker
        checker.unaccepted, checker.readers = self._probed, self._readers
        self._partitions = sum(len(topic.assignment) for topic in self.cluster.setup.topics)
        wanted = [expect.within_us or WITHIN_US for expect in self.scenario.expect if expect.converged]
        self._within_us = min(wanted, default=None)
        self.cluster.trace.fold(Fault, self._acted)
        if self.expected:
            self.cluster.trace.fold(BatchesProduced, self._produced)

    @property
    def expected(self) -> bool:
        return self._within_us is not None

    def look(self, now_us: int) -> None:
        """Look whether everything is well, unless it was since the last action."""
        if not self.expected and self._partitions > LOOKED_AT:
            self._checker.mark(now_us, max(FRESH_US, BETWEEN_MARKS_US * self._partitions))
        elif not self.expected or self.method_is_over():
            if self._met_us is not None:
                if now_us - self._looked_us >= SELDOM_US:
                    self._looked_us = now_us
                    self._checker.well_since(now_us)
            else:
                self._met_us, self._found_us = self._well_since(now_us), now_us
                if self._met_us is None and self.expected and not self._in_time(now_us):
                    self._report(now_us)

    def waiting(self, now_us: int) -> bool:
        """Whether it is expected, has not come and still can, and its time is not over."""
        if not self.expected or self._met_us is not None or not self._in_time(now_us):
            return False
        if not self.method_is_over() or not self._checker.lacks_only_copies(now_us):
            self._copies_us = None
            return True
        if self._copies_us is None:
            self._copies_us = now_us
        return now_us - self._copies_us < COPIES_US

    def is_early(self, now_us: int) -> bool:
        """Whether it holds only by how far logs were before it was found: under a load who has stopped reading seems to
        read on for a while."""
        if not self.expected or self._met_us is None or not self._in_time(now_us):
            return False
        if self._well_since(now_us) is None:
            return False
        went_by_us = self._checker.went_by_us
        return went_by_us is not None and went_by_us < self._found_us

    def is_well(self, now_us: int) -> bool:
        """Whether it is expected, and all conditions hold."""
        return self.expected and self._well_since(now_us) is not None

    def excuses(self, moves: Iterable[TopicPartition]) -> bool:
        """Whether none of these moves can end: it is expected, and no replica may lead any of the partitions."""
        return self.expected and not any(map(self._checker.can_be_led, moves))

    def lapsed(self, now_us: int) -> bool:
        """Whether it had come and does not hold any more, while there is time: under a load it may have seemed well
        because nothing was written for a while. It is waited for again then."""
        if not self.expected or self._met_us is None or not self._in_time(now_us):
            return False
        if self._well_since(now_us) is not None:
            return False
        self._met_us = None
        return True

    def finish(self, now_us: int) -> Convergence:
        """The run is over: what is found at its end. A violation is reported where that was expected otherwise."""
        broken = () if self._well_since(now_us) is not None else tuple(self._checker.broken(now_us))
        if self.expected and (broken or self._met_us is None):
            self._report(now_us)
        return Convergence(self._since_us, self._met_us, broken)

    def _acted(self, event: Fault) -> None:
        self._since_us, self._met_us = event.t_us, None
        self._unaccepted = None
        self._probes.clear()

    def _in_time(self, now_us: int) -> bool:
        return self._within_us is not None and now_us <= self._since_us + self._within_us

    def _report(self, now_us: int) -> None:
        if not self._reported:
            self._reported = True
            trace = self.cluster.trace
            self._checker.report(Moment(now_us, trace.seq, trace.cause))

    def _well_since(self, now_us: int) -> int | None:
        """The time at which every condition held; None: they do not."""
        since_us = self._checker.well_since(now_us)
        if since_us is None:
            return None
        if self.expected and self._unaccepted is None:
            self._probe()
        return max(since_us, self._since_us) if self._checker.serves(now_us) else None

    # -- clients --------------------------------------------------------------------------------------------------

    def _readers(self) -> dict[int, tuple[TopicPartition, ...]]:
        now_us = self.cluster.world.now
        return {
            FIRST_CONSUMER - number: load.partitions
            for number, load in enumerate(self.cluster.setup.consumers)
            if load.start_us <= now_us and (load.stop_us is None or now_us < load.stop_us)
        }

    def _probe(self) -> None:
        """Write one record to each partition with acks=all, where enough replicas can be in sync for it."""
        self._unaccepted, now_us = {}, self.cluster.world.now
        cluster = self.checkers.history.cluster
        for topic in cluster.topics:
            if topic in INTERNAL_TOPICS:  # only coordinators write to them
                continue
            partitions = tuple(tp for tp in cluster.partitions(topic) if self._can_accept(tp))
            self._unaccepted |= dict.fromkeys(partitions, NotAccepted("", ""))
            if partitions:
                rate = len(partitions) * 1_000_000 // PROBE_LINGER_US
                knows_epochs, start_us = self.scenario.policies.brokers.checks_epochs, now_us + PROBE_LINGER_US
                load = Workload(
                    partitions, rate, self._probe_size(), linger_us=PROBE_LINGER_US, start_us=start_us,
                    stop_us=start_us + 1, knows_epochs=knows_epochs, name="probe",
                )  # fmt: skip
                self._probes[self.cluster.start_producer(load).id] = None

    def _probe_size(self) -> int:
        """The bytes of a probe's record. Before KIP-74 (0.10.1) followers get none that is larger than their limit."""
        if self.scenario.policies.brokers.sends_first_batch:
            return PROBE_BYTES
        return min(PROBE_BYTES, int(self.scenario.settings()["replica.fetch.max.bytes"]))

    def _can_accept(self, tp: TopicPartition) -> bool:
        assigned, core = self.checkers.history.cluster.assignment(tp), self._checker.core
        least = self.scenario.policies.brokers.effective_min_isr(self._min_isr(tp.topic), len(assigned))
        enough = least <= sum(broker in core for broker in assigned)
        return enough and self._checker.can_be_led(tp)

    def _min_isr(self, topic: str) -> int:
        """The value in ZooKeeper: of the topic, or else of all brokers."""
        for entity in (topic_entity(topic), ALL_BROKERS):
            data = self.cluster.zookeeper.tree.get(f"/config/{entity}")
            found = None if data is None else decode_config(data).get(MIN_ISR)
            if found is not None:
                return int(found)
        return int(self.scenario.settings()[MIN_ISR])

    def _produced(self, event: BatchesProduced) -> None:
        if event.node in self._probes and self._unaccepted is not None:
            for partition in event.partitions:
                tp = TopicPartition.of(event.topic, partition)
                if event.outcome in ("acked", "duplicate"):
                    self._unaccepted.pop(tp, None)
                else:
                    self._unaccepted[tp] = NotAccepted(event.outcome, event.error)

    def _probed(self) -> Iterator[tuple[TopicPartition, NotAccepted]]:
        """The failed probes, where enough replicas can still be in sync: an earlier move may end later."""
        if self._unaccepted:
            for tp, why in self._unaccepted.items():
                if self._can_accept(tp):
                    yield tp, why
