"""A guard: a rule of the emulator that a demonstration takes out, so that a checker has something to see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from attrs import frozen


def nothing(_function: Callable[..., Any]) -> Callable[..., None]:
    """A replacement that does nothing."""
    return lambda *_of, **_how: None


def no(_function: Callable[..., Any]) -> Callable[..., bool]:
    """A replacement that says no."""
    return lambda *_of: False


@frozen(kw_only=True)
class TakenOut:
    """One function of the emulator, and its replacement.

    Attributes:
        owner: the class or module that has the function.
        function: its name there.
        instead: given the function, returns the replacement.
    """

    owner: Any
    function: str
    instead: Callable[[Callable[..., Any]], Callable[..., Any]]

    @property
    def place(self) -> str:
        """The function's full name, such as ``brokers.partition.partition.Partition.check_current_leader_epoch``."""
        owner = (
            f"{self.owner.__module__}.{self.owner.__qualname__}"
            if isinstance(self.owner, type)
            else self.owner.__name__
        )
        return f"{owner}.{self.function}"


@frozen(kw_only=True)
class Guard:
    """A rule that Kafka has always kept, as far as is known, or whose loss no ticket names alone. It is no switch of
    scenario files: code is replaced while its case runs, and only the museum does so.

    Attributes:
        name: the name of the guard, and of the checker that finds it missing: a checker has one guard at most.
        title: the emulator's behaviour without it, in one line without a full stop.
        here: the replaced code, and the findings of the checker.
        also: the other checkers that have findings in its case.
        taken_out: the functions that are replaced.
    """

    name: str
    title: str
    here: str
    also: tuple[str, ...] = ()
    taken_out: tuple[TakenOut, ...]

    @property
    def checker(self) -> str:
        return self.name

    @contextmanager
    def missing(self) -> Iterator[None]:
        """Run the emulator without the guard, in this process and inside the block."""
        before = [(one, vars(one.owner)[one.function]) for one in self.taken_out]
        for one, function in before:
            setattr(one.owner, one.function, one.instead(function))
        try:
            yield
        finally:
            for one, function in before:
                setattr(one.owner, one.function, function)
