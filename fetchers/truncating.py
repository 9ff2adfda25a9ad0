"""The truncation round of a fetcher thread (kafka-behaviour, 8.2 and 8.3)."""

import structlog

from emulator.network import Disconnected
from emulator.protocol.errors import Errors
from emulator.protocol.offsets_for_leader_epoch import EpochEndOffset, EpochQuery
from emulator.protocol.types import TopicPartition
from fetchers.failing import Failing
from fetchers.failures import FetcherDied
from fetchers.partitions import Partitions
from fetchers.ports import LeaderEndPoint
from fetchers.state import FetchState
from fetchers.truncation import TruncationRule


class TruncationRound:
    """Cuts the logs of the partitions that truncate, and lets those be fetched that need no further answer."""

    def __init__(
        self, partitions: Partitions, endpoint: LeaderEndPoint, rule: TruncationRule, failing: Failing, fetcher: str
    ) -> None:
        self._partitions = partitions
        self._endpoint = endpoint
        self._rule = rule
        self._failing = failing
        self._log = structlog.get_logger("fetchers").bind(fetcher=fetcher)

    async def run(self) -> None:
        """One round: those without an epoch cut at their high watermark, the others ask the leader.

        Raises:
            FetcherDied: a log cannot say what it holds, or the leader answers for what it was not asked.
        """
        partitions = self._partitions
        asking: dict[TopicPartition, FetchState] = {}
        queries: list[EpochQuery] = []
        for tp in list(partitions.truncating):
            state = partitions.states[tp]
            epoch = self._latest_epoch(state)
            if self._rule.asks(epoch):
                asking[tp] = state
                queries.append(EpochQuery(tp, state.leader_epoch, epoch))
            else:
                self._cut(state, state.offset, True)
        if queries:
            await self._ask(asking, tuple(queries))
        if not partitions.truncating:
            partitions.truncating.clear()  # gives back the room of what was deleted

    def _latest_epoch(self, state: FetchState) -> int:
        try:
            return state.log.latest_epoch
        except Exception as error:
            raise FetcherDied(f"{state.tp}: no replica to truncate: {error}") from error

    async def _ask(self, asking: dict[TopicPartition, FetchState], queries: tuple[EpochQuery, ...]) -> None:
        partitions = self._partitions
        try:
            answers = await self._endpoint.epoch_ends(queries)
        except Disconnected as lost:
            self._log.warning("leader does not answer", error=str(lost))
            self._endpoint.reset()
            partitions.delay(state for state in asking.values() if state in partitions)
            return
        for answer in answers:
            asked = asking.get(answer.tp)
            if asked is None:
                raise FetcherDied(f"the leader answers for {answer.tp}, which was not asked for")
            state = partitions.states.get(answer.tp)
            if state is asked or (self._rule.takes_late_answers and state is not None and state.truncating):
                self._apply(state, answer)

    def diverged(self, state: FetchState, answer: EpochEndOffset) -> None:
        """The leader says, in answer to a fetch, where its log and ours part: cut ours, and let the next fetch tell
        whether that was all."""
        offset, _ = self._rule.cut(state.log, answer, state.offset)
        self._cut(state, offset, True)

    def _apply(self, state: FetchState, answer: EpochEndOffset) -> None:
        if answer.error is Errors.NONE:
            offset, done = self._rule.cut(state.log, answer, state.offset)
            self._cut(state, offset, done)
        elif answer.error is Errors.FENCED_LEADER_EPOCH:
            self._failing.fenced(state)
        else:
            self._partitions.refuse(state)

    def _cut(self, state: FetchState, offset: int, done: bool) -> None:
        try:
            state.log.truncate_to(offset)
        except Exception as error:
            self._failing.error(state, "truncation", error)
            return
        if done:
            self._partitions.start_fetching(state, state.log.log_end_offset)
        else:
            state.offset = offset  # what a next, undefined answer falls back to
