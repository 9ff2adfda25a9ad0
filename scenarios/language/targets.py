"""The machines that an action acts on: brokers by id, or by the role that they have when the action is performed, or
clients.

Roles: ``controller``, ``leader(p)``, ``follower(p)``, ``replica(p)``, ``isr(p)``, ``isr(p)-leader``, ``adding(p)``,
``removing(p)``, ``kept(p)``, with ``p`` a partition such as ``orders-0``; ``clients`` and ``client(name)``, the
machines of producers and consumers. A table adds a state (``up``, ``down``, ``paused``) and a mode: ``one`` (the
default for roles), ``all`` (that for ids and clients), ``fixed`` with ``value`` brokers, ``fixed-percent`` with
``value`` percent of them. The lowest id comes first (readings §1).

``any`` in front of a role has chance draw which of them it is, when the action fires: ``any isr(p)``. ``any`` alone is
any broker; ``any leader`` and ``any follower`` are brokers that lead, or follow, some partition; ``any client`` is the
machine of any client.

The other end of a link is a target too, or ``zookeeper``, ``brokers``, ``all``, or a list of these (``PEERS``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import Factory, evolve, field, frozen

from emulator.streams import Stream
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import (
    BROKER_ID,
    REPLICAS,
    Choice,
    Integer,
    Kind,
    Named,
    Schema,
    Text,
    as_tuple,
    at,
    refuse,
)
from scenarios.language.schema.table_reader import Block, Checked, key
from scenarios.language.topic_spec import split_partition

_ROLE = re.compile(r"([a-z_]+)\(([^()]*)\)(-leader)?")
_CLIENT_NAME = re.compile(r"[a-zA-Z0-9._-]{1,100}")
PARTITION_ROLES = ("leader", "follower", "replica", "isr", "adding", "removing", "kept")
CLIENT, CLIENTS = "client", "clients"
ANY, BROKER = "any", "broker"
ONLY_ANY = (BROKER, "leader", "follower", CLIENT)
"""The words that are a role by themselves after ``any``."""
ROLE_FORMS = (
    "controller", *(f"{name}(orders-0)" for name in PARTITION_ROLES), "isr(orders-0)-leader", CLIENTS, "client(NAME)",
    ANY, *(f"{ANY} {name}" for name in ONLY_ANY), *(f"{ANY} {name}(orders-0)" for name in PARTITION_ROLES),
)  # fmt: skip
STATES = ("up", "down", "paused")
MODES = ("one", "all", "fixed", "fixed-percent")


_BROKER = re.compile(r"(?:broker)?[ -]?([0-9]{1,9})")
_ALL_BROKERS = 'all brokers are target = { mode = "all" }, one after the other for_each = "brokers"'
_INSTEAD = {
    "zookeeper": 'action = "zookeeper.stop" stops ZooKeeper as a whole; actions on links take it as peer',
    "brokers": _ALL_BROKERS,
    "all": _ALL_BROKERS,
}
"""The advice for words that are no target: what to write instead."""


@frozen
class TargetRole:
    """A parsed role.

    Attributes:
        partition: None for ``controller``, for clients, and for roles after ``any`` that need none.
        without_leader: whether ``-leader`` excludes the leader.
        client: the name of ``client(name)``; None otherwise.
        drawn: whether one of those that have the role is drawn (``any``).
    """

    name: str
    partition: str | None = None
    without_leader: bool = False
    client: str | None = None
    drawn: bool = False

    @property
    def means_clients(self) -> bool:
        return self.name in (CLIENT, CLIENTS)


def check_client(name: str) -> str:
    """``name`` when it can be the name of a client, else ``BadInput``."""
    if not _CLIENT_NAME.fullmatch(name):
        raise BadInput(f"{name!r} is no name of a client; write 1 to 100 of the characters a-z A-Z 0-9 . _ -")
    return name


def _instead(text: str) -> str:
    if broker := _BROKER.fullmatch(text):
        return f"a broker is written as its number: target = {int(broker[1])}"
    return _INSTEAD.get(text) or did_you_mean(text, ROLE_FORMS)


def parse_role(text: str) -> TargetRole:
    """Parse a role. Raises: BadInput if ``text`` is not one."""
    if text in ("controller", CLIENTS):
        return TargetRole(text)
    any_of, _, rest = text.partition(" ")
    if any_of == ANY:
        return _drawn(rest)
    match = _ROLE.fullmatch(text)
    if match is None:
        raise BadInput(f"{text!r} is no target; {_instead(text)}")
    name, partition, minus = match.groups()
    if name == CLIENT and not minus:
        return TargetRole(CLIENT, client=check_client(partition))
    if name not in PARTITION_ROLES:
        raise BadInput(
            f"unknown role {name!r}; {did_you_mean(name, ('controller', *PARTITION_ROLES, CLIENT, CLIENTS))}"
        )
    if minus and name != "isr":
        raise BadInput(f"'-leader' goes with isr(...) only; write {f'{name}({partition})'!r}")
    split_partition(partition)
    return TargetRole(name, partition, bool(minus))


def _drawn(role: str) -> TargetRole:
    """The role of ``any`` and the words after it."""
    if role in ("", *ONLY_ANY):
        return TargetRole(role or BROKER, drawn=True)
    if role.partition(" ")[0] == ANY:
        raise BadInput(f"'any' is there twice; write {role!r}")
    return evolve(parse_role(role), drawn=True)


class RoleText(Kind[str]):
    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise refuse(value, 'a role in quotes, such as "leader(orders-0)"')
        parse_role(value)
        return value

    def schema(self) -> Schema:
        names, alone = "|".join(PARTITION_ROLES), "|".join(ONLY_ANY)
        one = rf"controller|clients|isr\([^()]+\)-leader|({names}|client)\([^()]+\)"
        return {"type": "string", "pattern": rf"^({one}|{ANY}( ({one}|{alone}))?)$"}


def _default_mode(target: Target) -> str:
    if target.role is not None:
        at("Target.role", RoleText().read, target.role)  # what follows asks it, before the fields are checked
    several = target.brokers or target.means_clients
    return "all" if several and not target.drawn else "one"


@frozen(kw_only=True)
class Target(Checked):
    """Brokers by id or by role, or clients, narrowed by state and mode."""

    brokers: tuple[int, ...] = field(
        default=(), converter=as_tuple, metadata=key(REPLICAS, "broker ids; absent = by role, or any broker")
    )
    role: str | None = field(
        default=None, metadata=key(RoleText(), "the role that the brokers have when the action is performed")
    )
    state: str | None = field(default=None, metadata=key(Choice(STATES, "state"), "only brokers in this state"))
    mode: str = field(
        default=Factory(_default_mode, takes_self=True),
        metadata=key(Choice(MODES, "mode"), "how many of them: lowest id first, or drawn for a role with any"),
    )
    value: int | None = field(
        default=None, metadata=key(Integer(1), "the number for fixed, the percentage for fixed-percent")
    )

    @property
    def words(self) -> str:
        """The target in short: the role or the ids, and the state; empty = any broker."""
        ids = ",".join(map(str, self.brokers))
        who = " of ".join(filter(None, (self.role, ids)))
        return " and ".join(word for word in (who, self.state) if word)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.brokers and self.role not in (None, ANY, f"{ANY} {BROKER}"):
            raise BadInput("both 'brokers' and 'role' are given; keep one, or draw of the brokers by role = \"any\"")
        if self.drawn and self.mode == "all":
            raise BadInput(f"all are meant, so none is drawn; leave {ANY!r} out", where="mode")
        if self.mode.startswith("fixed") != (self.value is not None):
            raise BadInput("'value' goes with the modes fixed and fixed-percent; give both or neither", where="value")
        if self.mode == "fixed-percent" and self.value is not None and self.value > 100:
            raise BadInput("more than 100 percent; write a value from 1 to 100", where="value")

    @property
    def parsed_role(self) -> TargetRole | None:
        return None if self.role is None else parse_role(self.role)

    @property
    def means_clients(self) -> bool:
        """Whether it names clients and not brokers."""
        role = self.parsed_role
        return role is not None and role.means_clients

    @property
    def drawn(self) -> bool:
        """Whether chance draws the brokers, among those that have the role and the state."""
        return self.role is not None and self.role.partition(" ")[0] == ANY

    def pick(self, candidates: Iterable[int], draws: Stream | None = None) -> tuple[int, ...]:
        """The brokers that the mode takes of ``candidates``, which have the role and the state: lowest id first, or by
        ``draws`` where they are drawn."""
        ordered = sorted(candidates, key=abs)  # clients have negative ids, counted downwards
        count = {"one": 1, "all": len(ordered)}.get(self.mode, self.value or 0)
        if self.mode == "fixed-percent":
            count = -(-len(ordered) * (self.value or 0) // 100)
        if self.drawn and draws is not None:
            return tuple(ordered.pop(draws.below(len(ordered))) for _ in range(min(count, len(ordered))))
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
        if not isinstance(value, Mapping):
            raise refuse(value, 'a broker id, a list of ids, a role such as "leader(orders-0)", or a table of keys')
        target: Target = _block.read(value)
        return target

    def checked(self, value: object) -> Target:
        return value if isinstance(value, Target) else self.read(value)

    def dump(self, value: Target) -> object:
        table = _block.dump(value)
        if set(table) == {"role"}:
            return table["role"]
        return table["brokers"] if set(table) == {"brokers"} else table

    def schema(self) -> Schema:
        return {"anyOf": [BROKER_ID.schema(), REPLICAS.schema(), RoleText().schema(), _block.schema()]}


ZOOKEEPER_PEER, BROKERS_PEER, ALL_PEERS = "zookeeper", "brokers", "all"
WHOLE_PEERS = (ZOOKEEPER_PEER, BROKERS_PEER, ALL_PEERS)
Peer = Target | str
"""One of the other ends of links: a target, ZooKeeper, every other broker, or every other machine."""


def as_peers(value: Any) -> tuple[Peer, ...] | None:
    """A converter for fields of ``PEERS``: one peer, or several, in their one order: the ids before all others."""
    if value is None:
        return None
    items: Any = as_tuple(value)
    peers = items if isinstance(items, tuple) else (items,)
    ids = [broker for peer in peers if _is_ids(peer) for broker in peer.brokers]
    others = [peer for peer in peers if not _is_ids(peer)]
    return (*([Target(brokers=ids)] if ids else ()), *others)


def _is_ids(peer: Peer) -> bool:
    return isinstance(peer, Target) and peer == Target(brokers=peer.brokers) and bool(peer.brokers)


class PeersKind(Kind[tuple[Peer, ...]]):
    """The other end of a link, or a list of other ends."""

    def read(self, value: object) -> tuple[Peer, ...]:
        if not isinstance(value, (list, tuple)) or all(type(item) is int for item in value):
            return (self._one(value),)
        ends = [at(f"[{index}]", self._one, item) for index, item in enumerate(value)]
        for index, item in enumerate(value):
            if item in value[:index]:
                raise BadInput(f"{item!r} is listed twice; name each one once", where=f"[{index}]")
            if item == ALL_PEERS:
                raise BadInput(f"{ALL_PEERS!r} is everything already; write it alone", where=f"[{index}]")
        return as_peers(ends) or ()

    def checked(self, value: object) -> tuple[Peer, ...]:
        alone = value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else None
        return self.read(value) if alone is None else (self._one(alone),)

    def _one(self, value: object) -> Peer:
        if isinstance(value, Target):
            return value
        drawn = isinstance(value, str) and value.partition(" ")[0] == ANY
        if isinstance(value, str) and not drawn and (value in WHOLE_PEERS or "(" not in value):
            Choice((*WHOLE_PEERS, CLIENTS, "controller", ANY), "end of a link").read(value)
            return value if value in WHOLE_PEERS else Target(role=value)
        return TARGET.read(value)

    def dump(self, value: tuple[Peer, ...]) -> object:
        if len(value) == 1:
            return value[0] if isinstance(value[0], str) else TARGET.dump(value[0])
        written: list[object] = []
        for peer in value:
            if isinstance(peer, str):
                written.append(peer)
            else:
                written += peer.brokers if _is_ids(peer) else [TARGET.dump(peer)]
        return written

    def schema(self) -> Schema:
        one: Schema = {"anyOf": [{"enum": list(WHOLE_PEERS)}, TARGET.schema()]}
        return {"anyOf": [*one["anyOf"], {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}]}


TARGET = Named("target", TargetKind())
PEERS = PeersKind()
CLIENT_NAME = Text(check_client, "a client's name")
