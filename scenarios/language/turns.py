"""Entries that are done several times: ``for_each`` broker, or ``repeat`` times, with ``next`` between two turns."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.schema.kinds import REPLICAS, Integer, Kind, Schema, as_tuple, instance_of, refuse
from scenarios.language.schema.spans import Drawable
from scenarios.language.schema.table_reader import Block, Checked, TableReader, key
from scenarios.language.triggers import TIMES, UNTIL, WAITS, After, Until

EVERY_BROKER = "brokers"
ForEach = tuple[int, ...] | str
"""Broker ids in order, or ``brokers``: all of them, the lowest id first."""


def as_brokers(value: Iterable[int] | str | None) -> ForEach | None:
    """A converter for fields of ``ForEach``."""
    return value if value is None or isinstance(value, str) else as_tuple(value)


class ForEachKind(Kind[ForEach]):
    """Broker ids in their order, or ``"brokers"``."""

    def read(self, value: object) -> ForEach:
        if isinstance(value, str):
            if value != EVERY_BROKER:
                raise refuse(value, f'broker ids such as [0, 1, 2], or "{EVERY_BROKER}"')
            return value
        return REPLICAS.read(value)

    def dump(self, value: ForEach) -> object:
        return value if isinstance(value, str) else REPLICAS.dump(value)

    def schema(self) -> Schema:
        return {"anyOf": [{"const": EVERY_BROKER}, REPLICAS.schema()]}


@frozen(kw_only=True)
class NextSpec(Checked):
    """When the next turn comes."""

    after_us: Drawable = field(default=0, metadata=key(TIMES, "so long after the turn before acted", name="after"))
    until: str | None = field(default=None, metadata=key(UNTIL, "and as soon as this holds; absent = at once"))

    @property
    def trigger(self) -> After | Until:
        """The trigger of an entry for this turn."""
        return After(self.after_us) if self.until is None else Until(self.until, self.after_us)


_block = Block(NextSpec)


class NextKind(Kind[NextSpec]):
    """A duration, a wait, or a table with both."""

    def read(self, value: object) -> NextSpec:
        if not isinstance(value, str):
            spec: NextSpec = _block.read(value)
            if not TableReader(value).table:
                raise BadInput('it says nothing; write until = "isr full" or after = "10s"')
            return spec
        if value[:1].isdigit():
            return NextSpec(after_us=TIMES.read(value))
        return NextSpec(until=UNTIL.read(value))

    def checked(self, value: object) -> NextSpec:
        return instance_of(value, NextSpec)

    def dump(self, value: NextSpec) -> object:
        if value.until is None:
            return TIMES.dump(value.after_us)
        return _block.dump(value) if value.after_us else value.until

    def schema(self) -> Schema:
        return {"anyOf": [TIMES.schema(), {"enum": list(WAITS)}, _block.schema()]}


FOR_EACH, NEXT, REPEAT = ForEachKind(), NextKind(), Integer(2, 10_000)


@frozen(kw_only=True)
class TurnsSpec(Checked):
    """The keys of an entry that is done several times."""

    for_each: ForEach | None = field(
        default=None,
        converter=as_brokers,
        metadata=key(FOR_EACH, 'brokers, one after the other, instead of a target; or "brokers": all'),
    )
    repeat: int | None = field(default=None, metadata=key(REPEAT, "how many times in all"))
    next: NextSpec | None = field(
        default=None, metadata=key(NEXT, "when the next turn comes: a time after the last one acted, a wait, or both")
    )

    def check_turns(self, takes_target: bool, action: str, targeted: bool) -> None:
        """Refuse keys that do not go together, in the entry of an ``action``, which has a target or has none. Raises:
        BadInput."""
        several = self.for_each is not None or self.repeat is not None
        if self.for_each is not None and not takes_target:
            raise BadInput(
                f"{action} acts on no particular broker; write repeat = N, or leave it out", where="for_each"
            )
        if self.for_each is not None and targeted:
            raise BadInput("for_each names the brokers; leave the target out", where="target")
        if self.for_each is not None and self.repeat is not None:
            raise BadInput("for_each and repeat are two ways to act several times; keep one", where="repeat")
        if several and self.next is None:
            raise BadInput(
                'nothing says when the next one comes; add next = "isr full", or a time such as next = "10s"'
            )
        if self.next is not None and not several:
            raise BadInput(
                "there is one turn only; add for_each = [0, 1, 2] or repeat = 3, or leave it out", where="next"
            )
