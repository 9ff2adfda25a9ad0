"""Polls in which nothing happens are jumped over (``emulator.network.lane``): a client asks, the server answers after a
fixed time that it has nothing, and the client asks the same again at once."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import add
from typing import Literal, NamedTuple, Protocol

from attrs import define, field

from emulator.network.lane import Exchange, Upcoming


class Phase(NamedTuple):
    """The phase that a parked poll is in.

    Attributes:
        what: ``asking``: the request is on its way; ``waiting``: it is at the server; ``answered``: the answer is on
            its way.
        t_us, since_us: the times when that ends, and when it began.
    """

    what: Literal["asking", "waiting", "answered"]
    t_us: int
    since_us: int


class Ends(Protocol):
    """The owner of the two ends of a poll."""

    def shifted(self) -> None:
        """Called when other draws came between: the time given for the next answer is not valid any more."""

    def roused(self, poll: "Poll") -> None:
        """Called when the poll is not parked any more: take over its counts, and simulate it from ``phase`` on."""


@define(eq=False, repr=False)
class Poll(Exchange):
    """One parked poll, from the arrival of its request at the server.

    Attributes:
        wait_us: how long the server waits before it answers.
        timer: the rank of the timer that ends this wait.
        requests, answers: the numbers of those that have arrived since the poll was parked, at the last ``look``.
        arrived_us, asked_us: the times at which the last request arrived and was sent, at the last ``look``; for the
            first request ``asked_us`` is -1.
    """

    wait_us: int
    timer: int
    ends: Ends
    requests: int = 0
    answers: int = 0
    arrived_us: int = field(init=False)
    asked_us: int = -1
    _arrivals: list[int] = field(init=False)
    """Arrival times of requests: the last one that is past, then those that are computed already."""
    _returns: list[int] = field(factory=list)
    """Arrival times of their answers at the client. The answer to the last request may be missing."""
    _ahead: list[int] = field(factory=list)
    """Arrival times that are valid only if the last ``rounds`` were right."""
    _drawn: tuple[int, int] = (0, 0)
    """The numbers of its draws that the streams of the client's and of the server's route have made."""

    def __attrs_post_init__(self) -> None:
        self.arrived_us = self.lane.world.now
        self._arrivals = [self.arrived_us]

    # -- for its ends -------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Bring the counts and times up to the current event, unless it is simulated again."""
        if not self.parked:
            return
        self.lane.run(self.lane.world.now)
        arrivals, returns = self._arrivals, self._returns
        now = self.lane.world.now
        past = bisect_right(arrivals, now) - 1
        if past and not self.lane.world.is_past(arrivals[past], returns[past - 1], self.client.rank):
            past -= 1
        if past:
            self.requests += past
            self.asked_us = returns[past - 1]
            del arrivals[:past], returns[:past]
        self.arrived_us = arrivals[0]
        self.answers = self.requests
        if self._has_returned:
            self.answers += 1
            self.asked_us = returns[0]

    def next_answer(self) -> tuple[int, int]:
        """The times at which the next answer arrives and is sent, unless the poll is roused or ``shifted`` is
        called."""
        self.look()
        place = 1 if self._has_returned else 0
        while len(self._returns) <= place:
            self.lane.run(self.upcoming[0])
        return self._returns[place], self._arrivals[place] + self.wait_us

    @property
    def phase(self) -> Phase:
        """The phase of the poll at the last ``look``."""
        arrivals, returns = self._arrivals, self._returns
        if self._has_returned:
            return Phase("asking", arrivals[1], returns[0])
        if self._has_expired:
            return Phase("answered", returns[0], arrivals[0] + self.wait_us)
        return Phase("waiting", arrivals[0] + self.wait_us, arrivals[0])

    # -- as an Exchange -----------------------------------------------------------------------------------------------

    def roused(self) -> None:
        self.ends.roused(self)

    def shifted(self) -> None:
        self.ends.shifted()

    @property
    def upcoming(self) -> Upcoming:
        expiry_us = self._arrivals[-1] + self.wait_us
        if len(self._returns) == len(self._arrivals):
            return self._returns[-1], expiry_us, self.server.rank, self
        return expiry_us, self._arrivals[-1], self.timer, self

    def step(self, t_us: int, others_us: int) -> Upcoming:
        arrivals, returns = self._arrivals, self._returns
        if len(returns) < len(arrivals):
            returned_us = t_us + self.answer()
            returns.append(returned_us)
            if returned_us >= others_us:
                return returned_us, t_us, self.server.rank, self
            t_us = returned_us
        arrived_us = t_us + self.ask()
        arrivals.append(arrived_us)
        return arrived_us + self.wait_us, arrived_us, self.timer, self

    @property
    def round_us(self) -> int:
        return self.wait_us if len(self._returns) < len(self._arrivals) else 0

    def rounds(self, answers: Sequence[int], asks: Sequence[int]) -> tuple[list[int], list[int]]:
        wait_us = self.wait_us
        lengths = [wait_us + answer_us + ask_us for answer_us, ask_us in zip(answers, asks, strict=True)]
        self._ahead = list(accumulate(lengths, initial=self._arrivals[-1]))
        answered = [arrived_us + wait_us for arrived_us in self._ahead]
        return answered, list(map(add, answered, answers))

    def go_round(self, answered: list[int], asked: list[int]) -> None:
        self._returns += asked
        self._arrivals += self._ahead[1 : len(asked) + 1]

    def forget_ahead(self) -> tuple[int, int]:
        self.look()
        if self._has_returned:
            del self._arrivals[2:], self._returns[1:]
        elif self._has_expired:
            del self._arrivals[1:], self._returns[1:]
        else:
            del self._arrivals[1:], self._returns[:]
        before = self._drawn
        self._drawn = drawn = self.answers, self.requests + len(self._returns)
        return drawn[0] - before[0], drawn[1] - before[1]

    @property
    def _has_returned(self) -> bool:
        """Whether the answer to the last request that is past has arrived too."""
        returns = self._returns
        return bool(returns) and self.lane.world.is_past(returns[0], self._arrivals[0] + self.wait_us, self.server.rank)

    @property
    def _has_expired(self) -> bool:
        """Whether the server has answered that request."""
        return self.lane.world.is_past(self._arrivals[0] + self.wait_us, self._arrivals[0], self.timer)
