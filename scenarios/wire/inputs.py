"""The inputs of a live run from outside. With the virtual times at which they came in, in order, they are all that a
replay needs."""

from attrs import frozen

PLAINTEXT = "PLAINTEXT"
"""The listener that every broker has; the others are in ``scenarios.wire.security``."""


@frozen
class Accepted:
    """A client has connected.

    Attributes:
        connection: counts the connections of the run from 1.
        broker: the broker whose listener accepted it.
        address: the client's end, as text.
        listener: the broker's listener, by its security protocol.
        principal: whom the client's certificate names, such as ``User:CN=billing``; empty: it has shown none.
    """

    connection: int
    broker: int
    address: str
    listener: str = PLAINTEXT
    principal: str = ""


@frozen
class Frame:
    """A request from a client: ``data`` is the frame without its four bytes of length."""

    connection: int
    data: bytes


@frozen
class Closed:
    """The end of a connection, closed by the client, or here because of what it sent."""

    connection: int


@frozen
class Operation:
    """An operator's action.

    Attributes:
        text: a JSON object in one line, such as ``{"action": "broker.crash", "target": 1}``.
        number: counts the operations of the run from 1.
    """

    text: str
    number: int = 0


Input = Accepted | Frame | Closed | Operation
