"""The causal chain of an event: what led to it, read backwards along the causes."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from emulator.trace import Event


@frozen
class Chain:
    """``events``: oldest first. ``whole``: it begins at a root; else an older event is no longer known."""

    events: tuple[Event, ...]
    whole: bool


def chain(events: Mapping[int, Event], seq: int) -> Chain:
    """The chain that ends with event ``seq``. Causes are older than what they cause, or the chain ends
    there.
    """
    found: list[Event] = []
    before = seq + 1
    while 0 < seq < before:
        event = events.get(seq)
        if event is None:
            return Chain(tuple(reversed(found)), whole=False)
        found.append(event)
        before, seq = seq, event.cause
    return Chain(tuple(reversed(found)), whole=True)
