"""Texts of ``kafka-log-dirs --describe`` (LogDirsCommand 1.1 to 3.9) and ``kafka-reassign-partitions`` (1.1 to 3.8),
and files into which several of their answers went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenarios.errors import BadInput
from tests.scenarios.importing.texts import TWO, scenario_of

HEAD = "Querying brokers for log directories information\nReceived log directory information from brokers {}\n"
CURRENT = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}'
BEFORE = "Current partition replica assignment"
EXECUTED = (
    f"{BEFORE}\n\n{CURRENT}\n\nSave this to use as the --reassignment-json-file option during rollback\n"
    "Successfully started partition reassignment for orders-0\n"
)
PROPOSED = CURRENT.replace("[1,2]", "[3,2]")


def broker(id: int, *replicas: tuple[str, int], future: bool = False, error: str | None = None) -> dict[str, object]:
    partitions = [
        {"partition": name, "size": size, "offsetLag": 0, "isFuture": future} for name, size in replicas
    ]  # fmt: skip
    return {"broker": id, "logDirs": [{"logDir": "/a", "error": error, "partitions": partitions}]}


def printed(*brokers: dict[str, object], indent: int | None = None) -> str:
    ids = ",".join(str(one["broker"]) for one in brokers)
    return HEAD.format(ids) + json.dumps({"version": 1, "brokers": brokers}, indent=indent) + "\n"


@pytest.mark.parametrize("indent", [None, 2])
def test_answers_of_one_broker_after_the_other_are_all_read(indent: int | None, tmp_path: Path) -> None:
    """A loop with --broker-list, into one file."""
    one, two = printed(broker(1, ("orders-0", 10)), indent=indent), printed(broker(2, ("orders-1", 7)), indent=indent)
    scenario, text = scenario_of(tmp_path, topics=TWO, log_dirs=one + two)
    assert scenario.sizes() == {"orders-0": 10, "orders-1": 7}
    assert "kafka-log-dirs --describe, 2 replicas" in text


def test_only_the_lines_of_json_of_several_answers_are_read_too(tmp_path: Path) -> None:
    lines = [printed(broker(id, ("orders-0", 10 * id))).splitlines()[2] for id in (1, 2)]
    scenario, _ = scenario_of(tmp_path, topics=TWO, log_dirs="\n".join(lines))
    assert scenario.sizes()["orders-0"] == 20


def test_copies_between_directories_and_dead_directories_are_named(tmp_path: Path) -> None:
    dirs = printed(
        broker(1, ("orders-0", 5)), broker(2, ("orders-0", 3), future=True),
        broker(3, error="org.apache.kafka.common.errors.KafkaStorageException"),
    )  # fmt: skip
    scenario, text = scenario_of(tmp_path, topics=TWO, log_dirs=dirs)
    assert scenario.sizes()["orders-0"] == 5
    assert "copies to other log directories (3B so far), left out: orders-0" in text
    assert "broker 3: the log directory /a answered org.apache.kafka.common.errors.KafkaStorageException" in text


def test_of_two_plans_that_generate_prints_the_proposed_one_is_taken(tmp_path: Path) -> None:
    text = f"{BEFORE}\n{CURRENT}\n\nProposed partition reassignment configuration\n{PROPOSED}\n"
    scenario, file = scenario_of(tmp_path, topics=TWO, reassignment=text)
    assert scenario.targets() == {"orders-0": (3, 2)}
    assert "the reassignment that --generate proposed, 1 partition" in file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            EXECUTED,
            "reassignment:3: holds the assignment from before the move, which --execute prints for a rollback",
        ),
        (f"{CURRENT}\n{PROPOSED}\n", "reassignment:2: a second plan; name one"),
        ('{"topics":[{"topic":"orders"}],"version":1}', "reassignment:1: lists topics for --generate; name what that"),
        (CURRENT.replace('["any","any"]', '["any"]'), "orders-0 has 1 log_dirs for 2 replicas; write one for each"),
        ("Current partition reassignments:\norders-0: replicas: 1,2. adding: 3.\n", "holds no JSON; name the JSON of"),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as raised:
        scenario_of(tmp_path, topics=TWO, reassignment=text)
    assert words in str(raised.value)


def test_a_plan_from_before_log_dirs_is_read(tmp_path: Path) -> None:
    """0.10 to 1.0, and what people write by hand."""
    plan = '{"partitions": [\n  {"topic": "orders", "partition": 1, "replicas": [3]}\n]}'
    assert scenario_of(tmp_path, topics=TWO, reassignment=plan)[0].targets() == {"orders-1": (3,)}


def test_what_moves_under_way_have_copied_is_named(tmp_path: Path) -> None:
    topics = TWO.replace(
        "Replicas: 1,2\tIsr: 1,2", "Replicas: 3,1,2\tIsr: 1,2\tAdding Replicas: 3\tRemoving Replicas: 1"
    )
    dirs = printed(broker(1, ("orders-0", 10_000)), broker(3, ("orders-0", 4_000)))
    scenario, text = scenario_of(tmp_path, topics=topics, log_dirs=dirs)
    assert scenario.sizes()["orders-0"] == 10_000
    assert "4kB of the moves under way were copied already; here none is" in text
