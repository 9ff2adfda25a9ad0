"""A follower's side of the replication throttle (KIP-73; kafka-behaviour, 8.6)."""

from emulator.nodes import Process
from emulator.protocol.fetch import FetchedPartition
from fetchers.partitions import Partitions
from fetchers.quota import ReplicationQuota
from fetchers.state import FetchState


class FollowerThrottle:
    """Leaves out of a thread's fetches what is listed and behind, while the broker's quota is exceeded."""

    def __init__(self, process: Process, partitions: Partitions, quota: ReplicationQuota) -> None:
        self._process = process
        self._partitions = partitions
        self._quota = quota

    def apply(self) -> None:
        """Hold back, or let go, before the next fetch."""
        partitions, quota = self._partitions, self._quota
        exceeded = quota.exceeded(self._process.clock_us)
        for tp, state in partitions.states.items():
            if state.truncating or state.delayed_until_us or not quota.throttles(tp):
                continue
            hold = exceeded and state.behind
            if hold and not state.held:
                partitions.hold(state)
            elif state.held and not hold:
                partitions.let_go(state)
        if partitions.held:
            partitions.pending.hold(partitions.patience_us)
        else:
            partitions.pending.release()

    def received(self, state: FetchState, answer: FetchedPartition) -> None:
        """Count what came. ``state.offset`` stands behind it."""
        state.behind = answer.high_watermark > state.offset
        if answer.batches and self._quota.throttles(state.tp):
            self._quota.record(sum(batch.size for batch in answer.batches), self._process.clock_us)
