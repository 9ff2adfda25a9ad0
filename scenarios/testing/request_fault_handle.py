"""A fault on requests of real clients, as a test holds it: ``KafkaServer.fault``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from attrs import frozen

from scenarios.testing.virtual_time import NotInTime

LOOK_S = 0.02


@frozen
class RequestFaultHandle:
    """One fault, by its name.

    Attributes:
        act: performs an operation of the served cluster.
    """

    name: str
    act: Callable[..., dict[str, Any]]

    @property
    def fired(self) -> int:
        """How many requests it has hit. Raises: KeyError once it was removed."""
        return int(self._found["fired"])

    @property
    def seen(self) -> int:
        """How many requests came that it could have hit. Raises: KeyError once it was removed."""
        return int(self._found["seen"])

    def until_fired(self, times: int = 1, within_s: float = 30.0) -> None:
        """Wait until it has hit so many requests, in real time. Raises: NotInTime."""
        late_s = time.monotonic() + within_s
        while self.fired < times:
            if time.monotonic() > late_s:
                raise NotInTime(f"the fault {self.name!r} hit {self.fired} requests in {within_s:g} s, not {times}")
            time.sleep(LOOK_S)

    def remove(self) -> None:
        """End it: no request is hit any more. Raises: BadInput where it was removed before."""
        self.act("request.clear", fault=self.name)

    @property
    def _found(self) -> dict[str, Any]:
        for found in self.act("requests")["requests"]:
            if found["fault"] == self.name:
                return dict(found)
        raise KeyError(f"there is no fault called {self.name!r} any more")
