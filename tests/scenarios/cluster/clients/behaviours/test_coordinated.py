"""Emulated members of groups, and emulated transactional producers, against the brokers' coordinators."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from emulator.protocol.events import (
    GroupGeneration,
    GroupMemberRemoved,
    OffsetsCommitted,
    TransactionMarked,
    TransactionStateChanged,
)
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs.runner import Stage, prepare

TEXT = """
schema = "scenario/1"
title = "coordinated"

[cluster]
brokers = 3
config = { "offsets.topic.num.partitions" = 1, "transaction.state.log.num.partitions" = 1 }

[[topics]]
name = "orders"
assignment = [[0, 1, 2], [1, 2, 0]]

[[method]]
at = "20s"
action = "controller.resign"
"""
MEMBERS = """
[[clients]]
behaviour = "group-member"
count = 2
group = "readers"
partitions = ["orders-0", "orders-1"]
stays = 4
stop = "20s"
"""
WRITERS = """
[[clients]]
behaviour = "transactional"
count = 2
id = "writer"
group = "readers"
partitions = ["orders-0", "orders-1"]
aborts = 50
stop = "20s"
"""


def seen(text: str, *kinds: type) -> list[Any]:
    """The events of these kinds in the run of a scenario, in which no checker finds anything."""
    found: list[Any] = []
    stage = Stage(prepare(Scenario.loads(TEXT + text)))
    for kind in kinds:
        stage.cluster.trace.fold(kind, found.append)
    stage.play()
    assert not stage.checkers.violations
    return found


def test_members_join_commit_what_grows_and_leave() -> None:
    events = seen(MEMBERS, GroupGeneration, OffsetsCommitted, GroupMemberRemoved)
    kinds = Counter(type(event).__name__ for event in events)
    assert kinds["GroupGeneration"] >= 2
    assert kinds["GroupMemberRemoved"] >= 1
    committed: dict[tuple[str, int], int] = {}
    for event in events:
        if isinstance(event, OffsetsCommitted) and event.error == "NONE":
            for topic, partition, offset in zip(event.topics, event.partitions, event.offsets, strict=True):
                assert offset > committed.get((topic, partition), 0), "a member goes on where the group was"
                committed[topic, partition] = offset
    assert set(committed) == {("orders", 0), ("orders", 1)}


def test_producers_with_one_id_fence_each_other_and_transactions_are_committed_and_aborted() -> None:
    events = seen(WRITERS, TransactionStateChanged, TransactionMarked)
    epochs = {event.producer_epoch for event in events if isinstance(event, TransactionStateChanged)}
    states = {event.state for event in events if isinstance(event, TransactionStateChanged)}
    assert len(epochs) > 2
    assert {"CompleteCommit", "CompleteAbort"} <= states
    assert {event.committed for event in events if isinstance(event, TransactionMarked)} == {True, False}


@pytest.mark.parametrize("text", [MEMBERS, WRITERS])
def test_a_file_with_them_is_its_own_replay(text: str) -> None:
    scenario = Scenario.loads(TEXT + text)
    again = Scenario.loads(scenario.to_toml())
    assert again == scenario
    assert again.run().digest == scenario.run().digest


def test_an_unknown_behaviour_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(BadInput, match=r"unknown behaviour 'group-membr'; did you mean 'group-member'"):
        Scenario.loads(TEXT + MEMBERS.replace("group-member", "group-membr"))
