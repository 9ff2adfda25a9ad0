"""Every answer of a served cluster is looked at before it is written: a mistyped key would be sent as its default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from scenarios.wire.codec import APIS, encode_response
from scenarios.wire.codec.checking import problems
from scenarios.wire.gateway import client_connection


@pytest.fixture(autouse=True)
def _answers_have_no_other_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found: list[str] = []

    def checked(api_key: int, version: int, correlation_id: int, body: Mapping[str, Any]) -> bytes:
        wrong = problems(APIS[api_key].response, version, body)
        found.extend(f"{APIS[api_key].name} v{version}: {each}" for each in wrong)
        return encode_response(api_key, version, correlation_id, body)

    monkeypatch.setattr(client_connection, "encode_response", checked)
    yield
    assert found == []
