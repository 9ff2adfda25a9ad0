"""An administrator who moves replicas between the log directories of a broker, and asks what is in them.

A copy is slow, and is overtaken: by a move of the partition to other brokers, by the death of the directory that it is
copied to, and of the one that it is copied from.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define

from benchmarks.calibration.clients.base import Asking, Scripted, Step, name

ALTER, DESCRIBE = (34, 1), (35, 1)

STEPS: Mapping[str, Sequence[Step]] = {
    "administrator": (
        *((1, broker, "describe") for broker in (0, 1, 2, 3)),
        (2, 2, "move small"), (2, 1, "move orders"), (2, 3, "move orders"), (3, 1, "describe"), (3, 1, "move orders"),
        (7, 2, "describe"), (7, 2, "move small to where it is"),
        (16, 1, "describe"), (16, 3, "describe"), (17, 1, "move payments"), (18, 1, "describe"),
        (34, 1, "describe"), (34, 1, "move payments"),
        (36, 0, "move payments"), (37, 0, "describe"), (52, 0, "describe"), (52, 0, "move payments"),
        (53, 2, "describe"),
    ),
}  # fmt: skip


@define(eq=False)
class Administrator(Scripted):
    """The administrator. Directories are named by their numbers."""

    topic = "-"

    def carry_out(self, broker: int, verb: str) -> Asking:
        found = yield from self.ask(broker, DESCRIBE, {"topics": None})
        if found is None:
            return ""
        dirs = sorted(found["results"], key=lambda each: _number(each["log_dir"]))
        if verb == "describe":
            return "; ".join(map(_described, dirs))
        topic = verb.split()[1]
        stays = verb.endswith("where it is")
        paths = [each["log_dir"] for each in dirs if (topic in _current(each)) == stays]
        body = {"dirs": [{"path": paths[-1], "topics": [{"name": topic, "partitions": [0]}]}]}
        found = yield from self.ask(broker, ALTER, body)
        if found is None:
            return ""
        return f"to {_number(paths[-1])}, {name(found['results'][0]['partitions'][0])}"


def _number(path: str) -> str:
    return path.rpartition("/")[2]


def _current(found: Mapping[str, Any]) -> list[str]:
    """The topics with a replica in a directory, without those that are being copied into it."""
    return [each["name"] for each in found["topics"] if not all(part["is_future_key"] for part in each["partitions"])]


def _described(found: Mapping[str, Any]) -> str:
    replicas = [f"{each['name']}{_state(part)}" for each in found["topics"] for part in each["partitions"]]
    return f"{_number(found['log_dir'])} {name(found)}: {', '.join(sorted(replicas)) or 'nothing'}"


def _state(part: Mapping[str, Any]) -> str:
    return f"-{part['partition_index']}{' (a copy)' * part['is_future_key']}{' behind' * (part['offset_lag'] > 0)}"
