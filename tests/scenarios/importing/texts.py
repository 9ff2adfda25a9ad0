"""Texts of sources, made up in the form of a tool, and the scenario that they become."""

from __future__ import annotations

from pathlib import Path

from scenarios.importing.assembling import assembled
from scenarios.importing.cruise_control import read_cluster_state, read_load
from scenarios.importing.found import Found
from scenarios.importing.rate_sources import read_rates
from scenarios.importing.tool_texts import read_configs, read_log_dirs, read_reassignment, read_topics
from scenarios.importing.writing import as_text
from scenarios.language import Scenario

READERS = {
    "topics": read_topics, "cluster_state": read_cluster_state, "log_dirs": read_log_dirs, "configs": read_configs,
    "load": read_load, "reassignment": read_reassignment, "rates": read_rates, "more_rates": read_rates,
}  # fmt: skip


def scenario_of(folder: Path, **texts: str) -> tuple[Scenario, str]:
    """The scenario of some texts, each by its option, and the file with its comments on one line each."""
    found = Found()
    for name, text in texts.items():
        (folder / name).write_text(text)
        READERS[name](folder / name, found)
    text = as_text(assembled(found))
    return Scenario.loads(text), text.replace("\n#   ", " ")


def described(topic: str, *partitions: str, configs: str = "", head: str = "") -> str:
    """A topic as kafka-topics of 2.3 and later prints it. ``partitions``: the fields after its number."""
    lines = [f"Topic: {topic}\t{head}PartitionCount: {len(partitions)}\tReplicationFactor: 2\tConfigs: {configs}"]
    lines += [f"\tTopic: {topic}\tPartition: {number}\t{fields}" for number, fields in enumerate(partitions)]
    return "\n".join(lines) + "\n"


TWO = described(
    "orders", "Leader: 1\tReplicas: 1,2\tIsr: 1,2", "Leader: 2\tReplicas: 2,1\tIsr: 2,1",
)  # fmt: skip
