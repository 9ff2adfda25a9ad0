"""M14: answers to clients that change settings, beside what ZooKeeper has."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol.alter_configs import (
    AlterConfigOp,
    AlterConfigsRequest,
    IncrementalAlterConfigsRequest,
    OpType,
)
from emulator.protocol.control_requests import SettingsAnswered, TopicsAnswered
from emulator.protocol.describe_configs import Resource, ResourceType
from emulator.protocol.errors import NO_API_ERROR, ApiError, Errors
from emulator.protocol.znodes import ALL_BROKERS, encode_config
from emulator.trace.events import ZkWritten
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
    run.show(SettingsAnswered, 0, request, outcomes)
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
    refused = ApiError(Errors.INVALID_REQUEST, "")
    assert answers(written("topics/orders", retention_ms="5"), replaced(ORDERS, "6"), error=refused) == []
    assert answers(written("topics/orders", retention_ms="5"), replaced(ORDERS, "6", validates=True)) == []


@pytest.mark.parametrize(
    ("op", "value", "count"),
    [(OpType.SET, "5", 0), (OpType.SET, "6", 1), (OpType.DELETE, None, 1), (OpType.APPEND, "6", 0)],
)
def test_single_changes(op: OpType, value: str | None, count: int) -> None:
    request = IncrementalAlterConfigsRequest(((ORDERS, (AlterConfigOp(NAME, op, value),)),))
    assert len(answers(written("topics/orders", retention_ms="5"), request)) == count


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
