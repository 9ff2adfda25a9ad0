"""Entries of ``method`` and ``rollbacks``: when (a trigger), what (an action), on which brokers, for how long; and
``[[branches]]``, from whose instants on a run goes another way, with other entries and other draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from scenarios.errors import BadInput, Together
from scenarios.language.actions import Action, all_actions, as_action, find_action
from scenarios.language.schema.kinds import (
    SOME_TIME,
    Boolean,
    Integer,
    Kind,
    ListOf,
    OneOf,
    Schema,
    Text,
    as_tuple,
    at,
    instance_of,
)
from scenarios.language.schema.spans import Drawable, Span, SpanOf, ends
from scenarios.language.schema.table_reader import Block, Checked, TableReader, key, keys_of, stated
from scenarios.language.targets import TARGET, Target
from scenarios.language.triggers import (
    CONDITIONS,
    TRIGGERS,
    After,
    At,
    Trigger,
    Until,
    dump_trigger,
    one_trigger,
    read_trigger,
    trigger_schemas,
)
from scenarios.language.turns import NextSpec, TurnsSpec

_TEXT, _BOOLEAN = Text(), Boolean()
OPTIONAL = "optional"
SOME_TIMES = SpanOf(SOME_TIME)
_TURNS = Block(TurnsSpec)


@frozen(kw_only=True)
class MethodEntry(TurnsSpec):
    """One thing that is done to the cluster.

    Attributes:
        action: the action with its own keys; made from a name where all of them keep their defaults.
        trigger: the time or condition; None only in ``rollbacks``: at once, in order.
        target: the brokers that it acts on, where the action takes a target.
        duration_us: the time after which the action is undone; None: it is not. It may be drawn, as the times of
            triggers.
        for_each: the brokers that it is done to one after the other, in the place of a target; None: it has one turn,
            or ``repeat``.
        repeat: the number of turns; None: one, or those of ``for_each``.
        next: the time of the next turn; None where there is one turn.
        optional: whether the run counts as exercised even if the entry never acts, or finds nothing to act on.
    """

    action: Action = field(converter=as_action, metadata=key(OneOf((Action,)), "what is done"))
    trigger: Trigger | None = field(default=None, metadata=key(OneOf(TRIGGERS), "when it is done"))
    target: Target | None = field(default=None, metadata=key(TARGET, "the brokers that it acts on"))
    duration_us: Drawable | None = field(default=None, metadata=key(SOME_TIMES, "undone after that time"))
    optional: bool = field(default=False, metadata=key(_BOOLEAN, "the run counts as exercised also without it"))

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        action = self.action
        self.check_turns(action.takes_target, action.name, self.target is not None)
        if action.takes_target and self.target is None and self.for_each is None:
            raise BadInput("the key 'target' is missing; add it")
        if self.target is not None and not action.takes_target:
            raise BadInput(f"{action.name} takes no target; leave it out", where="target")
        if self.duration_us is not None:
            if action.undo is None:
                raise BadInput(f"{action.name} is done at once and takes no duration; leave it out", where="duration")
            action.check_duration()

    def turns(self, brokers: Sequence[int]) -> tuple[MethodEntry, ...]:
        """An entry for each turn, in a cluster of these brokers: this one, if it has one turn only."""
        if self.for_each is None and self.repeat is None:
            return (self,)
        following = (self.next or NextSpec()).trigger
        each = brokers if isinstance(self.for_each, str) else self.for_each
        targets = [self.target] * (self.repeat or 1) if each is None else [Target(brokers=[broker]) for broker in each]
        turns = [evolve(self, target=target, for_each=None, repeat=None, next=None) for target in targets]
        return (turns[0], *(evolve(turn, trigger=following) for turn in turns[1:]))

    @property
    def ranges(self) -> dict[str, Span]:
        """The ranges to be drawn from, by the keys of the file."""
        trigger, found = self.trigger, {"duration": self.duration_us}
        if isinstance(trigger, At):
            found["at"] = trigger.time_us
        elif isinstance(trigger, After | Until):
            found["after"] = trigger.delay_us
        elif trigger is not None:
            found["occurrence"] = trigger.occurrence
        return {name: value for name, value in found.items() if isinstance(value, Span)}

    def with_values(self, drawn: Mapping[str, int]) -> MethodEntry:
        """The entry with a value for each of its ``ranges``."""
        trigger, duration_us = self.trigger, drawn.get("duration", self.duration_us)
        if "at" in drawn:
            trigger = At(drawn["at"])
        elif "after" in drawn:
            assert isinstance(trigger, After | Until)
            trigger = evolve(trigger, delay_us=drawn["after"])
        elif "occurrence" in drawn:
            assert isinstance(trigger, CONDITIONS)
            trigger = evolve(trigger, occurrence=drawn["occurrence"])
        return evolve(self, trigger=trigger, duration_us=duration_us)

    @property
    def name(self) -> str:
        """The action's name."""
        return self.action.name


@frozen
class EntryKind(Kind[MethodEntry]):
    """An entry of the method, which must have a trigger (``triggered``), or of the rollbacks, which need not."""

    triggered: bool

    def read(self, value: object) -> MethodEntry:
        reader = TableReader(value)
        name = reader.take("action", _TEXT)
        action = at("action", find_action, name)
        trigger = read_trigger(reader)
        self._check_when(reader.table, action, trigger)
        turns = {one.argument: reader.take(one.name, one.kind, None) for one in keys_of(TurnsSpec) if self.triggered}
        target = reader.take("target", TARGET, None)
        duration_us = reader.take("duration", SOME_TIMES, None)
        optional = reader.take(OPTIONAL, _BOOLEAN, False)
        made = action(**_take_keys(reader, action))
        reader.finish()
        return MethodEntry(
            action=made, trigger=trigger, target=target, duration_us=duration_us, optional=optional, **turns
        )

    def checked(self, value: object) -> MethodEntry:
        entry = instance_of(value, MethodEntry)
        self._check_when(self.dump(entry), type(entry.action), entry.trigger)
        return entry

    def _check_when(self, table: Mapping[str, object], action: type[Action], trigger: Trigger | None) -> None:
        """Refuse an entry of the method without a trigger, and a rollback with what no rollback has."""
        if self.triggered:
            if trigger is None:
                raise BadInput('nothing says when; add at = "10s", after = "5s" or when = { step = "move.start" }')
            return
        for name, why in NOT_IN_ROLLBACKS.items():
            if name in table:
                raise BadInput(why, where=name)
        if action.acts_on_message:
            raise BadInput(f"{action.name} acts on a message that it waits for; write it in the method", where="action")
        if isinstance(trigger, After) and isinstance(trigger.delay_us, Span):
            raise BadInput("the time of a rollback is not drawn; write one time", where="after")

    def dump(self, value: MethodEntry) -> dict[str, object]:
        table = {**dump_trigger(value.trigger), "action": value.name}
        if value.target is not None:
            table["target"] = TARGET.dump(value.target)
        table |= {key.name: key.kind.dump(found) for key, found in stated(value.action)}
        if value.duration_us is not None:
            table["duration"] = SOME_TIMES.dump(value.duration_us)
        if value.optional:
            table[OPTIONAL] = True
        turns = TurnsSpec(for_each=value.for_each, repeat=value.repeat, next=value.next)
        return {**table, **_TURNS.dump(turns)}

    def schema(self) -> Schema:
        possible = [action for action in all_actions().values() if self.triggered or not action.acts_on_message]
        return {"oneOf": [self._action_schema(action) for action in possible]}

    def _action_schema(self, action: type[Action]) -> Schema:
        triggers = trigger_schemas()
        properties: Schema = {"action": {"const": action.name}, **triggers}
        required = ["action"]
        if action.takes_target:
            properties["target"] = TARGET.schema()
            if not self.triggered:
                required.append("target")
        if action.undo:
            help = f"undone by {action.undo.name} after that time"
            properties["duration"] = {**SOME_TIMES.schema(), "description": help}
        properties[OPTIONAL] = {**_BOOLEAN.schema(), "description": "the run counts as exercised also without it"}
        for one in keys_of(action):
            properties[one.name] = {**one.kind.schema(), "description": one.help}
            required += [one.name] * one.required
        schema: Schema = {
            "type": "object",
            "description": action.help,
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
        if self.triggered:
            properties |= _TURNS.schema()["properties"]
            schema |= one_trigger()
            if action.takes_target:
                schema["anyOf"] = [{"required": ["target"]}, {"required": ["for_each"]}]
            else:
                del properties["for_each"]
        else:
            for name in NOT_IN_ROLLBACKS:
                properties.pop(name, None)
        return schema

    def operation_schema(self, action: type[Action]) -> Schema:
        """The JSON Schema of the keys that an operator gives an action: it has one turn, and needs no trigger."""
        entry = self._action_schema(action)
        left = ("action", *_TURNS.schema()["properties"])
        properties = {name: value for name, value in entry["properties"].items() if name not in left}
        required = [name for name in entry["required"] if name != "action"] + ["target"] * action.takes_target
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


NOT_IN_ROLLBACKS = {
    "at": "rollbacks run when the method is over; leave it out or write 'after'",
    "when": "rollbacks wait for nothing; leave it out or write 'after'",
    "duration": "nothing undoes a rollback; leave it out, or add an entry that does",
    "until": "rollbacks wait for nothing but a time; leave it out or write 'after'",
    "for_each": "a rollback acts once; write target = [0, 1, 2]",
    "repeat": "a rollback acts once; leave it out",
    "next": "a rollback acts once; leave it out",
    "optional": "a rollback may find its work done; leave it out",
}
"""The keys that a rollback cannot have, each with the reason and what to do."""


def _take_keys(reader: TableReader, action: type[Action]) -> dict[str, Any]:
    """The values of the action's own keys that the entry states, as the class is made with them."""
    found = {}
    for one in keys_of(action):
        if one.name in reader.table:
            found[one.argument] = reader.take(one.name, one.kind)
        elif one.required:
            raise BadInput(f"{action.name} needs {one.name!r} ({one.help}); add it")
        else:
            reader.take(one.name, one.kind, None)
    return found


METHOD_ENTRY = EntryKind(triggered=True)
ROLLBACK_ENTRY = EntryKind(triggered=False)


# -- branches ----------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Branch(Checked):
    """One instant at which a run goes another way.

    Attributes:
        at_us: the virtual instant, before everything else that happens at it.
        seed: the seed of all random draws from then on: latencies, schedules, targets, everything with a stream.
        method: the entries from then on. Those of the method before whose turn has not come are dropped; what follows
            an entry that has acted, and the end of its duration, still comes.
    """

    at_us: int = field(metadata=key(SOME_TIME, "the virtual instant from which on the run goes another way", name="at"))
    seed: int = field(metadata=key(Integer(0), "seed of all random draws from then on"))
    method: tuple[MethodEntry, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(METHOD_ENTRY), "what is done from then on, in place of entries that have not begun"),
    )


BRANCHES = ListOf(Block(Branch))


def check_branches(scenario: Any, check: Callable[[Any], None]) -> None:
    """Refuse branches of a ``Scenario`` that are not in the order of time, entries that would act before their branch,
    and what ``check`` refuses in a scenario. Raises: BadInput."""
    before_us, method = 0, scenario.method
    for index, branch in enumerate(scenario.branches):
        where = f"branches[{index}]"
        if branch.at_us <= before_us:
            after = f"{before_us / 1e6:g} s, where the one before it begins" if index else "the start of the run"
            raise BadInput(f"a branch comes after {after}; write a later time", where=f"{where}.at")
        before_us = branch.at_us
        for number, entry in enumerate(branch.method):
            if isinstance(entry.trigger, At) and ends(entry.trigger.time_us)[0] < branch.at_us:
                what = f"it comes before its branch, which begins at {branch.at_us / 1e6:g} s; write a later time"
                raise BadInput(what, where=f"{where}.method[{number}].at")
        acted = begun(method, branch.at_us)
        known, method = len(acted), (*acted, *branch.method)
        try:
            check(evolve(scenario, method=method, branches=(), chaos=()))
        except BadInput as error:
            wrong = Together()
            for one in error.all:
                place = _place(one, known, where)
                if place is not None:
                    wrong.add(BadInput(one.what, where=place, source=one.source))
            wrong.refuse()


def _place(error: BadInput, known: int, where: str) -> str | None:
    """The place of an error in a branch, whose entries follow the ``known`` ones of the method before it. None: it is
    in another part of the file, such as a load whose topic the branch never makes, and is no error there."""
    head, _, rest = error.where.partition("]")
    name, _, number = head.partition("[")
    if name != "method" or not number.isdigit() or int(number) < known:
        return None
    return f"{where}.method[{int(number) - known}]{rest}"


def begun(method: Sequence[MethodEntry], by_us: int) -> tuple[MethodEntry, ...]:
    """The entries of a method that may have acted by an instant: all but those whose time comes later, or that follow
    one of these."""
    found, comes_later = [], False
    for entry in method:
        if not isinstance(entry.trigger, After | Until):
            comes_later = isinstance(entry.trigger, At) and ends(entry.trigger.time_us)[0] >= by_us
        if not comes_later:
            found.append(entry)
    return tuple(found)
