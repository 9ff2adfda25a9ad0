"""The set-up that E3 to E6 share: one partition under an even load is moved, over cards of a stated bandwidth.

MB are 10^6 bytes, as in the predictions (readings, 10). The load comes as ten batches a second, each of at most
1 MB, which is what one batch may be (message.max.bytes).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from scenarios.model import Scenario

MESSAGE_BYTES = 1_000
BATCHES_PER_S = 10
MB = 1_000_000
START_S = 1


@frozen(kw_only=True)
class Move:
    """One partition's move.

    Attributes:
        size_mb: what it holds at the start; write_mb: what is written to it each second.
        config: broker settings; network: as in a scenario file.
    """

    brokers: int
    before: Sequence[int]
    target: Sequence[int]
    size_mb: float
    write_mb: float
    strategy: str
    horizon_s: float
    config: Mapping[str, object] = {}
    network: Mapping[str, object] = {}

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
            "topics": [{"name": "orders", "assignment": [list(self.before)], "size": f"{round(self.size_mb * MB)}B"}],
            "strategy": {"name": self.strategy},
            "plan": {
                "version": 1,
                "partitions": [{"topic": "orders", "partition": 0, "replicas": list(self.target)}],
            },
            "method": [{"at": f"{START_S}s", "action": "reassign.execute"}],
        }
        if self.write_mb:
            table["workloads"] = [
                {
                    "topic": "orders",
                    "producerRate": round(self.write_mb * MB / MESSAGE_BYTES),
                    "messageSize": MESSAGE_BYTES,
                    "linger": f"{1_000 // BATCHES_PER_S}ms",
                }
            ]
        return Scenario.from_table(table)
