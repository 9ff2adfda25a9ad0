"""controller_mutation_rate at the wire: the cases of ControllerMutationQuotaTest (2.7.2), by real frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.errors import Errors
from emulator.protocol.mutating_client import MutatingClient
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.inputs import Accepted, Frame
from tests.scenarios.wire.gateway.scripted import Scripted, play
from understudy.testing import cluster, in_virtual_time

CREATE, DELETE, ADD, ALTER = 19, 20, 37, 49
STRICT, PERMISSIVE = {CREATE: 6, DELETE: 5, ADD: 3}, {CREATE: 5, DELETE: 4, ADD: 2}
THROTTLED, FREE = "throttled", "free"
RATE, PARTITIONS = 2.0, 30
"""The bucket holds 22 tokens, so one topic leaves -8, and two leave -38."""
NAMES = ("topic-1", "topic-2")
RELEASES = pytest.mark.parametrize("release", ["2.7", "3.9"])
APIS = pytest.mark.parametrize("api", [CREATE, DELETE, ADD])
EXCEEDED, NONE = int(Errors.THROTTLING_QUOTA_EXCEEDED), 0
STEP_MS = 1000
Sent = tuple[int, int, str, dict[str, Any]]


def limit(key: str = "controller_mutation_rate") -> Sent:
    entity = [{"entity_type": "client-id", "entity_name": THROTTLED}]
    entry = {"entity": entity, "ops": [{"key": key, "value": RATE, "remove": False}]}
    return ALTER, 0, FREE, {"entries": [entry], "validate_only": False}


def created(version: int, client: str, names: Sequence[str] = NAMES, partitions: int = PARTITIONS, **more: Any) -> Sent:
    topics = [
        {"name": name, "num_partitions": partitions, "replication_factor": 1, "assignments": [], "configs": []}
        for name in names
    ]
    return CREATE, version, client, {"topics": topics, "timeout_ms": 60_000, "validate_only": False, **more}


def asked(api: int, version: int, client: str, names: Sequence[str] = NAMES) -> Sent:
    """30 partitions of each topic are created, deleted or added."""
    if api == CREATE:
        return created(version, client, names)
    if api == DELETE:
        return DELETE, version, client, {"topic_names": list(names), "timeout_ms": 60_000}
    topics = [{"name": name, "count": PARTITIONS + 1, "assignments": None} for name in names]
    return ADD, version, client, {"topics": topics, "timeout_ms": 60_000, "validate_only": False}


def prepared(api: int) -> list[Sent]:
    """The quota, and the topics that the request needs, which a client without a quota creates."""
    needs = {CREATE: [], DELETE: [created(6, FREE)], ADD: [created(6, FREE, partitions=1)]}
    return [limit(), *needs[api]]


def conversation(release: str, sent: Sequence[Sent], *, end_ms: int = 60_000) -> Scripted:
    """A run with one broker and one connection, on which these are sent, a second after each other."""
    frames = [
        (100 + STEP_MS * number, Frame(1, encode_request(api, version, number, client, body)))
        for number, (api, version, client, body) in enumerate(sent)
    ]
    table = {"profile": f"kafka-{release}", "cluster": {"brokers": 1}}
    return play(table, [(100, Accepted(1, 0, "127.0.0.1:5", "PLAINTEXT")), *frames], end_ms, api_versions=release)


def results(played: Scripted, sent: Sequence[Sent], number: int) -> tuple[int, list[int]]:
    """The throttle time of an answer, and the error of each topic."""
    api, version, *_ = sent[number]
    body = decode_response(api, version, played.outlets.written[1][number])[1]
    topics = body[{CREATE: "topics", DELETE: "responses", ADD: "results"}[api]]
    return body["throttle_time_ms"], [topic["error_code"] for topic in topics]


@RELEASES
@APIS
def test_a_strict_request_is_refused_what_exceeds_and_succeeds_after_its_wait(release: str, api: int) -> None:
    """The retry comes at once, and is read when the channel is muted no more."""
    version = STRICT[api]
    sent = [*prepared(api), asked(api, version, THROTTLED), asked(api, version, THROTTLED, NAMES[1:])]
    played = conversation(release, sent)
    throttle_ms, errors = results(played, sent, -2)
    assert errors == [NONE, EXCEEDED]
    assert 0 < throttle_ms <= 4000
    assert results(played, sent, -1) == (0, [NONE])
    assert not played.judged().violations


@RELEASES
@APIS
def test_a_permissive_request_is_carried_out_and_its_channel_is_muted(release: str, api: int) -> None:
    sent = [*prepared(api), asked(api, PERMISSIVE[api], THROTTLED), limit()]
    played = conversation(release, sent)
    throttle_ms, errors = results(played, sent, -2)
    assert errors == [NONE, NONE]
    assert 4000 < throttle_ms <= 19_000
    assert len(played.outlets.written[1]) == len(sent)
    muted = conversation(release, sent, end_ms=throttle_ms - 2 * STEP_MS)
    assert len(muted.outlets.written[1]) == len(sent) - 1


@RELEASES
@APIS
def test_a_client_without_a_quota_is_not_throttled(release: str, api: int) -> None:
    sent = [*prepared(api), asked(api, STRICT[api], FREE)]
    assert results(conversation(release, sent), sent, -1) == (0, [NONE, NONE])


def test_what_is_only_checked_does_not_count() -> None:
    sent = [limit(), *[created(6, THROTTLED, validate_only=True)] * 2, created(6, THROTTLED, NAMES[:1])]
    played = conversation("2.7", sent)
    for number, errors in ((1, [NONE, NONE]), (2, [NONE, NONE]), (3, [NONE])):
        assert results(played, sent, number) == (0, errors)


def test_a_refusal_has_words_where_kafka_has_them() -> None:
    """ApiError of the exception for created topics and partitions; ZkAdminManager.deleteTopics keeps the code alone."""
    words = {CREATE: "The throttling quota has been exceeded.", DELETE: None}
    for api, expected in words.items():
        sent = [*prepared(api), asked(api, STRICT[api], THROTTLED)]
        played = conversation("2.7", sent)
        body = decode_response(api, STRICT[api], played.outlets.written[1][-1])[1]
        assert body["topics" if api == CREATE else "responses"][1]["error_message"] == expected


@pytest.mark.parametrize(("release", "errors"), [("kafka-2.6", [0, 0]), ("kafka-2.7", [0, 89])])
@in_virtual_time
async def test_before_kip_599_the_setting_has_no_effect(release: str, errors: list[int]) -> None:
    """Brokers of 2.6 do not know it, and newer tools can write it into ZooKeeper."""
    async with cluster(1, profile=release) as c:
        c._cluster.brokers[0]._configured(f"clients/{THROTTLED}", {"controller_mutation_rate": str(RATE)})
        topics = tuple(NewTopic(name, PARTITIONS, 1) for name in NAMES)
        client = MutatingClient("ANONYMOUS", THROTTLED, True)
        response = await c.send(0, CreateTopicsRequest(topics, 60_000_000, client=client))
        assert [topic.error.code for topic in response.topics] == errors
        assert (response.throttle_ms > 0) is (errors[1] > 0)
