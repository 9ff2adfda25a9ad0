"""A recording, ``MOVE.NUMBER``: a folder of the texts that an operator has before a move, and of what it then did.

``kafka-topics.txt``, ``kafka-log-dirs.txt``, ``kafka-configs.txt``, ``move.json``, and where something is written
``rates.csv``: before the move. ``measured.json``: what was measured.
"""

import json
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from benchmarks.calibration.releases import find_release

RECORDINGS = Path(__file__).parent / "recordings"
TOPICS, LOG_DIRS, CONFIGS = "kafka-topics.txt", "kafka-log-dirs.txt", "kafka-configs.txt"
PLAN, RATES, MEASURED = "move.json", "rates.csv", "measured.json"


@frozen
class Reality:
    """The course of a real move. Seconds count from the controller's first write of it.

    Attributes:
        date, machine: when and on what.
        load: the machine's load average (one minute): least, mean and greatest during the move.
        brokers: how many there are.
        settings: of the brokers, where they are not the release's defaults.
        session_timeout_ms: of the brokers' ZooKeeper sessions.
        throttle: bytes/s.
        writes: bytes/s that a producer writes to each topic, by name; empty: none.
        writer: that producer's settings.
        duration_s: from the first write of the move to its last: the old replicas are off the topic's znode.
        partitions: how long each took.
        copied: seconds, and bytes that the new replicas held together.
        states: seconds, partition, leader and ISR: each change that was written.
        killed, restarted: the broker and the seconds, where one died.
    """

    name: str
    release: str
    title: str
    date: str
    machine: str
    load: tuple[float, float, float]
    brokers: int
    settings: dict[str, str]
    session_timeout_ms: int
    throttle: int
    writes: dict[str, int]
    writer: dict[str, str]
    duration_s: float
    partitions: dict[str, float]
    copied: tuple[tuple[float, int], ...]
    states: tuple[tuple[float, str, int, tuple[int, ...]], ...]
    killed: tuple[int, float] | None
    restarted: tuple[int, float] | None

    @property
    def profile(self) -> str:
        """The emulator's profile that the release is compared with."""
        return find_release(self.release).profile


def recorded(folder: Path = RECORDINGS) -> list[Path]:
    """The folders of all recordings."""
    return sorted(path.parent for path in folder.glob(f"*/{MEASURED}"))


def next_folder(folder: Path, name: str) -> Path:
    """The folder for another recording of a move: ``skewed.2`` after ``skewed.1``."""
    numbers = [int(path.suffix[1:]) for path in folder.glob(f"{name}.*")]
    return folder / f"{name}.{max(numbers, default=0) + 1}"


def write(reality: Reality, texts: dict[str, str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / MEASURED).write_text(_json(asdict(reality)), encoding="utf-8")


def read(folder: Path) -> Reality:
    found = json.loads((folder / MEASURED).read_text(encoding="utf-8"))
    found["load"] = tuple(found["load"])
    found["copied"] = tuple((at_s, size) for at_s, size in found["copied"])
    found["states"] = tuple((at_s, tp, leader, tuple(isr)) for at_s, tp, leader, isr in found["states"])
    for name in ("killed", "restarted"):
        found[name] = found[name] and tuple(found[name])
    return Reality(**found)


def _json(values: dict[str, Any]) -> str:
    """One key a line, and one entry of a list of lists."""
    lines = []
    for key, value in values.items():
        if isinstance(value, tuple | list) and value and isinstance(value[0], tuple | list):
            text = "[\n" + ",\n".join(f"  {json.dumps(entry)}" for entry in value) + "\n ]"
        else:
            text = json.dumps(value)
        lines.append(f' "{key}": {text}')
    return "{\n" + ",\n".join(lines) + "\n}\n"
