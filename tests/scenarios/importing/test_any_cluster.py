"""Any cluster, printed as Kafka's tools print it, comes back as a scenario: lists, sizes, directories, rates."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.importing.assembling import assembled
from scenarios.importing.found import Found
from scenarios.importing.rate_sources import read_rates
from scenarios.importing.tool_texts import read_log_dirs, read_topics
from scenarios.importing.writing import as_text
from scenarios.language import Scenario

NAMES = st.text("abcxyz019._-", min_size=1, max_size=12).filter(lambda name: name not in (".", ".."))
DIRS = ["/mnt/a", "/mnt/b", "/mnt/c"]
Lists = list[tuple[list[int], int, list[int]]]
"""For each partition: its replicas, its size, and the number of each replica's directory."""


@st.composite
def topics(draw: st.DrawFn) -> dict[str, Lists]:
    found = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        factor = draw(st.integers(1, 3))
        found[name] = [
            (draw(st.permutations(range(4)))[:factor], draw(st.integers(0, 10**12)), draw(st.lists(
                st.integers(0, 2), min_size=factor, max_size=factor)))
            for _ in range(draw(st.integers(1, 4)))
        ]  # fmt: skip
    found["all"] = [([0, 1, 2, 3], 1, [0, 1, 2, 2])]
    return found


def printed(lists: dict[str, Lists]) -> tuple[str, str]:
    """The texts of kafka-topics and kafka-log-dirs; every broker has all directories."""
    lines = []
    disks: dict[int, dict[str, list[object]]] = {broker: {name: [] for name in DIRS} for broker in range(4)}
    for name, its in lists.items():
        lines.append(f"Topic: {name}\tPartitionCount: {len(its)}\tReplicationFactor: {len(its[0][0])}\tConfigs: ")
        for number, (replicas, size, numbers) in enumerate(its):
            ids = ",".join(map(str, replicas))
            lines.append(f"\tTopic: {name}\tPartition: {number}\tLeader: {replicas[0]}\tReplicas: {ids}\tIsr: {ids}")
            for broker, place in zip(replicas, numbers, strict=True):
                disks[broker][DIRS[place]].append({"partition": f"{name}-{number}", "size": size, "isFuture": False})
    brokers = [
        {"broker": broker, "logDirs": [{"logDir": name, "error": None, "partitions": on} for name, on in its.items()]}
        for broker, its in disks.items()
    ]
    return "\n".join(lines), "Querying brokers\n" + json.dumps({"version": 1, "brokers": brokers}) + "\n"


@settings(max_examples=60, deadline=None)
@given(topics(), st.integers(1, 10**9))
def test_a_printed_cluster_comes_back(lists: dict[str, Lists], rate: int) -> None:
    with TemporaryDirectory() as folder:
        files = {name: Path(folder) / name for name in ("topics", "dirs", "rates")}
        for file, text in zip(files.values(), (*printed(lists), f"topic,bytes_per_s\nall,{rate}\n"), strict=True):
            file.write_text(text)
        found = Found()
        read_topics(files["topics"], found)
        read_log_dirs(files["dirs"], found)
        read_rates(files["rates"], found)
    scenario = Scenario.loads(as_text(assembled(found)))
    assert {topic.name for topic in scenario.topics} == set(lists)
    for topic in scenario.topics:
        its = lists[topic.name]
        assert topic.assignment == tuple(tuple(replicas) for replicas, _, _ in its)
        assert topic.partition_sizes == tuple(size for _, size, _ in its)
        assert topic.log_dirs == tuple(tuple(numbers) for _, _, numbers in its)
    (load,) = scenario.workloads
    assert abs(load.producer_rate * load.message_size - rate) <= 0.02 * rate + 1
