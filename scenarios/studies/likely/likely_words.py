"""A likelihood in words: its headline and its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MOST_ACTS = 3
"""A headline names no more entries than this: among more, none is found yet."""


def headline(found: Mapping[str, Any]) -> str:
    """The entry, or else the events, with which the finding became likely."""
    before, after = found["before"], found["after"]
    shares = (
        f"{_share(before)} of the continuations from {before['at_s']:.6f} s have it, {_share(after)} of those from "
    )
    shares += f"{after['at_s']:.6f} s"
    if len(found["acts"]) > MOST_ACTS:
        acted = f"{len(found['acts'])} entries acted; more --points tell which"
        return f"{found['checker']} became likely while {acted}: {shares}"
    if found["acts"]:
        acts = " and ".join(f"{act['place']} {act['action']} at {act['at_s']:.6f} s" for act in found["acts"])
        return f"{found['checker']} became likely with {acts}: {shares}"
    if found["events"]:
        return f"{found['checker']} became likely while no entry acted, with the events below: {shares}"
    return f"{found['checker']} became likely while no entry acted and no event is known: {shares}"


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The table of all instants, the headline, and the events where the share rises most."""
    yield f"finding  {found['checker']}: {found['statement']}"
    yield ""
    yield "from (virtual s)   have it         95 %"
    for point in found["points"]:
        share = f"{point['found']} of {point['of']}"
        yield f"{point['at_s']:>16.6f}   {share:<12}  {point['low']:>4.0%} to {point['high']:>4.0%}"
    yield ""
    yield headline(found)
    for event in found["events"]:
        yield f"  {event['at_s']:.6f} s  {event['text']}"


def _share(point: Mapping[str, Any]) -> str:
    return f"{point['found'] / point['of']:.0%}"
