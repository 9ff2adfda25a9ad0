"""Sizes of partitions, from ``kafka-log-dirs --describe``, and how fast they grew between two of its answers."""

import json
from collections import defaultdict


def sizes(text: str) -> dict[str, int]:
    """The bytes of each partition's largest replica."""
    found: dict[str, int] = defaultdict(int)
    (answer,) = (line for line in text.splitlines() if line.startswith("{"))
    for broker in json.loads(answer)["brokers"]:
        for log_dir in broker["logDirs"]:
            for each in log_dir["partitions"]:
                found[each["partition"]] = max(each["size"], found[each["partition"]])
    return found


def rates_csv(earlier: str, later: str, apart_s: float) -> str:
    """The bytes that were written to each partition in a second, as CSV with a head."""
    before, lines = sizes(earlier), ["topic,partition,bytes_per_s"]
    for name, size in sizes(later).items():
        topic, _, number = name.rpartition("-")
        lines.append(f"{topic},{number},{round((size - before[name]) / apart_s)}")
    return "\n".join(lines) + "\n"
