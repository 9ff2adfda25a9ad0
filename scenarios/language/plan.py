"""The reassignment plan: the JSON of kafka-reassign-partitions.sh, version 1, verbatim or in a file of its own; or the
words from which it is generated (``scenarios.language.generated``)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve, field, frozen

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from scenarios.errors import BadInput, answered
from scenarios.language.schema.kinds import (
    BROKER_ID,
    ONE_OR_MORE,
    REPLICAS,
    Integer,
    Kind,
    ListOf,
    Schema,
    as_tuple,
    at,
    instance_of,
    refuse,
)
from scenarios.language.schema.table_reader import Block, Checked, key, keys_of, refuse_unknown
from scenarios.language.topic_spec import TOPIC_NAME, join_partition
from scenarios.reading import decoded, parse_json, read_beside


class TargetReplicas(ListOf):
    """The target replicas of a partition: some brokers, each once."""

    def read(self, value: object) -> tuple[int, ...]:
        if not isinstance(value, list) or not all(type(broker) is int for broker in value):
            return super().read(value)
        with answered(Errors.INVALID_REPLICA_ASSIGNMENT.name):
            return super().read(value)


ANY_LOG_DIR = "any"


class LogDir(Kind[str]):
    """The name of a log directory, as brokers have them, or "any"."""

    def read(self, value: object) -> str:
        if not isinstance(value, str) or not value:
            raise refuse(value, 'a log directory such as "/data/0", or "any"')
        return value

    def schema(self) -> Schema:
        return {"type": "string"}


LOG_DIR = LogDir()


@frozen(kw_only=True)
class Move(Checked):
    """The target replicas of one partition, preferred leader first."""

    topic: str = field(metadata=key(TOPIC_NAME, "the partition's topic"))
    partition: int = field(metadata=key(Integer(0), "its number"))
    replicas: tuple[int, ...] = field(
        converter=as_tuple,
        metadata=key(
            TargetReplicas(BROKER_ID, unique=True, empty=False), "its target replicas, preferred leader first"
        ),
    )
    log_dirs: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(LOG_DIR), 'the log directory of each replica, such as "/data/1", or "any" (KIP-113)'),
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.log_dirs and len(self.log_dirs) != len(self.replicas):
            raise BadInput(f"{len(self.log_dirs)} for {len(self.replicas)} replicas; write one each", where="log_dirs")

    @property
    def name(self) -> str:
        return join_partition(self.topic, self.partition)


class Version(Kind[int]):
    def read(self, value: object) -> int:
        if value != 1 or isinstance(value, bool):
            with answered(Errors.UNSUPPORTED_VERSION.name):
                raise refuse(value, "1, the only version of Kafka's reassignment JSON")
        return 1

    def schema(self) -> Schema:
        return {"const": 1}


@frozen(kw_only=True)
class Plan(Checked):
    """Kafka's reassignment JSON: version 1 and a list of partitions."""

    version: int = field(default=1, metadata=key(Version(), "1"))
    partitions: tuple[Move, ...] = field(
        converter=as_tuple, metadata=key(ListOf(Block(Move), empty=False), "the partitions to move")
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        seen: dict[str, None] = {}
        for index, move in enumerate(self.partitions):
            if move.name in seen:
                raise BadInput(f"{move.name} is named twice; keep one", where=f"partitions[{index}]")
            seen[move.name] = None

    def targets(self) -> dict[str, tuple[int, ...]]:
        """The target replicas by partition name."""
        return {move.name: move.replicas for move in self.partitions}

    def directories(self) -> dict[tuple[TopicPartition, int], str]:
        """The target log directory of each replica, by partition and broker, where the plan names one."""
        return {
            (TopicPartition(move.topic, move.partition), broker): name
            for move in self.partitions
            for broker, name in zip(move.replicas, move.log_dirs, strict=False)
            if name != ANY_LOG_DIR
        }

    def as_json(self) -> str:
        """The plan as Kafka's own tools read it, ``version`` included."""
        return json.dumps({"version": 1, "partitions": [_move.dump(move) for move in self.partitions]})


@frozen(kw_only=True)
class GeneratedPlan(Plan):
    """A plan in words, and the moves that they mean in their scenario.

    Attributes:
        partitions: the moves; empty until the scenario is known.
    """

    version: int = 1
    partitions: tuple[Move, ...] = field(default=(), converter=as_tuple)
    topics: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(TOPIC_NAME, unique=True, empty=False), "the topics to move; absent = all"),
    )
    to: tuple[int, ...] = field(
        default=(), converter=as_tuple, metadata=key(REPLICAS, "the brokers that have the replicas afterwards")
    )
    decommission: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(
            ONE_OR_MORE, "brokers that have none afterwards; `to` = those that take them, absent = all others"
        ),
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.to and not self.decommission:
            raise BadInput("nothing says where to; add to = [3, 4, 5] or decommission = 0")
        for broker in self.decommission:
            if broker in self.to:
                raise BadInput(f"broker {broker} is decommissioned; leave it out", where="to")

    def with_moves(self, moves: tuple[Move, ...]) -> GeneratedPlan:
        """A copy of the plan with these moves."""
        return evolve(self, partitions=moves)

    @property
    def words(self) -> str:
        parts = [("decommission", self.decommission), ("to", self.to), ("topics", self.topics)]
        return ", ".join(f"{name} {', '.join(map(str, values))}" for name, values in parts if values)


_block, _generated, _move = Block(Plan), Block(GeneratedPlan), Block(Move)
_WORDS = tuple(key.name for key in keys_of(GeneratedPlan))


class PlanKind(Kind[Plan]):
    """A plan in place; ``with_plan_file`` has replaced one in a file before."""

    def read(self, value: object) -> Plan:
        words = isinstance(value, Mapping) and not any(key.name in value for key in keys_of(Plan))
        if words:
            refuse_unknown(value, (*_WORDS, *(key.name for key in keys_of(Plan))))  # type: ignore[arg-type]
        plan: Plan = (_generated if words and value else _block).read(value)
        return plan

    def checked(self, value: object) -> Plan:
        return instance_of(value, Plan)

    def dump(self, value: Plan) -> object:
        return _generated.dump(value) if isinstance(value, GeneratedPlan) else {"version": 1, **_block.dump(value)}

    def schema(self) -> Schema:
        by_file: Schema = {
            "type": "object",
            "properties": {"file": {"type": "string", "description": "a JSON file beside the scenario"}},
            "required": ["file"],
            "additionalProperties": False,
        }
        return {"oneOf": [*_in_place()["oneOf"], by_file]}


def _in_place() -> Schema:
    words = {**_generated.schema(), "anyOf": [{"required": ["to"]}, {"required": ["decommission"]}]}
    return {"oneOf": [_block.schema(), words]}


class PlanInPlace(PlanKind):
    """The plan of an action: in place, never in a file."""

    def schema(self) -> Schema:
        return _in_place()


PLAN = PlanKind()
PLAN_IN_PLACE = PlanInPlace()


def with_plan_file(document: Mapping[str, object], folder: Path) -> dict[str, object]:
    """The document with a ``plan.file``, relative to ``folder``, replaced by its content."""
    plan = document.get("plan")
    if not isinstance(plan, Mapping) or "file" not in plan:
        return dict(document)
    if len(plan) > 1:
        raise BadInput("a plan is in a file or in place; keep 'file' alone or leave it out", where="plan.file")
    return {**document, "plan": at("plan.file", lambda name: _read_json(folder, name), plan["file"])}


def plan_file(document: Mapping[str, object], folder: Path) -> str:
    """The path of the file that ``with_plan_file`` reads; empty where the plan is in place."""
    plan = document.get("plan")
    return str(folder / str(plan["file"])) if isinstance(plan, Mapping) and "file" in plan else ""


@contextmanager
def in_plan_file(path: str) -> Iterator[None]:
    """Errors about the plan that are raised inside get the path of its file, and the entry in it; an empty path changes
    none."""

    def placed(one: BadInput) -> BadInput:
        first, _, entry = one.where.partition(".")
        return BadInput(one.what, where=entry, source=path) if first == "plan" and not one.source else one

    try:
        yield
    except BadInput as error:
        raise (error.each(placed) if path else error) from None


def _read_json(folder: Path, name: object) -> object:
    wanted = "a JSON file"
    data = read_beside(folder, name, wanted, "move.json")
    try:
        return parse_json(decoded(data, wanted))
    except json.JSONDecodeError as error:
        raise BadInput(
            f"broken JSON: {error.msg}; correct it", source=str(folder / str(name)), line=error.lineno
        ) from None
    except BadInput as error:
        raise error.in_file(str(folder / str(name))) from None
