"""When an entry of the method acts: at a virtual time, some time after the entry before it, or at a
protocol step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.model.kinds import BROKER_ID, DURATION, Choice, Integer, Kind, ListOf, Named, Schema, Text
from scenarios.model.names import PARTITION_NAME, TOPIC_NAME
from scenarios.model.phases import check_step, known_steps
from scenarios.model.reader import Block, Reader, key


@frozen
class At:
    """At an absolute virtual time."""

    time_us: int


@frozen
class After:
    """That long after the entry before it has acted (the first entry: after the start)."""

    delay_us: int


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

    KEY_HINTS: ClassVar[dict[str, str]] = {
        "metric": 'metric predicates are not in this version (docs/limits.md); write step = "move.start"'
    }

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


Trigger = At | After | When
WHEN: Named[When] = Named("when", Block(When))
TRIGGER_KEYS = ("at", "after", "when")


def read_trigger(reader: Reader) -> Trigger | None:
    """The one trigger that a table states, None when it states none; `BadInput` when it states several."""
    stated = [name for name in TRIGGER_KEYS if name in reader.table]
    if len(stated) > 1:
        raise BadInput(f"two triggers, {' and '.join(map(repr, stated[:2]))}; keep one", where=stated[1])
    time_us: int | None = reader.take("at", DURATION, None)
    delay_us: int | None = reader.take("after", DURATION, None)
    when: When | None = reader.take("when", WHEN, None)
    if time_us is not None:
        return At(time_us)
    return when if delay_us is None else After(delay_us)


def dump_trigger(trigger: Trigger | None) -> dict[str, object]:
    if isinstance(trigger, At):
        return {"at": DURATION.dump(trigger.time_us)}
    if isinstance(trigger, After):
        return {"after": DURATION.dump(trigger.delay_us)}
    return {} if trigger is None else {"when": WHEN.dump(trigger)}


def trigger_schemas() -> dict[str, Schema]:
    return {
        "at": {**DURATION.schema(), "description": "act at this virtual time"},
        "after": {**DURATION.schema(), "description": "act so long after the entry before"},
        "when": WHEN.schema(),
    }
