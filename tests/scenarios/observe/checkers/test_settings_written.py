"""M14: answers to clients that change settings, beside what ZooKeeper has."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol.alter_configs import (
    AlterConfigOp,
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    OpType,
)
from emulator.protocol.configs import ConfigType
from emulator.protocol.control_requests import TopicsAnswered
from emulator.protocol.describe_configs import (
    ConfigEntry,
    ConfigSource,
    ConfigSynonym,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribedResource,
    Resource,
    ResourceType,
)
from emulator.protocol.errors import NO_API_ERROR, ApiError, Errors
from emulator.protocol.shown import SettingsTaken
from emulator.protocol.znodes import ALL_BROKERS, encode_config, encode_topic, topic_path
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from tests.scenarios.observe.checkers.written_history import WrittenHistory

ORDERS, BROKER, ALL = Resource(ResourceType.TOPIC, "orders"), Resource(ResourceType.BROKER, "1"), Resource(
    ResourceType.BROKER, ""
)  # fmt: skip
NAME = "retention.ms"


def written(path: str, **settings: str) -> WrittenHistory:
    run = WrittenHistory("settings_written")
    config = {name.replace("_", "."): value for name, value in settings.items()}
    run.emit(ZkWritten, 0, "setData", f"/config/{path}", 1, 0, encode_config(config))
    return run


def answers(run: WrittenHistory, request: Any, *, error: ApiError = NO_API_ERROR) -> list[str]:
    outcomes = tuple((resource, error) for resource, _asked in request.resources)
    run.show(RequestAnswered, 0, -1, request, AlterConfigsResponse(outcomes), run.world.now, True)
    return [violation.state for violation in run.violations()]


def replaced(resource: Resource, value: str, *, validates: bool = False) -> AlterConfigsRequest:
    return AlterConfigsRequest(((resource, ((NAME, value),)),), validates)


@pytest.mark.parametrize(
    ("path", "resource", "whose"),
    [("topics/orders", ORDERS, "topics/orders"), ("brokers/1", BROKER, "brokers/1"), (ALL_BROKERS, ALL, "all brokers")],
)
def test_what_is_answered_is_written(path: str, resource: Resource, whose: str) -> None:
    assert answers(written(path, retention_ms="5"), replaced(resource, "5")) == []
    [state] = answers(written(path, retention_ms="5"), replaced(resource, "6"))
    assert state == f"broker 0 says that retention.ms of {whose} is 6; in ZooKeeper it is 5"
    [state] = answers(WrittenHistory("settings_written"), replaced(resource, "6"))
    assert state.endswith("it is not there")


def test_what_is_refused_or_only_checked_is_not() -> None:
    refused = ApiError(Errors.UNKNOWN_SERVER_ERROR, "")
    assert answers(written("topics/orders", retention_ms="5"), replaced(ORDERS, "6"), error=refused) == []
    assert answers(written("topics/orders", retention_ms="5"), replaced(ORDERS, "6", validates=True)) == []


@pytest.mark.parametrize(
    ("op", "value", "count"),
    [(OpType.SET, "5", 0), (OpType.SET, "6", 1), (OpType.DELETE, None, 1), (OpType.APPEND, "6", 0)],
)
def test_single_changes(op: OpType, value: str | None, count: int) -> None:
    request = IncrementalAlterConfigsRequest(((ORDERS, (AlterConfigOp(NAME, op, value),)),))
    assert len(answers(written("topics/orders", retention_ms="5"), request)) == count


def test_a_broker_without_a_session_refuses_what_cannot_be_set_for_that() -> None:
    failed, run = ApiError(Errors.UNKNOWN_SERVER_ERROR, ""), written("topics/orders", retention_ms="5")
    assert answers(run, replaced(ORDERS, "x"), error=failed) == []


def test_what_another_has_changed_since_is_no_fault_of_the_answer() -> None:
    run = written("topics/orders", retention_ms="5")
    run.emit(ZkWritten, 0, "setData", "/config/topics/orders", 2, 0, encode_config({NAME: "7"}))
    assert answers(run, replaced(ORDERS, "5")) == []
    run = written("topics/orders", retention_ms="5")
    run.emit(ZkWritten, 0, "setData", "/config/topics/orders", 2, 0, encode_config({NAME: "7"}))
    run.world.now += 20_000_000
    assert len(answers(run, replaced(ORDERS, "5"))) == 1


def test_the_settings_of_a_new_topic() -> None:
    for value, count in (("5", 0), ("6", 1)):
        run = written("topics/orders", retention_ms="5")
        run.show(TopicsAnswered, 0, "create", {"orders": (0,)}, {"orders": (0,)}, {"orders": {NAME: value}})
        assert len(run.violations()) == count


@pytest.mark.parametrize(
    ("value", "code", "found"),
    [("6", Errors.INVALID_CONFIG, 1), ("6", Errors.INVALID_REQUEST, 1), ("x", Errors.INVALID_CONFIG, 0),
     ("-2", Errors.INVALID_CONFIG, 0)],
)  # fmt: skip
def test_what_can_be_set_is_not_refused(value: str, code: Errors, found: int) -> None:
    run = written("topics/orders", retention_ms="5")
    assert len(answers(run, replaced(ORDERS, value), error=ApiError(code, ""))) == found


def test_what_cannot_be_set_is_refused() -> None:
    assert "it cannot be set" in answers(written("topics/orders", retention_ms="x"), replaced(ORDERS, "x"))[0]


def test_a_topic_that_is_there_is_not_unknown() -> None:
    run = written("topics/orders", retention_ms="5")
    run.emit(ZkWritten, 0, "create", topic_path("orders"), 0, 0, encode_topic({0: (0,)}))
    run.world.now += 1000
    unknown = ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, "")
    assert answers(run, replaced(ORDERS, "6"), error=unknown)[0].endswith("the topic is there")


def test_each_resource_is_answered() -> None:
    run = written("topics/orders", retention_ms="5")
    run.show(RequestAnswered, 0, -1, replaced(ORDERS, "5"), AlterConfigsResponse(()), run.world.now, True)
    assert len(run.violations()) == 1


TOPICS_OWN = ConfigSynonym(NAME, "5", ConfigSource.TOPIC_CONFIG)
BROKERS = ConfigSynonym("log.retention.ms", "7", ConfigSource.DYNAMIC_BROKER_CONFIG)
START = ConfigSynonym("log.retention.ms", "604800000", ConfigSource.DEFAULT_CONFIG)
ENTRY = ConfigEntry(NAME, "5", ConfigSource.TOPIC_CONFIG, ConfigType.LONG, synonyms=(TOPICS_OWN, BROKERS, START))


def described(run: WrittenHistory, *entries: ConfigEntry, asks_synonyms: bool = True) -> list[str]:
    request = DescribeConfigsRequest(((ORDERS, (NAME,)),), asks_synonyms)
    response = DescribeConfigsResponse((DescribedResource(ORDERS, NO_API_ERROR, entries),))
    run.show(SettingsTaken, 0, "brokers/0", (("log.retention.ms", "7"),))
    run.world.now += 1000
    run.show(RequestAnswered, 0, -1, request, response, run.world.now, True)
    return [violation.state for violation in run.violations()]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, ""),
        ({"value": "6"}, "6 of TOPIC_CONFIG; right is: 5 of TOPIC_CONFIG"),
        ({"source": ConfigSource.DEFAULT_CONFIG}, "5 of DEFAULT_CONFIG; right is: 5 of TOPIC_CONFIG"),
        ({"synonyms": (TOPICS_OWN, START)}, "the synonyms retention.ms=5 of TOPIC_CONFIG"),
        ({"type": ConfigType.INT}, "the type INT; right is: LONG"),
        ({"read_only": True}, "read-only, or secret; right is: neither"),
    ],
)
def test_descriptions(changes: dict[str, Any], found: str) -> None:
    states = described(written("topics/orders", retention_ms="5"), ENTRY._replace(**changes))
    assert [found in state for state in states] == ([True] if found else [])


def test_a_description_has_what_is_asked_for() -> None:
    other = ConfigEntry("segment.bytes", "1073741824", ConfigSource.DEFAULT_CONFIG, ConfigType.INT)
    for entries in ((), (ENTRY, ENTRY), (ENTRY, other)):
        assert len(described(written("topics/orders", retention_ms="5"), *entries)) == 1
    assert len(described(written("topics/orders", retention_ms="5"), ENTRY, asks_synonyms=False)) == 1


def test_a_broker_has_what_it_has_taken_over() -> None:
    run = WrittenHistory("settings_written")
    entry = ConfigEntry(NAME, "7", ConfigSource.DYNAMIC_BROKER_CONFIG, ConfigType.LONG, synonyms=(BROKERS, START))
    assert described(run, entry) == []
    assert len(described(written("topics/orders", retention_ms="5"), entry)) == 1
