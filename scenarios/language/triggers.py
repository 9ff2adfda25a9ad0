"""When an entry of the method acts: at a virtual time, some time after the entry before it, at a protocol step, at a
message or at a write to ZooKeeper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scenarios.errors import BadInput
from scenarios.language.schema.kinds import DURATION, Kind, Named, Schema, refuse
from scenarios.language.schema.reader import Reader, keys_of, refuse_unknown
from scenarios.language.when import STEP_WHEN, When
from scenarios.language.wire import MESSAGE_WHEN, ZK_WHEN, WhenMessage, WhenZk


@frozen
class At:
    """At an absolute virtual time."""

    time_us: int


@frozen
class After:
    """That long after the entry before it has acted (the first entry: after the start)."""

    delay_us: int


Condition = When | WhenMessage | WhenZk
_KINDS: Mapping[str, Named[Any]] = {"step": STEP_WHEN, "message": MESSAGE_WHEN, "zk": ZK_WHEN}
_CLASSES: Mapping[str, type[Any]] = {"step": When, "message": WhenMessage, "zk": WhenZk}
_HINTS = {"metric": 'metric predicates are not in this version (docs/limits.md); write step = "move.start"'}


class ConditionKind(Kind[Condition]):
    """A table that names a step, a message or a write to ZooKeeper, and with it what else it may hold."""

    def read(self, value: object) -> Condition:
        if not isinstance(value, Mapping):
            raise refuse(value, "a table of keys")
        stated = [name for name in _KINDS if name in value]
        if len(stated) > 1:
            raise BadInput(f"{' and '.join(map(repr, stated))} are two conditions; keep one", where=stated[1])
        if not stated:
            known = dict.fromkeys(key.name for cls in _CLASSES.values() for key in keys_of(cls))
            refuse_unknown(value, known, _HINTS)
            raise BadInput("the key 'step' is missing (or 'message', or 'zk'); add one of them")
        found: Condition = _KINDS[stated[0]].read(value)
        return found

    def dump(self, value: Condition) -> object:
        name = next(name for name, cls in _CLASSES.items() if isinstance(value, cls))
        return _KINDS[name].dump(value)

    def schema(self) -> Schema:
        return {"oneOf": [kind.schema() for kind in _KINDS.values()]}


Trigger = At | After | Condition
WHEN: Named[Condition] = Named("when", ConditionKind())
TRIGGER_KEYS = ("at", "after", "when")


def read_trigger(reader: Reader) -> Trigger | None:
    """The one trigger that a table states, None when it states none; `BadInput` when it states several."""
    stated = [name for name in TRIGGER_KEYS if name in reader.table]
    if len(stated) > 1:
        raise BadInput(f"two triggers, {' and '.join(map(repr, stated[:2]))}; keep one", where=stated[1])
    time_us: int | None = reader.take("at", DURATION, None)
    delay_us: int | None = reader.take("after", DURATION, None)
    when: Condition | None = reader.take("when", WHEN, None)
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
