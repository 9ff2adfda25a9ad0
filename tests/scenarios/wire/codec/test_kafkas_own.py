"""Kafka's own classes, of the release that still has all versions, write the same bytes for what they read from ours.

``python -m pytest -m slow tests/scenarios/wire/codec``: a JVM, a few seconds. The jar comes into the local Maven
repository with ``mvn dependency:get -Dartifact=org.apache.kafka:kafka-clients:3.9.1``.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from scenarios.wire.codec import APIS
from tests.scenarios.wire.codec.bodies import fields_of, full_body
from tests.scenarios.wire.codec.kafka_jar import CLIENTS, LOGGING
from tests.scenarios.wire.codec.test_peers import KINDS, encoded

PROGRAM = Path(__file__).with_name("KafkasOwn.java")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java"),
    pytest.mark.skipif(not CLIENTS.exists() or not LOGGING, reason=f"{CLIENTS} is not there: see the module's text"),
]


def test_kafkas_classes_write_the_same_bytes() -> None:
    wanted = {
        (kind, api.key, version, filled): encoded(
            api, version, kind, full_body(fields_of(api, kind), version) if filled else {}
        ).hex()
        for api in APIS.values()
        for version in api.versions
        for kind in KINDS
        for filled in (True, False)
    }
    lines = [f"{kind} {key} {version} {data}\n" for (kind, key, version, _), data in wanted.items()]
    command = ["java", "-cp", f"{CLIENTS}:{LOGGING[-1]}", str(PROGRAM)]
    answer = subprocess.run(command, input="".join(lines), capture_output=True, text=True, check=True, timeout=300)
    found = dict(zip(wanted, answer.stdout.splitlines(), strict=True))
    assert found == wanted
