"""The history that a driver in Python writes."""

import json
import sys
import time

TOPIC = "orders"
GROUP = "readers"


def write(kind: str, record: int = -1, error: str = "") -> None:
    """Something was seen. It is written at once: an application that does not end is killed, and what it saw counts."""
    seen = {"t_s": time.time(), "kind": kind, "record": record, "error": error}
    sys.stdout.write(json.dumps(seen) + "\n")
    sys.stdout.flush()


def arguments() -> tuple[str, str, float, float]:
    """Role, servers, seconds and records per second."""
    role, servers, seconds, rate = sys.argv[1:]
    return role, servers, float(seconds), float(rate)
