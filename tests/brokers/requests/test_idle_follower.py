"""A leader leaves polls out only for those who can make up for them."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokers.requests.idle_follower import NoneDirty, park


@pytest.mark.parametrize("peer", [None, SimpleNamespace(owner=None)], ids=["gone", "no fetcher"])
def test_a_poll_of_a_client_that_is_no_fetcher_is_not_left_out(peer: object) -> None:
    session: Any = SimpleNamespace(channel=SimpleNamespace(endpoint=SimpleNamespace(peer=peer)))
    assert not park(session, cast("Any", None), cast("Any", None))


def add(dirty: Any) -> None:
    dirty.update(tp=None)


def add_if_absent(dirty: Any) -> None:
    dirty.setdefault("tp", None)


@pytest.mark.parametrize("change", [add, add_if_absent])
def test_the_first_dirty_position_rouses_the_poll_however_it_comes(change: Callable[[Any], object]) -> None:
    roused: list[str] = []

    def rouse() -> None:
        roused.append("poll")
        session.dirty = {}

    session: Any = SimpleNamespace()
    dirty: Any = NoneDirty(session, cast("Any", SimpleNamespace(rouse=rouse)))
    session.dirty = dirty
    assert (len(dirty), list(dirty), "tp" in dirty, dirty.pop("tp", None)) == (0, [], False, None)
    assert not roused
    change(dirty)
    assert (session.dirty, roused) == ({"tp": None}, ["poll"])
