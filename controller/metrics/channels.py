"""The metrics of ControllerChannelManager: the requests queued for each broker, and their time in the queue."""

from collections.abc import Callable

from emulator.metrics import Metrics, SampledGauge, mbean


def _name(name: str, **tags: int) -> str:
    return mbean("kafka.controller", "ControllerChannelManager", name, **tags)


class QueueMetrics:
    """The metrics of the queue to one broker. ``total``: the gauge of all queues together."""

    def __init__(self, metrics: Metrics, broker: int, size: Callable[[], int], total: SampledGauge) -> None:
        tag = {"broker-id": broker}
        self._metrics = metrics
        self._total = total
        self._size = metrics.sampled(_name("QueueSize", **tag), size)
        self._queue_time = metrics.timer(_name("RequestRateAndQueueTimeMs", **tag))

    def changed(self) -> None:
        """The queue length changed."""
        self._size.changed()
        self._total.changed()

    def taken(self, waited_us: int) -> None:
        """A request was taken out, after ``waited_us``."""
        self._queue_time.update(waited_us)
        self.changed()

    def ended(self) -> None:
        """Remove the metrics: the broker is gone, or this controller has resigned."""
        self._total.changed()
        self._metrics.remove(self._size)
        self._metrics.remove(self._queue_time)


def total_queue_size(metrics: Metrics, size: Callable[[], int]) -> SampledGauge:
    """The gauge TotalQueueSize, which every broker has."""
    return metrics.sampled(_name("TotalQueueSize"), size)
