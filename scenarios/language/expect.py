"""What the run must have come to: one statement per `[[expect]]`, so that the verdict can name the one that
failed."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.invariants import INVARIANTS
from scenarios.language.kinds import BROKER_ID, REPLICAS, SOME_TIME, Choice, Kind, ListOf, MapOf, Schema
from scenarios.language.names import PARTITION_NAME
from scenarios.language.reader import key
from scenarios.language.steady_state import METRIC_NAME
from scenarios.language.tolerance import TOLERANCE, Tolerance
from scenarios.language.when import STEP_NAMES

STATEMENTS = ("assignment", "leader", "isr", "metric", "invariant", "steps", "failed_partitions")


class OneOrMore(Kind[tuple[int, ...]]):
    """A broker id, or a list of ids any of which will do."""

    def read(self, value: object) -> tuple[int, ...]:
        return (BROKER_ID.read(value),) if isinstance(value, int) else REPLICAS.read(value)

    def dump(self, value: tuple[int, ...]) -> object:
        return value[0] if len(value) == 1 else list(value)

    def schema(self) -> Schema:
        return {"anyOf": [BROKER_ID.schema(), REPLICAS.schema()]}


_BROKERS = ListOf(BROKER_ID, unique=True)
_PER_PARTITION = MapOf(REPLICAS, PARTITION_NAME)

PartitionBrokers = dict[str, tuple[int, ...]]


@frozen(kw_only=True)
class Expect:
    """One statement about the end of the run, or (`within`) about a time after the method began."""

    assignment: PartitionBrokers | None = field(
        default=None,
        metadata=key(
            MapOf(_BROKERS, PARTITION_NAME), "the replicas in ZooKeeper, in order; [] = there is no such partition"
        ),
    )
    leader: PartitionBrokers | None = field(
        default=None,
        metadata=key(MapOf(OneOrMore(), PARTITION_NAME), "the leader, or the brokers it must be one of"),
    )
    isr: PartitionBrokers | None = field(default=None, metadata=key(_PER_PARTITION, "the ISR, in any order"))
    metric: str | None = field(
        default=None, metadata=key(METRIC_NAME, "a metric that must be within 'tolerance'")
    )
    tolerance: Tolerance | None = field(default=None, metadata=key(TOLERANCE, "the limits, both included"))
    invariant: str | None = field(
        default=None, metadata=key(Choice(tuple(INVARIANTS), "invariant"), "an invariant that must have held")
    )
    steps: tuple[str, ...] | None = field(
        default=None, metadata=key(STEP_NAMES, "a step or phase that must have been reached", name="step")
    )
    partition: str | None = field(
        default=None, metadata=key(PARTITION_NAME, "with 'step': by this partition")
    )
    failed_partitions: PartitionBrokers | None = field(
        default=None,
        metadata=key(
            MapOf(_BROKERS, PARTITION_NAME),
            "exactly these are failed, on these followers; {} = none (KIP-461)",
        ),
    )
    within_us: int | None = field(
        default=None, metadata=key(SOME_TIME, "time allowed from the method's first action on", name="within")
    )

    def __attrs_post_init__(self) -> None:
        stated = [name for name in STATEMENTS if getattr(self, name) is not None]
        names = ", ".join(name.replace("steps", "step") for name in STATEMENTS)
        if len(stated) != 1:
            raise BadInput(f"{len(stated)} statements in one [[expect]]; write exactly one of {names}")
        if (self.metric is None) != (self.tolerance is None):
            raise BadInput("'metric' and 'tolerance' go together; write both", where="tolerance")
        if self.partition is not None and self.steps is None:
            raise BadInput("'partition' goes with 'step'; leave it out", where="partition")
        if self.within_us is not None and self.invariant is not None:
            raise BadInput("an invariant holds all the time; leave 'within' out", where="within")

    @property
    def statement(self) -> str:
        """Which of `STATEMENTS` this is."""
        return next(name for name in STATEMENTS if getattr(self, name) is not None)
