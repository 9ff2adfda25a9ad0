"""The expected results of a run: one statement per ``[[expect]]``, so that the verdict can name the one that
failed."""

from __future__ import annotations

import math

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.limited_metrics import METRICS
from scenarios.language.schema.kinds import (
    BROKER_ID,
    ONE_OR_MORE,
    REPLICAS,
    SOME_TIME,
    Boolean,
    Choice,
    Kind,
    ListOf,
    MapOf,
    Schema,
    at,
    refuse,
)
from scenarios.language.schema.table_reader import Checked, TableReader, key
from scenarios.language.topic_spec import PARTITION_NAME
from scenarios.language.triggers import METRIC_NAME, STEP_NAMES
from scenarios.observe.invariants import INVARIANTS
from scenarios.units import LARGEST

_FORMS = 'a number, [low, high] or { type = "range", range = [low, high] }'


def _plain(number: float) -> float:
    """1.0 and 1 are the same limit, and are written in the same way."""
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return number
    return int(number) if abs(number) <= LARGEST and number == int(number) else float(number)


@frozen
class Tolerance:
    """A range of values. Both ends belong to it; ``inf`` leaves one open."""

    low: float = field(converter=_plain)
    high: float = field(converter=_plain)

    def __attrs_post_init__(self) -> None:
        at("Tolerance.low", _number, self.low)
        at("Tolerance.high", _number, self.high)
        if math.isnan(self.low) or math.isnan(self.high):
            raise BadInput(f"nan is no limit; write {_FORMS}")
        if self.low > self.high:
            raise BadInput(f"{self.low} is more than {self.high}; write the lower end first")

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


class ToleranceKind(Kind[Tolerance]):
    def read(self, value: object) -> Tolerance:
        if isinstance(value, (list, tuple)):
            return _from_pair(value)
        if isinstance(value, dict):
            reader = TableReader(value)
            reader.take("type", Choice(("range",), "tolerance type"))
            tolerance = reader.take("range", self)
            reader.finish()
            return tolerance
        number = _number(value)
        return Tolerance(number, number)

    def checked(self, value: object) -> Tolerance:
        return value if isinstance(value, Tolerance) else self.read(value)

    def dump(self, value: Tolerance) -> object:
        return value.low if value.low == value.high else [value.low, value.high]

    def schema(self) -> Schema:
        pair: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        table: Schema = {
            "type": "object",
            "properties": {"type": {"const": "range"}, "range": pair},
            "required": ["type", "range"],
            "additionalProperties": False,
        }
        return {"anyOf": [{"type": "number"}, pair, table]}


def _from_pair(value: list[object] | tuple[object, ...]) -> Tolerance:
    if len(value) != 2:
        raise BadInput(f"{len(value)} numbers where two are needed; write {_FORMS}")
    return Tolerance(_number(value[0]), _number(value[1]))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refuse(value, _FORMS)
    return value


TOLERANCE = ToleranceKind()


MODES = ("edge", "start", "end", "continuous")
"""The moments of a steady state, as in Litmus: ``edge`` is before the method and after the rollbacks, ``start`` and
``end`` one of them, ``continuous`` always."""


@frozen(kw_only=True)
class SteadyState(Checked):
    """A metric, and its limits while the cluster is well."""

    metric: str = field(metadata=key(METRIC_NAME, "a gauge or a counter"))
    tolerance: Tolerance = field(metadata=key(TOLERANCE, "the limits, both included"))
    mode: str = field(
        default="edge",
        metadata=key(Choice(MODES, "mode"), "when it is checked; `edge`: before the method and after the rollbacks"),
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if METRICS[METRIC_NAME.read(self.metric)].form == "total":
            raise BadInput(f"{self.metric!r} is known at the end of a run only; put it in [[expect]]", where="metric")


STATEMENTS = ("assignment", "leader", "isr", "metric", "invariant", "steps", "failed_partitions", "converged")


class AfterKind(Kind[str]):
    """An action, or an action and its occurrence: ``broker.crash#2``."""

    def read(self, value: object) -> str:
        form = 'an action of the method such as "link.heal", or "link.heal#2" for the second time'
        if not isinstance(value, str):
            raise refuse(value, form)
        _action, mark, number = value.partition("#")
        if mark and not (number.isascii() and number.isdigit() and len(number) < 10 and int(number)):
            raise BadInput(f"{value!r} is not understood; write {form}")
        return value

    def dump(self, value: str) -> object:
        return value

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^[a-z_.]+(#[1-9]\d*)?$"}


AFTER = AfterKind()

_BROKERS = ListOf(BROKER_ID, unique=True)
_PER_PARTITION = MapOf(REPLICAS, PARTITION_NAME)

PartitionBrokers = dict[str, tuple[int, ...]]


@frozen(kw_only=True)
class Expect(Checked):
    """One statement about the end of the run, or (``within``) about a time after the method began, or after an action
    (``after``)."""

    assignment: PartitionBrokers | None = field(
        default=None,
        hash=False,
        metadata=key(
            MapOf(_BROKERS, PARTITION_NAME), "the replicas in ZooKeeper, in order; [] = there is no such partition"
        ),
    )
    leader: PartitionBrokers | None = field(
        default=None,
        hash=False,
        metadata=key(MapOf(ONE_OR_MORE, PARTITION_NAME), "the leader, or the brokers it must be one of"),
    )
    isr: PartitionBrokers | None = field(
        default=None, hash=False, metadata=key(_PER_PARTITION, "the ISR, in any order")
    )
    metric: str | None = field(default=None, metadata=key(METRIC_NAME, "a metric that has to be within 'tolerance'"))
    tolerance: Tolerance | None = field(default=None, metadata=key(TOLERANCE, "the limits, both included"))
    invariant: str | None = field(
        default=None, metadata=key(Choice(INVARIANTS, "invariant"), "an invariant that must have held")
    )
    steps: tuple[str, ...] | None = field(
        default=None, metadata=key(STEP_NAMES, "a step or phase that must have been reached", name="step")
    )
    partition: str | None = field(default=None, metadata=key(PARTITION_NAME, "with 'step': by this partition"))
    failed_partitions: PartitionBrokers | None = field(
        default=None,
        hash=False,
        metadata=key(
            MapOf(_BROKERS, PARTITION_NAME),
            "the failed partitions, and on which followers; all others must not be; {} = none (KIP-461)",
        ),
    )
    converged: bool | None = field(
        default=None,
        metadata=key(
            Boolean(), "true: after the last action, or `heal`, the cluster gets well `within` a time (absent = 2 min)"
        ),
    )
    within_us: int | None = field(
        default=None,
        metadata=key(SOME_TIME, "time allowed from the method's first action on, or from `after`", name="within"),
    )
    after: str | None = field(
        default=None,
        metadata=key(
            AFTER, "an action: look only once it was performed, for the last time or (`link.heal#1`) the N-th time"
        ),
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
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
        if self.converged is False:
            raise BadInput("no run is expected not to converge; leave it out", where="converged")
        if self.after is not None and self.converged:
            raise BadInput("converged counts from the last action; leave 'after' out", where="after")
        if self.after is not None and self.invariant is not None:
            raise BadInput("an invariant holds all the time; leave 'after' out", where="after")

    @property
    def after_action(self) -> tuple[str, int | None]:
        """The action that ``after`` names, and its occurrence; None: the last."""
        action, _, number = (self.after or "").partition("#")
        return action, int(number) if number else None

    @property
    def statement(self) -> str:
        """The name of this statement among ``STATEMENTS``."""
        return next(name for name in STATEMENTS if getattr(self, name) is not None)
