"""The codec against two others: they read from our bytes the same values, and write for them the same bytes."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.wire.codec.messages import APIS
from scenarios.wire.codec.reader_compiler import Reader, reader
from scenarios.wire.codec.schema import Api
from scenarios.wire.codec.writer_compiler import Writer, writer
from tests.scenarios.wire.codec.bodies import any_body, fields_of, full_body
from tests.scenarios.wire.codec.peers import PEERS

KINDS = ("request", "response")
BY_NAME = {api.name: api for api in APIS.values()}
ONLY_KAFKA_PYTHON = {
    ("CreateAcls", 0),
    ("DeleteAcls", 0),
    ("AlterReplicaLogDirs", 0),
    ("CreateTopics", 0),
    ("CreateTopics", 1),
    ("DescribeAcls", 0),
    ("DescribeConfigs", 0),
    ("DescribeLogDirs", 0),
}
"""Versions that Kafka 4 no longer has, and kio neither."""


@cache
def compiled(api: Api, version: int, kind: str) -> tuple[Reader, Writer]:
    fields, flexible = fields_of(api, kind), version in api.flexible
    return reader(fields, version, flexible, "test"), writer(fields, version, flexible, "test")


def encoded(api: Api, version: int, kind: str, body: dict[str, Any]) -> bytes:
    parts: list[bytes] = []
    compiled(api, version, kind)[1](parts.append, body)
    return b"".join(parts)


def decoded(api: Api, version: int, kind: str, data: bytes) -> dict[str, Any]:
    body, at = compiled(api, version, kind)[0](data, 0, len(data), len(data))
    assert at == len(data)
    return body


def differences(peer: str, api: Api, version: int, kind: str, body: dict[str, Any]) -> list[str]:
    """The differences between what a peer and we see in the bytes that we write for a body."""
    ours = encoded(api, version, kind, body)
    try:
        values, theirs = PEERS[peer].read(api, version, kind, ours)
    except Exception as error:
        return [f"{peer} cannot read {ours.hex()}: {error!r}"]
    found = []
    if values != body:
        found.append(f"{peer} reads {values}, we wrote {body}")
    if theirs != ours:
        found.append(f"{peer} writes {theirs.hex()}, we wrote {ours.hex()}")
    if decoded(api, version, kind, theirs) != body:
        found.append(f"we read from {peer}'s bytes {decoded(api, version, kind, theirs)} instead of {body}")
    return found


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("peer", PEERS)
def test_each_field_of_each_version(peer: str, name: str) -> None:
    api = BY_NAME[name]
    for version in api.versions:
        for kind in KINDS:
            if PEERS[peer].has(api, version):
                body = full_body(fields_of(api, kind), version)
                assert differences(peer, api, version, kind, body) == [], f"{name} {kind} v{version}"


def test_each_version_has_two_peers() -> None:
    alone = {(api.name, v) for api in APIS.values() for v in api.versions if not PEERS["kio"].has(api, v)}
    assert alone == ONLY_KAFKA_PYTHON
    assert all(PEERS["kafka-python"].has(api, version) for api in APIS.values() for version in api.versions)


@pytest.mark.parametrize("name", BY_NAME)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_body(name: str, data: st.DataObject) -> None:
    api = BY_NAME[name]
    version = data.draw(st.sampled_from(list(api.versions)), "version")
    kind = data.draw(st.sampled_from(KINDS), "kind")
    body = data.draw(any_body(fields_of(api, kind), version), "body")
    for peer, codec in PEERS.items():
        if codec.has(api, version):
            assert differences(peer, api, version, kind, body) == []


@pytest.mark.parametrize("peer", PEERS)
def test_a_wrong_declaration_is_found(peer: str) -> None:
    """Two fields exchanged, one of another size, one that begins a version too late, one that cannot be null."""
    right = BY_NAME["Fetch"]
    first, second, *others = right.response
    topic, parts = others[1].fields
    index, code, watermark, stable, *rest = parts.fields

    def with_partition(*fields: Any) -> Api:
        changed = others[1].of(topic, parts.of(*fields))
        return evolve(right, response=[first, second, others[0], changed])

    wrong = [
        evolve(right, response=[second, first, *others]),
        with_partition(code, index, watermark, stable, *rest),
        with_partition(index, code, evolve(watermark, type="int32"), stable, *rest),
        with_partition(index, code, watermark, evolve(stable, versions="12+"), *rest),
        with_partition(index, code, stable, watermark, *rest),
        with_partition(*[evolve(each, tag=each.tag + 5) if each.tag else each for each in parts.fields]),
    ]
    bodies = [full_body(right.response, version) for version in (11, 12)]
    for api in wrong:
        found = [differences(peer, api, 11 + i, "response", body) for i, body in enumerate(bodies)]
        assert any(found), api
    assert not any(differences(peer, right, 11 + i, "response", body) for i, body in enumerate(bodies))
