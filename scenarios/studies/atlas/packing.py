"""Thousands of timelines in a small text, which is part of the page.

Many lines are alike: the text of an event and the column of roles are kept once, and a line is four numbers:
time and ``seq`` (each as the distance from the line before), roles, text. The numbers are written as in Protocol
Buffers' varints; everything is deflated, then base64, which browsers undo by themselves.

The blob, before it is deflated: a varint with the length of the head; the head, a JSON object (``texts``, ``roles``,
``starts``: the timelines' places in the body; and the details); the body.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence

TIME, SEQ, ROLES = 13, 22, 24
"""Columns of a timeline's line: the time ends at the first, ``seq`` at the second, the roles begin at the third."""
LEVEL = 9


def pack(timelines: Iterable[Sequence[str]], details: Mapping[str, object]) -> str:
    """``timelines``, in order, and ``details`` as base64 text. A line without a time has a distance in ``seq`` of 0."""
    texts, roles = _Interned(), _Interned()
    body, starts = bytearray(), []
    for timeline in timelines:
        starts.append(len(body))
        end = timeline[1].index("  event") if len(timeline) > 1 else 0
        lines = [parse(line, end) for line in timeline]
        put(body, len(lines))
        t_us = seq = 0
        for line_us, line_seq, cells, text in lines:
            if line_seq == 0:
                line_us = t_us
            put(body, max(0, line_us - t_us))
            put(body, line_seq - seq if line_seq else 0)
            put(body, roles[cells])
            put(body, texts[text])
            t_us, seq = line_us, line_seq or seq
    interned = {"texts": list(texts.index), "roles": list(roles.index), "starts": starts}
    head = json.dumps({**details, **interned}, separators=(",", ":"), ensure_ascii=False).encode()
    blob = bytearray()
    put(blob, len(head))
    return base64.b64encode(zlib.compress(bytes(blob) + head + bytes(body), LEVEL)).decode()


def parse(line: str, end: int) -> tuple[int, int, str, str]:
    """The parts of a line of ``scenarios.observe.timeline`` whose roles end at column ``end``: time, ``seq``, roles,
    text.

    A line without a time, such as the heading, is 0, 0, nothing, the line.
    """
    whole, dot, part = line[:TIME].strip().partition(".")
    if not (dot and whole.isdigit() and part.isdigit()):
        return 0, 0, "", line
    return int(whole) * 1_000_000 + int(part), int(line[TIME:SEQ]), line[ROLES:end], line[end + 2 :]


def put(body: bytearray, number: int) -> None:
    """Append a varint: seven bits a byte, the lowest first; the eighth bit is set if more bytes follow."""
    while number > 0x7F:
        body.append(number & 0x7F | 0x80)
        number >>= 7
    body.append(number)


class _Interned:
    """Texts, numbered in the order of their first use."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        return self.index.setdefault(text, len(self.index))
