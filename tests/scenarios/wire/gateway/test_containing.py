"""Errors of the tool itself in a served cluster end one process or connection, are reported, and fail the run."""

import inspect
import struct
from typing import Any

import pytest

from brokers.groups.rebalance import GroupRebalances
from brokers.requests.client_metadata import MetadataHandler
from controller.operations.topics import TopicChanges
from emulator.protocol.events import NodeCrashed
from emulator.zookeeper.server.database import Database
from scenarios.cli import exits
from scenarios.language import Scenario
from scenarios.observe.checkers.meters_true import MetersTrue
from scenarios.runs.finding import OWN_DEFECT
from scenarios.runs.findings import findings
from scenarios.wire.apis.metadata import Metadata
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.gateway.gateway import Gateway
from scenarios.wire.inputs import Accepted, Frame, Input
from tests.scenarios.wire.gateway.scripted import Scripted, play

METADATA, FIND_COORDINATOR, JOIN_GROUP, API_VERSIONS, DESCRIBE_LOG_DIRS = 3, 10, 11, 18, 35
LAST = 100
"""The number of the first of the last connections."""
TABLE = {
    "topics": [{"name": "orders", "partitions": 3, "replication_factor": 3}],
    "cluster": {"brokers": 3, "config": {"offsets.topic.num.partitions": 1}},
}
CREATES = encode_request(METADATA, 9, 1, "a", {"topics": [{"name": "new"}], "allow_auto_topic_creation": True})
LISTS = encode_request(METADATA, 9, 1, "b", {"topics": None})
DESCRIBES = encode_request(DESCRIBE_LOG_DIRS, 1, 1, "a", {"topics": None})
FINDS = encode_request(FIND_COORDINATOR, 3, 1, "a", {"key": "group", "key_type": 0})


def joins(*protocols: str) -> bytes:
    """A first JoinGroup of a member that names these protocols."""
    body = {
        "group_id": "group", "session_timeout_ms": 10_000, "rebalance_timeout_ms": 10_000, "member_id": "",
        "protocol_type": "consumer", "protocols": [{"name": name, "metadata": b""} for name in protocols],
    }  # fmt: skip
    return encode_request(JOIN_GROUP, 3, 2, "a", body)


def plant(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
    """Let ``owner.name`` raise an exception once, after the first input has come in."""
    perform, works, due = Gateway.perform, getattr(owner, name), list[bool]()

    def performed(gateway: Gateway, given: Input) -> None:
        due.append(True)
        perform(gateway, given)

    def fail() -> None:
        if due and due[0]:
            due.insert(0, False)
            raise ZeroDivisionError("planted")

    def failing(self: Any, *args: Any, **kwargs: Any) -> Any:
        fail()
        return works(self, *args, **kwargs)

    async def failing_later(self: Any, *args: Any, **kwargs: Any) -> Any:
        fail()
        return await works(self, *args, **kwargs)

    monkeypatch.setattr(Gateway, "perform", performed)
    monkeypatch.setattr(owner, name, failing_later if inspect.iscoroutinefunction(works) else failing)


def asked(*frames: bytes) -> Scripted:
    """A run in which a client asks broker 2 this, a request every second, and another one all brokers at the end."""
    given: list[tuple[int, Input]] = []
    for number, frame in enumerate(frames, 1):
        given += [(1000 * number, Accepted(number, 2, "127.0.0.1:1")), (1000 * number, Frame(number, frame))]
    for broker in range(3):
        given += [(20_000, Accepted(LAST + broker, broker, "127.0.0.1:2")), (20_000, Frame(LAST + broker, LISTS))]
    return play(TABLE, given)


def answering(played: Scripted) -> list[int]:
    """The brokers that answer the last requests."""
    return [broker for broker in range(3) if played.outlets.written.get(LAST + broker)]


def crashed(played: Scripted) -> list[int]:
    return [event.node for event in played.stage.control_plane.events() if type(event) is NodeCrashed]


@pytest.mark.parametrize(
    ("owner", "name", "frames", "dies", "said"),
    [
        (GroupRebalances, "_expire_join", [FINDS, joins("range")], True, "broker-2 fails"),
        (TopicChanges, "process_topic_change", [CREATES], True, "broker-1 fails"),
        (MetadataHandler, "_create", [CREATES], True, "broker-2 fails"),
        (MetadataHandler, "_answer", [LISTS], False, "broker 2 fails at Metadata"),
        (Metadata, "to_request", [LISTS], False, "a request cannot be taken"),
        (Metadata, "to_response", [LISTS], False, "the answer to API 3 cannot be sent"),
        (Database, "answer", [CREATES], False, "zookeeper fails"),
    ],
)
def test_an_exception_ends_what_raised_it_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, frames: list[bytes], dies: bool, said: str
) -> None:
    plant(monkeypatch, owner, name)
    played = asked(*frames)
    run = played.judged()
    (defect,) = run.defects
    assert said in defect
    assert "ZeroDivisionError: planted" in defect
    assert played.log == [f"a defect of the tool: {defect}"]
    assert len(crashed(played)) == dies
    assert answering(played) == [broker for broker in range(3) if broker not in crashed(played)]
    assert (run.verdict, run.reason) == ("failed", OWN_DEFECT)
    assert findings(run)[0].checker == OWN_DEFECT
    assert f"FAILED: {run.defects[0]}" in " ".join(run.explanation.split())
    assert "its causes" not in run.explanation
    assert exits.of(run) == exits.TOOL_FAILED


def test_a_checker_that_raises_ends_the_run_which_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, MetersTrue, "on_marked")
    run = asked(DESCRIBES).judged()
    assert run.reason == OWN_DEFECT
    assert "the run ended at 5.0" in run.defects[0]
    assert "checker 'meters_true' failed: ZeroDivisionError: planted" in run.defects[0]


def test_a_run_without_live_clients_is_ended_by_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be had again by its seed, and no clients are cut off."""
    monkeypatch.setattr(TopicChanges, "process_topic_change", plant)
    scenario = Scenario.from_table({"title": "ordinary", **TABLE})
    with pytest.raises(ExceptionGroup):
        scenario.run()


def test_a_member_that_names_a_protocol_twice_is_not_answered_and_the_broker_goes_on() -> None:
    """Kafka counts the names, finds no candidate for the member's vote, and its delayed operation ends with an
    IllegalArgumentException (GroupMetadata.selectProtocol, MemberMetadata.vote; 2.3 to 3.0)."""
    played = asked(FINDS, joins("range", "range"))
    assert played.outlets.written[2] == []
    assert answering(played) == [0, 1, 2]
    assert played.judged().passed


def test_a_partition_that_is_asked_for_twice_is_described_once() -> None:
    body = {"topics": [{"topic": "orders", "partitions": [0, 0]}, {"topic": "orders", "partitions": [0, 1]}]}
    played = asked(encode_request(DESCRIBE_LOG_DIRS, 1, 1, "a", body))
    (answer,) = played.outlets.written[1]
    (result,) = decode_response(DESCRIBE_LOG_DIRS, 1, answer)[1]["results"]
    assert [[each["partition_index"] for each in topic["partitions"]] for topic in result["topics"]] == [[0, 1]]
    assert played.judged().passed


@pytest.mark.parametrize("version", [-1, -32768, 4])
def test_any_unknown_version_of_api_versions_is_answered_as_version_0(version: int) -> None:
    frame = struct.pack(">hhih", API_VERSIONS, version, 5, -1)
    played = asked(frame)
    (answer,) = played.outlets.written[1]
    number, error, count = struct.unpack_from(">ihi", answer)
    assert (number, error) == (5, 35)
    assert len(answer) == 10 + 6 * count
    assert played.judged().passed
