"""Ends of connections whose messages are delivered in the order of a schedule (``emulator.schedules``).

Only a world with a schedule has them. Polls and pings that have no news are simulated between such ends
(``Endpoint.is_plain``): the draws of a schedule depend on all messages.
"""

from typing import Any

from attrs import define

from emulator.kernel import World
from emulator.network.endpoint import Endpoint, Item
from emulator.network.interceptors import Hold
from emulator.network.sealed import SealedEndpoint


@define(eq=False, repr=False)
class DelayedEndpoint(Endpoint):
    """The sending end under the schedules ``random`` and ``pct``. A message takes at least the delay that the schedule
    draws; it takes longer if the network is slower."""

    def send(self, body: Any, size: int, background: bool = False) -> None:
        if self.open and not self.done:
            peer, delays = self.peer, self.world.delays
            assert peer is not None
            assert delays is not None
            self._not_before(self.world.now + delays.draw(peer, peer.process))
        super().send(body, size, background)

    def reset_peer(self, reason: str) -> None:
        self._not_before(0)
        super().reset_peer(reason)

    def _not_before(self, t_us: int) -> None:
        """Set the earliest arrival of the next message: ``t_us``, but later than all messages sent before it. At one
        instant two could change places, since background messages are delivered last."""
        self.last_arrival_us = max(self.last_arrival_us + 1, t_us)


@define(eq=False, repr=False)
class ChosenEndpoint(Endpoint):
    """The receiving end under the schedule ``pos``. A message that has reached the machine waits until the schedule
    chooses it. A cut of the route does not stop it any more."""

    def arrive(self, item: Item) -> None:
        self._queue(self.arrive, self._arrived, item)

    def arrive_held(self, item_and_hold: tuple[Item, Hold]) -> None:
        self._queue(self.arrive_held, self._take_held, item_and_hold)

    def ended(self, reason: str) -> None:
        self._queue(self.ended, self._ended, reason)

    def _queue(self, again: Any, deliver: Any, arg: Any) -> None:
        if self.peer is not None and self.peer.out.blocked:
            self.peer.out.stall(again, arg)
        else:
            choices = self.world.choices
            assert choices is not None
            choices.enter(self, self.process, deliver, arg)

    def _arrived(self, item: Item) -> None:
        if self.held is None or self.process.paused:
            self._deliver(item)
        else:
            self.held.append((self._arrived, item))

    def _ended(self, reason: str) -> None:
        if self.held is not None and not self.process.paused:
            self.held.append((self._ended, reason))
        else:
            self._end(reason)


@define(eq=False, repr=False)
class SealedDelayedEndpoint(DelayedEndpoint, SealedEndpoint):
    """A ``DelayedEndpoint`` of the paranoid mode."""


@define(eq=False, repr=False)
class SealedChosenEndpoint(ChosenEndpoint, SealedEndpoint):
    """A ``ChosenEndpoint`` of the paranoid mode."""


def scheduled_endpoint(world: World, *, paranoid: bool) -> type[Endpoint]:
    """The class of the ends of connections in a world that has a schedule."""
    if world.delays is not None:
        return SealedDelayedEndpoint if paranoid else DelayedEndpoint
    return SealedChosenEndpoint if paranoid else ChosenEndpoint
