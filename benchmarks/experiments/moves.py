"""The set-up that E3 to E6 share: partitions that are written to evenly are moved, over NICs of a stated bandwidth.

MB are 10^6 bytes, as in the predictions (readings §10). The load comes as at least ten batches a second, each of at
most 1 MB, which is what one batch may be (message.max.bytes), with acks=0: the producer waits for no response.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from attrs import frozen

from scenarios.language import Scenario

MESSAGE_BYTES = 1_000
MB = 1_000_000
START_S = 1
REPLICAS = 4
TARGETS = (4, 5, 6, 7)
MANY: Mapping[str, object] = {"replica.fetch.max.bytes": 10_485_760}
"""Answers as full as replica.fetch.response.max.bytes lets them be: as if what moves were many partitions."""


@frozen(kw_only=True)
class Move:
    """A topic's move, by default of one partition.

    Attributes:
        size_mb: the size of all partitions at the start; write_mb: what is written to them each second.
        batch_mb: the largest size of one batch of the load.
        config: broker settings; network: as in a scenario file.
    """

    brokers: int
    before: Sequence[int]
    target: Sequence[int]
    size_mb: float
    write_mb: float
    strategy: str
    horizon_s: float
    batch_mb: float = 1
    partitions: int = 1
    config: Mapping[str, object] = {}
    network: Mapping[str, object] = {}

    @classmethod
    def of_four(
        cls, size_mb: float, write_mb: float, strategy: str, network: Mapping[str, object], **more: Any
    ) -> Self:
        """A move of all four replicas to ``TARGETS``, for as long as it takes unless ``horizon_s`` says otherwise."""
        return cls(
            brokers=9, before=range(REPLICAS), target=TARGETS, size_mb=size_mb, write_mb=write_mb, strategy=strategy,
            network=network, **{"config": MANY, "horizon_s": size_mb, **more},
        )  # fmt: skip

    def scenario(self) -> Scenario:
        table: dict[str, Any] = {
            "title": f"{self.strategy}: {self.size_mb} MB move while {self.write_mb} MB/s are written",
            "horizon": f"{round(self.horizon_s * 1_000)}ms",
            "cluster": {
                "brokers": self.brokers,
                "controller": self.brokers - 1,
                "config": {"auto.leader.rebalance.enable": False, **self.config},
                "network": dict(self.network),
            },
            "topics": [
                {
                    "name": "orders",
                    "assignment": [list(self.before)] * self.partitions,
                    "size": f"{round(self.size_mb * MB / self.partitions)}B",
                }
            ],
            "strategy": {"name": self.strategy},
            "plan": {
                "version": 1,
                "partitions": [
                    {"topic": "orders", "partition": partition, "replicas": list(self.target)}
                    for partition in range(self.partitions)
                ],
            },
            "method": [{"at": f"{START_S}s", "action": "reassign.execute"}],
        }
        if self.write_mb:
            table["workloads"] = [
                {
                    "topic": "orders",
                    "producerRate": round(self.write_mb * MB / MESSAGE_BYTES),
                    "messageSize": MESSAGE_BYTES,
                    "linger": f"{min(100, int(1_000 * self.batch_mb / self.write_mb))}ms",
                    "acks": "0",
                }
            ]
        return Scenario.from_table(table)
