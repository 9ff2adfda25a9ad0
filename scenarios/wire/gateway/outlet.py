"""The ways out of the world."""

from typing import Protocol


class Outlet(Protocol):
    """A client's connection, as the world sees it. Nothing that happens to the bytes later comes back into the
    world."""

    def write(self, frame: bytes) -> None:
        """Send a response: a frame without the bytes of its size."""

    def announce(self, frame: bytes) -> None:
        """Send a message that answers no request: a notification of ZooKeeper."""

    def handled(self) -> None:
        """Take note that a request was handled that is not answered (acks=0)."""

    def authenticated(self) -> None:
        """Take requests of any size from now on: the client has logged in."""

    def end(self, *, reset: bool) -> None:
        """End the connection: at once, or after everything that was written."""


class Outlets(Protocol):
    """All ways out."""

    def outlet(self, connection: int) -> Outlet:
        """The outlet of an accepted connection."""

    def listen(self, broker: int) -> None:
        """Accept connections to ``broker``, or to ``ZOOKEEPER``. Without effect if they are accepted already."""

    def refuse(self, broker: int) -> None:
        """Refuse connections to ``broker``, or to ``ZOOKEEPER``."""
