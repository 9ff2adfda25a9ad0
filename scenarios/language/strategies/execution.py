"""The operator's way to carry a plan out: the parts of a strategy's name after its shape,
``+window-4+largest-first``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import Factory, evolve, frozen

from emulator.streams import Stream
from scenarios import units
from scenarios.errors import BadInput, did_you_mean, nearest
from scenarios.language.strategies import parts as _parts
from scenarios.language.strategies.strategy_parts import (
    ADMISSION,
    ORDER,
    PARTS,
    RATE,
    Chosen,
    PlannedMove,
    StrategyPart,
)


@frozen
class Throttle:
    """The rate that kafka-reassign-partitions --throttle sets.

    Attributes:
        rate: bytes per second that each broker may send, and receive; 0: ``rule`` has not chosen one yet.
        only_reassigned: whether the rate limits only the replicas that moves add (KIP-542). Otherwise it limits the
            replicas that the tool lists, whenever they are out of sync (KIP-73).
        rule: the rule that changes the rate while the plan is carried out; None: it stays.
    """

    rate: int
    only_reassigned: bool = False
    rule: Chosen | None = None

    @property
    def name(self) -> str:
        """The throttle in a strategy's name: ``throttle-50MiB``."""
        if self.rule is not None:
            return self.rule.name
        return (REASSIGN_THROTTLE if self.only_reassigned else THROTTLE) + units.format_size(self.rate)


THROTTLE, REASSIGN_THROTTLE = "throttle-", "reassign-throttle-"


del _parts  # imported for the parts that it registers

WHOLE_PLAN, PLAN = Chosen(PARTS["whole-plan"]), Chosen(PARTS["plan"])
POLL_US = 1_000_000
POLL = "poll-"
_NUMBERED = re.compile(r"(.+)-(\d{1,9})", re.ASCII)
_CALLED = re.compile(r"([\w-]+)\((\w+)\)")


@frozen
class Execution:
    """The operator's half of a strategy.

    Attributes:
        admission: the rule for the moves that the operator requests next.
        order: the rule for the order in which the others wait.
        throttle: the throttle in the name; None: the scenario's own.
        poll_us: the time between two checks of which moves have ended.
    """

    admission: Chosen = Factory(lambda: WHOLE_PLAN)
    order: Chosen = Factory(lambda: PLAN)
    throttle: Throttle | None = None
    poll_us: int = POLL_US

    @property
    def at_once(self) -> bool:
        """Whether the whole plan is requested at once, and the operator does not wait."""
        return self.admission == WHOLE_PLAN

    @property
    def names(self) -> tuple[str, ...]:
        """The parts in a strategy's name, without those that are the default."""
        found = [chosen.name for chosen in (self.admission, self.order) if chosen not in (WHOLE_PLAN, PLAN)]
        if self.throttle is not None:
            found.append(self.throttle.name)
        if self.poll_us != POLL_US:
            found.append(POLL + units.format_duration(self.poll_us))
        return tuple(found)

    def sorted(self, moves: Iterable[PlannedMove], stream: Stream) -> tuple[PlannedMove, ...]:
        return self.order.sort(tuple(moves), stream)


def parse_execution(texts: Iterable[str]) -> Execution:
    """The execution that the parts of a name describe, in any order. Raises: BadInput."""
    stated: dict[str, Any] = {}
    for text in texts:
        axis, value = _part(text.strip())
        if axis in stated:
            raise BadInput(f"two parts set the {_AXES[axis]}, the second is {text!r}; keep one")
        stated[axis] = value
    execution = evolve(Execution(), **stated)
    looks = not execution.at_once or (execution.throttle is not None and execution.throttle.rule is not None)
    if "poll_us" in stated and not looks:
        raise BadInput(
            f"a poll interval has no effect where all moves are requested at once; add an admission: {_admissions()}"
        )
    return execution


_AXES = {ADMISSION: "admission", ORDER: "order", "throttle": "throttle", "poll_us": "poll interval"}


def _part(text: str) -> tuple[str, object]:
    for prefix in (THROTTLE, REASSIGN_THROTTLE):
        if text.startswith(prefix):
            rate = _quantity(text, units.parse_rate, text.removeprefix(prefix) + "/s", prefix + "50MiB")
            return "throttle", Throttle(rate, only_reassigned=prefix == REASSIGN_THROTTLE)
    if text.startswith(POLL):
        return "poll_us", _quantity(text, units.parse_duration, text.removeprefix(POLL), "poll-10s")
    chosen = parse_part(text)
    if chosen.part.axis == RATE:
        return "throttle", Throttle(0, rule=chosen)
    return chosen.part.axis, chosen


def _quantity(text: str, parse: Callable[[str], int], amount: str, example: str) -> int:
    try:
        found = parse(amount)
    except BadInput:
        found = 0
    if not found:
        raise BadInput(f"{text!r} is not understood; write it like {example}")
    return found


def parse_part(text: str, axis: str | None = None) -> Chosen:
    """The admission or order that ``text`` names (only one of ``axis``, if given). Raises: BadInput."""
    known = {name: part for name, part in PARTS.items() if axis in (None, part.axis)}
    numbered = _NUMBERED.fullmatch(text)
    if text in known and not known[text].takes_number:
        return Chosen(known[text])
    if numbered and f"{numbered[1]}-N" in known and int(numbered[2]) > 0:
        return Chosen(known[f"{numbered[1]}-N"], int(numbered[2]))
    raise BadInput(f"unknown {axis or 'part of a strategy'} {text!r}; {_hint(text, known)}")


def _hint(text: str, known: Mapping[str, StrategyPart]) -> str:
    stem = re.sub(r"-(N|0+)$", "", text)
    if f"{stem}-N" in known:
        return f"write it with a number from 1, such as {stem}-4"
    plain = _CALLED.sub(r"\1-\2", text).replace("_", "-").lower()
    if plain != text and nearest(plain, known) is not None:
        return f"write it in small letters and hyphens, such as {plain!r}"
    return did_you_mean(text, (*known, THROTTLE + "50MiB", REASSIGN_THROTTLE + "50MiB", POLL + "10s"))


def parts_by_axis() -> list[tuple[str, str, str]]:
    """Every part that a name may have: the name, its axis and a line of help."""
    registered = sorted(PARTS.values(), key=lambda part: part.axis)
    return [
        *((part.name, part.axis, part.help) for part in registered),
        (THROTTLE + "RATE", "rate", "bytes per second and broker, as throttle-50MiB; overrides [strategy] throttle"),
        (
            REASSIGN_THROTTLE + "RATE",
            "rate",
            "the same, for replicas that a move adds and no others (KIP-542; brokers have to know about the move)",
        ),
        (POLL + "TIME", "poll", "how often the operator checks which moves have ended, as poll-10s; 1 s otherwise"),
    ]


def _admissions() -> str:
    return ", ".join(part.name for part in PARTS.values() if part.axis == ADMISSION and part.name != "whole-plan")
