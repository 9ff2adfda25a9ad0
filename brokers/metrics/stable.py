"""LastStableOffsetLag: how much of a leader's log consumers of committed records may not read yet (KIP-98, 1.0)."""

from typing import TYPE_CHECKING

from emulator.nodes import Process
from emulator.protocol.events import LastStableOffsetLag

if TYPE_CHECKING:
    from brokers.partition import Partition


class StableLags:
    """The gauge of every partition of a broker. It changes twice with each batch and is looked at once a second, where
    there was one. ``lags``: those that are not 0."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._changed: dict[Partition, None] = {}
        self.lags: dict[Partition, int] = {}

    def changed(self, partition: "Partition") -> None:
        """Its log has grown; or it had a lag, and its high watermark or its role is another."""
        changed = self._changed
        if not changed:
            self._process.metrics.meters.add(self)
        changed[partition] = None

    def write(self) -> None:
        """A second is over."""
        changed, self._changed = self._changed, {}
        node = self._process.node.id
        for partition in changed:
            leads = partition.is_leader and partition.log is not None
            lag = partition.log_end_offset - partition.high_watermark if leads else 0
            if lag == self.lags.get(partition, 0):
                continue
            if lag:
                self.lags[partition] = lag
            else:
                del self.lags[partition]
            self._process.emit(LastStableOffsetLag, node, partition.tp.topic, partition.tp.partition, lag)
