"""The loggers of a broker as admin clients see and change them (BROKER_LOGGER, KIP-412)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.wire.gateway.served import Served, served

DESCRIBE, ALTER, LOGGER = 32, 44, 8
SET, DELETE, APPEND = 0, 1, 2
INVALID_REQUEST = 42


@pytest.fixture(scope="module")
def cluster() -> Any:
    with served({"profile": "kafka-2.4", "cluster": {"brokers": 2}}) as cluster:
        yield cluster


def result(cluster: Served, broker: int, name: str) -> dict[str, Any]:
    resource = {"resource_type": LOGGER, "resource_name": name, "configuration_keys": None}
    body = {"resources": [resource], "include_synonyms": True, "include_documentation": False}
    (found,) = cluster.connect(broker).ask(DESCRIBE, 2, body)["results"]
    assert isinstance(found, dict)
    return found


def levels(cluster: Served, broker: int) -> dict[str, str]:
    entries = result(cluster, broker, str(broker))["configs"]
    assert {entry["config_source"] for entry in entries} == {6}
    assert not any(entry["read_only"] or entry["synonyms"] for entry in entries)
    return {entry["name"]: entry["value"] for entry in entries}


def change(cluster: Served, broker: str, name: str, value: str | None, op: int = SET) -> tuple[int, str | None]:
    configs = [{"name": name, "config_operation": op, "value": value}]
    resource = {"resource_type": LOGGER, "resource_name": broker, "configs": configs}
    (found,) = cluster.connect(1).ask(ALTER, 0, {"resources": [resource], "validate_only": False})["responses"]
    return found["error_code"], found["error_message"]


def test_levels_are_shown_and_changed_until_the_broker_ends(cluster: Served) -> None:
    before = levels(cluster, 1)
    assert (before["root"], before["kafka.controller"], before["kafka.request.logger"]) == ("INFO", "TRACE", "WARN")
    assert change(cluster, "1", "kafka.request.logger", "DEBUG") == (0, None)
    assert levels(cluster, 1)["kafka.request.logger"] == "DEBUG"
    assert levels(cluster, 0)["kafka.request.logger"] == "WARN"
    assert change(cluster, "1", "kafka.request.logger", None, DELETE) == (0, None)
    assert levels(cluster, 1)["kafka.request.logger"] == "INFO"  # that of the root
    assert result(cluster, 1, "")["error_message"] == "Broker id must not be empty"
    assert result(cluster, 1, "0")["error_message"] == "Unexpected broker id, expected 1 but received 0"


OF_VALUE = "Invalid config value for resource ConfigResource(type=BROKER_LOGGER, name='1'): "
LOUD = (
    "Cannot set the log level of kafka to LOUD as it is not a supported log level. Valid log levels are TRACE, ERROR, "
)


@pytest.mark.parametrize(
    ("broker", "name", "value", "op", "words"),
    [
        ("1", "no.such", "INFO", SET, f"{OF_VALUE}Logger no.such does not exist!"),
        ("1", "kafka", "LOUD", SET, f"{OF_VALUE}{LOUD}INFO, FATAL, DEBUG, WARN"),
        ("1", "root", None, DELETE, "Removing the log level of the root logger is not allowed"),
        ("1", "kafka", "INFO", APPEND, "APPEND operation is not allowed for the BROKER_LOGGER resource"),
        ("1", "kafka", "INFO", 9, "Unknown operation: 9"),
        ("0", "kafka", "INFO", SET, "Unexpected broker id, expected 1, but received 0"),
    ],
)
def test_what_is_no_level_is_refused(
    cluster: Served, broker: str, name: str, value: str | None, op: int, words: str
) -> None:
    assert change(cluster, broker, name, value, op) == (INVALID_REQUEST, words)


def test_brokers_before_2_4_show_none() -> None:
    with served({"profile": "kafka-2.3", "cluster": {"brokers": 1}}) as older:
        found = result(older, 0, "0")
        assert (found["error_code"], found["error_message"]) == (
            INVALID_REQUEST,
            "Unsupported resource type: BROKER_LOGGER",
        )
