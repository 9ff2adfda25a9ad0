"""The way out of the world."""

from typing import Protocol


class Outlet(Protocol):
    """A client's connection, as the world sees it. What happens to the bytes never comes back into the world."""

    def write(self, frame: bytes) -> None:
        """Send a response: a frame without the bytes of its size."""

    def announce(self, frame: bytes) -> None:
        """Send what answers no request: ZooKeeper's notifications."""

    def handled(self) -> None:
        """A request was handled that is not answered (acks=0)."""

    def end(self, *, reset: bool) -> None:
        """End the connection: at once, or after everything that was written."""


class Outlets(Protocol):
    """All ways out."""

    def outlet(self, connection: int) -> Outlet:
        """That of a connection which was accepted."""

    def listen(self, broker: int) -> None:
        """Accept connections to ``broker``, or to ``ZOOKEEPER``. Without effect if they are accepted."""

    def refuse(self, broker: int) -> None:
        """Refuse connections to ``broker``, or to ``ZOOKEEPER``."""
