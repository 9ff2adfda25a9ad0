"""M13: what a controller answers about topics, beside what ZooKeeper has."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, NewPartitions
from emulator.protocol.create_topics import CreatedTopic, CreateTopicsRequest, CreateTopicsResponse, NewTopic
from emulator.protocol.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from emulator.protocol.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from emulator.protocol.errors import NO_API_ERROR, ApiError, Errors
from emulator.protocol.events import ControllerElected
from emulator.protocol.shown import MetadataCached
from emulator.protocol.znodes import CONTROLLER, delete_topic_path, encode_topic, topic_path
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import WrittenHistory

SECOND_US = 1_000_000
ASKED = NewTopic("orders", 1, 2)
CREATED = CreatedTopic("orders", NO_API_ERROR, 1, 2)


class Topics(WrittenHistory):
    """Broker 0 answers; it takes a request up as ``begins`` is called."""

    def __init__(self, start: StartSettings | None = None) -> None:
        super().__init__("topic_answers_true", start=start or StartSettings())
        self.show(MetadataCached, 0, {}, (0, 1))
        self.world.now += SECOND_US
        self.since_us = 0

    def begins(self) -> None:
        self.world.now += SECOND_US
        self.since_us = self.world.now

    def writes(self, by: int = 0, op: str = "create", replicas: dict[int, tuple[int, ...]] | None = None) -> None:
        self.emit(ZkWritten, by, op, topic_path("orders"), 0, 0, encode_topic(replicas or {0: (0, 1)}))

    def marks(self) -> None:
        self.emit(ZkWritten, 0, "create", delete_topic_path("orders"), 0, 0, "")

    def answers(self, request: Any, response: Any) -> list[str]:
        self.show(RequestAnswered, 0, -1, request, response, self.since_us, True)
        return [violation.state for violation in self.violations()]


def creates(run: Topics, *rows: CreatedTopic, asked: NewTopic = ASKED) -> list[str]:
    return run.answers(CreateTopicsRequest((asked,), SECOND_US), CreateTopicsResponse(rows))


@pytest.mark.parametrize(
    ("by", "replicas", "row", "found"),
    [
        (0, {0: (0, 1)}, CREATED, 0),
        (1, {0: (0, 1)}, CREATED, 1),
        (0, {0: (0, 1)}, CREATED._replace(partitions=2), 2),
        (0, {0: (0, 1)}, CREATED._replace(topic_id="x"), 1),
        (0, {0: (0, 1), 1: (0, 1)}, CREATED, 1),
        (0, {0: (0, 0)}, CREATED, 1),
        (0, {0: (0, 1)}, CREATED._replace(name="other"), 1),
    ],
)
def test_what_was_created(by: int, replicas: dict[int, tuple[int, ...]], row: CreatedTopic, found: int) -> None:
    run = Topics()
    run.begins()
    run.writes(by, replicas=replicas)
    assert len(creates(run, row)) == found


@pytest.mark.parametrize(
    ("there", "code", "waits_s", "found"),
    [
        (True, Errors.TOPIC_ALREADY_EXISTS, 0, ""),
        (False, Errors.TOPIC_ALREADY_EXISTS, 0, "there is no such topic"),
        (False, Errors.INVALID_TOPIC_EXCEPTION, 0, "the name is legal"),
        (False, Errors.INVALID_PARTITIONS, 0, "1 are asked for"),
        (False, Errors.REQUEST_TIMED_OUT, 2, ""),
        (False, Errors.REQUEST_TIMED_OUT, 0, "have gone by"),
        (False, Errors.NOT_CONTROLLER, 0, ""),
    ],
)
def test_refusals(there: bool, code: Errors, waits_s: int, found: str) -> None:
    run = Topics()
    if there:
        run.writes()
    run.begins()
    run.world.now += waits_s * SECOND_US
    states = creates(run, CreatedTopic("orders", ApiError(code)))
    assert [found in state for state in states] == ([True] if found else [])


@pytest.mark.parametrize(
    ("name", "other", "found"),
    [("a_b", "", 1), ("a_b", "c.d", 1), ("a_b", "a.b", 0), ("a b", "", 0), ("..", "", 0), ("a..", "", 1)],
)
def test_a_name_that_is_refused_as_illegal(name: str, other: str, found: int) -> None:
    run = Topics()
    if other:
        run.emit(ZkWritten, 0, "create", topic_path(other), 0, 0, encode_topic({0: (0, 1)}))
    run.begins()
    row = CreatedTopic(name, ApiError(Errors.INVALID_TOPIC_EXCEPTION))
    assert len(creates(run, row, asked=ASKED._replace(name=name))) == found


@pytest.mark.parametrize("deletes", [True, False])
def test_topics_that_can_be_deleted(deletes: bool) -> None:
    run = Topics(StartSettings(deletes_topics=deletes))
    run.writes()
    run.begins()
    refused = DeleteTopicsResponse((("orders", ApiError(Errors.TOPIC_DELETION_DISABLED)),))
    states = run.answers(DeleteTopicsRequest(("orders",), SECOND_US), refused)
    assert [state.endswith("topics can be deleted") for state in states] == [True] * deletes


def test_a_controller_says_that_it_is_none() -> None:
    run = Topics()
    run.emit(ZkWritten, 0, "create", CONTROLLER, 0, 0, '{"version":1,"brokerid":0,"timestamp":"0"}')
    run.emit(ControllerElected, 0, 1)
    run.begins()
    [state] = creates(run, CreatedTopic("orders", ApiError(Errors.NOT_CONTROLLER)))
    assert state.endswith("it is the controller")


def test_each_topic_is_answered_once() -> None:
    for rows in ((), (CREATED, CREATED)):
        run = Topics()
        run.begins()
        run.writes()
        assert len(creates(run, *rows)) == 1


@pytest.mark.parametrize(
    ("marked", "code", "known", "found"),
    [
        (True, Errors.NONE, True, 0),
        (False, Errors.NONE, True, 1),
        (False, Errors.UNKNOWN_TOPIC_OR_PARTITION, True, 1),
        (False, Errors.UNKNOWN_TOPIC_OR_PARTITION, False, 0),
    ],
)
def test_deletions(marked: bool, code: Errors, known: bool, found: int) -> None:
    run = Topics()
    run.writes()
    if known:
        run.show(MetadataCached, 0, {"orders": {}}, (0, 1))
    run.begins()
    if marked:
        run.marks()
    request = DeleteTopicsRequest(("orders",), SECOND_US)
    assert len(run.answers(request, DeleteTopicsResponse((("orders", ApiError(code)),)))) == found


@pytest.mark.parametrize(
    ("grows", "code", "found"),
    [
        (True, Errors.NONE, 0),
        (False, Errors.NONE, 1),
        (False, Errors.INVALID_PARTITIONS, 1),
        (True, Errors.INVALID_PARTITIONS, 0),
        (False, Errors.REASSIGNMENT_IN_PROGRESS, 1),
        (False, Errors.UNKNOWN_TOPIC_OR_PARTITION, 1),
        (False, Errors.INVALID_TOPIC_EXCEPTION, 1),
    ],
)
def test_more_partitions(grows: bool, code: Errors, found: int) -> None:
    run = Topics()
    run.writes()
    run.begins()
    if grows:
        run.writes(op="setData", replicas={0: (0, 1), 1: (1, 0)})
    request = CreatePartitionsRequest((NewPartitions("orders", 2),), SECOND_US)
    assert len(run.answers(request, CreatePartitionsResponse((("orders", ApiError(code)),)))) == found


def test_the_live_brokers_are_those_of_the_metadata() -> None:
    assert Topics().answers(DescribeClusterRequest(), DescribeClusterResponse(0, (0, 1))) == []
    assert len(Topics().answers(DescribeClusterRequest(), DescribeClusterResponse(0, (0,)))) == 1
