"""One fetcher thread: its rounds, its failures, and its partitions that are added and removed (kafka-behaviour §8.1 to
8.4; AbstractFetcherThread, 2.3; KIP-461).

It is a Trio task. Each of its rounds truncates the logs of new partitions or, when none is left to truncate, fetches:

    do_work ─┬─ maybe_truncate ──────── ask the leader where epochs end ─── truncate ─── start fetching
             ├─ process_fetch_request ─ one fetch ─── append, or handle the error of each partition
             └─ wait until a delay is over or partitions are added

State changes in synchronous transitions between two waits, so a LeaderAndIsr can remove partitions or raise their
leader epoch while a request is in flight; the answer for such a partition is ignored. Replica fetchers and the fetchers
that copy a replica to another log directory differ in the endpoint and in the log they are given (``fetchers.ports``).
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import trio
from attrs import define, field

from emulator.kernel import KernelError, Mailbox, Signal, Task
from emulator.kernel.parking import Parkable
from emulator.logger import get_logger
from emulator.network import Disconnected
from emulator.nodes import Process
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import FetcherStarted, FetcherStopped
from emulator.protocol.fetch import FetchedFields, FetchedPartition
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, EpochEndOffset, EpochQuery
from emulator.protocol.shown import EpochEndsAsked, FetchFenced, FetchLost, FetchMisanswered
from emulator.protocol.types import TopicPartition
from fetchers.failed_partitions import FailedPartitions
from fetchers.failures import FetcherDied, OffsetOutOfRange, Verdict
from fetchers.metrics import ThreadMetrics
from fetchers.partitions import Partitions
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState, LeaderEndPoint
from fetchers.quota import Throttle
from fetchers.state import PartitionFetchState
from fetchers.throttle import FollowerThrottle

Finish = Callable[[TopicPartition], bool]
"""Called after each append: completes the copy of a partition if it has everything, and returns whether it did. The
partition is then removed from the thread (ReplicaAlterLogDirsThread.processPartitionData)."""


@define(eq=False)
class FetcherRounds:
    """The rounds of a fetcher thread, and the state that they work on.

    Code outside a round uses ``FetcherThread`` alone, which rouses parked work first.

    Attributes:
        partitions: the partitions with their states.
        throttle: leaves throttled partitions out of the fetches.
        held: the signal that ends a hold (``FetcherThread.hold``); None: there is none.
    """

    thread: "FetcherThread"
    partitions: Partitions
    throttle: FollowerThrottle
    _process: Process
    _endpoint: LeaderEndPoint
    _policies: FetcherPolicies
    _failed: FailedPartitions
    _quotas: Throttle
    _metrics: ThreadMetrics
    _finish: Finish | None
    held: Signal | None = None
    _bell: Mailbox = field(init=False)
    _log: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        process, name = self._process, self.thread.name
        self._bell = Mailbox(process.world, f"work for {process.name}/{name}")
        self._log = get_logger("fetchers").bind(broker=process.node.id, fetcher=name)

    async def run(self) -> None:
        """Do one round after the other until the thread has ended."""
        thread = self.thread
        try:
            while not thread.ended:
                await self.do_work()
        except FetcherDied as error:
            self._log.error("thread died", reason=str(error))
            self.partitions.pending.release()
            thread.die(error)

    def wake(self) -> None:
        """End the wait of the thread: there are new partitions, or others to truncate."""
        if (self.partitions.truncating or self.partitions.on_fetch) and not self.thread.dead:
            self.partitions.pending.hold(self.partitions.patience_us)
        self._bell.put(None)

    def is_idle(self) -> bool:
        """Whether the next round would only fetch what this one fetches."""
        return self.partitions.all_to_fetch and self.throttle.is_idle and not self.thread.ended

    def do_work(self) -> Coroutine[Any, Any, None]:
        """One round, to be awaited."""
        if self.held is not None:
            return self._rest(self.held)
        partitions = self.partitions
        if partitions.delayed or partitions.all_delayed_until_us:
            partitions.end_delays()
        self.throttle.apply()
        if partitions.truncating:
            partitions.pending.release()
            return self._maybe_truncate()
        if partitions.any_to_fetch:
            if not partitions.held:
                partitions.pending.release()
            return self._process_fetch_request()
        self._endpoint.nothing_wanted()
        return self._wait_within(partitions.next_end_of_delay_us())

    async def _rest(self, until: Signal) -> None:
        """Wait for the end of a hold."""
        self.thread.rests = True
        self.partitions.pending.release()
        await until.wait()
        self.thread.rests = False

    def end_wait(self) -> None:
        """End a wait within a round, so that the next round begins."""
        self._bell.put(None)

    async def _wait_within(self, timeout_us: int | None) -> None:
        """Wait until partitions are added, at most for ``timeout_us``."""
        self._bell.clear()
        if timeout_us is None:
            await self._bell.get()
            return
        with suppress(trio.TooSlowError):
            await self._bell.get_within(timeout_us)

    # -- truncating (kafka-behaviour §8.3) ----------------------------------------------------------------------------

    async def _maybe_truncate(self) -> None:
        """One round: ask the leader about the logs that have epochs, then cut the others at their high watermark.

        Raises:
            FetcherDied: a log cannot be read, the leader answers about a partition that was not asked about, or a
                partition is gone (a policy).
        """
        partitions, rule = self.partitions, self._policies.truncation
        asking: dict[TopicPartition, PartitionFetchState] = {}
        without_epoch: list[PartitionFetchState] = []
        queries: list[EpochQuery] = []
        for tp in list(partitions.truncating):
            state = partitions.states[tp]
            epoch = self._latest_epoch(state)
            if rule.asks(epoch):
                asking[tp] = state
                queries.append(EpochQuery(tp, state.leader_epoch, epoch))
            else:
                without_epoch.append(state)
        if queries:
            await self._truncate_to_epoch_end_offsets(asking, tuple(queries))
        for state in without_epoch:
            if state.tp not in partitions.states and self._policies.ends_without_partition:
                raise FetcherDied(state.tp, "NullPointerException", "no state to truncate")
            if state in partitions and state.truncating:
                self._do_truncate(state, state.offset, True)
        if not partitions.truncating:
            partitions.truncating.clear()  # frees the memory of the deleted keys

    def _latest_epoch(self, state: PartitionFetchState) -> int:
        try:
            return state.log.latest_epoch
        except Exception as error:
            raise FetcherDied(state.tp, type(error).__name__, f"no replica to truncate: {error}") from error

    async def _truncate_to_epoch_end_offsets(
        self, asking: dict[TopicPartition, PartitionFetchState], queries: tuple[EpochQuery, ...]
    ) -> None:
        partitions, node = self.partitions, self._process.node
        if node.trace.shows(EpochEndsAsked):
            asked = tuple((query.tp, query.leader_epoch) for query in queries)
            self._process.show(EpochEndsAsked, node.id, self.thread.leader, asked)
        try:
            answers = await self._endpoint.epoch_ends(queries)
        except Disconnected as lost:
            self._log.warning("leader does not answer", error=str(lost))
            self._endpoint.reset()
            partitions.delay_partitions(state for state in asking.values() if state in partitions)
            return
        late = self._policies.truncation.takes_late_answers
        for answer in answers:  # all of them, before any log is truncated (AbstractFetcherThread, 2.1.1 to 2.7)
            if answer.tp not in asking and not late:
                raise FetcherDied(answer.tp, "IllegalStateException", "the leader's answer was not asked for")
        for answer in answers:
            state = partitions.states.get(answer.tp)
            if state is not None and (state is asking.get(answer.tp) or (late and state.truncating)):
                self._truncate_to_epoch_end_offset(state, answer)

    def _truncate_to_epoch_end_offset(self, state: PartitionFetchState, answer: EpochEndOffset) -> None:
        if answer.error is Errors.NONE:
            offset, done = self._policies.truncation.cut(state.log, answer, state.offset)
            self._do_truncate(state, offset, done)
        elif answer.error is Errors.FENCED_LEADER_EPOCH:
            self._on_partition_fenced(state)
        else:
            self.partitions.handle_error(state)

    def _truncate_on_fetch_response(self, state: PartitionFetchState, answer: EpochEndOffset) -> None:
        """Truncate where the answer to a fetch says that the two logs diverge, and fetch on. If that was not enough,
        the next answer says so."""
        offset, _ = self._policies.truncation.cut(state.log, answer, state.offset)
        self._do_truncate(state, offset, True)

    def _do_truncate(self, state: PartitionFetchState, offset: int, done: bool) -> None:
        try:
            state.log.truncate_to(offset)
        except Exception as error:
            self._handle_log_error(state, "truncation", error)
            return
        if state not in self.partitions:
            return  # it was taken away before this (KAFKA-13207)
        if done:
            self.partitions.start_fetching(state, state.log.log_end_offset)
        else:
            state.offset = offset  # used if the leader's next answer is undefined

    # -- fetching (kafka-behaviour §8.2 to §8.4) -----------------------------------------------------------------------

    async def _process_fetch_request(self) -> None:
        """One round. If the connection is lost, the thread waits for a back-off, and then each partition is delayed by
        another one, as in Kafka. A partition that is added meanwhile ends the first wait and is not delayed.
        """
        try:
            answers = await self._endpoint.fetch()
        except Disconnected as lost:
            self._metrics.answered(())
            self._log.warning("leader does not answer", error=str(lost))
            self._show_lost()
            self._endpoint.reset()
            states = list(self.partitions.states.values())
            await self._wait_within(self._policies.replica_fetch_backoff_us)
            self.partitions.delay_all(states)
            return
        self._metrics.answered(answers)
        states_by_tp, waited = self.partitions.states, False
        for answer in answers:
            state = states_by_tp.get(answer[0])
            if state is None:
                if not waited:  # an added partition ended the wait: the state may have been removed
                    self._not_asked_for(answer[0])
            elif not state.truncating and not state.delayed_until_us:
                if answer[1] or answer[5] is not None:
                    self._process.node.trace.record_collected()
                    await self._handle_partition_error(state, FetchedPartition._make(answer))
                    waited = True
                else:
                    self.process_partition_data(state, answer)
        self._process.node.trace.record_collected()

    def _show_lost(self) -> None:
        node = self._process.node
        if node.trace.shows(FetchLost):
            requests = self._metrics.requests.count
            self._process.show(
                FetchLost, node.id, self.thread.name, self.thread.leader, requests, self.partitions.all_to_fetch
            )

    def _not_asked_for(self, tp: TopicPartition) -> None:
        """Fail on an answer for a partition that is not in the session. Kafka throws such an answer away, and the
        session with it (FetchSessionHandler.handleResponse, 1.1); here no leader gives one."""
        me = self._process.node
        self._process.show(FetchMisanswered, me.id, self.thread.leader, NO_ERROR.name, tp.topic, tp.partition)

    def process_partition_data(self, state: PartitionFetchState, answer: FetchedFields) -> None:
        """Append what was fetched, and fetch from the new end of the log."""
        tp, _error, high_watermark, log_start, batches, _diverging = answer
        try:
            end = state.log.append_as_follower(batches, high_watermark, log_start)
            if self._finish is not None and self._finish(tp):
                self.partitions.drop(tp)
                return
        except Exception as error:
            self._handle_log_error(state, "append", error)
            return
        if batches:
            state.offset, state.unread = end, False
            last = batches[-1].leader_epoch if self.partitions.on_fetch else UNDEFINED_EPOCH
            start = state.log_start = state.log.log_start_offset
            self._endpoint.want((tp, state.leader_epoch, end, start, last))
        elif self._endpoint.asks_starts and state.log.log_start_offset != state.log_start and not state.held:
            self.partitions.want(state)  # a client that has records deleted waits for it
        throttled = self._quotas.active
        if throttled:
            self.throttle.record(state, batches)
        # The lag is how far the leader's high watermark is above the new fetch offset, also after an answer without
        # records (KAFKA-7704).
        lag = high_watermark - state.offset if high_watermark > state.offset else 0
        if self._policies.empty_answer_lags and not batches:
            lag = high_watermark
        if lag != state.lag:
            self._metrics.lag_changed(state, lag)
        if throttled:
            self.throttle.lag_changed(state)

    def advanced(self, state: PartitionFetchState, high_watermark: int) -> None:
        """Fetch from the end of the log on, which has grown without a fetch."""
        end = state.log.log_end_offset
        if end != state.offset:
            state.offset, state.unread = end, False
            if not state.held:
                self.partitions.want(state)
        lag = max(0, high_watermark - state.offset)
        if lag != state.lag:
            self._metrics.lag_changed(state, lag)
        if self._quotas.active:
            self.throttle.lag_changed(state)
        if state.held and state.tp not in self.throttle.bound:
            self.partitions.let_go(state)

    async def _handle_partition_error(self, state: PartitionFetchState, answer: FetchedPartition) -> None:
        """Handle an answer with an error, or with the offset at which the two logs diverge."""
        error = answer.error
        if answer.diverging is not None:
            if answer.log_start_offset > state.log.log_end_offset:
                what = (
                    f"the leader's log begins at {answer.log_start_offset}, this one ends at {state.log.log_end_offset}"
                )
                self._handle_log_error(state, "append", OffsetOutOfRange(what))
                return
            if self._policies.learns_before_truncating:
                state.log.append_as_follower((), answer.high_watermark)
            if self._policies.truncates_late_us:
                await self._process.world.sleep(self._policies.truncates_late_us)
            self._truncate_on_fetch_response(state, EpochEndOffset(state.tp, error, *answer.diverging))
        elif error is Errors.OFFSET_OUT_OF_RANGE:
            await self._handle_out_of_range_error(state)
        elif error is Errors.FENCED_LEADER_EPOCH:
            self._on_partition_fenced(state)
        else:
            self.partitions.handle_error(state)

    async def _handle_out_of_range_error(self, state: PartitionFetchState) -> None:
        """Truncate to the leader's end, or start at the leader's start: the fetch offset is not in the leader's log
        (fetchOffsetAndTruncate; kafka-behaviour §8.3)."""
        partitions, log = self.partitions, state.log
        try:
            found = await self._endpoint.offsets(state.tp, state.leader_epoch)
        except Disconnected:
            self._endpoint.reset()
            partitions.delay_partitions([state])
            return
        if state not in partitions:
            return
        if found.error is Errors.FENCED_LEADER_EPOCH:
            self._on_partition_fenced(state)
            return
        if found.error is not Errors.NONE:
            partitions.handle_error(state)
            return
        try:
            if found.end < log.log_end_offset:
                if self._policies.out_of_range_halts:
                    reason = f"the leader's log ends before {log.log_end_offset}"
                    self._carry_out(Verdict.HALT, state, Errors.OFFSET_OUT_OF_RANGE.name, reason)
                    return
                log.truncate_to(found.end)
            elif found.start > log.log_end_offset or self._policies.out_of_range_drops_log:
                log.truncate_fully_and_start_at(found.start)
        except KernelError:
            raise
        except Exception:  # here an error only delays the partition (2.3)
            partitions.delay_partitions([state])
            return
        partitions.start_fetching(state, log.log_end_offset)

    # -- failures: the profile's rule judges each of them -------------------------------------------------------------

    def _on_partition_fenced(self, state: PartitionFetchState) -> None:
        """Handle the refusal of a leader that has a higher leader epoch than the partition is fetched under."""
        node = self._process.node
        self._process.show(FetchFenced, node.id, self.thread.leader, *state.tp, state.leader_epoch)
        fenced = Errors.FENCED_LEADER_EPOCH.name
        self._carry_out(self._policies.failures.fenced, state, fenced, fenced)

    def _handle_log_error(self, state: PartitionFetchState, operation: str, error: Exception) -> None:
        """Handle an error that an append or a truncation raised. Raises: FetcherDied; DeadIncarnation where the broker
        has ended because of it."""
        if isinstance(error, KernelError):
            raise error
        self._process.check_alive()
        verdict = self._policies.failures.judge(error)
        self._carry_out(verdict, state, type(error).__name__, f"{operation}: {error}")

    def _carry_out(self, verdict: Verdict, state: PartitionFetchState, error: str, reason: str) -> None:
        if verdict is Verdict.FAIL:
            self._mark_partition_failed(state, error, reason)
        elif verdict is Verdict.DELAY:
            self._log.info("partition delayed", partition=str(state.tp), reason=reason)
            self.partitions.handle_error(state)
        elif verdict is Verdict.HALT:
            self._log.critical("the broker halts", partition=str(state.tp), reason=reason)
            self._process.node.halt()
            self._process.check_alive()
        else:
            raise FetcherDied(state.tp, error, reason)

    def _mark_partition_failed(self, state: PartitionFetchState, error: str, reason: str) -> None:
        """KIP-461: log it, track it, and go on with the other partitions."""
        self._log.error("partition failed", partition=str(state.tp), reason=reason)
        self.partitions.drop(state.tp)
        self._failed.add(state.tp, self.thread.name, state.leader_epoch, reason, error)
        if not self.partitions.states and self._policies.end_thread_when_all_failed:
            self.thread.end("all-failed")


@define(eq=False)
class FetcherThread:
    """Fetches partitions from one leader.

    Attributes:
        leader: the broker that is fetched from; the thread's own broker for copies between log directories.
        address: the address of the leader, as known when the thread was created.
        states: the partitions with their fetch states; failed partitions are not among them.
        is_idle: whether the next round does nothing but fetch what this one fetches, as things are.
        ended: the thread was shut down.
        dead: an error has ended the thread. Its partitions stay in it, and are not fetched any more.
        rests: whether it is held, and nothing of it is in flight.
    """

    name: str
    leader: int
    _process: Process
    _endpoint: LeaderEndPoint
    _policies: FetcherPolicies
    _failed: FailedPartitions
    _quotas: Throttle
    _metrics: ThreadMetrics
    _finish: Finish | None = None
    address: str = ""
    ended: bool = False
    dead: bool = False
    rests: bool = False
    states: Mapping[TopicPartition, PartitionFetchState] = field(init=False)
    is_idle: Callable[[], bool] = field(init=False)
    rounds: Parkable[FetcherRounds] = field(init=False)
    _task: Task | None = None

    def __attrs_post_init__(self) -> None:
        process = self._process
        partitions = Partitions(
            process, self.leader, self._endpoint, self._policies, self._failed.records, self._metrics
        )
        throttle = FollowerThrottle(process, partitions, self._quotas)
        rounds = FetcherRounds(
            self, partitions, throttle, process, self._endpoint, self._policies, self._failed, self._quotas,
            self._metrics, self._finish,
        )  # fmt: skip
        self.states, self.is_idle = MappingProxyType(partitions.states), rounds.is_idle
        self.rounds = Parkable(rounds, process.parked)

    # -- start and end ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._process.emit(FetcherStarted, self._process.node.id, self.name, self.leader)
        self._task = self._process.spawn(self.rounds.roused().run, name=self.name, cancellable=True)

    def end(self, reason: str) -> None:
        """Stop at once, whatever the thread is waiting for."""
        if self.ended:
            return
        rounds = self.rounds.roused()
        self.ended = True
        rounds.partitions.pending.release()
        if not self.dead:
            self._process.emit(FetcherStopped, self._process.node.id, self.name, self.leader, reason, "", -1, "")
        self._metrics.ended()
        self._endpoint.close()
        if self._task is not None:
            self._task.cancel()

    def die(self, error: FetcherDied) -> None:
        """End as one of Kafka's threads does: its manager does not notice, and goes on adding partitions to it."""
        self.dead = True
        self._metrics.died()
        self._process.emit(
            FetcherStopped, self._process.node.id, self.name, self.leader, "died", *error.tp, error.error
        )

    # -- partitions are added and removed -----------------------------------------------------------------------------

    def add_partitions(self, starts: Iterable[InitialFetchState]) -> None:
        """Begin to fetch partitions; one that is here under the same leader epoch keeps its state."""
        rounds = self.rounds.roused()
        for start in starts:
            rounds.partitions.add(start)
            rounds.throttle.lag_changed(self.states[start.tp])
        rounds.wake()

    def remove_partitions(self, removed: Iterable[TopicPartition]) -> None:
        """Stop fetching these partitions, if they are fetched here."""
        partitions = self.rounds.roused().partitions
        for tp in [tp for tp in removed if tp in self.states]:
            partitions.drop(tp)
        if not partitions.truncating:
            partitions.pending.release()

    def remove_all_partitions(self) -> list[InitialFetchState]:
        """Remove all partitions. Returns what another thread needs to go on with them."""
        starts = [
            InitialFetchState(
                state.tp, self.leader, state.leader_epoch, state.offset, state.log, state.adding, self.address
            )
            for state in self.states.values()
        ]
        self.remove_partitions([start.tp for start in starts])
        return starts

    # -- time passes in which data is not simulated -------------------------------------------------------------------

    def hold(self, until: Signal) -> None:
        """Begin no round before ``until`` is set. The round that is under way ends first."""
        rounds = self.rounds.roused()
        rounds.held = until
        rounds.end_wait()

    def release(self) -> None:
        """Go on with the rounds: called before the signal is set."""
        self.rounds.roused().held = None

    def advanced(self, state: PartitionFetchState, high_watermark: int) -> None:
        """Go on from the end of the replica's log: what fetches would have brought is appended to it. The leader's high
        watermark is ``high_watermark``."""
        self.rounds.roused().advanced(state, high_watermark)

    def mark_for_truncation(self, tp: TopicPartition, offset: int) -> None:
        """Truncate the copy of ``tp`` as well: the log that is fetched from was truncated to ``offset``
        (markPartitionsForTruncation)."""
        rounds = self.rounds.roused()
        rounds.partitions.mark_for_truncation(tp, offset)
        rounds.wake()

    def forget(self) -> None:
        """Free the states of the partitions, because the process has ended."""
        self.rounds.roused().partitions.states.clear()
