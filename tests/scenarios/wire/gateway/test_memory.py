"""Connections that were closed leave nothing behind that only the cyclic collector could free: during a run it comes
seldom."""

import gc
from collections import Counter

import pytest

from scenarios.wire.codec import encode_request
from scenarios.wire.gateway.gateway import Gateway
from scenarios.wire.inputs import Accepted, Closed, Frame, Input
from tests.scenarios.wire.gateway.scripted import play

METADATA, FETCH = 3, 1
LISTS = encode_request(METADATA, 1, 1, "a", {"topics": []})
UNREADABLE = encode_request(METADATA, 1, 1, "a", {"topics": []})[:-1]
FIRST, LAST = 100, 200


def given_by(frames: list[bytes]) -> list[tuple[int, Input]]:
    """Connections one after another, each of which sends ``frames`` and is closed a millisecond later."""
    given: list[tuple[int, Input]] = []
    for number in range(1, LAST + 1):
        given += [(2 * number, Accepted(number, number % 3, "127.0.0.1:1"))]
        given += [(2 * number, Frame(number, frame)) for frame in frames]
        given += [(2 * number + 1, Closed(number))]
    return given


@pytest.mark.parametrize("frames", [[LISTS], [LISTS] * 3, [UNREADABLE], []])
def test_closed_connections_are_freed_at_once(monkeypatch: pytest.MonkeyPatch, frames: list[bytes]) -> None:
    perform, found = Gateway.perform, Counter[str]()

    def performed(gateway: Gateway, given: Input) -> None:
        perform(gateway, given)
        if isinstance(given, Closed) and given.connection == FIRST:
            gc.collect()
            gc.set_debug(gc.DEBUG_SAVEALL)
        elif isinstance(given, Closed) and given.connection == LAST:
            gc.collect()
            found.update(type(one).__name__ for one in gc.garbage)
            gc.set_debug(0)
            gc.garbage.clear()

    monkeypatch.setattr(Gateway, "perform", performed)
    try:
        play({}, given_by(frames))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert {kind: count for kind, count in found.items() if count >= LAST - FIRST - 5} == {}
