"""A leader leaves polls out only for those who can make up for them."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokers.requests.idle_follower import park


@pytest.mark.parametrize("peer", [None, SimpleNamespace(owner=None)], ids=["gone", "no fetcher"])
def test_a_poll_of_a_client_that_is_no_fetcher_is_not_left_out(peer: object) -> None:
    session: Any = SimpleNamespace(channel=SimpleNamespace(endpoint=SimpleNamespace(peer=peer)))
    assert not park(session, cast("Any", None), cast("Any", None))
