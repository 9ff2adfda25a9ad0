"""Texts of ``kafka-topics --describe``, release by release (TopicCommand.scala 0.10.2 to 3.0, TopicCommand.java 3.8
and 4.0), and as it reaches a file: through a terminal, a shell of Windows, a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.importing.found import Found
from scenarios.importing.tool_texts import read_topics
from tests.scenarios.importing.texts import TWO, described, scenario_of

OF_0_10 = (
    "Topic:orders\tPartitionCount:2\tReplicationFactor:2\tConfigs:min.insync.replicas=2\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 2,1\n"
    "\tTopic: orders\tPartition: 1\tLeader: none\tReplicas: 2,1\tIsr: \n"
)
FORMS = {
    "0.10.2": OF_0_10,
    "1.1, a leader that ZooKeeper calls -1": OF_0_10.replace("none", "-1"),
    "2.3": TWO.replace("Configs: ", "Configs: min.insync.replicas=2"),
    "3.0": described(
        "orders", "Leader: 1\tReplicas: 1,2\tIsr: 1,2", "Leader: none\tReplicas: 2,1\tIsr: 1",
        configs="min.insync.replicas=2", head="TopicId: nr8fZ2YUT72-J-InyyCMzg\t",
    ),
    "4.0": described(
        "orders", "Leader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: \tLastKnownElr: ",
        "Leader: none\tReplicas: 2,1\tIsr: \tElr: 1\tLastKnownElr: 2",
        configs="min.insync.replicas=2", head="TopicId: nr8fZ2YUT72-J-InyyCMzg\t",
    ),
    "a terminal's blanks": OF_0_10.expandtabs(8),
    "narrow blanks": described(
        "orders", "Leader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: N/A\tLastKnownElr: N/A",
        "Leader: none\tReplicas: 2,1\tIsr: ", configs="min.insync.replicas=2",
    ).replace("\t", " "),
    "lines of a log between": "[2024-05-01 12:00:00,123] WARN [AdminClient] no answer {}\n" + OF_0_10,
    "Windows": OF_0_10.replace("\n", "\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_the_same_topic(form: str, tmp_path: Path) -> None:
    scenario, _ = scenario_of(tmp_path, topics=FORMS[form])
    assert scenario.assignments() == {"orders-0": (1, 2), "orders-1": (2, 1)}
    assert scenario.topics[0].config == {"min.insync.replicas": 2}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gone", [1, 2])
def test_a_text_from_which_a_line_is_missing_is_refused(form: str, gone: int, tmp_path: Path) -> None:
    """PartitionCount says how many there are; without it, a hole in the numbers is all that can be seen."""
    lines = FORMS[form].splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if "Partition:" in line][gone - 1]
    with pytest.raises(BadInput, match=r"topics:\d+: orders has 2 partitions, and 1 in the text"):
        scenario_of(tmp_path, topics="".join(lines[:at] + lines[at + 1 :]))


@pytest.mark.parametrize(
    ("form", "tabs", "profile"),
    [
        ("2.3", True, "kafka-2.3"), ("3.0", True, "kafka-2.8"), ("4.0", True, "kafka-3.9"), ("4.0", False, "kafka-3.9"),
        ("narrow blanks", True, "kafka-2.3"),
    ],
)  # fmt: skip
def test_topics_with_ids_are_of_a_release_that_has_them(form: str, tabs: bool, profile: str, tmp_path: Path) -> None:
    """KIP-516, 2.8: TopicCommand prints an id where the topic has one. KIP-966, 3.8: it always prints two columns more,
    also those of brokers of before 2.8."""
    scenario, text = scenario_of(tmp_path, topics=FORMS[form] if tabs else FORMS[form].replace("\t", " "))
    assert scenario.profile == profile
    assert f"the profile {profile} is a guess (add --profile)" in text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_file_of_windows_powershell_is_read(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "topics").write_bytes(OF_0_10.encode(encoding))
    found = Found()
    read_topics(tmp_path / "topics", found)
    assert list(found.topics["orders"]) == [0, 1]


@pytest.mark.parametrize("tabs", [True, False])
def test_replicas_that_a_move_adds_and_removes_are_no_others_of_the_list(tabs: bool, tmp_path: Path) -> None:
    """2.6 to 4.0; also where nothing is removed."""
    topics = described(
        "orders", "Leader: 1\tReplicas: 3,1,2\tIsr: 1,2\tAdding Replicas: 3\tRemoving Replicas: 1\tElr: ",
        "Leader: 2\tReplicas: 2,1,3\tIsr: 2,1\tAdding Replicas: 3\tRemoving Replicas: ",
    )  # fmt: skip
    scenario, text = scenario_of(tmp_path, topics=topics if tabs else topics.expandtabs())
    assert scenario.assignments() == {"orders-0": (1, 2), "orders-1": (2, 1)}
    assert scenario.targets() == {"orders-0": (3, 2), "orders-1": (2, 1, 3)}
    assert "2 partitions being moved, which begin here before the move" in text


@pytest.mark.parametrize("mark", ["MarkedForDeletion:true", "MarkedForDeletion: true"])
def test_a_topic_that_is_being_deleted_is_left_out_and_named(mark: str, tmp_path: Path) -> None:
    """1.1 to 2.2 without a blank, 2.3 to 4.0 with one."""
    gone = described("gone", "Leader: none\tReplicas: 3,1\tIsr: ", configs=f"\t{mark}")
    scenario, text = scenario_of(tmp_path, topics=gone + TWO)
    assert [topic.name for topic in scenario.topics] == ["orders"]
    assert scenario.cluster.brokers == 3
    assert "# - being deleted, left out: gone" in text
    assert "without a leader" not in text
    with pytest.raises(BadInput, match="all topics are being deleted; describe others"):
        scenario_of(tmp_path, topics=gone)
    plan = '{"partitions": [{"topic": "gone", "partition": 0, "replicas": [1]}]}'
    with pytest.raises(BadInput, match="the plan moves gone, which is being deleted; leave it out"):
        scenario_of(tmp_path, topics=gone + TWO, reassignment=plan)


def test_a_broker_that_looks_dead_is_named_with_the_way_to_have_it_dead(tmp_path: Path) -> None:
    """3.8: the last ISR stands there where no leader is; a new replica in no ISR is no dead broker."""
    topics = described(
        "orders", "Leader: 1\tReplicas: 1,2\tIsr: 1", "Leader: none\tReplicas: 2\tIsr: 2",
        "Leader: 1\tReplicas: 1,3\tIsr: 1\tAdding Replicas: 3\tRemoving Replicas: ",
    )  # fmt: skip
    _, text = scenario_of(tmp_path, topics=topics)
    assert "broker 2 is in no ISR: it looks dead, and here it is alive (to have it dead, add a [[method]] with" in text
    assert "broker 3 is in no ISR" not in text
