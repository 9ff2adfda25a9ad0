"""The bytes of ZooKeeper's protocol: what is written is read again, and what is no record is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.wire.zookeeper import jute_records
from scenarios.wire.zookeeper.jute import (
    BOOLEAN,
    BUFFER,
    INT,
    LONG,
    TEXT,
    JuteReader,
    JuteType,
    MalformedRecord,
    Record,
    Vector,
)
from scenarios.wire.zookeeper.jute_records import IN_MULTI, REQUESTS, RESPONSES
from scenarios.wire.zookeeper.opaque import to_bytes, to_text
from tests.scenarios.wire.zookeeper.client import read_multi_results, write_multi

OF_KIND: dict[JuteType, st.SearchStrategy[Any]] = {
    INT: st.integers(-(2**31), 2**31 - 1),
    LONG: st.integers(-(2**63), 2**63 - 1),
    BOOLEAN: st.booleans(),
    BUFFER: st.none() | st.binary(max_size=40),
    TEXT: st.none() | st.text(max_size=20),
}


def values(kind: JuteType) -> st.SearchStrategy[Any]:
    if isinstance(kind, Vector):
        return st.lists(values(kind.of), max_size=4)
    if isinstance(kind, Record):
        return st.fixed_dictionaries({name: values(of) for name, of in kind.fields.items()})
    return OF_KIND[kind]


RECORDS = [
    *REQUESTS.values(), *RESPONSES.values(), jute_records.CONNECT_REQUEST, jute_records.CONNECT_RESPONSE,
    jute_records.REPLY_HEADER,
    jute_records.REQUEST_HEADER, jute_records.WATCHER_EVENT,
]  # fmt: skip


@given(data=st.data(), record=st.sampled_from(RECORDS))
def test_a_record_that_is_written_is_read_again(data: st.DataObject, record: Record) -> None:
    value = data.draw(values(record))
    assert record.decode(record.write(value)) == value


@given(data=st.data(), codes=st.lists(st.sampled_from(IN_MULTI), max_size=4))
def test_a_multi_and_its_results_are_read_again(data: st.DataObject, codes: list[jute_records.OpCode]) -> None:
    ops = [(code, data.draw(values(REQUESTS[code]))) for code in codes]
    assert jute_records.read_multi(write_multi(ops)) == ops
    results = [data.draw(st.integers(-200, -1) | st.tuples(st.just(code), values(RESPONSES[code]))) for code in codes]
    assert read_multi_results(jute_records.write_multi_results(results)) == results


@given(data=st.binary(max_size=60), record=st.sampled_from(RECORDS))
def test_any_bytes_are_a_record_or_are_refused(data: bytes, record: Record) -> None:
    try:
        value = record.decode(data)
    except MalformedRecord:
        return
    assert record.decode(record.write(value)) == value


@pytest.mark.parametrize(
    ("record", "data", "said"),
    [
        (REQUESTS[jute_records.OpCode.GET_CHILDREN], b"\0\0\0\x02/a", "1 bytes are wanted at byte 6, and 0 are left"),
        (REQUESTS[jute_records.OpCode.SYNC], b"\x7f\xff\xff\xff/", "2147483647 bytes are wanted"),
        (REQUESTS[jute_records.OpCode.SYNC], b"\xff\xff\xff\xfe", "-2 bytes are wanted"),
        (REQUESTS[jute_records.OpCode.SYNC], b"\0\0\0\1\xff", "a text is no UTF-8"),
        (REQUESTS[jute_records.OpCode.PING], b"\0", "1 bytes are left over"),
        (Record({"children": Vector(TEXT)}), b"\x10\0\0\0" + bytes(8), "a list of 268435456, and 8 bytes are left"),
    ],
)
def test_what_is_no_record_is_refused_with_its_reason(record: Record, data: bytes, said: str) -> None:
    with pytest.raises(MalformedRecord, match=said):
        record.decode(data)


def test_clients_of_before_3_4_say_nothing_about_reading_only() -> None:
    request = {"protocol_version": 0, "last_zxid_seen": 0, "time_out": 1, "session_id": 0, "passwd": b""}
    assert jute_records.CONNECT_REQUEST.decode(jute_records.CONNECT_REQUEST.write(request)) == request


def test_an_operation_that_no_multi_has_is_refused() -> None:
    header = INT.write(jute_records.OpCode.GET_DATA) + BOOLEAN.write(False) + INT.write(-1)
    with pytest.raises(MalformedRecord, match="operation 4 in a multi"):
        jute_records.read_multi(header)


_ODD = st.binary(max_size=3) | st.characters(min_codepoint=0x10FE00).map(lambda one: one.encode())


@given(data=st.none() | st.binary() | st.text().map(str.encode) | st.lists(_ODD).map(b"".join))
def test_any_bytes_have_a_text_of_their_own(data: bytes | None) -> None:
    text = to_text(data)
    assert to_bytes(text) == data
    assert text.encode().decode() == text, "it can be written to a file"
    assert (text == "") == (data is None)


def test_what_is_utf_8_is_its_text() -> None:
    assert to_text("Jörg 🙂".encode()) == "Jörg 🙂"
    assert JuteReader(b"").left == 0
