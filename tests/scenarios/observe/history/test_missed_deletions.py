"""Brokers that nothing has told that a topic is deleted."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from emulator.protocol.control_requests import ControlDelivered, ControlQueued
from emulator.protocol.events import ControllerResigned
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.trace.events import ZkWritten
from scenarios.observe.history.missed_deletions import MissedDeletions

TP = TopicPartition.of("orders", 0)
CONTROLLER, BROKER = 3, 0
ASKED_US = 50
Told = Callable[[MissedDeletions, UpdateMetadataRequest], None]


def resigns(deletions: MissedDeletions, _request: UpdateMetadataRequest) -> None:
    deletions.on_other_controller(ControllerResigned(70, 7, 0, CONTROLLER, 1))


def answered(deletions: MissedDeletions, request: UpdateMetadataRequest) -> None:
    deletions.on_delivered(ControlDelivered(60, 6, 0, CONTROLLER, BROKER, request))
    resigns(deletions, request)


@pytest.mark.parametrize(
    ("then", "leader", "started_us", "registered_us", "missed"),
    [
        (answered, LEADER_DURING_DELETE, 0, 1, False),
        (resigns, LEADER_DURING_DELETE, 0, 1, True),
        (resigns, BROKER, 0, 1, False),
        (answered, LEADER_DURING_DELETE, 0, 80, True),
        (answered, LEADER_DURING_DELETE, 0, None, True),
        (resigns, LEADER_DURING_DELETE, 80, 81, False),
    ],
    ids=["told", "its request is lost", "another request is lost", "back", "away", "started again"],
)
def test_a_broker_misses_a_deletion_where_its_request_is_lost_or_it_was_away(
    then: Told, leader: int, started_us: int, registered_us: int | None, missed: bool
) -> None:
    cluster = SimpleNamespace(started_us=lambda _broker: started_us, registered_us=lambda _broker: registered_us)
    deletions = MissedDeletions(cast("Any", cluster))
    deletions.on_written(ZkWritten(ASKED_US, 4, 0, CONTROLLER, "create", "/admin/delete_topics/orders", 0, 9, ""))
    state = PartitionMetadata(TP, 1, leader, 0, (BROKER,), 0, (BROKER,), ())
    request = UpdateMetadataRequest(CONTROLLER, 1, 1, (state,), (BROKER, CONTROLLER))
    deletions.on_queued(ControlQueued(ASKED_US, 5, 0, CONTROLLER, BROKER, request))
    then(deletions, request)
    assert deletions.is_missed(BROKER, TP.topic) == missed
