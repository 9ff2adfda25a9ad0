"""A recording's cluster as a scenario, from the texts that were there before the move."""

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.reality.folder import LOG_DIRS, PLAN, RATES, TOPICS, Reality
from benchmarks.reality.sizes import sizes
from benchmarks.reality.tools import RECORD_BYTES
from scenarios.language import Scenario

PARTITION = re.compile(r"\tTopic: (\S+)\tPartition: (\d+)\tLeader: (\d+)\tReplicas: (\S+)\tIsr: \S+")
RATE = re.compile(r"^(\S+),(\d+),(\d+)$", re.MULTILINE)
MOVE_AT_S = 30
"""The load runs evenly by then, and the quotas' windows are full."""


def scenario_of(reality: Reality, folder: Path) -> Scenario:
    """The scenario: each partition with its size, the rates of writing, the plan, and from
    ``reality`` what an operator decides: throttle, settings, and when a broker dies.

    A partition is a topic of its own, since the partitions of one topic are equally large in a scenario.
    """
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    found = sizes(texts[LOG_DIRS])
    rates = {f"{topic}-{number}": int(rate) for topic, number, rate in RATE.findall(texts.get(RATES, ""))}
    topics, workloads = [], []
    for topic, number, _leader, listed in PARTITION.findall(texts[TOPICS]):
        name = f"{topic}-{number}"
        assignment = [[int(broker) for broker in listed.split(",")]]
        topics.append({"name": name, "assignment": assignment, "size": f"{found[name]}B"})
        if name in rates:
            rate = round(rates[name] / RECORD_BYTES)
            workloads.append({"topic": name, "producerRate": rate, "messageSize": RECORD_BYTES})
    plan = [
        {"topic": f"{move['topic']}-{move['partition']}", "partition": 0, "replicas": move["replicas"]}
        for move in json.loads(texts[PLAN])["partitions"]
    ]
    return Scenario.from_table(
        {
            "title": reality.title,
            "profile": reality.profile,
            "horizon": "30m",
            "cluster": {
                "brokers": reality.brokers,
                "controller": 0,
                "config": {name: json.loads(value) for name, value in reality.settings.items()},
                "zk": {"session_timeout": f"{reality.session_timeout_ms}ms"},
            },
            "topics": topics,
            "workloads": workloads,
            "plan": {"version": 1, "partitions": plan},
            "method": [*_method(reality)],
        }
    )


def _method(reality: Reality) -> list[dict[str, Any]]:
    """The move, and the broker that dies."""
    via = "zk" if reality.release == "2.4.1" else "api"
    move = {"at": f"{MOVE_AT_S}s", "action": "reassign.execute", "via": via, "throttle": f"{reality.throttle}B/s"}
    if reality.killed is None or reality.restarted is None:
        return [move]
    (broker, at_s), (_, back_s) = reality.killed, reality.restarted
    death = {"at": f"{round((MOVE_AT_S + at_s) * 1000)}ms", "action": "broker.crash", "target": broker}
    return [move, death | {"duration": f"{round((back_s - at_s) * 1000)}ms"}]
