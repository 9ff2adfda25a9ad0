"""The metrics of fetchers (kafka-behaviour §9): MaxLag, MinFetchRate, FailedPartitionsCount and DeadThreadCount of a
manager; FetcherStats of each thread, and FetcherLagMetrics of each of its partitions."""

from collections.abc import Sequence

from emulator.metrics import Gauge, mbean
from emulator.nodes import Process
from emulator.protocol.address import PORT, host
from emulator.protocol.events import ConsumerLag
from emulator.protocol.fetch import FetchedFields
from fetchers.state import NO_LAG, PartitionFetchState


class ManagerMetrics:
    """The metrics of one manager. MinFetchRate is not written: it is the lowest one-minute rate of its threads'
    RequestsPerSec.

    Attributes:
        failed: the gauge FailedPartitionsCount (KIP-461).
        dead: the gauge DeadThreadCount (KAFKA-7981, 2.4): threads that an error has ended, until the idle sweep removes
            them.
    """

    def __init__(self, process: Process, type: str, client_id: str) -> None:
        def gauge(name: str) -> Gauge:
            return process.metrics.gauge(mbean("kafka.server", type, name, clientId=client_id))

        self.failed = gauge("FailedPartitionsCount")
        self.dead = gauge("DeadThreadCount")
        self._process = process
        self._lagging: dict[PartitionFetchState, None] = {}
        self._max_lag = process.metrics.sampled(
            mbean("kafka.server", type, "MaxLag", clientId=client_id), self._read_max_lag
        )
        process.metrics.derived(mbean("kafka.server", type, "MinFetchRate", clientId=client_id))

    def thread(self, name: str, leader: int) -> "ThreadMetrics":
        """The metrics of a new thread."""
        return ThreadMetrics(self._process, self, name, leader)

    def lag_changed(self, state: PartitionFetchState) -> None:
        if state.lag > 0:
            self._lagging[state] = None
        else:
            self._lagging.pop(state, None)
        self._max_lag.changed()

    def _read_max_lag(self) -> int:
        return max((state.lag for state in self._lagging), default=0)


class ThreadMetrics:
    """The metrics of one thread and of the partitions that it fetches.

    Attributes:
        requests: FetcherStats.RequestsPerSec.
    """

    def __init__(self, process: Process, manager: ManagerMetrics, name: str, leader: int) -> None:
        self._process = process
        self._manager = manager
        self._fetcher = name
        self._dead = 0
        self._changed: list[PartitionFetchState] = []
        tags = {"clientId": name, "brokerHost": host(leader), "brokerPort": PORT}
        self.requests = process.metrics.meter(mbean("kafka.server", "FetcherStats", "RequestsPerSec", **tags))
        self._bytes = process.metrics.meter(mbean("kafka.server", "FetcherStats", "BytesPerSec", **tags))

    def died(self) -> None:
        """An error has ended the thread; it counts as dead until the idle sweep removes it."""
        self._dead = 1
        self._manager.dead.set(self._manager.dead.value + 1)

    def ended(self) -> None:
        """The thread was shut down: remove its meters."""
        self._manager.dead.set(self._manager.dead.value - self._dead)
        for meter in (self.requests, self._bytes):
            self._process.metrics.remove(meter)

    def answered(self, answers: Sequence[FetchedFields]) -> None:
        """Count a fetch request that was answered, or lost (no answers). A response without records is counted but not
        written."""
        size = sum([batch.size for answer in answers for batch in answer[4]]) if answers else 0
        if size:
            self._bytes.mark(size)
            self.requests.mark()
        else:
            self.requests.mark_idly()

    def dropped(self, state: PartitionFetchState) -> None:
        """Remove the lag of a partition that the thread does not fetch any more."""
        if state.lag != NO_LAG:
            self.lag_changed(state, NO_LAG)

    def lag_changed(self, state: PartitionFetchState, lag: int) -> None:
        state.lag = lag
        self._manager.lag_changed(state)
        if not self._changed:
            self._process.metrics.gauges.add(self)
        self._changed.append(state)

    def write(self) -> None:
        """Write the lags that have changed; called at the instants of the metrics grid."""
        changed, self._changed = self._changed, []
        node = self._process.node.id
        for state in changed:
            if state.lag != state.lag_written:
                state.lag_written = state.lag
                tp = state.tp
                self._process.emit(ConsumerLag, node, self._fetcher, tp.topic, tp.partition, state.lag)
