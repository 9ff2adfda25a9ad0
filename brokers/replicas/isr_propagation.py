"""isr-change-propagation: a leader tells the controller which ISRs it changed (kafka-behaviour, 4).

Every 2.5 s, if something changed: when the last change is 5 s old, or the last notification 60 s.
"""

from brokers.policies import BrokerConfig
from emulator.nodes import Process
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ISR_CHANGE_NOTIFICATION, encode_isr_change
from emulator.zookeeper import Create, Response, ZkClient


class IsrChangePropagation:
    """Collects changes and publishes them as one sequential znode."""

    def __init__(self, process: Process, zk: ZkClient, config: BrokerConfig) -> None:
        self._process = process
        self._zk = zk
        self._config = config
        self._changed: dict[TopicPartition, None] = {}
        self._last_change_us = self._last_notification_us = process.clock_us

    def start(self) -> None:
        self._process.every(self._config.isr_change_propagation_interval_us, self._maybe_publish)

    def record(self, tp: TopicPartition) -> None:
        self._changed[tp] = None
        self._last_change_us = self._process.clock_us

    def _maybe_publish(self) -> None:
        now, config = self._process.clock_us, self._config
        if self._changed and (
            self._last_change_us + config.isr_change_propagation_blackout_us < now
            or self._last_notification_us + config.isr_change_propagation_max_us < now
        ):
            data = encode_isr_change(self._changed)
            self._changed.clear()
            self._last_notification_us = now
            self._zk.submit(Create(f"{ISR_CHANGE_NOTIFICATION}/isr_change_", data, False, True), self._published)

    def _published(self, _response: Response) -> None:
        """Kafka does not look at the outcome either: the next change brings the next notification."""
