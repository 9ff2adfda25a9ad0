"""One fetcher thread: the truncation loop, the fetch loop, delays and failures (kafka-behaviour, 8.2; KIP-461).

It is a Trio task. What it does to partitions happens in synchronous transitions between two waits, so a LeaderAndIsr
can take partitions away or give them a new epoch while an answer is under way; such answers are ignored.
"""

from collections.abc import Iterable
from contextlib import suppress

import structlog
import trio

from emulator.kernel import Mailbox
from emulator.network import Disconnected
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.events import FetcherStarted, FetcherStopped, FetchPosition
from emulator.protocol.fetch import FetchedPartition, FetchPartition
from emulator.protocol.offsets_for_leader_epoch import (
    UNDEFINED_EPOCH,
    EpochEndOffset,
    EpochQuery,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.types import TopicPartition
from fetchers.failed_partitions import FailedPartitions
from fetchers.pending import PendingWork
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState, LeaderEndPoint
from fetchers.quota import ReplicationQuota
from fetchers.session import SessionLost, SessionReader
from fetchers.state import FetchState


class FetcherThread:
    """See the module. ``states`` holds the partitions it fetches, failed ones excluded."""

    def __init__(
        self,
        name: str,
        leader: int,
        process: Process,
        endpoint: LeaderEndPoint,
        policies: FetcherPolicies,
        failed: FailedPartitions,
        quota: ReplicationQuota | None = None,
    ) -> None:
        self.name = name
        self.leader = leader
        self.states: dict[TopicPartition, FetchState] = {}
        self._process = process
        self._endpoint = endpoint
        self._policies = policies
        self._failed = failed
        self._quota = quota
        self._truncating: dict[TopicPartition, None] = {}
        self._delayed: dict[TopicPartition, None] = {}
        self._held: dict[TopicPartition, None] = {}
        self._reader = SessionReader(process.node.id, endpoint, policies)
        self._bell = Mailbox(process.world, f"work for {process.name}/{name}")
        self._pending = PendingWork(process)
        self._patience_us = policies.replica_fetch_wait_max_us + policies.replica_fetch_backoff_us
        self._scope: trio.CancelScope | None = None
        self.ended = False
        self._log = structlog.get_logger("fetchers").bind(broker=process.node.id, fetcher=name)

    # -- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._process.emit(FetcherStarted, self._process.node.id, self.name, self.leader)
        self._process.spawn(self._run, name=self.name)

    def end(self, reason: str) -> None:
        """Stop at once, in the middle of whatever it waits for."""
        if self.ended:
            return
        self.ended = True
        self._pending.release()
        self._process.emit(FetcherStopped, self._process.node.id, self.name, self.leader, reason)
        self._endpoint.close()
        if self._scope is not None:
            self._scope.cancel()

    async def _run(self) -> None:
        async with self._process.world.open_nursery() as nursery:
            self._scope = nursery.cancel_scope
            while not self.ended:
                self._end_delays()
                if self._quota is not None:
                    self._throttle(self._quota)
                if self._truncating:
                    self._pending.release()
                    await self._truncate()
                    if not self._truncating:
                        self._truncating.clear()  # gives back the room of what was deleted
                elif len(self.states) > len(self._delayed) + len(self._held):
                    await self._fetch()
                else:
                    await self._wait_for_work()

    async def _wait_for_work(self) -> None:
        """Nothing to fetch: wait for new partitions, for the first delay to end, or to look at the quota again."""
        waits = [self.states[tp].delayed_until_us - self._process.clock_us for tp in self._delayed]
        if self._held:
            waits.append(self._policies.replica_fetch_backoff_us)
        await self._wait_within(min(waits, default=None))

    async def _wait_within(self, timeout_us: int | None) -> None:
        """Wait until partitions are added, but not longer than ``timeout_us``."""
        self._bell.clear()
        if timeout_us is None:
            await self._bell.get()
            return
        with suppress(trio.TooSlowError):
            await self._bell.get_within(timeout_us)

    # -- partitions come and go ---------------------------------------------------------------------------------------

    def add(self, starts: Iterable[InitialFetchState]) -> None:
        """Take partitions on; one already here under the same epoch keeps its state."""
        for start in starts:
            state = self.states.get(start.tp)
            if state is None or state.leader_epoch != start.leader_epoch:
                self._drop(start.tp)
                self.states[start.tp] = FetchState(start.tp, start.leader_epoch, start.offset, start.log)
                self._truncating[start.tp] = None
        if self._truncating:
            self._pending.hold(self._patience_us)
        self._bell.put(None)

    def remove(self, partitions: Iterable[TopicPartition]) -> None:
        for tp in partitions:
            if tp in self.states:
                self._drop(tp)
        if not self._truncating:
            self._pending.release()

    def _drop(self, tp: TopicPartition) -> None:
        state = self.states.pop(tp, None)
        self._truncating.pop(tp, None)
        self._delayed.pop(tp, None)
        self._held.pop(tp, None)
        self._reader.forget(tp)
        if state is not None and not state.truncating:
            self._position(state, -1)

    def _position(self, state: FetchState, offset: int) -> None:
        tp = state.tp
        self._process.emit(
            FetchPosition, self._process.node.id, tp.topic, tp.partition, self.leader, state.leader_epoch, offset
        )

    def _fail(self, state: FetchState, reason: str) -> None:
        """KIP-461: log it, track it, leave the others alone."""
        self._log.error("partition failed", partition=str(state.tp), reason=reason)
        self._drop(state.tp)
        self._failed.add(state.tp, self.name, state.leader_epoch, reason)
        if not self.states and self._policies.end_thread_when_all_failed:
            self.end("all-failed")

    def _delay(self, states: Iterable[FetchState]) -> None:
        """Leave ``states`` alone for a back-off; those that are delayed already keep their time."""
        until = self._process.clock_us + self._policies.replica_fetch_backoff_us
        for state in states:
            if state.delayed_until_us:
                continue
            state.delayed_until_us = until
            state.held = False
            self._truncating.pop(state.tp, None)
            self._held.pop(state.tp, None)
            self._delayed[state.tp] = None
            self._reader.forget(state.tp)

    def _refuse(self, state: FetchState) -> None:
        """A leader that lives had an error for this partition: try again after a back-off.

        The first time this is work to come, since a control request is on its way to one of the two; a leader that
        goes on refusing must not keep the world from being settled.
        """
        if not state.refused:
            state.refused = True
            PendingWork(self._process).hold(self._patience_us)
        self._delay([state])

    def _end_delays(self) -> None:
        if not self._delayed:
            return
        now = self._process.clock_us
        for tp in [tp for tp in self._delayed if self.states[tp].delayed_until_us <= now]:
            del self._delayed[tp]
            state = self.states[tp]
            state.delayed_until_us = 0
            if state.truncating:
                self._truncating[tp] = None
            else:
                self._reader.want(FetchPartition(tp, state.leader_epoch, state.offset, 0))

    def _throttle(self, quota: ReplicationQuota) -> None:
        """Leave out of the fetch what is listed and behind, while the quota is exceeded (KIP-73)."""
        exceeded = quota.exceeded(self._process.clock_us)
        for tp, state in self.states.items():
            if state.truncating or state.delayed_until_us or not quota.throttles(tp):
                continue
            hold = exceeded and state.behind
            if hold and not state.held:
                self._held[tp] = None
                self._reader.forget(tp)
            elif state.held and not hold:
                del self._held[tp]
                self._reader.want(FetchPartition(tp, state.leader_epoch, state.offset, 0))
            state.held = hold
        if self._held:
            self._pending.hold(self._patience_us)
        else:
            self._pending.release()

    def _start_fetching(self, state: FetchState, offset: int) -> None:
        state.truncating = False
        state.offset = offset
        self._truncating.pop(state.tp, None)
        self._reader.want(FetchPartition(state.tp, state.leader_epoch, offset, state.log.log_start_offset))
        self._position(state, offset)

    # -- truncation -------------------------------------------------------------------------------------------------

    async def _truncate(self) -> None:
        """One round: those without an epoch cut at their high watermark, the others ask the leader."""
        asking: list[tuple[FetchState, int]] = []
        for tp in list(self._truncating):
            state = self.states[tp]
            epoch = state.log.latest_epoch
            if epoch == UNDEFINED_EPOCH:
                self._cut(state, state.offset, True)
            else:
                asking.append((state, epoch))
        if not asking:
            return
        request = OffsetsForLeaderEpochRequest(
            self._process.node.id, tuple(EpochQuery(state.tp, state.leader_epoch, epoch) for state, epoch in asking)
        )
        try:
            response: OffsetsForLeaderEpochResponse = await self._endpoint.call(request, request.size)
        except Disconnected as lost:
            self._log.warning("leader does not answer", error=str(lost))
            self._reader.reset()
            self._delay(state for state, _epoch in asking if self.states.get(state.tp) is state)
            return
        for (state, _epoch), answer in zip(asking, response.partitions, strict=True):
            if self.states.get(state.tp) is state:
                self._apply_epoch_end(state, answer)

    def _apply_epoch_end(self, state: FetchState, answer: EpochEndOffset) -> None:
        if answer.error is Errors.NONE:
            offset, done = self._policies.truncation.cut(state.log, answer, state.offset)
            self._cut(state, offset, done)
        elif answer.error is Errors.FENCED_LEADER_EPOCH:
            self._fail(state, answer.error.name)
        else:
            self._refuse(state)

    def _cut(self, state: FetchState, offset: int, done: bool) -> None:
        try:
            state.log.truncate_to(offset)
        except Exception as error:  # any error while truncating fails the partition (2.3)
            self._fail(state, f"truncation: {error}")
            return
        if done:
            self._start_fetching(state, state.log.log_end_offset)
        else:
            state.offset = offset  # what a next, undefined answer falls back to

    # -- fetching ---------------------------------------------------------------------------------------------------

    async def _fetch(self) -> None:
        """One fetch request and what its answer does to the partitions."""
        try:
            answers = await self._reader.read()
        except SessionLost:
            self._want_everything()
            return
        except Disconnected as lost:
            await self._leader_lost(lost)
            return
        for answer in answers:
            state = self.states.get(answer.tp)
            if state is not None and not state.truncating and not state.delayed_until_us:
                await self._take(state, answer)

    async def _leader_lost(self, lost: Disconnected) -> None:
        """Wait a back-off, then delay every partition by another (the double wait is Kafka's).

        A partition that is added meanwhile ends the first wait and is not delayed.
        """
        self._log.warning("leader does not answer", error=str(lost))
        self._reader.reset()
        states = list(self.states.values())
        await self._wait_within(self._policies.replica_fetch_backoff_us)
        self._delay(state for state in states if self.states.get(state.tp) is state)

    def _want_everything(self) -> None:
        for state in self.states.values():
            if not state.truncating and not state.delayed_until_us and not state.held:
                self._reader.want(FetchPartition(state.tp, state.leader_epoch, state.offset, 0))

    async def _take(self, state: FetchState, answer: FetchedPartition) -> None:
        error = answer.error
        if error is Errors.NONE:
            self._append(state, answer)
        elif error is Errors.OFFSET_OUT_OF_RANGE:
            await self._out_of_range(state)
        elif error is Errors.FENCED_LEADER_EPOCH:
            self._fail(state, error.name)
        else:
            self._refuse(state)

    def _append(self, state: FetchState, answer: FetchedPartition) -> None:
        batches = answer.batches
        if batches and batches[0].base_offset > state.offset:
            self._fail(state, f"leader sent offset {batches[0].base_offset} for {state.offset}")
            return
        try:
            end = state.log.append_as_follower(batches, answer.high_watermark)
        except Exception as error:  # storage or not: the partition fails, the thread goes on (KIP-461)
            self._fail(state, f"append: {error}")
            return
        if batches:
            state.offset = end
            self._reader.want(FetchPartition(state.tp, state.leader_epoch, end, 0))
        quota = self._quota
        if quota is not None:
            state.behind = answer.high_watermark > state.offset
            if batches and quota.throttles(state.tp):
                quota.record(sum(batch.size for batch in batches), self._process.clock_us)

    async def _out_of_range(self, state: FetchState) -> None:
        """Our offset is not in the leader's log: go to its end, or begin at its start (kafka-behaviour, 8.3)."""
        request = ListOffsetsRequest(state.tp, state.leader_epoch)
        try:
            found: ListOffsetsResponse = await self._endpoint.call(request, request.size)
        except Disconnected:
            self._reader.reset()
            self._delay([state])
            return
        if self.states.get(state.tp) is not state:
            return
        if found.error is Errors.FENCED_LEADER_EPOCH:
            self._fail(state, found.error.name)
            return
        if found.error is not Errors.NONE:
            self._refuse(state)
            return
        try:
            if found.end < state.log.log_end_offset:
                state.log.truncate_to(found.end)
            elif found.start > state.log.log_end_offset:
                state.log.truncate_fully_and_start_at(found.start)
        except Exception:  # here an error only delays (2.3)
            self._delay([state])
            return
        self._start_fetching(state, state.log.log_end_offset)
