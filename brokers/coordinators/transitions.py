"""The transitions of a group coordinator. Each begins with a request, a timer, or the outcome of an append.

The answers of a transition leave when it has ended. An answer lets the next request of its connection in, which must
not find a group half changed; Kafka holds the group's lock meanwhile.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from attrs import define, field

from brokers.log.disk_work import ResponseChannel
from brokers.purgatory import Purgatory
from emulator.kernel import Timer
from emulator.nodes import Process

Arguments = ParamSpec("Arguments")
A = TypeVar("A")


@define(eq=False)
class Transitions:
    """The transitions of one coordinator; they can be nested."""

    process: Process
    purgatory: Purgatory
    _answers: deque[tuple[Callable[[Any], object], Any]] = field(factory=deque)
    _running: bool = False

    def answer(self, callback: Callable[[A], object], response: A) -> None:
        """Call ``callback(response)`` when the transition has ended."""
        self._answers.append((callback, response))

    def ending(self, transition: Callable[Arguments, object]) -> Callable[Arguments, None]:
        """A function that calls ``transition`` and then sends its answers."""

        def and_answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
            if self._running:
                transition(*args, **kwargs)
                return
            self._running = True
            try:
                transition(*args, **kwargs)
            finally:
                self._running = False
            answers = self._answers
            while answers:
                callback, response = answers.popleft()
                callback(response)

        return and_answer

    def alone(self, transition: Callable[Arguments, object]) -> Callable[Arguments, None]:
        """A function as by ``ending``, for a transition that does not belong to a request. It also answers the fetches
        that wait for what the transition has appended."""
        return self.purgatory.completing(self.ending(transition))

    def later(self, delay_us: int, transition: Callable[[A], object], arg: A) -> Timer:
        return self.process.call_later(delay_us, self.alone(transition), arg)


def replying(channel: ResponseChannel) -> Callable[[Any], None]:
    """A function that answers the current request of a channel."""
    return lambda response: channel.reply(response, response.size)
