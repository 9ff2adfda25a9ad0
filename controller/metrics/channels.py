"""The metrics of ControllerChannelManager: what waits to be sent to each broker, and for how long."""

from collections.abc import Callable

from emulator.metrics import Metrics, SampledGauge, mbean


def _name(name: str, **tags: int) -> str:
    return mbean("kafka.controller", "ControllerChannelManager", name, **tags)


class QueueMetrics:
    """Of the queue to one broker. ``total``: over all queues."""

    def __init__(self, metrics: Metrics, broker: int, size: Callable[[], int], total: SampledGauge) -> None:
        tag = {"broker-id": broker}
        self._metrics = metrics
        self._total = total
        self._size = metrics.sampled(_name("QueueSize", **tag), size)
        self._queue_time = metrics.timer(_name("RequestRateAndQueueTimeMs", **tag))

    def changed(self) -> None:
        """Something was put, or taken."""
        self._size.changed()
        self._total.changed()

    def taken(self, waited_us: int) -> None:
        """A request is about to be sent."""
        self._queue_time.update(waited_us)
        self.changed()

    def ended(self) -> None:
        """The broker has left, or the term is over."""
        self._total.changed()
        self._metrics.remove(self._size)
        self._metrics.remove(self._queue_time)


def total_queue_size(metrics: Metrics, size: Callable[[], int]) -> SampledGauge:
    """TotalQueueSize; it exists in every broker."""
    return metrics.sampled(_name("TotalQueueSize"), size)
