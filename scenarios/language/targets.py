"""The brokers that an action acts on: by id, or by the role that they have when the action is performed.

Roles: ``controller``, ``leader(p)``, ``isr(p)``, ``isr(p)-leader``, ``adding(p)``, ``removing(p)``, ``kept(p)``, with
``p`` a partition such as ``orders-0``. A table adds a state (``up``, ``down``, ``paused``) and a mode: ``one`` (the
default for roles), ``all`` (the default for ids), ``fixed`` with ``value`` brokers, ``fixed-percent`` with ``value``
percent of them. The lowest id comes first (readings §1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import Factory, field, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import BROKER_ID, REPLICAS, Choice, Integer, Kind, Named, Schema, as_tuple, refuse
from scenarios.language.schema.reader import Block, key
from scenarios.language.topics import split_partition

_ROLE = re.compile(r"([a-z_]+)\(([^()]*)\)(-leader)?")
PARTITION_ROLES = ("leader", "isr", "adding", "removing", "kept")
ROLE_FORMS = ("controller", *(f"{name}(orders-0)" for name in PARTITION_ROLES), "isr(orders-0)-leader")
STATES = ("up", "down", "paused")
MODES = ("one", "all", "fixed", "fixed-percent")


@frozen
class Role:
    """A parsed role: its name, its partition (None for ``controller``), and whether ``-leader`` excludes the leader."""

    name: str
    partition: str | None = None
    without_leader: bool = False


def parse_role(text: str) -> Role:
    """Parse a role. Raises: BadInput if ``text`` is not one."""
    if text == "controller":
        return Role("controller")
    match = _ROLE.fullmatch(text)
    if match is None:
        raise BadInput(f"{text!r} is no target; {did_you_mean(text, ROLE_FORMS)}")
    name, partition, minus = match.groups()
    if name not in PARTITION_ROLES:
        raise BadInput(f"unknown role {name!r}; {did_you_mean(name, ('controller', *PARTITION_ROLES))}")
    if minus and name != "isr":
        raise BadInput(f"'-leader' goes with isr(...) only; write {f'{name}({partition})'!r}")
    split_partition(partition)
    return Role(name, partition, bool(minus))


class RoleText(Kind[str]):
    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise refuse(value, 'a role in quotes, such as "leader(orders-0)"')
        parse_role(value)
        return value

    def schema(self) -> Schema:
        names = "|".join(PARTITION_ROLES)
        return {"type": "string", "pattern": rf"^(controller|isr\([^()]+\)-leader|({names})\([^()]+\))$"}


def _default_mode(target: Target) -> str:
    return "all" if target.brokers else "one"


@frozen(kw_only=True)
class Target:
    """Brokers by id or by role, narrowed by state and mode."""

    brokers: tuple[int, ...] = field(
        default=(), converter=as_tuple, metadata=key(REPLICAS, "broker ids; absent = by role, or any broker")
    )
    role: str | None = field(
        default=None, metadata=key(RoleText(), "the role that the brokers have when the action is performed")
    )
    state: str | None = field(default=None, metadata=key(Choice(STATES, "state"), "only brokers in this state"))
    mode: str = field(
        default=Factory(_default_mode, takes_self=True),
        metadata=key(Choice(MODES, "mode"), "how many of them, lowest id first"),
    )
    value: int | None = field(
        default=None, metadata=key(Integer(1), "the number for fixed, the percentage for fixed-percent")
    )

    @property
    def words(self) -> str:
        """The target in short: the role or the ids, and the state; empty = any broker."""
        who = self.role or ",".join(map(str, self.brokers))
        return " and ".join(word for word in (who, self.state) if word)

    def __attrs_post_init__(self) -> None:
        if self.brokers and self.role:
            raise BadInput("both 'brokers' and 'role' are given; keep one")
        if self.mode.startswith("fixed") != (self.value is not None):
            raise BadInput("'value' goes with the modes fixed and fixed-percent; give both or neither", where="value")
        if self.mode == "fixed-percent" and self.value is not None and self.value > 100:
            raise BadInput("more than 100 percent; write a value from 1 to 100", where="value")

    @property
    def parsed_role(self) -> Role | None:
        return None if self.role is None else parse_role(self.role)

    def pick(self, candidates: Iterable[int]) -> tuple[int, ...]:
        """The brokers that the mode takes of ``candidates``, which have the role and the state, lowest id first."""
        ordered = sorted(candidates)
        count = {"one": 1, "all": len(ordered)}.get(self.mode, self.value or 0)
        if self.mode == "fixed-percent":
            count = -(-len(ordered) * (self.value or 0) // 100)
        return tuple(ordered[:count])


_block = Block(Target)


class TargetKind(Kind[Target]):
    """An id, a list of ids, a role, or a table with the keys of ``Target``."""

    def read(self, value: object) -> Target:
        if isinstance(value, str):
            return Target(role=RoleText().read(value))
        if isinstance(value, int):
            return Target(brokers=(BROKER_ID.read(value),))
        if isinstance(value, (list, tuple)):
            return Target(brokers=REPLICAS.read(value))
        target: Target = _block.read(value)
        return target

    def dump(self, value: Target) -> object:
        table = _block.dump(value)
        if set(table) == {"role"}:
            return table["role"]
        return table["brokers"] if set(table) == {"brokers"} else table

    def schema(self) -> Schema:
        return {"anyOf": [BROKER_ID.schema(), REPLICAS.schema(), RoleText().schema(), _block.schema()]}


class PeerKind(Kind["Target | str"]):
    """The other end of a link: a target, or ``"zookeeper"``."""

    def read(self, value: object) -> Target | str:
        return "zookeeper" if value == "zookeeper" else TARGET.read(value)

    def dump(self, value: Target | str) -> object:
        return value if isinstance(value, str) else TARGET.dump(value)

    def schema(self) -> Schema:
        return {"anyOf": [{"const": "zookeeper"}, TARGET.schema()]}


TARGET = Named("target", TargetKind())
PEER = PeerKind()
