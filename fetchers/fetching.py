"""The fetch round of a fetcher thread: what an answer does to the partitions (kafka-behaviour, 8.2 to 8.4)."""

from collections.abc import Callable, Iterable

from emulator.network import Disconnected
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, EpochEndOffset
from emulator.protocol.types import TopicPartition
from fetchers.failing import Failing
from fetchers.metrics import ThreadMetrics
from fetchers.partitions import Partitions
from fetchers.policies import FetcherPolicies
from fetchers.ports import LeaderEndPoint
from fetchers.state import FetchState
from fetchers.throttling import FollowerThrottle
from fetchers.truncating import TruncationRound

Finish = Callable[[TopicPartition], bool]
"""Looks, after each append, whether that was all; then the partition is fetched no more."""


class FetchRound:
    """Appends what has been fetched."""

    def __init__(
        self,
        partitions: Partitions,
        endpoint: LeaderEndPoint,
        failing: Failing,
        truncation: TruncationRound,
        policies: FetcherPolicies,
        throttle: FollowerThrottle,
        finish: Finish | None,
        metrics: ThreadMetrics,
    ) -> None:
        self._partitions = partitions
        self._endpoint = endpoint
        self._failing = failing
        self._truncation = truncation
        self._on_fetch = policies.truncation.on_fetch
        self._drops_log = policies.out_of_range_drops_log
        self._throttle = throttle
        self._finish = finish
        self._metrics = metrics

    async def take(self, answers: Iterable[FetchedPartition]) -> None:
        """Do what they say."""
        states = self._partitions.states
        for answer in answers:
            state = states.get(answer.tp)
            if state is not None and not state.truncating and not state.delayed_until_us:
                if answer.error or answer.diverging is not None:
                    await self._refused(state, answer)
                else:
                    self._append(state, answer)

    async def _refused(self, state: FetchState, answer: FetchedPartition) -> None:
        """The leader says that this log is not as it should be, or that it does not answer for the partition."""
        error = answer.error
        if answer.diverging is not None:
            self._truncation.diverged(state, EpochEndOffset(state.tp, error, *answer.diverging))
        elif error is Errors.OFFSET_OUT_OF_RANGE:
            await self._out_of_range(state)
        elif error is Errors.FENCED_LEADER_EPOCH:
            self._failing.fenced(state)
        else:
            self._partitions.refuse(state)

    def _append(self, state: FetchState, answer: FetchedPartition) -> None:
        batches = answer.batches
        try:
            end = state.log.append_as_follower(batches, answer.high_watermark, answer.log_start_offset)
            if self._finish is not None and self._finish(state.tp):
                self._partitions.drop(state.tp)
                return
        except Exception as error:
            self._failing.error(state, "append", error)
            return
        if batches:
            state.offset = end
            last = batches[-1].leader_epoch if self._on_fetch else UNDEFINED_EPOCH
            self._endpoint.want(FetchPartition(state.tp, state.leader_epoch, end, 0, last))
        throttled = self._throttle.rules.active
        if throttled:
            self._throttle.count(state, batches)
        self._metrics.fetched(state, answer.high_watermark)
        if throttled:
            self._throttle.see(state)

    async def _out_of_range(self, state: FetchState) -> None:
        """Our offset is not in the leader's log: go to its end, or begin at its start (kafka-behaviour, 8.3)."""
        partitions, log = self._partitions, state.log
        try:
            found = await self._endpoint.offsets(state.tp, state.leader_epoch)
        except Disconnected:
            self._endpoint.reset()
            partitions.delay([state])
            return
        if state not in partitions:
            return
        if found.error is Errors.FENCED_LEADER_EPOCH:
            self._failing.fenced(state)
            return
        if found.error is not Errors.NONE:
            partitions.refuse(state)
            return
        try:
            if found.end < log.log_end_offset:
                log.truncate_to(found.end)
            elif found.start > log.log_end_offset or self._drops_log:
                log.truncate_fully_and_start_at(found.start)
        except Exception:  # here an error only delays (2.3)
            partitions.delay([state])
            return
        partitions.start_fetching(state, log.log_end_offset)
