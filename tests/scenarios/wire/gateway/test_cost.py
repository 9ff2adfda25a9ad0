"""Costs of a request grow with the request, not with its square. Calls are counted, not seconds."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.inputs import Accepted, Frame
from tests.scenarios.wire.gateway.scripted import play

METADATA = 3
TABLE = {"cluster": {"brokers": 3, "config": {"default.replication.factor": 3}}, "profile": "kafka-2.7"}


def calls_of(does: Callable[[], object]) -> int:
    """How many Python functions ``does`` calls."""
    calls = 0

    def profile(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(profile)
    try:
        does()
    finally:
        sys.setprofile(None)
    return calls


def create(topics: int) -> None:
    """One Metadata request creates so many topics."""
    body = {"topics": [{"name": f"topic{number}"} for number in range(topics)], "allow_auto_topic_creation": True}
    frame = encode_request(METADATA, 9, 1, "a", body)
    played = play(TABLE, [(100, Accepted(1, 0, "127.0.0.1:1")), (100, Frame(1, frame))], 10_000)
    (answer,) = played.outlets.written[1]
    assert len(decode_response(METADATA, 9, answer)[1]["topics"]) == topics


def test_twice_as_many_topics_take_twice_as_many_calls() -> None:
    create(1)  # imports
    few, many = calls_of(lambda: create(75)), calls_of(lambda: create(150))
    assert many < 2.1 * few
