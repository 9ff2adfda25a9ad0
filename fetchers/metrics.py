"""What fetchers measure (kafka-behaviour, 9): of the managers MaxLag, MinFetchRate, FailedPartitionsCount and
DeadThreadCount; of each thread FetcherStats and, for each partition, FetcherLagMetrics; of a throttle its byte-rate."""

from collections.abc import Sequence

from emulator.metrics import Gauge, attribute, mbean
from emulator.nodes import Process
from emulator.protocol.address import PORT, host
from emulator.protocol.events import ConsumerLag
from emulator.protocol.fetch import FetchedPartition
from fetchers.quota import Quota
from fetchers.state import NO_LAG, FetchState


class ManagerMetrics:
    """Of one manager. MinFetchRate is not written: it is the least one-minute rate of its threads' RequestsPerSec.

    Attributes:
        failed, dead: the gauges FailedPartitionsCount (KIP-461) and DeadThreadCount (KAFKA-7981, 2.4): threads that an
            error has ended, until a sweep finds them empty.
    """

    def __init__(self, process: Process, type: str, client_id: str) -> None:
        def gauge(name: str) -> Gauge:
            return process.metrics.gauge(mbean("kafka.server", type, name, clientId=client_id))

        self.failed = gauge("FailedPartitionsCount")
        self.dead = gauge("DeadThreadCount")
        self._process = process
        self._lagging: dict[FetchState, None] = {}
        self._max_lag = process.metrics.sampled(
            mbean("kafka.server", type, "MaxLag", clientId=client_id), self._read_max_lag
        )
        process.metrics.derived(mbean("kafka.server", type, "MinFetchRate", clientId=client_id))

    def thread(self, name: str, leader: int) -> "ThreadMetrics":
        """Those of a thread that starts."""
        return ThreadMetrics(self._process, self, name, leader)

    def lag_changed(self, state: FetchState) -> None:
        if state.lag > 0:
            self._lagging[state] = None
        else:
            self._lagging.pop(state, None)
        self._max_lag.changed()

    def _read_max_lag(self) -> int:
        return max((state.lag for state in self._lagging), default=0)


class ThreadMetrics:
    """Of one thread and the partitions that it fetches."""

    def __init__(self, process: Process, manager: ManagerMetrics, name: str, leader: int) -> None:
        self._process = process
        self._manager = manager
        self._fetcher = name
        self._dead = 0
        self._changed: list[FetchState] = []
        tags = {"clientId": name, "brokerHost": host(leader), "brokerPort": PORT}
        self._requests = process.metrics.meter(mbean("kafka.server", "FetcherStats", "RequestsPerSec", **tags))
        self._bytes = process.metrics.meter(mbean("kafka.server", "FetcherStats", "BytesPerSec", **tags))

    def died(self) -> None:
        """An error has ended the thread; it counts as dead until a sweep finds it."""
        self._dead = 1
        self._manager.dead.set(self._manager.dead.value + 1)

    def ended(self) -> None:
        """The thread is no more."""
        self._manager.dead.set(self._manager.dead.value - self._dead)
        for meter in (self._requests, self._bytes):
            self._process.metrics.remove(meter)

    def answered(self, answers: Sequence[FetchedPartition]) -> None:
        """A fetch request was answered, or lost (no answers). A long poll that found nothing is routine."""
        size = sum([batch.size for answer in answers for batch in answer.batches]) if answers else 0
        if size:
            self._bytes.mark(size)
            self._requests.mark()
        else:
            self._requests.mark_idly()

    def fetched(self, state: FetchState, leader_high_watermark: int) -> None:
        """An answer was appended: Kafka's lag is what the leader had committed beyond it, also where it was empty
        (KAFKA-7704)."""
        lag = leader_high_watermark - state.offset if leader_high_watermark > state.offset else 0
        if lag != state.lag:
            self._set(state, lag)

    def dropped(self, state: FetchState) -> None:
        """The partition is not fetched here any more: its lag is gone."""
        if state.lag != NO_LAG:
            self._set(state, NO_LAG)

    def _set(self, state: FetchState, lag: int) -> None:
        state.lag = lag
        self._manager.lag_changed(state)
        if not self._changed:
            self._process.metrics.gauges.add(self)
        self._changed.append(state)

    def write(self) -> None:
        """An instant of the grid."""
        changed, self._changed = self._changed, []
        node = self._process.node.id
        for state in changed:
            if state.lag != state.lag_written:
                state.lag_written = state.lag
                tp = state.tp
                self._process.emit(ConsumerLag, node, self._fetcher, tp.topic, tp.partition, state.lag)


class ThrottleRate:
    """The byte-rate of one replication quota (``kafka.server:type=LeaderReplication`` and its like, KIP-73). It exists
    from the first bytes that are counted, as Kafka's sensor does, and is written once a second until its window is
    empty."""

    def __init__(self, process: Process, type: str, quota: Quota) -> None:
        self._process = process
        self._name = attribute("kafka.server", type, "byte-rate")
        self._quota = quota
        self._gauge: Gauge | None = None
        self._due = False

    def counted(self) -> None:
        """Bytes have passed."""
        if not self._due:
            self._due = True
            self._process.metrics.meters.add(self)

    def write(self) -> None:
        """A second is over."""
        if self._gauge is None:
            self._gauge = self._process.metrics.gauge(self._name)
        rate = round(self._quota.byte_rate(self._process.clock_us))
        self._gauge.set(rate)
        self._due = False
        if rate:
            self.counted()
