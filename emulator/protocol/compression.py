"""The compressions of record batches (org.apache.kafka.common.record.CompressionType): by their number in a batch's
attributes, the bytes of its records unpacked and packed again.

gzip comes with Python. The others need the package ``cramjam``, of the extra ``codecs``; where it is missing they are
``CannotUnpack``. What is packed here is what Kafka's clients read: snappy in the blocks of snappy-java, lz4 in a
frame of independent blocks (KIP-57).
"""

import gzip
from collections.abc import Callable
from struct import Struct
from typing import Any

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
"""Kafka's numbers."""

_BLOCK = 64 << 10
_SNAPPY_MAGIC, _SNAPPY_HEADER = b"\x82SNAPPY\0", b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
_LZ4_HEADER = bytes.fromhex("04224d18604082")
"""Magic, independent blocks of 64 kB at most without checksums, and the checksum of these two bytes."""
_STORED = 1 << 31
_BIG, _LITTLE = Struct(">i"), Struct("<I")


class CannotUnpack(ValueError):
    """Bytes that are not of this compression, or a compression whose package is not installed."""


def _library() -> Any:
    try:
        import cramjam
    except ImportError:
        raise CannotUnpack("the package cramjam is not installed: pip install 'understudy[codecs]'") from None
    return cramjam


def unpack(compression: int, packed: bytes) -> bytes:
    """The bytes of which ``packed`` is the compressed form. Raises: CannotUnpack."""
    if compression == NONE:
        return packed
    if compression not in _UNPACK:
        raise CannotUnpack(f"unknown compression {compression}")
    try:
        return _UNPACK[compression](packed)
    except CannotUnpack:
        raise
    except Exception as failed:  # each library has its own errors
        raise CannotUnpack(f"the records cannot be unpacked: {failed}") from failed


def pack(compression: int, data: bytes) -> bytes:
    """``data`` in its compressed form. Raises: CannotUnpack, without the package for it."""
    return data if compression == NONE else _PACK[compression](data)


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _unsnappy(packed: bytes) -> bytes:
    """librdkafka sends one block alone, Java's client blocks with their lengths after a header."""
    raw = _library().snappy.decompress_raw
    if not packed.startswith(_SNAPPY_MAGIC):
        return bytes(raw(packed))
    at, found = len(_SNAPPY_HEADER), bytearray()
    while at < len(packed):
        (size,) = _BIG.unpack_from(packed, at)
        at += _BIG.size
        found += raw(packed[at : at + size])
        at += size
    return bytes(found)


def _snappy(data: bytes) -> bytes:
    found = bytearray(_SNAPPY_HEADER)
    for at in range(0, len(data), _BLOCK):
        block = bytes(_library().snappy.compress_raw(data[at : at + _BLOCK]))
        found += _BIG.pack(len(block)) + block
    return bytes(found)


def _unlz4(packed: bytes) -> bytes:
    return bytes(_library().lz4.decompress(packed))


def _lz4(data: bytes) -> bytes:
    found = bytearray(_LZ4_HEADER)
    for at in range(0, len(data), _BLOCK):
        block = data[at : at + _BLOCK]
        packed = bytes(_library().lz4.compress_block(block, store_size=False))
        shorter = len(packed) < len(block)
        found += _LITTLE.pack(len(packed) if shorter else len(block) | _STORED) + (packed if shorter else block)
    return bytes(found + _LITTLE.pack(0))


def _unzstd(packed: bytes) -> bytes:
    return bytes(_library().zstd.decompress(packed))


def _zstd(data: bytes) -> bytes:
    return bytes(_library().zstd.compress(data))


_UNPACK: dict[int, Callable[[bytes], bytes]] = {GZIP: gzip.decompress, SNAPPY: _unsnappy, LZ4: _unlz4, ZSTD: _unzstd}
_PACK: dict[int, Callable[[bytes], bytes]] = {GZIP: _gzip, SNAPPY: _snappy, LZ4: _lz4, ZSTD: _zstd}
