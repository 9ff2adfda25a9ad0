"""Unpacks timelines as the page's script does, in Python."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def unpack(text: str) -> tuple[dict[str, Any], list[list[str]]]:
    """The head, and the timelines as lines."""
    blob = zlib.decompress(base64.b64decode(text))
    length, at = number(blob, 0)
    head = json.loads(blob[at : at + length])
    body = blob[at + length :]
    return head, [lines(head, body, start) for start in head["starts"]]


def lines(head: dict[str, Any], body: bytes, at: int) -> list[str]:
    count, at = number(body, at)
    found, t_us, seq = [], 0, 0
    for _ in range(count):
        numbers = []
        for _ in range(4):
            value, at = number(body, at)
            numbers.append(value)
        t_us, seq = t_us + numbers[0], seq + numbers[1]
        roles, text = head["roles"][numbers[2]], head["texts"][numbers[3]]
        time = f"{t_us // 1_000_000}.{t_us % 1_000_000:06}"
        found.append(text if not (numbers[1] or roles) else f"{time:>13} {seq:>8}  {roles}  {text}")
    return found


def number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at
