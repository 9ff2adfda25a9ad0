"""Keys and values of coordinators' records."""

from __future__ import annotations

import pytest

from scenarios.wire.codec import MalformedFrame
from scenarios.wire.codec.messages import stored as kinds
from scenarios.wire.codec.schema import Stored
from scenarios.wire.codec.stored_records import decode_stored, encode_stored, version_of

EVERY = [(kind, version) for kind in vars(kinds).values() if isinstance(kind, Stored) for version in kind.versions]


@pytest.mark.parametrize(("kind", "version"), EVERY, ids=lambda value: getattr(value, "name", str(value)))
def test_an_empty_body_is_its_defaults(kind: Stored, version: int) -> None:
    data = encode_stored(kind, version, {})
    assert version_of(data) == version
    assert decode_stored(kind, data) == {each.name: each.default for each in kind.fields}


def test_an_offset_as_kafka_writes_it() -> None:
    """By hand after GroupMetadataManager's schemas (Kafka 2.3)."""
    key = {"group": "app", "topic": "orders", "partition": 3}
    assert encode_stored(kinds.OFFSET_COMMIT_KEY, 1, key).hex() == "0001000361707000066f726465727300000003"
    value = {"offset": 42, "leader_epoch": 5, "metadata": "m", "commit_timestamp": 1000, "expire_timestamp": 2000}
    data = {
        1: "0001000000000000002a00016d00000000000003e800000000000007d0",
        2: "0002000000000000002a00016d00000000000003e8",
        3: "0003000000000000002a0000000500016d00000000000003e8",
    }
    for version, expected in data.items():
        assert encode_stored(kinds.OFFSET_COMMIT_VALUE, version, value).hex() == expected
    assert decode_stored(kinds.OFFSET_COMMIT_VALUE, bytes.fromhex(data[3])) == value | {"expire_timestamp": -1}


def test_a_group_as_kafka_writes_it() -> None:
    member = {"member_id": "m", "client_id": "c", "client_host": "/h", "rebalance_timeout": 1, "session_timeout": 2}
    member |= {"group_instance_id": "i", "subscription": b"s", "assignment": b""}
    value = {"protocol_type": "consumer", "generation": 4, "protocol": "range", "leader": None, "members": [member]}
    data = encode_stored(kinds.GROUP_METADATA_VALUE, 3, value)
    assert data.hex() == (
        "0003"
        "0008636f6e73756d6572"
        "00000004"
        "000572616e6765"
        "ffff"
        "ffffffffffffffff"
        "00000001"
        "00016d"
        "000169"
        "000163"
        "00022f68"
        "00000001"
        "00000002"
        "0000000173"
        "00000000"
    )
    assert decode_stored(kinds.GROUP_METADATA_VALUE, data) == value | {"current_state_timestamp": -1}


def test_what_is_no_such_record_is_refused() -> None:
    with pytest.raises(MalformedFrame, match="version: 4 of OffsetCommitValue is not supported"):
        decode_stored(kinds.OFFSET_COMMIT_VALUE, b"\0\4")
    with pytest.raises(MalformedFrame, match="version: the frame ends"):
        decode_stored(kinds.OFFSET_COMMIT_VALUE, b"")
    with pytest.raises(MalformedFrame, match="3 bytes follow the end of the GroupMetadataKey"):
        decode_stored(kinds.GROUP_METADATA_KEY, b"\0\2\0\1gxxx")
    with pytest.raises(ValueError, match="no GroupMetadataKey of version 1"):
        encode_stored(kinds.GROUP_METADATA_KEY, 1, {})
