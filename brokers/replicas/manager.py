"""ReplicaManager: the partitions of one broker, and the control requests that change their roles."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import structlog

from brokers.log import Log, LogConfig, LogManager, StorageError
from brokers.metadata_cache import MetadataCache
from brokers.metrics import ReplicaManagerMetrics
from brokers.partition import Partition, isr
from brokers.policies import BrokerPolicies
from brokers.replicas.alter_isr import AlterIsrManager
from brokers.replicas.isr_propagation import IsrChangePropagation
from brokers.replicas.log_dir_failures import LogDirFailures
from brokers.replicas.log_dir_moves import LogDirMoves
from brokers.replicas.planted import PlantedFaults
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.events import ReplicaLost, ReplicaStopped
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.stop_replica import NO_EPOCH, StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkClient
from fetchers import InitialFetchState, ReplicaFetcherManager, Throttle

if TYPE_CHECKING:
    from brokers.requests.fetch_session import FetchSession

Outcome = tuple[TopicPartition, Errors]


class ReplicaManager:
    """See the module.

    Attributes:
        behind: the partitions led here that may not be at rest: all that the periodic ISR check looks at, so that an
            idle partition costs nothing.
        logs: the log directories.
        metrics: what its partitions and their topics show.
        moves: the replicas that move from one of them to another.
        offline: the replicas whose log directory has failed: until the process is started anew, they are lost to it.
        planted: what a scenario has this broker get wrong.
        throttle: what binds it as a leader.
        alter_isr: asks the controller for other ISRs, where that is how they change.
        woken: the parked fetches to look at again at the end of this transition.
    """

    def __init__(
        self,
        process: Process,
        zk: ZkClient,
        fetchers: ReplicaFetcherManager,
        policies: BrokerPolicies,
        throttle: Throttle | None = None,
        copies: Throttle | None = None,
    ) -> None:
        self.process = process
        self.zk = zk
        self.fetchers = fetchers
        self.policies = policies
        self._initial = policies.config
        self.log = structlog.get_logger("brokers.replicas").bind(broker=process.node.id)
        self.logs = LogManager(process, policies.config.log_manager, self._log_config, self._expire)
        self.moves = LogDirMoves(self, fetchers.policies, copies)
        self.log_dir_failures = LogDirFailures(self)
        self.metadata = MetadataCache()
        self.partitions: dict[TopicPartition, Partition] = {}
        self.offline: dict[TopicPartition, None] = {}
        self.behind: dict[Partition, None] = {}
        self.metrics = ReplicaManagerMetrics(process, self)
        self.planted = PlantedFaults()
        self.woken: dict[FetchSession, None] = {}
        self.throttle = throttle or Throttle()
        self.alter_isr: AlterIsrManager | None = None
        self._propagation = IsrChangePropagation(process, zk, policies.config)
        self._checkpointing = False

    def configured(self, entity: str, config: Mapping[str, str]) -> None:
        """The settings of a topic, or of all brokers, have changed."""
        before, self.policies = self.policies, self.policies.changed(entity, config, self._initial)
        self.metrics.configured(before)
        if (before.config.log, before.topic_logs) != (self.policies.config.log, self.policies.topic_logs):
            for partition in self.partitions.values():
                if partition.log is not None:
                    partition.log.watch_retention()  # what it holds may be due earlier

    def _log_config(self, topic: str) -> LogConfig:
        return self.policies.log_config(topic)

    def start(self) -> None:
        """Begin the periodic work: isr-expiration and isr-change-propagation."""
        self.process.every(self.policies.isr_check_interval_us, self.shrink_isrs)
        if self.policies.isr_writes.announced:
            self._propagation.start()
        self.moves.start()
        self.logs.start()

    def error_without_replica(self, tp: TopicPartition) -> Errors:
        """What a request for a partition without a replica here gets."""
        if tp in self.offline:
            return Errors.KAFKA_STORAGE_ERROR
        return self.policies.without_replica(self.metadata.knows(tp))

    def complete_woken(self) -> None:
        """Answer the parked fetches that this transition gave something to say."""
        woken = self.woken
        while woken:
            session = next(iter(woken))
            del woken[session]
            if session.parked is not None:
                session.try_complete()

    def _expire(self, log: Log) -> int | None:
        """Old segments of ``log`` may be due."""
        partition = self.partitions.get(log.tp)
        return None if partition is None or partition.log is not log else partition.delete_old_segments()

    # -- LeaderAndIsr -----------------------------------------------------------------------------------------------

    def become_leader_or_follower(self, request: LeaderAndIsrRequest) -> tuple[Outcome, ...]:
        """Apply what is new: leaders first, then followers, then end the fetcher threads left without work (7.4)."""
        me = self.process.node.id
        outcomes: dict[TopicPartition, Errors] = {}
        leaders: list[LeaderAndIsrPartition] = []
        followers: list[LeaderAndIsrPartition] = []
        for state in request.partitions:
            partition = self.partitions.get(state.tp)
            if state.tp in self.offline:
                outcomes[state.tp] = Errors.KAFKA_STORAGE_ERROR
            elif partition is not None and state.leader_epoch <= partition.leader_epoch:
                outcomes[state.tp] = Errors.STALE_CONTROLLER_EPOCH
            elif self.policies.checks_assignment and me not in state.replicas:
                outcomes[state.tp] = Errors.UNKNOWN_TOPIC_OR_PARTITION
                if partition is None:
                    self.offline[state.tp] = None  # as Kafka leaves what it had just created (2.3.1; 7.3)
            elif self.planted.strike(state.tp, leads=state.leader == me):
                self.log.error("change of role failed", partition=str(state.tp), leader=state.leader)
                outcomes[state.tp] = Errors.UNKNOWN_SERVER_ERROR
            else:
                outcomes[state.tp] = Errors.NONE
                (leaders if state.leader == me else followers).append(state)
        self._make_leaders(leaders)
        self._make_followers(followers)
        for state in (*leaders, *followers) if self.offline else ():
            if state.tp in self.offline:
                outcomes[state.tp] = Errors.KAFKA_STORAGE_ERROR
        self._start_checkpointing()
        self.moves.told(self.partitions[state.tp] for state in (*leaders, *followers) if state.tp in self.partitions)
        self.fetchers.end_idle_threads()
        self.metrics.show()
        return tuple(outcomes.items())

    def _with_log(self, states: list[LeaderAndIsrPartition]) -> Iterator[tuple[Partition, LeaderAndIsrPartition]]:
        """Those whose log can be opened, each with its partition; the others are offline from now on."""
        for state in states:
            tp = state.tp
            partition = self.partitions.get(tp)
            if partition is None:
                partition = self.partitions[tp] = Partition(tp, self, self.process)
            try:
                partition.open_log(is_new=state.is_new)
            except StorageError as error:
                self.log.error("the replica is offline", partition=str(tp), reason=str(error))
                self.offline[tp] = None
                del self.partitions[tp]
            else:
                yield partition, state

    def _make_leaders(self, states: list[LeaderAndIsrPartition]) -> None:
        self.fetchers.remove(state.tp for state in states)
        for partition, state in self._with_log(states):
            partition.make_leader(state, self.process.clock_us)

    def _make_followers(self, states: list[LeaderAndIsrPartition]) -> None:
        following: list[LeaderAndIsrPartition] = []
        for state in states:
            if state.leader in self.metadata.live_brokers:
                following.append(state)
            else:
                # The epoch is not recorded: the same request is not stale when it comes again (KAFKA-4443's cause).
                self.log.error("leader is not alive, stay as it is", partition=str(state.tp), leader=state.leader)
                list(self._with_log([state]))
        self.fetchers.remove(state.tp for state in following)
        starts: list[InitialFetchState] = []
        for partition, state in self._with_log(following):
            partition.make_follower(state)
            starts.append(
                InitialFetchState(
                    state.tp,
                    state.leader,
                    state.leader_epoch,
                    partition.high_watermark,
                    partition,
                    adding=state.adds(self.process.node.id),
                )
            )
        self.fetchers.add(starts)

    # -- StopReplica ------------------------------------------------------------------------------------------------

    def stop_replicas(self, request: StopReplicaRequest) -> tuple[Outcome, ...]:
        """Stop fetching; with deletion, drop the replica and its log. Without it the partition stays as it is:
        a leader goes on leading in its own view. A replica whose leader epoch the request's does not surpass is left
        alone (KIP-570)."""
        epochs = request.leader_epochs or (NO_EPOCH,) * len(request.partitions)
        meant = zip(request.partitions, epochs, strict=True)
        late = dict.fromkeys(tp for tp, epoch in meant if self._late(tp, epoch))
        stopped = [tp for tp in request.partitions if tp not in late]
        self.fetchers.remove(stopped, stopped=True)
        self.moves.stopped(stopped, request.delete_partitions)
        for tp in stopped:
            self._stop(tp, request.delete_partitions and tp not in self.offline)
        self.fetchers.end_idle_threads()
        self.metrics.show()
        refused = dict.fromkeys(late, Errors.FENCED_LEADER_EPOCH)
        if request.delete_partitions:
            refused |= {tp: Errors.KAFKA_STORAGE_ERROR for tp in stopped if tp in self.offline}
        return tuple((tp, refused.get(tp, Errors.NONE)) for tp in request.partitions)

    def _stop(self, tp: TopicPartition, delete: bool) -> None:
        partition = self.partitions.get(tp)
        if partition is not None and self.policies.stop_answers_waiting:
            partition.fail_waiting(Errors.NOT_LEADER_FOR_PARTITION)
        if delete:
            self._delete(tp, partition)
        self.process.emit(ReplicaStopped, self.process.node.id, tp.topic, tp.partition, delete)

    def _late(self, tp: TopicPartition, epoch: int) -> bool:
        partition = self.partitions.get(tp)
        return partition is not None and NO_EPOCH < epoch <= partition.leader_epoch

    def _delete(self, tp: TopicPartition, partition: Partition | None) -> None:
        if partition is not None:
            partition.stop_leading()
            del self.partitions[tp]
            self.behind.pop(partition, None)
        self.logs.delete(tp, None if partition is None else partition.log)

    def lose(self, partition: Partition) -> None:
        """The log directory of ``partition`` has failed: nobody leads or follows it here any more. Who waits for
        acks=all goes on waiting, until the request's time is over (2.3)."""
        partition.stop_leading()
        del self.partitions[partition.tp]
        self.behind.pop(partition, None)
        self.offline[partition.tp] = None
        self.process.emit(ReplicaLost, self.process.node.id, partition.tp.topic, partition.tp.partition)
        if partition.log is not None:
            self.logs.retention.forget(partition.log)

    # -- periodic work ----------------------------------------------------------------------------------------------

    def shrink_isrs(self) -> None:
        """isr-expiration: drop the followers that have been behind for longer than replica.lag.time.max.ms."""
        now, shrinks = self.process.clock_us, True
        for partition in list(self.behind):
            if partition.is_leader:
                if partition.strangers and not self.policies.strangers_leave_isr:
                    self.log.error("in the ISR and not assigned: the check ends here", partition=str(partition.tp))
                    shrinks = False
                partition.tend(now, shrinks=shrinks)
            if not partition.is_leader or partition.at_rest():
                del self.behind[partition]
        if not self.behind:
            self.behind.clear()  # gives back the room of what was deleted
        self.complete_woken()

    def isr_changed(self, partition: Partition) -> None:
        """A leader's ISR write took effect: tell the controller in time, and look at what waited for it."""
        writes = self.policies.isr_writes
        if writes.announced:
            self._propagation.record(partition.tp)
        self.behind[partition] = None
        if writes.outcome_moves_high_watermark:
            partition.advance_high_watermark(self.process.clock_us)
        isr.expand_waiting(partition)
        self.complete_woken()

    def _start_checkpointing(self) -> None:
        if not self._checkpointing:
            self._checkpointing = True
            interval = self.policies.config.replica_high_watermark_checkpoint_interval_us
            self.process.every(interval, self.logs.write_high_watermarks)

    def close(self) -> None:
        """A clean stop: flush every log and write the checkpoints."""
        self.logs.close(partition.log for partition in self.partitions.values() if partition.log is not None)
