"""The writes of a move to ZooKeeper, by ZooKeeper's own clock (Kafka 2.4 and later: ``adding_replicas`` of KIP-455)."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.transactions import transactions

ZNODE = re.compile(r"/brokers/topics/(?P<topic>[^/]+)(/partitions/(?P<number>\d+)/state)?")
CHANGED = ("adding_replicas", "removing_replicas")


@define
class Written:
    """The writes of a move.

    Attributes:
        began_s: when the first topic's znode said that replicas are added.
        ends: when each partition's entry left it again.
        states: time, partition, leader, ISR: each state of a moved partition that was written since.
    """

    began_s: float = 0.0
    ends: dict[str, float] = field(factory=dict)
    states: list[tuple[float, str, int, tuple[int, ...]]] = field(factory=list)

    @property
    def ended_s(self) -> float:
        return max(self.ends.values())


def written(folder: Path, topics: Sequence[str]) -> Written:
    """The writes of the move of ``topics``, from ZooKeeper's transaction log. Raises: CannotRecord, if none moved."""
    found = Written()
    moving: dict[str, set[str]] = {}
    for each in transactions(folder):
        match = ZNODE.fullmatch(each.path)
        if match is None or each.op != "setData" or match["topic"] not in topics:
            continue
        at_s, data, topic = each.time_ms / 1000, json.loads(each.data), match["topic"]
        if match["number"] is None:
            now = {f"{topic}-{number}" for key in CHANGED for number in data.get(key, ())}
            if now and not found.began_s:
                found.began_s = at_s
            found.ends |= dict.fromkeys(moving.get(topic, set()) - now, at_s)
            moving[topic] = now
        elif found.began_s:
            found.states.append((at_s, f"{topic}-{match['number']}", data["leader"], tuple(data["isr"])))
    if not found.ends:
        raise CannotRecord("no partition's move has ended")
    return found
