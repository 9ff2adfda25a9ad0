"""Users who log in by SCRAM as admin clients describe and alter them (KIP-554), and features (KIP-584)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from emulator.protocol.errors import Errors
from scenarios.testing.kafka import KafkaServer, kafka
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.scenarios.wire.gateway.served import Raw, served

DESCRIBE, ALTER, FEATURES, DESCRIBE_CLUSTER = 50, 51, 57, 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    folder: Path = tmp_path_factory.mktemp("scram") / "run"
    listeners, users = ["SASL_PLAINTEXT"], {"alice": "secret"}
    with kafka(2, {"orders": [[0, 1]]}, listeners=listeners, users=users, record=folder) as found:
        yield found
    assert ReplayedRun(read_live_run(folder)).play().same


def logs_in(server: KafkaServer, user: str, password: str) -> bool:
    settings = {
        "bootstrap.servers": server.servers("SASL_PLAINTEXT"), "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": user, "sasl.password": password,
    }  # fmt: skip
    producer = Producer({**settings, "log_level": 0})
    try:
        return bool(producer.list_topics(timeout=2).brokers)
    except KafkaException:
        return False


def test_a_user_is_made_logs_in_and_is_gone(server: KafkaServer) -> None:
    admin = AdminClient({"bootstrap.servers": server.bootstrap_servers})
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 8192)
    assert not logs_in(server, "bob", "builder")
    (made,) = admin.alter_user_scram_credentials([UserScramCredentialUpsertion("bob", info, b"builder")]).values()
    made.result(10)
    found = admin.describe_user_scram_credentials().result(10)  # type: ignore[union-attr]
    assert {name: len(each.scram_credential_infos) for name, each in found.items()} == {"alice": 2, "bob": 1}
    assert found["bob"].scram_credential_infos[0].iterations == 8192
    assert logs_in(server, "bob", "builder")
    assert not logs_in(server, "bob", "wrong")
    deletion = UserScramCredentialDeletion("bob", ScramMechanism.SCRAM_SHA_256)
    (gone,) = admin.alter_user_scram_credentials([deletion]).values()
    gone.result(10)
    assert not logs_in(server, "bob", "builder")
    assert logs_in(server, "alice", "secret")


@pytest.fixture(scope="module")
def raw() -> Iterator[tuple[Raw, Raw]]:
    """Connections to the controller and to another broker."""
    with served({"profile": "kafka-3.3", "cluster": {"brokers": 2, "controller": 0}}) as cluster:
        yield cluster.connect(0), cluster.connect(1)


def upsert(name: str, mechanism: int = 1, iterations: int = 4096) -> dict[str, Any]:
    keys = {"salt": b"salt", "salted_password": b"salted"}
    return {"name": name, "mechanism": mechanism, "iterations": iterations, **keys}


@pytest.mark.parametrize(
    ("deletions", "upsertions", "user", "error", "words"),
    [
        ([], [upsert("")], "", Errors.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        ([], [upsert("a", 7)], "a", Errors.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        ([], [upsert("a", 1, 4095)], "a", Errors.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        ([], [upsert("a", 1, 16385)], "a", Errors.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
        ([], [upsert("a"), upsert("a")], "a", Errors.DUPLICATE_RESOURCE,
         "A user credential cannot be altered twice in the same request"),
        ([{"name": "nobody", "mechanism": 2}], [], "nobody", Errors.RESOURCE_NOT_FOUND,
         "Attempt to delete a user credential that does not exist"),
    ],
)  # fmt: skip
def test_what_cannot_be_altered_is_refused_and_the_rest_is_done(
    raw: tuple[Raw, Raw], deletions: list[Any], upsertions: list[Any], user: str, error: Errors, words: str
) -> None:
    controller, other = raw
    body = {"deletions": deletions, "upsertions": [*upsertions, upsert("good")]}
    found = {each["user"]: each for each in controller.ask(ALTER, 0, body)["results"]}
    assert (found[user]["error_code"], found[user]["error_message"]) == (error, words)
    assert found["good"]["error_code"] == 0
    refused = {each["error_code"] for each in other.ask(ALTER, 0, body)["results"]}
    assert refused == {Errors.NOT_CONTROLLER}


def test_users_are_described_by_name(raw: tuple[Raw, Raw]) -> None:
    controller, other = raw
    controller.ask(ALTER, 0, {"deletions": [], "upsertions": [upsert("good", 2, 5000)]})
    names = [{"name": name} for name in ("good", "none", "twice", "twice", "")]
    found = {each["user"]: each for each in other.ask(DESCRIBE, 0, {"users": names})["results"]}
    assert {"mechanism": 2, "iterations": 5000} in found["good"]["credential_infos"]
    assert {name: found[name]["error_code"] for name in ("none", "twice", "")} == {
        "none": Errors.RESOURCE_NOT_FOUND, "twice": Errors.DUPLICATE_RESOURCE, "": Errors.RESOURCE_NOT_FOUND
    }  # fmt: skip


@pytest.mark.parametrize(
    ("feature", "level", "type", "words"),
    [
        ("", 1, 1, "Feature name can not be empty."),
        ("group.version", 1, 9, "Received unknown upgrade type."),
        ("group.version", 0, 2, "Can not delete non-existing finalized feature."),
        (
            "group.version",
            0,
            1,
            "Can not provide versionLevel: 0 less than 1 without setting the SAFE",
        ),
        (
            "group.version",
            1,
            1,
            "Could not apply finalized feature update because the provided feature is not supported",
        ),
    ],
)
def test_no_feature_can_be_updated(raw: tuple[Raw, Raw], feature: str, level: int, type: int, words: str) -> None:
    update = {"feature": feature, "max_version_level": level, "upgrade_type": type}
    body = {"timeout_ms": 1000, "feature_updates": [update], "validate_only": False}
    (found,) = raw[0].ask(FEATURES, 1, body)["results"]
    assert found["error_code"] == Errors.INVALID_REQUEST
    assert found["error_message"].startswith(words)
    assert raw[1].ask(FEATURES, 1, body)["error_code"] == Errors.NOT_CONTROLLER
