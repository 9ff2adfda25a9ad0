"""A follower's side of the replication throttles (KIP-73, KIP-542; kafka-behaviour §8.6)."""

from collections.abc import Sequence

from attrs import define, field

from emulator.nodes import Process
from emulator.protocol.shown import Deviated
from emulator.protocol.types import Batch, TopicPartition
from fetchers.partitions import Partitions
from fetchers.quota import Quota, Throttle
from fetchers.state import PartitionFetchState


@define(eq=False)
class FollowerThrottle:
    """Leaves partitions that are throttled and behind out of a thread's fetches while their quota is exceeded.

    Each round looks at those partitions only, however many the thread has.

    Attributes:
        bound: the partitions that a quota limits and that are behind, and some that have left the thread since.
    """

    _process: Process
    _partitions: Partitions
    _rules: Throttle
    bound: dict[TopicPartition, PartitionFetchState] = field(factory=dict)
    _version: int = 0

    def lag_changed(self, state: PartitionFetchState) -> None:
        """Take note that the partition was added to the thread, or that its lag has changed."""
        if self._rules.active:
            if state.behind and self._quota(state) is not None:
                self.bound[state.tp] = state
            else:
                self.bound.pop(state.tp, None)

    def record(self, state: PartitionFetchState, batches: Sequence[Batch]) -> None:
        """Count ``batches``, which were fetched; an empty answer counts too (ReplicaFetcherThread.processPartitionData,
        2.3). Call it while ``state.lag`` is still that from before."""
        size = sum([batch.size for batch in batches])
        self._rules.record(state.tp, state.adding and state.behind, size, self._process.clock_us)

    @property
    def is_idle(self) -> bool:
        """Whether ``apply`` has nothing to do until the rules or a lag change."""
        return not self.bound and self._version == self._rules.version

    def apply(self) -> None:
        """Leave partitions out of the fetches, or fetch them again. Called before each round."""
        if self._version != self._rules.version:
            self._rules_changed()
        if self.bound:
            self._hold_back()

    def _rules_changed(self) -> None:
        """Find the partitions that are throttled now."""
        self._version = self._rules.version
        self.bound.clear()
        for state in self._partitions.states.values():
            self.lag_changed(state)
            if state.held and state.tp not in self.bound:
                self._partitions.let_go(state)
        if not self._partitions.held:
            self._partitions.pending.release()

    def _hold_back(self) -> None:
        partitions, now_us = self._partitions, self._process.clock_us
        for tp, state in list(self.bound.items()):
            if state not in partitions:
                del self.bound[tp]
            elif not (state.truncating or state.delayed_until_us or partitions.all_delayed_until_us):
                quota = self._quota(state)
                hold = quota is not None and quota.is_quota_exceeded(now_us)
                if hold and not state.held:
                    if not state.lag:
                        self._show_in_sync(state)
                    partitions.hold(state)
                elif state.held and not hold:
                    partitions.let_go(state)
        if partitions.held:
            partitions.pending.hold(partitions.patience_us)
        else:
            partitions.pending.release()

    def _show_in_sync(self, state: PartitionFetchState) -> None:
        process = self._process
        process.mark(Deviated, process.node.id, "KAFKA-15080", *state.tp, process.node.id)

    def _quota(self, state: PartitionFetchState) -> Quota | None:
        return self._rules.quota(state.tp, state.adding)
