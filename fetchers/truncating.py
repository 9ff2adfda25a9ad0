"""The truncation round of a fetcher thread (kafka-behaviour, 8.2 and 8.3)."""

from collections.abc import Callable

import structlog

from emulator.network import Disconnected
from emulator.protocol.errors import Errors
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, EpochEndOffset, EpochQuery
from fetchers.partitions import Partitions
from fetchers.ports import LeaderEndPoint
from fetchers.state import FetchState
from fetchers.truncation import TruncationRule

Fail = Callable[[FetchState, str], None]
"""What becomes of a partition that cannot be fetched, for a reason."""


class TruncationRound:
    """Cuts the logs of the partitions that truncate, and lets those be fetched that need no further answer."""

    def __init__(
        self, partitions: Partitions, endpoint: LeaderEndPoint, rule: TruncationRule, fail: Fail, fetcher: str
    ) -> None:
        self._partitions = partitions
        self._endpoint = endpoint
        self._rule = rule
        self._fail = fail
        self._log = structlog.get_logger("fetchers").bind(fetcher=fetcher)

    async def run(self) -> None:
        """One round: those without an epoch cut at their high watermark, the others ask the leader."""
        partitions = self._partitions
        asking: list[FetchState] = []
        queries: list[EpochQuery] = []
        for tp in list(partitions.truncating):
            state = partitions.states[tp]
            epoch = state.log.latest_epoch
            if epoch == UNDEFINED_EPOCH:
                self._cut(state, state.offset, True)
            else:
                asking.append(state)
                queries.append(EpochQuery(tp, state.leader_epoch, epoch))
        if queries:
            await self._ask(asking, tuple(queries))
        if not partitions.truncating:
            partitions.truncating.clear()  # gives back the room of what was deleted

    async def _ask(self, asking: list[FetchState], queries: tuple[EpochQuery, ...]) -> None:
        partitions = self._partitions
        try:
            answers = await self._endpoint.epoch_ends(queries)
        except Disconnected as lost:
            self._log.warning("leader does not answer", error=str(lost))
            self._endpoint.reset()
            partitions.delay(state for state in asking if state in partitions)
            return
        for state, answer in zip(asking, answers, strict=True):
            if state in partitions:
                self._apply(state, answer)

    def _apply(self, state: FetchState, answer: EpochEndOffset) -> None:
        if answer.error is Errors.NONE:
            offset, done = self._rule.cut(state.log, answer, state.offset)
            self._cut(state, offset, done)
        elif answer.error is Errors.FENCED_LEADER_EPOCH:
            self._fail(state, answer.error.name)
        else:
            self._partitions.refuse(state)

    def _cut(self, state: FetchState, offset: int, done: bool) -> None:
        try:
            state.log.truncate_to(offset)
        except Exception as error:  # any error while truncating fails the partition (2.3)
            self._fail(state, f"truncation: {error}")
            return
        if done:
            self._partitions.start_fetching(state, state.log.log_end_offset)
        else:
            state.offset = offset  # what a next, undefined answer falls back to
