"""A cluster that a test drives: real brokers, controllers and ZooKeeper, all checkers, and a failure that explains
itself.

State is read where Kafka's own tests read it: leaders, ISRs and assignments in ZooKeeper, metadata in a broker's cache,
records on a broker's disk, metrics under Kafka's names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar

import trio
from attrs import define, field

from emulator import logger
from emulator.gates import Visit
from emulator.kernel import World
from emulator.nodes import CrashKind, Process
from emulator.protocol.api import Request
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest
from emulator.protocol.events import Consumed, Fault
from emulator.protocol.types import NO_LEADER
from emulator.trace import Event, rows
from emulator.trace.columns import kind_of_rows
from scenarios.cluster.clients.batch_producer import BatchProducer
from scenarios.cluster.clients.consuming import Consumption
from scenarios.cluster.cluster import Cluster
from scenarios.cluster.from_scenario import cluster_setup, topic_setup
from scenarios.errors import BadInput
from scenarios.faults import Performer, TargetRoles
from scenarios.faults.actions.brokers import (
    BrokerControlledShutdown,
    BrokerCrash,
    BrokerPause,
    BrokerResume,
    BrokerStart,
    BrokerStop,
    ZkExpire,
)
from scenarios.faults.actions.links import LinkCut, LinkHeal
from scenarios.faults.arming import GateFilter
from scenarios.language import Action, At, MethodEntry, Scenario, Target, When
from scenarios.language.checks import check_operation
from scenarios.language.step_names import check_step, unreachable
from scenarios.language.targets import TARGET
from scenarios.observe.checkers import Checkers, Violation
from scenarios.observe.exposition import ShownMetrics
from scenarios.observe.exposition.shown import ShownMetric
from scenarios.observe.timeline.timeline import lines
from scenarios.profiles import PROFILES
from scenarios.runs.control_plane_log import ControlPlaneLog
from scenarios.runs.recounts import Looks, Recounts, start_settings
from scenarios.runs.waits import RETRY_US
from scenarios.testing.consumer_instance import ConsumerInstance
from scenarios.testing.gate import HeldGate
from scenarios.testing.operator_tools import OperatorTools
from scenarios.testing.producer_instance import Acks, ProduceHandle, ProducerInstance
from scenarios.testing.shown_failures import described, in_words, last_events
from scenarios.testing.state_reading import ClusterMetadata, ClusterState, Partition, ReplicaLog, value_of
from scenarios.testing.verdict import Verdict, warn_of
from scenarios.testing.virtual_time import NotInTime, current_world, duration_us, only, passes
from scenarios.wire.released_versions import error_names, versions_of_requests

E = TypeVar("E")
Assignment = Sequence[Sequence[int]]


@define(eq=False, repr=False)
class ClusterInstance(OperatorTools):
    """A running cluster, and everything that a test does with it.

    Partitions are named ``"orders-0"``, times are texts such as ``"30s"`` or ``"500ms"``, both of virtual time. An
    unknown partition, broker, metric or step raises ``BadInput`` with the nearest known name.

    Attributes:
        scenario: the cluster, its topics and settings; faults, plan and expectations in it are ignored.
        checkers: whether every invariant is checked, or the names of those that are.
    """

    scenario: Scenario
    checkers: bool | Collection[str] = True
    _world: World = field(factory=current_world)
    _cluster: Cluster = field(init=False)
    _state: ClusterState = field(init=False)
    _performer: Performer = field(init=False)
    _checkers: Checkers = field(init=False)
    _log: ControlPlaneLog = field(init=False)
    _shown: ShownMetrics = field(init=False)
    _events: list[Any] = field(init=False, factory=list)
    _consumers: list[ConsumerInstance] = field(init=False, factory=list)
    _producer: ProducerInstance | None = field(init=False, default=None)
    _running: AbstractAsyncContextManager[None] = field(init=False)

    def __attrs_post_init__(self) -> None:
        logger.silence()
        scenario = self.scenario
        self._cluster = cluster = Cluster(self._world, cluster_setup(scenario))
        trace = cluster.trace
        names = None if self.checkers is True else list(self.checkers or ())
        self._checkers = Checkers(trace, names, start=start_settings(scenario))
        self._log = ControlPlaneLog.of(trace)
        lacks, release = scenario.policies.brokers.lacks_metrics, PROFILES[scenario.profile].release
        self._shown = ShownMetrics(lacks, versions_of_requests(release), error_names(release))
        trace.sink(self._shown.see, as_rows=False)
        trace.sink(self._events.extend, as_rows=False)
        trace.fold(Consumed, self._consumed)
        self._state = ClusterState(cluster, dict.fromkeys(topic.name for topic in scenario.topics))
        roles = TargetRoles(cluster, scenario.assignments(), scenario.targets())
        self._performer = Performer(cluster, scenario, roles, topic_setup, _no_metric)

    def __repr__(self) -> str:
        return f"<cluster of {len(self._cluster.nodes)} brokers, {self.scenario.profile}>"

    async def __aenter__(self) -> ClusterInstance:
        """Start the brokers, and create the topics; it returns when no request is in progress."""
        self._running = self._cluster.running()
        await self._running.__aenter__()
        if self._cluster.refused:
            await self._running.__aexit__(None, None, None)
            raise BadInput(self._cluster.refused[0])
        Looks(self._world, self._checkers).begin()
        Recounts(self._world, self._checkers).begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Stop everything. Warns (``KnownFinding``) of findings that the release's known behaviour explains.

        Raises: AssertionError where an invariant was violated for any other reason.
        """
        __tracebackhide__ = True
        if isinstance(error, trio.Cancelled):  # a task of the cluster has failed, or the whole world ends
            return await self._running.__aexit__(kind, error, traceback)
        notes = self._described() if isinstance(error, Exception) and not isinstance(error, NotInTime) else []
        self._checkers.finish()
        verdict = self._verdict()
        try:
            # The test's own exception stays out of the cluster's nursery, which would put it into a group.
            await self._running.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            raise only(group) from None
        if error is None:
            assert not verdict.new, verdict.explanation(self._world.seed)
            warn_of(verdict.known, stacklevel=2)
        elif isinstance(error, Exception):
            notes += verdict.notes()
            if notes:
                error.add_note("\n".join(notes))
        return None

    # -- time ---------------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Virtual time in seconds since the cluster began to start."""
        return self._world.now / 1_000_000

    async def sleep(self, time: str) -> None:
        """Let that much time pass."""
        await self._world.sleep(duration_us(time), background=True)

    async def until(self, condition: Callable[[], object], within: str = "30s", what: str = "") -> None:
        """Wait until ``condition()`` is true. One that raises AssertionError is not true yet.

        Args:
            what: the awaited condition in words; by default the source of the lambda, or the function's name.

        Raises: NotInTime, an AssertionError that shows the cluster and its last events.
        """
        __tracebackhide__ = True
        failed: list[str] = []

        def holds() -> bool:
            try:
                return bool(condition())
            except AssertionError as error:
                failed[:] = [f"the last time: {str(error).strip() or 'AssertionError'}"]
                return False

        if not await passes(self._world, holds, duration_us(within)):
            raise self._late(f"not within {within}: {what or in_words(condition)}", failed)

    async def settled(self, within: str = "5m") -> None:
        """Wait until nothing more happens by itself: no request is under way, no move, no session that will expire.

        The checkers then check what has to hold in a settled cluster.

        Raises: NotInTime.
        """
        __tracebackhide__ = True
        deadline_us = self._world.now + duration_us(within)
        for pause_us in (0, RETRY_US):
            await self._world.sleep(pause_us, background=True)
            if not await passes(self._world, self._quiet_since_last_look(), max(0, deadline_us - self._world.now)):
                raise self._late(f"not settled within {within}", [])
        self._checkers.at_rest(self._world.now)

    def _quiet_since_last_look(self) -> Callable[[], bool]:
        quiet: list[bool] = []
        self._world.when_settled(lambda: quiet.append(True))

        def look() -> bool:
            if not quiet:
                return False
            quiet.clear()
            if self._cluster.sessions_stand:
                return True
            self._world.when_settled(lambda: quiet.append(True))
            return False

        return look

    # -- state --------------------------------------------------------------------------------------------------------

    def leader(self, partition: Partition) -> int:
        """The leader that ZooKeeper has; -1 for none."""
        state = self._state.leader_and_isr(self._state.tp(partition))
        return NO_LEADER if state is None else state.leader

    def isr(self, partition: Partition) -> list[int]:
        """The ISR that ZooKeeper has."""
        state = self._state.leader_and_isr(self._state.tp(partition))
        return [] if state is None else list(state.isr)

    def leader_epoch(self, partition: Partition) -> int:
        """The leader epoch that ZooKeeper has; -1 before the first election."""
        state = self._state.leader_and_isr(self._state.tp(partition))
        return -1 if state is None else state.leader_epoch

    def replicas(self, partition: Partition) -> list[int]:
        """The assignment that ZooKeeper has, the preferred leader first; empty where the partition is gone."""
        return self._state.replicas(self._state.tp(partition))

    def partitions(self) -> list[str]:
        """All partitions that ZooKeeper has."""
        return [str(tp) for tp in self._state.partitions()]

    def controller(self) -> int:
        """The broker in /controller; -1 for none."""
        return self._state.controller()

    def controller_epoch(self) -> int:
        """The number in /controller_epoch."""
        return self._state.controller_epoch()

    def broker_epoch(self, broker: int) -> int:
        """The broker epoch (KIP-380): the czxid of the broker's registration; -1 where it is not registered."""
        stat = self._cluster.zookeeper.tree.stat(f"/brokers/ids/{self._state.broker(broker)}")
        return -1 if stat is None else stat.czxid

    def znode(self, path: str) -> str | None:
        """The data of a znode; None where there is no such znode."""
        return self._state.znode(path)

    def children(self, path: str) -> tuple[str, ...]:
        """The names of a znode's children."""
        return self._state.children(path)

    def metadata(self, broker: int) -> ClusterMetadata:
        """The metadata that a client would get from this broker."""
        return self._state.metadata(broker)

    def log(self, broker: int, partition: Partition) -> ReplicaLog | None:
        """The log of a replica, even if its broker is down; None where the broker has none."""
        return self._state.log(broker, self._state.tp(partition))

    def up(self) -> list[int]:
        """The brokers whose process runs."""
        return [id for id, node in self._cluster.nodes.items() if node.running]

    def metric(self, broker: int, name: str) -> float:
        """The value of a metric by Kafka's name. For a gauge it is the value, for a meter the count, for a timer the
        number of measured durations."""
        return value_of(self._metrics_of(broker), broker, name)

    def metrics(self, broker: int) -> dict[str, float]:
        """All metrics of a broker by Kafka's names, with their values as ``metric`` gives them."""
        shown = self._metrics_of(broker)
        return {name: value_of(shown, broker, name) for name in sorted(shown)}

    def _metrics_of(self, broker: int) -> dict[str, ShownMetric]:
        process = self._cluster.nodes[self._state.running(broker)].process
        if process is not None:
            process.metrics.write_due()
        self._cluster.trace.flush()
        return dict(self._shown.metrics(broker, self._world.now))

    def events(self, kind: type[E], where: Callable[[E], bool] = lambda _: True) -> list[E]:
        """The events of one kind so far (``understudy.events``), in order."""
        self._cluster.trace.flush()
        found = rows(event for event in self._events if issubclass(kind_of_rows(type(event)), kind))
        return [event for event in found if where(event)]

    def timeline(self, partition: str | None = None) -> list[str]:
        """The timeline so far, in lines: of one partition, or of the whole cluster."""
        return list(lines(self._story(), partition))

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violated invariants so far, including those that the release's known behaviour explains."""
        return tuple(self._checkers.violations)

    @property
    def new_violations(self) -> tuple[Violation, ...]:
        """The violations that no known behaviour of the release explains. Any of these fails a test."""
        return self._verdict().new

    @property
    def digest(self) -> str:
        """The digest of all events so far: equal for the same test, seed and version."""
        return self._cluster.trace.digest()

    def write_trace(self, folder: str | Path, *, why: str = "", replay: str = "") -> None:
        """Write the run so far as a folder that ``understudy timeline``, ``state``, ``why``, ``metrics``, ``diff`` and
        ``report`` read (needs ``understudy[study]``). ``why``, ``replay``: the text of the test's failure, and
        the command that runs it again.

        Raises: BadInput where the folder cannot be written.
        """
        from scenarios.extras import need_study

        need_study("a recorded run")
        from scenarios.testing.kept_trace import write_trace_of_test  # with Arrow, which few tests need

        digest = self.digest
        write_trace_of_test(
            Path(folder), scenario=self.scenario, seed=self._world.seed, events=self._events, digest=digest,
            now_us=self._world.now, why=why.splitlines(), replay=replay,
        )  # fmt: skip

    # -- faults -------------------------------------------------------------------------------------------------------

    def crash(self, broker: int, kind: Literal["process", "host"] = "process") -> None:
        """Kill a broker. ``host``: its machine too, so that what was not flushed is lost."""
        crash: CrashKind = kind
        self.perform(BrokerCrash(kind=crash), broker)

    def start(self, broker: int) -> None:
        """Start a broker that is down. It takes some time to register; wait for the condition that the test needs."""
        self.perform(BrokerStart(), broker)

    async def stop(self, broker: int, within: str = "5m") -> None:
        """Shut a broker down (SIGTERM, controlled shutdown), and wait until it is down. Raises: NotInTime."""
        __tracebackhide__ = True
        self.perform(BrokerControlledShutdown(), broker)
        await self.until(lambda: broker not in self.up(), within, f"broker {broker} has shut down")

    def stop_uncontrolled(self, broker: int) -> None:
        """Stop a broker without a controlled shutdown: its logs are flushed, its session is closed."""
        self.perform(BrokerStop(), broker)

    def pause(self, broker: int) -> None:
        """Stop a broker's tasks, and not its session's timer, as a long GC does."""
        self.perform(BrokerPause(), broker)

    def resume(self, broker: int) -> None:
        """Resume a paused broker."""
        self.perform(BrokerResume(), broker)

    def expire(self, broker: int) -> None:
        """Expire a broker's ZooKeeper session."""
        self.perform(ZkExpire(), broker)

    def cut(self, broker: int, peer: int | Literal["zookeeper"] | None = None) -> None:
        """Stop all messages between a broker and ``peer``; None: and every other broker."""
        self.perform(LinkCut(peer=self._peer(peer)), broker)

    def heal(self, broker: int, peer: int | Literal["zookeeper"] | None = None) -> None:
        """Undo ``cut``."""
        self.perform(LinkHeal(peer=self._peer(peer)), broker)

    def _peer(self, peer: int | str | None) -> Target | str | None:
        return TARGET.read(self._state.broker(peer)) if isinstance(peer, int) else peer

    def truncate_fully(self, broker: int, partition: Partition, start_at: int) -> None:
        """Empty a replica's log, which then begins at an offset, as if retention had deleted every record."""
        replicas = self._cluster.brokers[self._state.running(broker)].begun_replicas
        replica = None if replicas is None else replicas.partitions.get(self._state.tp(partition))
        if replica is None:
            raise BadInput(f"broker {broker} has no replica of {partition}")
        replica.truncate_fully_and_start_at(start_at)

    def perform(self, action: Action, target: int | Sequence[int] | str | None = None) -> None:
        """Perform any action of a scenario file (``understudy.actions``), on brokers or on a role such as
        ``"leader(orders-0)"``.

        Raises: BadInput where it cannot be done.
        """
        for broker in [target] if isinstance(target, int) else []:
            self._state.broker(broker)
        found = None if target is None else TARGET.checked(target)
        entry = MethodEntry(action=action, trigger=At(self._world.now), target=found)
        check_operation(self.scenario, entry)
        self._performer.perform(entry)
        refused, self._performer.refused = self._performer.refused, []
        if refused:
            raise BadInput(str(refused[0]))

    def gate(
        self,
        step: str,
        edge: Literal["before", "after"] = "before",
        partition: str | None = None,
        *,
        broker: int | None = None,
        topic: str | None = None,
        occurrence: int = 1,
        do: Callable[[Visit], object] | None = None,
    ) -> HeldGate:
        """Hold a protocol step (``understudy list steps``)::

            with c.gate("kip-455.B3", partition="orders-0") as gate:
                await c.reassign({"orders-0": [1, 2, 3]})
                visit = await gate.reached()
                c.crash(visit.process.node.id)

        What reaches the step waits there until the block ends. A block in which nothing has reached it fails.

        Args:
            partition, broker, topic: only visits that are about these.
            occurrence: hold this one of them, and later ones.
            do: called when the step is reached, before anything else happens at that instant.

        Raises: BadInput for an unknown step, and for one that the strategy does not have.
        """
        check_step(step)
        when = When(
            steps=(step,), edge=edge, partition=None if partition is None else str(self._state.tp(partition)),
            broker=broker, topic=topic, occurrence=occurrence,
        )  # fmt: skip
        used = self.scenario.strategy
        if not when.gates(used.parsed.protocol):
            raise BadInput(unreachable(step, used, self.scenario.profile))
        filter = GateFilter.of(when, used.parsed.protocol)
        name = f"step {step}, {edge}" + (f", of {partition}" if partition else "")
        return HeldGate(name, self._world, self._cluster.gates, filter, do)

    @contextmanager
    def hold_controller(self, broker: int | None = None) -> Iterator[None]:
        """Keep the controller's event thread busy inside the block, as Kafka's tests do with a latch. Events queue up
        meanwhile. ``broker``: the controller's broker; None: the active controller's."""
        held = self.controller() if broker is None else broker
        release = self._cluster.controllers[self._state.running(held)].hold()
        try:
            yield
        finally:
            release()

    # -- requests -----------------------------------------------------------------------------------------------------

    async def send(self, broker: int, request: Request, within: str = "30s") -> Any:
        """A broker's response to any request (``understudy.protocol``). Where the connection is lost the request is
        sent again.

        Raises: KafkaError, REQUEST_TIMED_OUT.
        """
        __tracebackhide__ = True
        if isinstance(request, ControlledShutdownRequest):  # the broker loses its leaderships, as if it ended
            shutdown = BrokerControlledShutdown().name
            self._cluster.trace.anchor(Fault, shutdown, str(request.broker), "asked for by hand")
        admin = self._cluster.operator.admin
        return await admin.ask_broker(self._state.broker(broker), request, duration_us(within))

    async def produce(
        self,
        partition: Partition,
        records: int = 1,
        *,
        acks: Acks = "all",
        size: int = 1024,
        within: str = "2m",
        retries: bool = True,
        broker: int | None = None,
    ) -> range:
        """Send one batch as a producer does, and return the offsets of its records (none with acks=0).

        Args:
            size: the size of a record, in bytes.
            within: delivery.timeout.ms.
            retries: False: the first error is raised.
            broker: send it to this broker, also if it does not lead.

        Raises: KafkaError with the last error.
        """
        __tracebackhide__ = True
        return await self._own_producer().produce(
            partition, records, acks=acks, size=size, within=within, retries=retries, broker=broker
        )

    def begin(
        self, partition: Partition, records: int = 1, *, acks: Acks = "all", size: int = 1024, within: str = "2m"
    ) -> ProduceHandle:
        """Send one batch as ``produce`` does, without waiting for its answer::

        handle = c.begin("orders-0", 5)
        c.crash(c.leader("orders-0"))
        offsets = await handle.result()
        """
        return self._own_producer().begin(partition, records, acks=acks, size=size, within=within)

    def producer(self, *, idempotent: bool = False) -> ProducerInstance:
        """Start one more producer. ``idempotent``: it numbers its records, so that none is written twice (KIP-98)."""
        node, first_id = self._cluster.producer_machine()
        node.start(_idle)
        batches = BatchProducer(self._cluster.network, node, tuple(self._cluster.nodes), first_id)
        return ProducerInstance(idempotent, self._world, batches, self._state.tp, self._state.broker)

    def _own_producer(self) -> ProducerInstance:
        if self._producer is None:
            self._producer = self.producer()
        return self._producer

    def consumer(
        self, *partitions: Partition, offset_reset: Literal["earliest", "latest"] = "earliest"
    ) -> ConsumerInstance:
        """Start one more consumer, with these partitions assigned."""
        tps = tuple(map(self._state.tp, partitions))
        knows_epochs = self.scenario.policies.brokers.checks_epochs  # as a client of that release
        load = Consumption(tps, offset_reset, start_us=self._world.now, knows_epochs=knows_epochs)
        node = self._cluster.start_consumer(load)
        self._consumers.append(ConsumerInstance(self._world, node, self._state.tp))
        return self._consumers[-1]

    async def consume(self, partition: Partition, records: int, within: str = "30s") -> list[int]:
        """Read a partition from its beginning with a consumer of its own, and return the offsets.

        Raises: NotInTime.
        """
        __tracebackhide__ = True
        consumer = self.consumer(partition)
        await consumer.poll(records, within)
        consumer.close()
        return consumer.offsets(partition)

    # -- failures -----------------------------------------------------------------------------------------------------

    def _consumed(self, event: Consumed) -> None:
        for consumer in self._consumers:
            consumer.see(event)

    def _story(self) -> tuple[Event, ...]:
        self._cluster.trace.flush()
        return self._log.events()

    def _described(self) -> list[str]:
        return described(self._state, self._world.seed)

    def _late(self, what: str, more: Sequence[str]) -> NotInTime:
        events = last_events(self._story())
        return NotInTime("\n".join([what, *more, *self._described(), "the last events:", *events]))

    def _verdict(self) -> Verdict:
        violations = self._checkers.violations
        return Verdict.of(
            self.scenario.profile, violations, self._story() if violations else (), tuple(self._log.witnesses)
        )


def _no_metric(name: str) -> int:
    """Refuse a figure: a test has none."""
    raise KeyError(name)


async def _idle(_process: Process) -> None:
    """Do nothing: the test's producer acts only when the test calls it."""
