"""Parked work: periodic work in which nothing happens, and for which no events are scheduled."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from attrs import define, field

Thing = TypeVar("Thing")


class Parked(Protocol):
    """A poll, a ping or a tick that is not simulated at the moment."""

    def rouse(self) -> None:
        """Simulate the work again from here on, because what comes next may be different. Without effect if it is not
        parked."""


@define(eq=False, repr=False, weakref_slot=False)
class Parking:
    """All the parked work that one thing concerns, such as a process that may be paused."""

    parked: dict[Parked, None] = field(factory=dict)

    def add(self, parked: Parked) -> None:
        self.parked[parked] = None

    def remove(self, parked: Parked) -> None:
        del self.parked[parked]

    def rouse(self) -> None:
        """Rouse all of it, in the order in which it was parked."""
        for parked in list(self.parked):
            parked.rouse()


class Parkable(Generic[Thing]):
    """A thing whose state parked work relies on. Code that changes the thing gets it from ``roused``, and there is no
    other way to it. So the parked work is simulated again before the change.

    Attributes:
        roused: rouses what is parked, and returns the thing.
    """

    __slots__ = ("roused",)
    roused: Callable[[], Thing]

    def __init__(self, thing: Thing, parking: Parking) -> None:
        def roused() -> Thing:
            parking.rouse()
            return thing

        self.roused = roused
