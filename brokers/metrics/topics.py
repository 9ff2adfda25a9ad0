"""BrokerTopicMetrics: what producers, consumers and other brokers move through this one (kafka-behaviour, 9)."""

from attrs import define

from emulator.metrics import Meter, Metrics, mbean


def _meter(metrics: Metrics, name: str, topic: str = "") -> Meter:
    return metrics.meter(mbean("kafka.server", "BrokerTopicMetrics", name, topic=topic))


class ClientMeters:
    """What clients move, of one topic or (``""``) of all."""

    def __init__(self, metrics: Metrics, topic: str) -> None:
        self._messages_in = _meter(metrics, "MessagesInPerSec", topic)
        self._bytes_in = _meter(metrics, "BytesInPerSec", topic)
        self._bytes_out = _meter(metrics, "BytesOutPerSec", topic)

    def tell(self, messages_in: int, bytes_in: int, bytes_out: int, since_us: int) -> None:
        self._messages_in.add_since(messages_in, since_us)
        self._bytes_in.add_since(bytes_in, since_us)
        self._bytes_out.add_since(bytes_out, since_us)


@define(eq=False)
class Moved:
    """Of one topic, since the last instant."""

    meters: ClientMeters
    messages_in: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


class BrokerTopicMetrics:
    """The meters of one broker. Those of a topic exist from its first use on; what clients move is summed up here and
    told once a second, since it is counted for every batch.

    Attributes:
        replication_in, replication_out: bytes that this broker appended as a follower, and sent to followers.
        reassignment_in, reassignment_out: of these, what replicas that are being added appended and were sent
            (KIP-352, 2.5).
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._all = ClientMeters(metrics, "")
        self._topics: dict[str, ClientMeters] = {}
        self._moved: dict[str, Moved] = {}
        self._since_us = 0
        self.replication_in = _meter(metrics, "ReplicationBytesInPerSec")
        self.replication_out = _meter(metrics, "ReplicationBytesOutPerSec")
        self.reassignment_in = _meter(metrics, "ReassignmentBytesInPerSec")
        self.reassignment_out = _meter(metrics, "ReassignmentBytesOutPerSec")

    def produced(self, topic: str, messages: int, size: int) -> None:
        """A producer's batch was appended."""
        moved = self._moved.get(topic) or self._begin(topic)
        moved.messages_in += messages
        moved.bytes_in += size

    def consumed(self, topic: str, size: int) -> None:
        """A consumer was sent records."""
        moved = self._moved.get(topic) or self._begin(topic)
        moved.bytes_out += size

    def _begin(self, topic: str) -> Moved:
        if not self._moved:
            self._since_us = self._metrics.time_us()
            self._metrics.meters.add(self)
        meters = self._topics.get(topic)
        if meters is None:
            meters = self._topics[topic] = ClientMeters(self._metrics, topic)
        moved = self._moved[topic] = Moved(meters)
        return moved

    def write(self) -> None:
        """A second is over."""
        all_moved, self._moved = self._moved.values(), {}
        for moved in all_moved:
            moved.meters.tell(moved.messages_in, moved.bytes_in, moved.bytes_out, self._since_us)
        self._all.tell(
            sum(moved.messages_in for moved in all_moved),
            sum(moved.bytes_in for moved in all_moved),
            sum(moved.bytes_out for moved in all_moved),
            self._since_us,
        )
