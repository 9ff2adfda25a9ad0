"""Topic ids in ZooKeeper and in the controller's requests (KIP-516, 2.8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.protocol.znodes import decode_topic, decode_topic_id, encode_topic, topic_path
from emulator.trace.events import ZkWritten
from tests.scenarios.runs.building import EXECUTE, Played, Table, play, scenario
from understudy.testing import cluster, in_virtual_time

PATH = "/brokers/topics/orders"


def moved(profile: str, *more: Table) -> Played:
    return play(scenario(plan={0: [1, 2]}, method=[EXECUTE, *more], profile=profile, strategy="kip-455"))


def written(played: Played) -> list[dict[str, Any]]:
    return [json.loads(event.data) for event in played.of(ZkWritten, lambda e: e.path == PATH) if event.op != "delete"]


def test_a_topic_keeps_its_id_through_a_move_and_an_expansion() -> None:
    expand: Table = {"at": "20s", "action": "topic.expand", "topic": "orders", "partitions": 4}
    played = moved("kafka-2.8", expand)
    found = written(played)
    assert [each["version"] for each in found] == [3] * len(found)
    assert len(found) >= 4
    [topic_id] = {each["topic_id"] for each in found}
    assert len(topic_id) == 22
    assert len(found[-1]["partitions"]) == 4


@pytest.mark.parametrize(("profile", "version"), [("kafka-2.3", 2), ("kafka-2.7", 2)])
def test_before_2_8_topics_have_none(profile: str, version: int) -> None:
    found = written(moved(profile))
    assert [(each["version"], "topic_id" in each) for each in found] == [(version, False)] * len(found)


def queued(profile: str) -> tuple[str, list[LeaderAndIsrRequest | UpdateMetadataRequest]]:
    """The topic's id after a move, and what the controller has queued for brokers since the topic was there."""
    requests: list[LeaderAndIsrRequest | UpdateMetadataRequest] = []

    def take(event: ControlQueued) -> None:
        if isinstance(event.request, (LeaderAndIsrRequest, UpdateMetadataRequest)) and event.request.partitions:
            requests.append(event.request)

    wanted = scenario(plan={0: [1, 2]}, method=[EXECUTE], profile=profile, strategy="kip-455")
    played = play(wanted, lambda stage: stage.cluster.trace.fold(ControlQueued, take))
    return written(played)[-1].get("topic_id", ""), requests


def test_the_controllers_requests_name_the_ids() -> None:
    topic_id, requests = queued("kafka-2.8")
    assert [each.topic_ids for each in requests] == [{"orders": topic_id}] * len(requests)
    assert {type(each) for each in requests} == {LeaderAndIsrRequest, UpdateMetadataRequest}
    _none, requests = queued("kafka-2.7")
    assert not any(each.topic_ids for each in requests)
    assert requests


def test_a_topic_that_is_created_again_has_another_id() -> None:
    delete: Table = {"at": "20s", "action": "topic.delete", "topic": "orders"}
    again: Table = {"name": "orders", "assignment": [[0, 1]]}
    create: Table = {"at": "80s", "action": "topic.create", "topic": again}
    ids = dict.fromkeys(each["topic_id"] for each in written(moved("kafka-2.8", delete, create)))
    assert len(ids) == 2


@in_virtual_time
async def test_a_topic_without_an_id_gets_one_when_it_is_new_and_at_a_failover() -> None:
    """KafkaController.processTopicIds: one that a tool has written, or a controller of a release before."""
    async with cluster(3, {"t": [[0, 1]]}, profile="kafka-2.8", controller=2) as c:
        await c.zk.create(topic_path("u"), encode_topic({0: (1, 0)}, {}))
        await c.until(lambda: c.leader("u-0") == 1)
        given = decode_topic_id(c.znode(topic_path("u")) or "")
        assert len(given) == 22
        await c.zk.set(topic_path("u"), encode_topic({0: (1, 0)}, {}, ""))
        await c.stop(2)
        await c.until(lambda: c.controller() not in (-1, 2))
        await c.settled()
        found = c.znode(topic_path("u")) or ""
        assert decode_topic(found) == {0: (1, 0)}
        assert len(decode_topic_id(found)) == 22
        assert decode_topic_id(found) != given
