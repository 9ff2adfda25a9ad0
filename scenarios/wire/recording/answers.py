"""The checksum of all responses to clients: a replay has to have the same."""

from __future__ import annotations

from zlib import crc32

from attrs import define, field

from scenarios.wire.gateway.outlet import Outlet, Outlets


@define(eq=False)
class CountedAnswers:
    """Outlets that count the responses on their way to other outlets.

    Attributes:
        onwards: the outlets that they go to; None: none, as in a replay.
        checksum: the CRC-32 over each connection's number and response, in order.
    """

    onwards: Outlets | None = None
    checksum: int = 0

    def outlet(self, connection: int) -> Outlet:
        return _CountedAnswer(self, connection, None if self.onwards is None else self.onwards.outlet(connection))

    def listen(self, broker: int) -> None:
        """Accept connections to ``broker``."""
        if self.onwards is not None:
            self.onwards.listen(broker)

    def refuse(self, broker: int) -> None:
        if self.onwards is not None:
            self.onwards.refuse(broker)


@define(eq=False)
class _CountedAnswer:
    """The outlet of one connection."""

    answers: CountedAnswers
    connection: int
    onwards: Outlet | None
    _number: bytes = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._number = self.connection.to_bytes(4, "little")

    def write(self, frame: bytes) -> None:
        self.answers.checksum = crc32(frame, crc32(self._number, self.answers.checksum))
        if self.onwards is not None:
            self.onwards.write(frame)

    def announce(self, frame: bytes) -> None:
        self.answers.checksum = crc32(frame, crc32(self._number, self.answers.checksum))
        if self.onwards is not None:
            self.onwards.announce(frame)

    def handled(self) -> None:
        if self.onwards is not None:
            self.onwards.handled()

    def authenticated(self) -> None:
        if self.onwards is not None:
            self.onwards.authenticated()

    def end(self, *, reset: bool) -> None:
        if self.onwards is not None:
            self.onwards.end(reset=reset)
