"""Entries of `method` and `rollbacks`: a trigger, an action, its target, its parameters."""

from __future__ import annotations

from typing import Any

from attrs import Factory, field, frozen

from scenarios.errors import BadInput
from scenarios.language.actions import ACTIONS, Action, find_action
from scenarios.language.schema.kinds import SOME_TIME, Kind, Schema, Text, at
from scenarios.language.schema.reader import Reader
from scenarios.language.targets import TARGET, Target
from scenarios.language.triggers import Trigger, dump_trigger, read_trigger, trigger_schemas

_TEXT = Text()


@frozen(kw_only=True)
class MethodEntry:
    """One thing that is done to the cluster. In `rollbacks` the trigger may be None: at once, in order.

    `params` holds the action's own keys as read (`kind`, `delay`, `gate`, ...); `param` adds the defaults.
    """

    action: str
    trigger: Trigger | None = None
    target: Target | None = None
    params: dict[str, Any] = field(default=Factory(dict))
    duration_us: int | None = None

    @property
    def spec(self) -> Action:
        return find_action(self.action)

    def param(self, name: str) -> Any:
        """The value of one of the action's parameters, its default when the file does not state it."""
        parameter = self.spec.parameter(name)
        if parameter is None:
            raise KeyError(name)
        return self.params.get(name, parameter.default)


@frozen
class EntryKind(Kind[MethodEntry]):
    """An entry of the method, which must say when (`triggered`), or of the rollbacks, which need not."""

    triggered: bool

    def read(self, value: object) -> MethodEntry:
        reader = Reader(value)
        name = reader.take("action", _TEXT)
        action = at("action", lambda _: find_action(name), name)
        if not self.triggered:
            _check_rollback(reader, action)
        trigger = read_trigger(reader)
        if trigger is None and self.triggered:
            raise BadInput(
                'nothing says when; add at = "10s", after = "5s" or when = { step = "move.start" }'
            )
        target, duration_us = _take_target(reader, action), _take_duration(reader, action)
        params = _take_params(reader, action)
        reader.finish()
        return MethodEntry(
            action=name, trigger=trigger, target=target, params=params, duration_us=duration_us
        )

    def dump(self, value: MethodEntry) -> dict[str, object]:
        table = {**dump_trigger(value.trigger), "action": value.action}
        if value.target is not None:
            table["target"] = TARGET.dump(value.target)
        for parameter in value.spec.parameters:
            if parameter.name in value.params:
                table[parameter.name] = parameter.kind.dump(value.params[parameter.name])
        if value.duration_us is not None:
            table["duration"] = SOME_TIME.dump(value.duration_us)
        return table

    def schema(self) -> Schema:
        possible = [action for action in ACTIONS.values() if self.triggered or not action.acts_on_message]
        return {"oneOf": [self._action_schema(action) for action in possible]}

    def _action_schema(self, action: Action) -> Schema:
        triggers = trigger_schemas()
        properties: Schema = {"action": {"const": action.name}, **triggers}
        required = ["action"]
        if action.takes_target:
            properties["target"] = TARGET.schema()
            required.append("target")
        if action.undo:
            help = f"undone by {action.undo} after that time"
            properties["duration"] = {**SOME_TIME.schema(), "description": help}
        for parameter in action.parameters:
            properties[parameter.name] = {**parameter.kind.schema(), "description": parameter.help}
            required += [parameter.name] * parameter.required
        schema: Schema = {
            "type": "object",
            "description": action.help,
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
        if self.triggered:
            schema["oneOf"] = [{"required": [name]} for name in triggers]
        else:
            for name in NOT_IN_ROLLBACKS:
                properties.pop(name, None)
        return schema


NOT_IN_ROLLBACKS = {
    "at": "rollbacks run when the method is over; leave it out or write 'after'",
    "when": "rollbacks wait for nothing; leave it out or write 'after'",
    "duration": "nothing undoes a rollback; leave it out, or add an entry that does",
}
"""Key -> why a rollback cannot have it, and what to do."""


def _check_rollback(reader: Reader, action: Action) -> None:
    for name, why in NOT_IN_ROLLBACKS.items():
        if name in reader.table:
            raise BadInput(why, where=name)
    if action.acts_on_message:
        raise BadInput(f"{action.name} acts on a message that it waits for; write it in the method", where="action")


def _take_target(reader: Reader, action: Action) -> Target | None:
    if action.takes_target:
        return reader.take("target", TARGET)
    if "target" in reader.table:
        raise BadInput(f"{action.name} takes no target; leave it out", where="target")
    return None


def _take_duration(reader: Reader, action: Action) -> int | None:
    if action.undo is None and "duration" in reader.table:
        raise BadInput(f"{action.name} is done at once and takes no duration; leave it out", where="duration")
    return reader.take("duration", SOME_TIME, None)


def _take_params(reader: Reader, action: Action) -> dict[str, Any]:
    params = {}
    for parameter in action.parameters:
        if parameter.name in reader.table:
            params[parameter.name] = reader.take(parameter.name, parameter.kind)
        elif parameter.required:
            raise BadInput(f"{action.name} needs {parameter.name!r} ({parameter.help}); add it")
        else:
            reader.take(parameter.name, parameter.kind, None)
    return params


METHOD_ENTRY = EntryKind(triggered=True)
ROLLBACK_ENTRY = EntryKind(triggered=False)
