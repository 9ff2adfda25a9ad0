"""Bytes of znodes as the texts that the emulated tree holds, and back. Every sequence of bytes has one text of its own.

Bytes that are UTF-8 become their text. A byte that is not becomes one of the last 128 characters of Unicode's last
private area, and a character of that area in the data is written as the bytes that it has in UTF-8. The emulator's
brokers create znodes with null, which their tree holds as the empty text; so empty bytes, which are not the same, have
a character, too.
"""

import re

NULL = ""
_EMPTY = "\U0010ff00"
_BYTES = 0x10FF00
"""The offset of the characters for bytes: a byte b of 128 and above is the character ``_BYTES + b``."""
_AREA = re.compile("[\U0010ff00-\U0010ffff]")
_LONE = re.compile("[\udc80-\udcff]")
_SURROGATES = 0xDC00


def to_text(data: bytes | None) -> str:
    """The text for the data of a znode; None is null."""
    if not data:
        return NULL if data is None else _EMPTY
    text = data.decode("utf-8", "surrogateescape")
    if text.isascii():
        return text
    text = _AREA.sub(lambda found: _escaped(found[0].encode()), text)
    return _LONE.sub(lambda found: chr(ord(found[0]) - _SURROGATES + _BYTES), text)


def _escaped(data: bytes) -> str:
    return "".join(chr(_BYTES + byte) for byte in data)


def to_bytes(text: str) -> bytes | None:
    """The bytes of which ``to_text`` made the text."""
    if text.isascii():
        return text.encode() if text else None
    if text == _EMPTY:
        return b""
    lone = _AREA.sub(lambda found: chr(ord(found[0]) - _BYTES + _SURROGATES), text)
    return lone.encode("utf-8", "surrogateescape")
