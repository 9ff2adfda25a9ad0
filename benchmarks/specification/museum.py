"""The museum held against the specification: which cases are refused with their bug, or without their guard, and
whether they are accepted otherwise.

``python -m benchmarks.specification --museum`` runs all cases and prints the list.
"""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from attrs import evolve

from scenarios.museum.exhibits import Exhibit
from scenarios.museum.guards.guard import Guard
from scenarios.observe.specification import Rejection
from scenarios.runs import run_scenario

HEADS = ("Case", "Seen by", "Refused in", "Accepted otherwise")


class Held(NamedTuple):
    """A case of the museum under the oracle.

    Attributes:
        checker: the one that sees it.
        broken: the actions of the specification that it breaks with its bug, or without its guard, sorted.
        sound: those that it breaks otherwise; none is wanted.
    """

    name: str
    checker: str
    broken: tuple[str, ...]
    sound: tuple[str, ...]


def hold(case: Exhibit) -> Held:
    """Run a case both ways."""
    with case.entry.missing() if isinstance(case.entry, Guard) else nullcontext():
        broken = run_scenario(case.scenario, against_specification=True)
    sound = run_scenario(evolve(case.scenario, bugs=()), against_specification=True)
    return Held(case.name, case.entry.checker, _actions(broken.rejections), _actions(sound.rejections))


def _actions(rejections: Iterable[Rejection]) -> tuple[str, ...]:
    return tuple(sorted({f"{one.sentence.module}.{one.sentence.action}" for one in rejections}))


def rows(held: Sequence[Held]) -> list[tuple[str, ...]]:
    """The lines of the list."""
    return [
        (
            f"`{one.name}`",
            f"`{one.checker}`",
            ", ".join(f"`{action}`" for action in one.broken) or "no",
            ", ".join(f"no: `{action}`" for action in one.sound) or "yes",
        )
        for one in held
    ]


def problems_of(held: Sequence[Held]) -> list[str]:
    """Cases that are refused without their bug, or with their guard."""
    return [f"{one.name} is refused without its bug, by {', '.join(one.sound)}" for one in held if one.sound]
