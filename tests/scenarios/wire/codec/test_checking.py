"""Error texts about bodies that cannot be written, and that the wire's APIs fit the codec."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.wire.apis import wire_apis
from scenarios.wire.codec import APIS, encode_response
from scenarios.wire.codec.checking import problems
from tests.scenarios.wire.codec.bodies import full_body

METADATA = APIS[3]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"controller_id": "0"}, "controller_id is '0', not an int32"),
        ({"controller_id": 1 << 31}, "controller_id is 2147483648, not an int32"),
        ({"brokers": None}, "brokers is null, which it cannot be in version 9"),
        ({"brokers": [{}, {"host": b"h"}]}, "brokers[1].host is b'h', not string"),
        ({"topics": [{"partitions": [{"isr_nodes": [0, None]}]}]}, "topics[0].partitions[0].isr_nodes[1] is None, not"),
        ({"topics": ["orders"]}, "topics[0] is 'orders', not a dict"),
        ({"topics": 3}, "topics is 3, not a list"),
    ],
)
def test_a_value_that_cannot_be_written_is_named(body: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match="the response of Metadata v9 cannot be written: ") as caught:
        encode_response(3, 9, 1, body)
    assert problem in str(caught.value)


def test_a_key_that_no_version_has_is_found() -> None:
    body = {"topics": [{"name": "t", "partitions": [{"partition": 1, "offline_replicas": None}]}]}
    [problem] = problems(METADATA.response, 0, body)
    assert problem.startswith("topics[0].partitions[0].partition is no field; there are error_code, partition_index")


@pytest.mark.parametrize("kind", ["request", "response"])
def test_there_is_nothing_wrong_with_full_bodies(kind: str) -> None:
    for api in APIS.values():
        for version in api.versions:
            body = full_body(getattr(api, kind), version)
            assert list(problems(getattr(api, kind), version, body)) == []


def test_the_codec_has_each_version_that_an_api_of_the_wire_has() -> None:
    lacking = {
        f"{type(api).__name__} v{version}"
        for key, api in wire_apis().items()
        for version in range(api.versions[0], api.versions[1] + 1)
        if key not in APIS or version not in APIS[key].versions
    }
    assert lacking == set()
