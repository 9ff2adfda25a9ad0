"""Facts about ZooKeeper and connections that no recorded event has. They are shown to folds and not recorded
(``Trace.show``)."""

from typing import NamedTuple


class ZnodeCreated(NamedTuple):
    """ZooKeeper created a znode. The ``ZkWritten`` of ``seq`` has the rest.

    Attributes:
        ephemeral: it ends with the session of its creator.
    """

    t_us: int
    seq: int
    cause: int
    client: int
    path: str
    ephemeral: bool


class ZkAsked(NamedTuple):
    """A request of a client has come to ZooKeeper.

    Attributes:
        number: how many requests its client had submitted before it.
        before: that of the request before it on the same connection; -1: there is none.
    """

    t_us: int
    seq: int
    cause: int
    client: int
    session: int
    number: int
    before: int


class ExpiryInjected(NamedTuple):
    """A scenario ends a session, however lately ZooKeeper has heard from its client."""

    t_us: int
    seq: int
    cause: int
    client: int
    session: int


class RequestUnanswered(NamedTuple):
    """A client's connection has ended while its request is in hand.

    Attributes:
        client: the machine of the client.
        request: the request.
        since_us: when the broker took it up.
        in_time: the client would have waited for longer: it has ended, or the connection was lost.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    client: int
    request: object
    since_us: int
    in_time: bool


class RequestAnswered(NamedTuple):
    """A broker has answered a request.

    Attributes:
        request, response: what it was asked, and what it says.
        since_us: when the broker took the request up.
        is_current: what the broker knows and has is as it was when the answer was made, and all of it is recorded.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    client: int
    request: object
    response: object
    since_us: int
    is_current: bool
