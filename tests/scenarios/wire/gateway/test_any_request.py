"""No request that the codec can read makes a broker fail, now or later, or makes a checker find what is not so."""

from collections.abc import Collection, Mapping
from copy import deepcopy
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.codec.messages import APIS
from scenarios.wire.inputs import Accepted, Frame, Input
from scenarios.wire.released_versions import Versions
from scenarios.wire.versions import NEWEST_WITHOUT_TOPIC_IDS, announced
from tests.scenarios.wire.codec.bodies import any_body, fields_of
from tests.scenarios.wire.gateway.scripted import play

METADATA, FIND_COORDINATOR = 3, 10
LISTS = encode_request(METADATA, 9, 7, "last", {"topics": None})
TABLE = {
    "topics": [{"name": "orders", "partitions": 2, "replication_factor": 3}],
    "cluster": {
        "brokers": 3,
        "log_dirs": 2,
        "config": {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1},
    },
}
SERVED, WITH_TOPIC_IDS = announced("3.0", "2.3.1"), announced("3.0", "3.0.2")
AFTER_EACH_MS = 10_000
"""Virtual time in which what a request has started comes to its end: a first rebalance, a session, a delayed answer."""
KNOWN: dict[str, tuple[Any, ...]] = {
    "name": ("orders", "__consumer_offsets", "range"),
    "topic": ("orders",),
    "resource_name": ("orders", "1"),
    "group_id": ("group",),
    "key": ("group",),
    "member_id": ("",),
    "group_instance_id": (None,),
    "protocol_type": ("consumer",),
    "session_timeout_ms": (6_000,),
    "rebalance_timeout_ms": (6_000,),
    "transactional_id": ("transaction",),
    "transaction_timeout_ms": (5_000,),
    "producer_id": (-1, 0),
    "producer_epoch": (-1, 0),
    "partition_index": (0, 1),
    "partition_indexes": ([0, 1, 0],),
    "partition": (0, 1),
    "path": ("/data/0", "/data/1"),
    "replicas": ([0, 1], [1, 2], [2, 0, 1]),
    "broker_ids": ([0, 1],),
    "num_partitions": (1,),
    "replication_factor": (2,),
    "count": (3,),
    "timeout_ms": (100,),
    "acks": (1, -1),
    "max_wait_ms": (50,),
}
"""Values that a request gets by, so that it comes further than the first check of it."""


def settled(draw: st.DrawFn, value: Any) -> Any:
    """``value`` with known names and numbers in some of its fields, and with an element twice in some of its arrays."""
    if isinstance(value, list):
        elements = [settled(draw, one) for one in value]
        again: Any = draw(st.sampled_from([None, *elements]))
        return elements if again is None else [*elements, _again(draw, again, elements)]
    if not isinstance(value, dict):
        return value
    return {name: _settled_field(draw, name, one) for name, one in value.items()}


def _settled_field(draw: st.DrawFn, name: str, value: Any) -> Any:
    known = KNOWN.get(name, ())
    fits = [one for one in known if type(one) is type(value)]
    if fits and draw(st.integers(0, 3)) > 0:
        return deepcopy(draw(st.sampled_from(fits)))
    return settled(draw, value)


def _again(draw: st.DrawFn, element: Any, elements: list[Any]) -> Any:
    """The element again; or another one with the value of its first field, by which brokers tell elements apart."""
    if not isinstance(element, dict) or draw(st.booleans()):
        return deepcopy(element)
    first = next(iter(element), None)
    return {**deepcopy(draw(st.sampled_from(elements))), **({first: element[first]} if first else {})}


@st.composite
def requests(draw: st.DrawFn, served: Mapping[int, Versions] = SERVED, keys: Collection[int] = SERVED) -> bytes:
    """The frame of any request that is served."""
    key = draw(st.sampled_from(sorted(keys)))
    version = draw(st.integers(*served[key]))
    body = settled(draw, draw(any_body(fields_of(APIS[key], "request"), version)))
    return encode_request(key, version, 1, draw(st.sampled_from(["a", "b"])), body)


def check(frames: list[bytes], profile: str = "kafka-2.3") -> None:
    """Each request is sent to all brokers, after the topics of groups and of transactions are there."""
    keys = (("group", 0), ("transaction", 1))
    first = [encode_request(FIND_COORDINATOR, 3, 1, "a", {"key": key, "key_type": kind}) for key, kind in keys]
    given: list[tuple[int, Input]] = []
    numbers = count(1)
    for place, frame in enumerate([*first, *frames, LISTS]):
        for broker in range(3):
            number, at_ms = next(numbers), AFTER_EACH_MS * place
            given += [(at_ms, Accepted(number, broker, "127.0.0.1:1")), (at_ms, Frame(number, frame))]
    played = play({**TABLE, "profile": profile}, given)
    for broker in range(3):
        (answer,) = played.outlets.written[number - broker]
        assert decode_response(METADATA, 9, answer)[0] == 7
    run = played.judged()
    assert run.defects == ()
    assert run.passed, run.explanation


MANY = st.lists(requests(), min_size=1, max_size=12)


@settings(max_examples=15, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(frames=MANY)
def test_no_request_makes_a_broker_fail_or_a_checker_err(frames: list[bytes]) -> None:
    check(frames)


@settings(max_examples=8, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(frames=st.lists(requests(WITH_TOPIC_IDS, NEWEST_WITHOUT_TOPIC_IDS), min_size=1, max_size=12))
@example(frames=[encode_request(METADATA, 0, 1, "b", {"topics": [{"name": ""}]})])
def test_no_request_with_topic_ids_does(frames: list[bytes]) -> None:
    check(frames, "kafka-3.0")


@pytest.mark.slow
@settings(max_examples=500, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(frames=MANY)
def test_no_request_of_very_many_does(frames: list[bytes]) -> None:
    check(frames)
