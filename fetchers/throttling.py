"""A follower's side of the replication throttles (KIP-73, KIP-542; kafka-behaviour, 8.6)."""

from collections.abc import Sequence

from emulator.nodes import Process
from emulator.protocol.types import Batch, TopicPartition
from fetchers.partitions import Partitions
from fetchers.quota import Quota
from fetchers.quotas import Throttle
from fetchers.state import FetchState


class FollowerThrottle:
    """Leaves out of a thread's fetches who is bound and behind, while the quota is exceeded that binds it.

    Each round looks at those only, however many partitions the thread has.

    Attributes:
        rules: what binds. While it is not ``active`` nobody needs to tell of what comes.
    """

    def __init__(self, process: Process, partitions: Partitions, throttle: Throttle) -> None:
        self._process = process
        self._partitions = partitions
        self.rules = throttle
        self._version = 0
        self._bound: dict[TopicPartition, FetchState] = {}
        """Those that a quota binds and that are behind, and some that have left the thread since."""

    def see(self, state: FetchState) -> None:
        """It has come to the thread, or its lag is another."""
        if self.rules.active:
            if state.behind and self._quota(state) is not None:
                self._bound[state.tp] = state
            else:
                self._bound.pop(state.tp, None)

    def count(self, state: FetchState, batches: Sequence[Batch]) -> None:
        """These have come, and ``state.lag`` is that from before."""
        if batches:
            size = sum(batch.size for batch in batches)
            self.rules.record(state.tp, state.adding and state.behind, size, self._process.clock_us)

    def apply(self) -> None:
        """Hold back, or let go, before the next fetch."""
        if self._version != self.rules.version:
            self._look_anew()
        if self._bound:
            self._hold_back()

    def _look_anew(self) -> None:
        """Others are bound than before."""
        self._version = self.rules.version
        self._bound.clear()
        for state in self._partitions.states.values():
            self.see(state)
            if state.held and state.tp not in self._bound:
                self._partitions.let_go(state)
        if not self._partitions.held:
            self._partitions.pending.release()

    def _hold_back(self) -> None:
        partitions, now_us = self._partitions, self._process.clock_us
        for tp, state in list(self._bound.items()):
            if state not in partitions:
                del self._bound[tp]
            elif not (state.truncating or state.delayed_until_us):
                quota = self._quota(state)
                hold = quota is not None and quota.exceeded(now_us)
                if hold and not state.held:
                    partitions.hold(state)
                elif state.held and not hold:
                    partitions.let_go(state)
        if partitions.held:
            partitions.pending.hold(partitions.patience_us)
        else:
            partitions.pending.release()

    def _quota(self, state: FetchState) -> Quota | None:
        return self.rules.quota(state.tp, state.adding)
