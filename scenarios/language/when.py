"""At a protocol step: `when = { step = "move.start" }`."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from scenarios.language.phases import check_step, known_steps
from scenarios.language.schema.kinds import BROKER_ID, Choice, Integer, Kind, ListOf, Named, Schema, Text
from scenarios.language.schema.reader import Block, key
from scenarios.language.topics import PARTITION_NAME, TOPIC_NAME


class Steps(Kind[tuple[str, ...]]):
    """A step's name, or a list of names of which the first one that the running protocol has counts."""

    _list = ListOf(Text(check_step, "a step's name"), unique=True, empty=False)

    def read(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            check_step(value)
            return (value,)
        return self._list.read(value)

    def dump(self, value: tuple[str, ...]) -> object:
        return value[0] if len(value) == 1 else list(value)

    def schema(self) -> Schema:
        name: Schema = {"enum": list(known_steps())}
        return {"anyOf": [name, {"type": "array", "items": name, "minItems": 1, "uniqueItems": True}]}


STEP_NAMES = Named("steps", Steps())


def _steps(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


@frozen(kw_only=True)
class When:
    """At a step of the running protocol, before or after it, narrowed by partition, broker, topic, hop,
    occurrence."""

    steps: tuple[str, ...] = field(
        converter=_steps, metadata=key(STEP_NAMES, "a step, a phase, or a list", name="step")
    )
    edge: str = field(
        default="after", metadata=key(Choice(("before", "after"), "edge"), "before or after the step")
    )
    partition: str | None = field(default=None, metadata=key(PARTITION_NAME, "only for this partition"))
    broker: int | None = field(default=None, metadata=key(BROKER_ID, "only for this broker"))
    topic: str | None = field(default=None, metadata=key(TOPIC_NAME, "only for this topic"))
    hop: int | None = field(default=None, metadata=key(Integer(1), "only in this hop of kafka-6794, from 1"))
    occurrence: int = field(
        default=1, metadata=key(Integer(1), "the how manieth time; steps repeat after failover")
    )


STEP_WHEN: Named[When] = Named("when_step", Block(When))
