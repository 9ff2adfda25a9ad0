"""No request that the codec can read makes a broker fail, whatever is in it."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokers.transactions.policies import VERSIONS_2_3
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.codec.messages import APIS
from scenarios.wire.inputs import Accepted, Frame, Input
from scenarios.wire.versions import announced
from tests.scenarios.wire.codec.bodies import any_body, fields_of
from tests.scenarios.wire.gateway.scripted import play

METADATA = 3
TABLE = {"topics": [{"name": "orders", "partitions": 2, "replication_factor": 3}]}
SERVED = announced("3.0", VERSIONS_2_3)
KNOWN: dict[str, tuple[Any, ...]] = {
    "name": ("orders", "__consumer_offsets"),
    "topic": ("orders",),
    "resource_name": ("orders", "1"),
    "group_id": ("group",),
    "partition_index": (0, 1),
    "partition": (0, 1),
    "replicas": ([0, 1], [1, 2]),
    "broker_ids": ([0, 1],),
    "num_partitions": (1,),
    "replication_factor": (2,),
    "count": (3,),
    "timeout_ms": (100,),
    "acks": (1, -1),
    "max_wait_ms": (50,),
}
"""Values that a request gets by, so that it comes further than the first check of it."""


def settled(draw: Any, value: Any) -> Any:
    """``value`` with known names and numbers in some of its fields."""
    if isinstance(value, list):
        return [settled(draw, one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, one in value.items():
        known = KNOWN.get(name, ())
        by = known and draw(st.integers(0, 1))
        found[name] = draw(st.sampled_from(known)) if by else settled(draw, one)
    return found


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """The frame of any request that is served."""
    key = draw(st.sampled_from(sorted(SERVED)))
    version = draw(st.integers(*SERVED[key]))
    body = settled(draw, draw(any_body(fields_of(APIS[key], "request"), version)))
    return encode_request(key, version, 1, draw(st.sampled_from(["a", "b"])), body)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(frames=st.lists(requests(), min_size=1, max_size=12))
def test_no_request_makes_a_broker_fail(frames: list[bytes]) -> None:
    given: list[tuple[int, Input]] = []
    for number, frame in enumerate(frames, start=1):
        given += [(20 * number, Accepted(number, number % 3, "127.0.0.1:1")), (20 * number, Frame(number, frame))]
    last = len(frames) + 1
    given += [
        (20 * last, Accepted(last, 0, "127.0.0.1:1")),
        (20 * last, Frame(last, encode_request(METADATA, 9, 7, "last", {"topics": None}))),
    ]
    played = play(TABLE, given)
    assert [line for line in played.log if "defect" in line or "cannot be sent" in line] == []
    (answer,) = played.outlets.written[last]
    assert decode_response(METADATA, 9, answer)[0] == 7
