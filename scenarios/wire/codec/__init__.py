"""Kafka's wire protocol: frames to plain dicts and back, and the headers of record batches.

A body is a dict with the names of Kafka's message definitions in snake_case (``topics``, ``partition_index``,
``error_code``). Arrays are lists, ``records`` are ``bytes | None``. A body does not depend on the version: what a
version lacks has its default after decoding, is left out when encoding, and a missing key is encoded as its default.
"""

from scenarios.wire.codec.frames import WireRequest, decode_request, decode_response, encode_request, encode_response
from scenarios.wire.codec.malformed import MalformedFrame, UnsupportedVersion
from scenarios.wire.codec.messages import APIS

__all__ = [
    "APIS",
    "MalformedFrame",
    "UnsupportedVersion",
    "WireRequest",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
]
