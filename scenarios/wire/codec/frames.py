"""Frames: a header and a body, without the four bytes of their size that precede them on a connection."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from struct import Struct
from struct import error as StructError
from typing import Any, Final

from attrs import define

from scenarios.wire.codec.checking import problems
from scenarios.wire.codec.malformed import MalformedFrame, UnsupportedVersion, bad_length, short
from scenarios.wire.codec.messages import API_VERSIONS, APIS
from scenarios.wire.codec.reader_compiler import Reader, reader, skipped_tags
from scenarios.wire.codec.schema import Api
from scenarios.wire.codec.writer_compiler import Writer, writer

MOST_ELEMENTS: Final = 1_000_000
"""The most elements of all arrays of a request together. A request for each of 200,000 partitions with its replicas has
fewer. Without a limit a frame of 100 MB, which Kafka accepts, could make 10 GB of small dicts."""

ANY: Final = 2**62
_REQUEST: Final = Struct(">hhi")
_REQUEST_FIELDS: Final = ((2, "api_key"), (4, "version"), (8, "correlation_id"), (10, "client_id"))
_LENGTH: Final = Struct(">h")
_SIZE: Final = Struct(">i")


@define  # frozen ones take three times as long to make
class WireRequest:
    """A request as a client sent it.

    Attributes:
        api_key: Kafka's number of the API.
        version: the API's version.
        correlation_id: the response has the same.
        client_id: the client's name for itself.
        body: the fields by their names.
    """

    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    body: dict[str, Any]


@cache
def _reader(api_key: int, version: int, kind: str) -> Reader:
    api = APIS[api_key]
    return reader(getattr(api, kind), version, version in api.flexible, f"read {api.name} {kind} v{version}")


@cache
def _writer(api_key: int, version: int, kind: str) -> Writer:
    api = _api(api_key, version)
    return writer(getattr(api, kind), version, version in api.flexible, f"write {api.name} {kind} v{version}")


def _api(api_key: int, version: int) -> Api:
    api = APIS.get(api_key)
    if api is None or version not in api.versions:
        raise ValueError(f"the codec has no {api.name if api else f'API {api_key}'} of version {version}")
    return api


def decode_request(frame: bytes | memoryview) -> WireRequest:
    """Reads a request. Bytes after its end are left alone, as brokers do: librdkafka 2.16 sends some in Metadata v9.

    Args:
        frame: the header and the body. Of a memoryview, strings and records are copied once.

    Raises:
        UnsupportedVersion: the codec does not know the API, or not that version of it.
        MalformedFrame: the bytes are no such request.
    """
    end = len(frame)
    if end < 10:
        raise short(end, _REQUEST_FIELDS, "")
    api_key, version, correlation_id = _REQUEST.unpack_from(frame)
    api = APIS.get(api_key)
    if api is None or version not in api.versions:
        problem = f"version {version} of {api.name}" if api else f"API {api_key} (version {version})"
        raise UnsupportedVersion(api_key, version, correlation_id, f"{problem} is not supported")
    (length,) = _LENGTH.unpack_from(frame, 8)
    at = 10
    client_id = None
    if length != -1:
        at += length
        if length < 0 or at > end:
            raise bad_length("client_id", length, end - 10)
        client_id = str(frame[10:at], "utf-8", "replace")
    if version in api.flexible:
        at = skipped_tags(frame, at, end, "header tags")
    body, _ = _reader(api_key, version, "request")(frame, at, end, MOST_ELEMENTS)
    return WireRequest(api_key, version, correlation_id, client_id, body)


def encode_request(
    api_key: int, version: int, correlation_id: int, client_id: str | None, body: Mapping[str, Any]
) -> bytes:
    """The frame of a request; what ``decode_request`` reads.

    Raises:
        ValueError: the codec does not know the API or the version, or the body has a value that cannot be written.
    """
    write = _writer(api_key, version, "request")
    name = (client_id or "").encode()
    parts: list[bytes] = [_REQUEST.pack(api_key, version, correlation_id)]
    parts += (_LENGTH.pack(-1 if client_id is None else len(name)), name)
    if version in APIS[api_key].flexible:
        parts.append(b"\0")
    return _written(parts, write, body, APIS[api_key], version, "request")


def encode_response(api_key: int, version: int, correlation_id: int, body: Mapping[str, Any]) -> bytes:
    """The frame of a response.

    Raises:
        ValueError: the codec does not know the API or the version, or the body has a value that cannot be written.
    """
    write = _writer(api_key, version, "response")
    parts: list[bytes] = [_SIZE.pack(correlation_id)]
    if _tagged_header(api_key, version):
        parts.append(b"\0")
    return _written(parts, write, body, APIS[api_key], version, "response")


def decode_response(api_key: int, version: int, frame: bytes | memoryview) -> tuple[int, dict[str, Any]]:
    """Reads the response to a request of that API and version: the correlation id, and the body.

    Raises:
        ValueError: the codec does not know the API or the version.
        MalformedFrame: the bytes are no such response.
    """
    _api(api_key, version)
    end = len(frame)
    if end < 4:
        raise short(end, ((4, "correlation_id"),), "")
    (correlation_id,) = _SIZE.unpack_from(frame)
    at = 4
    if _tagged_header(api_key, version):
        at = skipped_tags(frame, at, end, "header tags")
    body, at = _reader(api_key, version, "response")(frame, at, end, ANY)
    if at != end:
        raise MalformedFrame("", f"{end - at} bytes follow the end of the message")
    return correlation_id, body


def _written(parts: list[bytes], write: Writer, body: Mapping[str, Any], api: Api, version: int, kind: str) -> bytes:
    """The frame that begins with ``parts`` and ends with the body."""
    try:
        write(parts.append, body)
        return b"".join(parts)
    except (AttributeError, OverflowError, TypeError, ValueError, StructError) as error:
        found = next(problems(getattr(api, kind), version, body), str(error))
        raise ValueError(f"the {kind} of {api.name} v{version} cannot be written: {found}") from error


def _tagged_header(api_key: int, version: int) -> bool:
    """Whether the response's header has tagged fields.

    The header of an ApiVersions response never has (KIP-511): a client reads it before it knows which versions the
    broker speaks.
    """
    return version in APIS[api_key].flexible and api_key != API_VERSIONS.key
