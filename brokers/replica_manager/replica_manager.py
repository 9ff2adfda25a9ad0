"""ReplicaManager: the partitions of one broker, and the control requests that change their roles."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from attrs import define, field

from brokers.broker_policies import BrokerPolicies
from brokers.log.log import Log
from brokers.log.log_config import LogConfig
from brokers.log.log_manager import LogManager
from brokers.metadata_cache import MetadataCache
from brokers.metrics import ReplicaManagerMetrics
from brokers.partition.isr import AlterIsrManager, ByZooKeeper, IsrLocks
from brokers.partition.partition import Partition
from brokers.partition.recorder import Recorder
from brokers.partition.services import PartitionServices
from brokers.purgatory import ProduceWatchers, Purgatory
from brokers.replica_manager.alter_isr import IsrChangePropagation, ZkIsrManager
from brokers.replica_manager.log_dir_failures import LogDirFailureHandler
from brokers.replica_manager.log_dir_moves import FutureReplicas
from emulator.logger import get_logger
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.events import ReplicaOffline, ReplicaStopped
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.shown import ProducersLeft
from emulator.protocol.stop_replica import NO_EPOCH, StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS
from emulator.zookeeper import ZkClient
from fetchers.failures import StorageError
from fetchers.manager import ReplicaFetcherManager
from fetchers.ports import InitialFetchState
from fetchers.quota import Throttle

if TYPE_CHECKING:
    from brokers.replica_manager.record_deletion import RecordDeletion

Outcome = tuple[TopicPartition, Errors]


class Coordinator(Protocol):
    """A broker's role for clients that comes with the partitions of an internal topic that it leads."""

    def elected(self, partition: int, leader_epoch: int) -> None:
        """The broker leads ``partition`` now, and did not before."""

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        """The broker follows now, or (None) has no replica any more."""

    @property
    def keeps_anything(self) -> bool:
        """Whether it has to learn of deleted partitions."""
        ...

    def partitions_deleted(self, partitions: Sequence[TopicPartition]) -> None:
        """The topics of these partitions are deleted."""


@define(eq=False)
class InjectedFailures:
    """Changes of role that a scenario makes fail on this broker: the number of failures to come, for each partition.
    They end with the broker's process.

    Attributes:
        start: becoming a follower fails: no log is opened, no fetcher started, no epoch remembered.
        lead: becoming the leader fails: the broker's role does not change, though ZooKeeper names it as leader.
    """

    start: dict[TopicPartition, int] = field(factory=dict)
    lead: dict[TopicPartition, int] = field(factory=dict)

    def strike(self, tp: TopicPartition, *, leads: bool) -> bool:
        """Whether this change of role fails; if it does, it is counted."""
        due = self.lead if leads else self.start
        if not due.get(tp):
            return False
        due[tp] -= 1
        return True


@define(eq=False)
class IsrCheck:
    """One run of isr-expiration. Partitions come one after the other: each needs its lock, and holds it while its ISR
    is written (ReplicaManager.maybeShrinkIsr, 0.8.0 to 2.6.3).

    Attributes:
        left: the partitions that are still to be checked.
        shrinks: whether members may leave ISRs; not after the check has failed at a partition.
        waits_for: the partition whose lock it waits for.
        missed: whether the next run was due meanwhile: it then comes at once (ScheduledThreadPoolExecutor).
    """

    left: deque[Partition]
    shrinks: bool = True
    waits_for: TopicPartition | None = None
    missed: bool = False


class ReplicaManager:
    """The replicas of one broker (kafka.server.ReplicaManager).

    Attributes:
        alter_isr: writes the changes of ISRs to ZooKeeper.
        deletion: deletes records on request; None before the first request. From then on followers are asked to say
            where their logs begin (``FetchResponse``).
        coordinators: the coordinators by internal topic (onLeadershipChange of KafkaApis.handleLeaderAndIsrRequest).
        coordinated_partitions: how many partitions the internal topics had that were there when this broker started.
        isr_locks: the partitions whose ISR is being written, up to 2.6.
        isr_checks: the partitions led here whose ISR may have to change: only these are checked by isr-expiration.
        logs: the log directories.
        metadata: the controller's metadata of all partitions and brokers.
        metrics: the gauges and meters of its partitions and their topics.
        moves: the replicas that move from one log directory to another.
        offline: the replicas whose log directory has failed: they stay offline until the process restarts.
        policies: the rules of the release, with the settings of the moment.
        injected: the failures that a scenario has injected.
        purgatory: the fetch requests that the current transition has woken.
        shutting_down: whether the process was asked to end. From then on a partition that becomes a follower is not
            fetched (ReplicaManager.makeFollowers, 0.8.1 to 2.7; Partition.makeFollower, 0.8.0), so that a leadership
            which the controller has moved away does not bring its replica back into the ISR.
        throttle: the quotas for the bytes that it sends as a leader.
    """

    def __init__(
        self,
        process: Process,
        zk: ZkClient,
        fetchers: ReplicaFetcherManager,
        policies: BrokerPolicies,
        throttle: Throttle | None = None,
        copies: Throttle | None = None,
        metadata: MetadataCache | None = None,
        alter_isr: AlterIsrManager | None = None,
    ) -> None:
        """``alter_isr``: writes the changes of ISRs; None: leaders write to ZooKeeper themselves."""
        self.process = process
        self.zk = zk
        self.fetchers = fetchers
        self.policies = policies
        self._initial = policies.config
        self._log = get_logger("brokers.replica_manager").bind(broker=process.node.id)
        self.partitions: dict[TopicPartition, Partition] = {}
        self.offline: dict[TopicPartition, None] = {}
        self._left_waiting: dict[TopicPartition, ProduceWatchers] = {}
        """The produce requests that wait at partitions which this broker does not have any more."""
        self.metadata = metadata or MetadataCache()
        self._live = self.metadata.live_brokers
        if policies.isr_needs_live:
            self.metadata.watchers.append(self._find_newly_live)
        self.purgatory = Purgatory(process.node.trace)
        self.logs = LogManager(
            process,
            policies.config.log_manager,
            self._log_config,
            self._expire,
            policies.log_rules,
            self._high_watermark_of,
        )
        self.moves = FutureReplicas(
            process, self.logs, self.partitions, self.offline, fetchers.policies, copies, policies.copies_follow_epochs
        )
        self.deletion: RecordDeletion | None = None
        LogDirFailureHandler(self).watch()
        self.metrics = ReplicaManagerMetrics(process, self)
        self.isr_locks = IsrLocks()
        self.isr_locks.released.append(self._go_on_checking)
        self._check: IsrCheck | None = None
        self.alter_isr = alter_isr or self._zk_isr_manager(policies)
        self._services = PartitionServices(
            process, policies, self.metrics, self.alter_isr, self.purgatory, Recorder(process, self.metrics.topics),
            self.metadata, self.moves.truncated,
        )  # fmt: skip
        self.isr_checks = self._services.isr_checks
        self.injected = InjectedFailures()
        self.coordinators: dict[str, Coordinator] = {}
        self.coordinated_partitions: dict[str, int] = {}
        self.throttle = throttle or Throttle()
        self.shutting_down = False
        self._checkpointing = False
        self._opened: dict[str, int] = {}
        """The time when a log of each topic was opened, where that matters (``misses_settings_us``)."""
        self._changes = 0
        """The number of changes of the settings of all brokers."""

    def _zk_isr_manager(self, policies: BrokerPolicies) -> ZkIsrManager:
        writes = policies.isr_writes
        written = writes if isinstance(writes, ByZooKeeper) else ByZooKeeper(compares=False)
        propagation = IsrChangePropagation(self.process, self.zk, policies.config, announces=policies.announces_isrs)
        return ZkIsrManager(self.zk, written.compares, propagation, written.conditional, self.isr_locks)

    def configured(self, entity: str, config: Mapping[str, str]) -> None:
        """Take over changed settings of a topic, or of all brokers."""
        if self._opened and self._opens(entity):
            return
        before = self.policies
        policies = before.changed(entity, config, self._initial)
        if entity == ALL_BROKERS and self.partitions and not policies.keeps_topic_settings:
            self._changes += 1
            if self._changes > 1:
                policies = policies.without_topics()
        self.policies = self._services.policies = policies
        self.metrics.configured(before)
        topic = entity.removeprefix("topics/")
        self._measure_logs(before.log_config, None if topic == entity else (topic,))

    def _measure_logs(self, before: Callable[[str], LogConfig], topics: Iterable[str] | None) -> None:
        """Measure the logs of the ``topics`` whose settings differ from ``before``; None: of all topics."""
        futures = self.moves.futures
        if topics is None:
            topics = dict.fromkeys(tp.topic for tp in (*self.partitions, *futures))
        changed = dict.fromkeys(topic for topic in topics if before(topic) != self.policies.log_config(topic))
        if not changed:
            return
        for tp, partition in self.partitions.items():
            if tp.topic in changed:
                partition.log.measure_active_segment()
                partition.log.watch_retention()  # under the new settings its segments may be due earlier
        for tp, future in futures.items():
            if tp.topic in changed:
                future.log.measure_active_segment()

    def _opens(self, entity: str) -> bool:
        """Whether a log of the topic ``entity`` is being opened, so that a change of its settings is lost (a
        policy)."""
        since_us = self._opened.get(entity.removeprefix("topics/"))
        return since_us is not None and self.process.clock_us - since_us < self.policies.misses_settings_us

    def _log_config(self, topic: str) -> LogConfig:
        return self.policies.log_config(topic)

    def start(self) -> None:
        """Begin the periodic work: isr-expiration and isr-change-propagation."""
        self.process.every(
            self.policies.isr_check_interval_us,
            self.purgatory.completing(self.maybe_shrink_isr),
            self.isr_checks,
        )
        self.alter_isr.start()
        self.moves.start()
        self.logs.start()

    def stop(self) -> None:
        """End isr-expiration: in a shutdown the scheduler stops before the fetchers (KafkaServer.shutdown, 2.3)."""
        self.isr_checks.clear()

    def _find_newly_live(self) -> None:
        """Let followers join that have waited at the end of a log for their broker to be alive: here they send no
        further fetch."""
        before, self._live = self._live, self.metadata.live_brokers
        if any(broker not in before for broker in self._live):
            for partition in self.partitions.values():
                if partition.is_leader and not partition.isr_state.is_inflight:
                    partition.expand_by_idle()

    def serves(self, tp: TopicPartition) -> bool:
        """Whether the broker's metadata lets produces and fetches reach ``tp`` (a policy)."""
        return self.policies.serves(self.metadata, tp)

    def error_without_replica(self, tp: TopicPartition, needs_leader: bool = True) -> Errors:
        """The error for a request that names a partition without a replica here."""
        if tp in self.offline:
            return Errors.KAFKA_STORAGE_ERROR
        return self.policies.without_replica(self.metadata.knows(tp), needs_leader)

    def _expire(self, log: Log) -> int | None:
        """Delete the old segments of ``log``; see ``Replica.delete_old_segments``."""
        partition = self.partitions.get(log.tp)
        if partition is None or partition.log is not log or not self.logs.may_expire(log):
            return None
        return partition.delete_old_segments()

    def _high_watermark_of(self, log: Log) -> int | None:
        """The high watermark of the replica whose log it is; None: the log is not one of a replica."""
        partition = self.partitions.get(log.tp)
        return None if partition is None or partition.log is not log else partition.high_watermark

    # -- LeaderAndIsr -----------------------------------------------------------------------------------------------

    def become_leader_or_follower(self, request: LeaderAndIsrRequest) -> tuple[Errors, ...]:
        """Apply the states that are new: leaders first, then followers, then end the fetcher threads left without work
        (kafka-behaviour §7.4). Returns the outcome for each partition of the request."""
        me = self.process.node.id
        partitions, offline, checks_assignment = self.partitions, self.offline, self.policies.checks_assignment
        any_injected, topic_ids = bool(self.injected.start or self.injected.lead), request.topic_ids
        outcomes: list[Errors] = []
        leaders: list[LeaderAndIsrPartition] = []
        followers: list[LeaderAndIsrPartition] = []
        for state in request.partitions:
            tp = state.tp
            partition = partitions.get(tp)
            if tp in offline:
                outcome = Errors.KAFKA_STORAGE_ERROR
            elif topic_ids and not self._is_of_topic(tp, topic_ids):
                outcome = Errors.INCONSISTENT_TOPIC_ID
            elif partition is not None and state.leader_epoch <= partition.leader_epoch:
                outcome = Errors.STALE_CONTROLLER_EPOCH
                if topic_ids and state.leader_epoch == partition.leader_epoch and self._identify([state], topic_ids):
                    outcome = Errors.NONE
            elif checks_assignment and me not in state.replicas:
                outcome = Errors.UNKNOWN_TOPIC_OR_PARTITION
                if partition is None:
                    offline[tp] = None  # as Kafka leaves what it had just created (2.3.1; 7.3)
            elif any_injected and self.injected.strike(tp, leads=state.leader == me):
                self._log.error("change of role failed", partition=str(tp), leader=state.leader)
                if not self.policies.epoch_follows_role:
                    for half_made, _state in self._with_log([state]):
                        half_made.leader_epoch = state.leader_epoch
                outcome = Errors.UNKNOWN_SERVER_ERROR
            else:
                outcome = Errors.NONE
                (leaders if state.leader == me else followers).append(state)
            outcomes.append(outcome)
        new = [state for state in leaders if state.tp.topic in self.coordinators and not self._leads(state.tp)]
        self._make_leaders(leaders)
        named = self.policies.request_names_live_leaders
        self._make_followers(followers, request.live_leaders if named else self.metadata.live_brokers)
        if topic_ids:
            self._identify((*leaders, *followers), topic_ids)
        for place, state in enumerate(request.partitions) if offline else ():
            if outcomes[place] is Errors.NONE and state.tp in offline:
                outcomes[place] = Errors.KAFKA_STORAGE_ERROR
        if followers and self.policies.leaders_alone_measure_producers:
            for topic in dict.fromkeys(state.tp.topic for state in followers):
                if self.metrics.topics.measures(topic) and not self._leads_any(topic):
                    self.metrics.topics.stop_leading(topic)
        self._start_checkpointing()
        self._tell_coordinators(new, [state for state in followers if state.tp.topic in self.coordinators])
        known = (partitions.get(state.tp) for state in (*leaders, *followers))
        self.moves.leader_and_isr(partition for partition in known if partition is not None)
        self.fetchers.shutdown_idle_fetcher_threads()
        self.metrics.show()
        return tuple(outcomes)

    def _is_of_topic(self, tp: TopicPartition, topic_ids: Mapping[str, str]) -> bool:
        """Whether the log here is of the topic that a LeaderAndIsr means (KAFKA-12332). Kafka 2.8 looks for the log,
        and gives it its id, before it opens it: the first request of a process does neither."""
        topic_id = topic_ids.get(tp.topic, "")
        if self.policies.identifies_logs:
            directory = self.logs.holder(tp)
            return directory is None or directory.metadata.is_of(tp, topic_id)
        partition = self.partitions.get(tp)
        if partition is None:
            return True
        metadata = partition.log.directory.metadata
        return metadata.identify(tp, topic_id) or metadata.is_of(tp, topic_id)

    def _identify(self, states: Iterable[LeaderAndIsrPartition], topic_ids: Mapping[str, str]) -> bool:
        """Give the logs of ``states`` the ids of their topics (KAFKA-13132). Returns whether any had none."""
        if not self.policies.identifies_logs:
            return False
        known = [self.partitions[state.tp] for state in states if state.tp in self.partitions]
        got = [one.log.directory.metadata.identify(one.tp, topic_ids.get(one.tp.topic, "")) for one in known]
        return any(got)

    def _leads_any(self, topic: str) -> bool:
        """Whether a partition of ``topic`` is led here, among those that the broker knows from its metadata."""
        return any(self._leads(state.tp) for state in self.metadata.partitions_of(topic).values())

    def _leads(self, tp: TopicPartition) -> bool:
        partition = self.partitions.get(tp)
        return partition is not None and partition.is_leader

    def _tell_coordinators(
        self, leaders: Sequence[LeaderAndIsrPartition], followers: Sequence[LeaderAndIsrPartition]
    ) -> None:
        """Notify the coordinators whose internal topics have changed roles. A follower of a leader that is not alive
        keeps its old role."""
        for state in leaders:
            if self._leads(state.tp):
                self.coordinators[state.tp.topic].elected(state.tp.partition, state.leader_epoch)
        for state in followers:
            partition = self.partitions.get(state.tp)
            if partition is not None and partition.leader_epoch == state.leader_epoch:
                self.coordinators[state.tp.topic].resigned(state.tp.partition, state.leader_epoch)

    def _with_log(self, states: list[LeaderAndIsrPartition]) -> Iterator[tuple[Partition, LeaderAndIsrPartition]]:
        """Each state with its partition, whose log is opened if this is its first state. A partition whose log cannot
        be opened is offline from now on, and left out."""
        for state in states:
            tp = state.tp
            partition = self.partitions.get(tp)
            if partition is None:
                try:
                    log = self.logs.open(tp, is_new=state.is_new)
                except StorageError as error:
                    self._log.error("the replica is offline", partition=str(tp), reason=str(error))
                    self.offline[tp] = None
                    continue
                if self.policies.misses_settings_us:
                    self._opened[tp.topic] = self.process.clock_us
                partition = self.partitions[tp] = Partition(tp, log, self._services, len(state.replicas))
                self.metrics.topics.begin_replica(tp.topic)
                partition.delayed = self._left_waiting.pop(tp, None)
            yield partition, state

    def _make_leaders(self, states: list[LeaderAndIsrPartition]) -> None:
        self.fetchers.remove_fetcher_for_partitions(state.tp for state in states)
        for partition, state in self._with_log(states):
            partition.make_leader(state, self.process.clock_us)

    def _make_followers(self, states: list[LeaderAndIsrPartition], live: tuple[int, ...]) -> None:
        following: list[LeaderAndIsrPartition] = []
        for state in states:
            if state.leader in live:
                following.append(state)
            else:
                # The epoch is not recorded, so that the same request is not stale when it comes again (KAFKA-4443's
                # cause).
                self._log.error("leader is not alive, stay as it is", partition=str(state.tp), leader=state.leader)
                list(self._with_log([state]))
        if not self.policies.restarts_every_fetcher:
            following = [state for state in following if not self._keeps_fetching(state)]
        self.fetchers.remove_fetcher_for_partitions(state.tp for state in following)
        starts: list[InitialFetchState] = []
        for partition, state in self._with_log(following):
            partition.make_follower(state)
            adding = state.adds(self.process.node.id)
            start = InitialFetchState(
                state.tp, state.leader, state.leader_epoch, partition.high_watermark, partition, adding=adding
            )
            starts.append(start)
        if not self.shutting_down:
            self.fetchers.add_fetcher_for_partitions(starts)

    def _keeps_fetching(self, state: LeaderAndIsrPartition) -> bool:
        """Whether the follower has this leader already and goes on fetching under the new epoch, without a change of
        its fetcher (before KAFKA-7164)."""
        partition = self.partitions.get(state.tp)
        if partition is None or partition.is_leader or partition.leader != state.leader:
            return False
        partition.make_follower(state)
        return True

    # -- StopReplica ------------------------------------------------------------------------------------------------

    def stop_replicas(self, request: StopReplicaRequest) -> tuple[Outcome, ...]:
        """Stop fetching; with deletion, drop the replica and its log. Without deletion the partition is not changed: a
        leader still leads in its own view. A replica whose leader epoch is not below the request's is left alone
        (KIP-570); since KAFKA-13972, one whose leader epoch is above it."""
        refused = self._refused(request)
        stopped = [tp for tp in request.partitions if tp not in refused]
        self.fetchers.remove_fetcher_for_partitions(stopped, stopped=True)
        self.moves.stopped(stopped, request.delete_partitions)
        for tp in stopped:
            refused[tp] = self._stop(tp, request.delete_partitions)
            if request.delete_partitions and tp.topic in self.coordinators:
                self.coordinators[tp.topic].resigned(tp.partition, None)
        self.fetchers.shutdown_idle_fetcher_threads()
        self.metrics.show()
        return tuple((tp, refused[tp]) for tp in request.partitions)

    def _refused(self, request: StopReplicaRequest) -> dict[TopicPartition, Errors]:
        """The partitions of ``request`` that it leaves as they are."""
        refused: dict[TopicPartition, Errors] = {}
        epochs = request.leader_epochs or (NO_EPOCH,) * len(request.partitions)
        for tp, epoch in zip(request.partitions, epochs, strict=True):
            partition = self.partitions.get(tp)
            own = 0 if self.policies.stops_in_own_epoch else 1
            if partition is not None and NO_EPOCH < epoch < partition.leader_epoch + own:
                refused[tp] = Errors.FENCED_LEADER_EPOCH
                if epoch == partition.leader_epoch:
                    partition.show("KAFKA-13972", self.process.node.id)
            elif tp in self.offline and self.policies.stop_refuses_offline:
                refused[tp] = Errors.KAFKA_STORAGE_ERROR
        return refused

    def _stop(self, tp: TopicPartition, delete: bool) -> Errors:
        partition = self.partitions.get(tp)
        waiting = None if partition is None else partition.delayed
        if partition is not None and self.policies.stop_answers_waiting:
            partition.fail_delayed(Errors.NOT_LEADER_FOR_PARTITION)
        outcome = Errors.NONE
        if delete:
            outcome = Errors.KAFKA_STORAGE_ERROR if tp in self.offline else self._delete(tp, partition)
        deleted = delete and outcome is Errors.NONE and self.policies.stop_deletes
        self.process.emit(ReplicaStopped, self.process.node.id, tp.topic, tp.partition, deleted)
        if waiting is not None:
            self._show_left(tp, waiting)
        return outcome

    def _show_left(self, tp: TopicPartition, left: ProduceWatchers) -> None:
        """Show how many batches wait at a replica that was stopped."""
        waiting = sum(produce.unfinished > 0 for *_of, produce in left)
        if waiting:
            self.process.mark(ProducersLeft, self.process.node.id, *tp, waiting)

    def _delete(self, tp: TopicPartition, partition: Partition | None) -> Errors:
        """Delete the replica and its log. Where its disk refuses, the failure of its directory takes it offline."""
        if not self.policies.stop_deletes:
            return Errors.NONE
        try:
            self.logs.delete(tp, None if partition is None else partition.log)
        except StorageError as error:
            self._log.error("the replica is not deleted", partition=str(tp), reason=str(error))
            return Errors.KAFKA_STORAGE_ERROR
        if partition is not None:
            self._drop(partition)
        return Errors.NONE

    def _drop(self, partition: Partition) -> None:
        """Remove ``partition``, which this broker no longer leads or follows. Requests that wait there go on waiting,
        until their timeout or until the partition comes back (2.3)."""
        partition.stop_leading()
        del self.partitions[partition.tp]
        self.metrics.topics.end_replica(partition.tp.topic)
        self.isr_checks.pop(partition, None)
        if partition.delayed is not None:
            self._left_waiting[partition.tp] = partition.delayed

    def mark_partition_offline(self, partition: Partition) -> None:
        """Take ``partition`` offline, whose log directory has failed."""
        self._drop(partition)
        self.offline[partition.tp] = None
        self.process.emit(ReplicaOffline, self.process.node.id, partition.tp.topic, partition.tp.partition)
        self.logs.forget(partition.log)

    # -- periodic work ----------------------------------------------------------------------------------------------

    def maybe_shrink_isr(self) -> None:
        """isr-expiration: drop the followers that have lagged for longer than replica.lag.time.max.ms."""
        check = self._check
        if check is not None and check.waits_for is not None:
            check.missed = True
            return
        self._check = IsrCheck(deque(self.isr_checks))
        self._check_isrs(self._check)

    def _go_on_checking(self, tp: TopicPartition) -> None:
        """The lock of ``tp`` was released."""
        check = self._check
        if check is not None and check.waits_for == tp:
            check.waits_for = None
            self._check_isrs(check)
            self.purgatory.complete()

    def _check_isrs(self, check: IsrCheck) -> None:
        """Check the partitions that are left, until one is locked."""
        now, left, held = self.process.clock_us, check.left, self.isr_locks.held
        while left:
            partition = left[0]
            if partition.tp not in held:
                left.popleft()
                self._check_isr(partition, check, now)
            if partition.tp in held:
                check.waits_for = partition.tp
                return
        if not self.isr_checks:
            self.isr_checks.clear()  # frees the memory of what was deleted
        if check.missed:
            self.maybe_shrink_isr()

    def _check_isr(self, partition: Partition, check: IsrCheck, now_us: int) -> None:
        if partition.is_leader:
            if partition.unassigned and not self.policies.unassigned_leave_isr:
                self._log.error("in the ISR and not assigned: the check ends here", partition=str(partition.tp))
                check.shrinks = False
            if check.shrinks:
                partition.maybe_shrink_isr(now_us)
            partition.check_idle(now_us)
        if not partition.is_leader or partition.has_nothing_to_check():
            self.isr_checks.pop(partition, None)

    def _start_checkpointing(self) -> None:
        if not self._checkpointing:
            self._checkpointing = True
            interval = self.policies.config.replica_high_watermark_checkpoint_interval_us
            self.process.every(interval, self.logs.write_high_watermarks)

    def forget(self) -> None:
        """Free the partitions and the metadata, because the process has ended. They refer to each other and to nothing
        that lives on."""
        self.partitions.clear()
        self.isr_checks.clear()
        self._check = None
        self.metadata.forget()
        for thread in self.fetchers.threads.values():
            thread.forget()

    def close(self) -> None:
        """A clean stop: flush every log and write the checkpoints."""
        self.logs.close(partition.log for partition in self.partitions.values())
