"""One thread's failures: each is judged by the profile's rule, and what follows happens here."""

from collections.abc import Callable

import structlog

from emulator.kernel import KernelError
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from fetchers.failed_partitions import FailedPartitions
from fetchers.failures import FailureRule, FetcherDied, Verdict
from fetchers.partitions import Partitions
from fetchers.state import FetchState


class Failing:
    """``all_failed`` is called when a failure has left the thread without a partition."""

    def __init__(
        self,
        process: Process,
        fetcher: str,
        partitions: Partitions,
        failed: FailedPartitions,
        rule: FailureRule,
        all_failed: Callable[[], object],
    ) -> None:
        self._process = process
        self._fetcher = fetcher
        self._partitions = partitions
        self._failed = failed
        self._rule = rule
        self._all_failed = all_failed
        self._log = structlog.get_logger("fetchers").bind(broker=process.node.id, fetcher=fetcher)

    def fenced(self, state: FetchState) -> None:
        """The leader knows of a later epoch than ``state`` is fetched under."""
        self._carry_out(self._rule.fenced, state, Errors.FENCED_LEADER_EPOCH.name)

    def error(self, state: FetchState, doing: str, error: Exception) -> None:
        """``doing`` something to the log raised ``error``. Raises: FetcherDied."""
        if isinstance(error, KernelError):
            raise error
        self._carry_out(self._rule.judge(error), state, f"{doing}: {error}")

    def _carry_out(self, verdict: Verdict, state: FetchState, reason: str) -> None:
        if verdict is Verdict.FAIL:
            self._fail(state, reason)
        elif verdict is Verdict.DELAY:
            self._log.info("partition delayed", partition=str(state.tp), reason=reason)
            self._partitions.refuse(state)
        elif verdict is Verdict.HALT:
            self._log.critical("the broker halts", partition=str(state.tp), reason=reason)
            self._process.node.halt()
        else:
            raise FetcherDied(f"{state.tp}: {reason}")

    def _fail(self, state: FetchState, reason: str) -> None:
        """KIP-461: log it, track it, leave the others alone."""
        self._log.error("partition failed", partition=str(state.tp), reason=reason)
        self._partitions.drop(state.tp)
        self._failed.add(state.tp, self._fetcher, state.leader_epoch, reason)
        if not self._partitions.states:
            self._all_failed()
