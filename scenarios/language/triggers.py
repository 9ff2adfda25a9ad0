"""The times when an entry of the method acts: at a virtual time, some time after the entry before it, at a protocol
step, at a message, at a write to ZooKeeper, or when a metric crosses a limit.

``scenarios.language.known_names`` checks whether a trigger can fire at all; ``scenarios.faults.arming`` arms it in a
run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from emulator.protocol.api import apis, names_partitions
from scenarios.errors import BadInput
from scenarios.language.limited_metrics import METRICS
from scenarios.language.messages import ANY, MESSAGE_NAME, SESSION_EVENTS, WRITES, ZNODE_PATH, messages_of
from scenarios.language.schema.kinds import (
    BROKER_ID,
    DURATION,
    Boolean,
    Choice,
    Integer,
    Kind,
    ListOf,
    Named,
    Schema,
    Text,
    as_tuple,
    instance_of,
    refuse,
)
from scenarios.language.schema.spans import Drawable, SpanOf
from scenarios.language.schema.table_reader import Block, Checked, TableReader, key, keys_of, refuse_unknown
from scenarios.language.step_names import Gate, any_names, check_step, gates_of, known_steps
from scenarios.language.targets import TARGET, Target
from scenarios.language.topic_spec import PARTITION_NAME, TOPIC_NAME

TIMES = SpanOf(DURATION)


@frozen
class At(Checked):
    """At an absolute virtual time, or one that is drawn from a range."""

    time_us: Drawable = field(metadata=key(TIMES, "act at this virtual time", name="at"))


@frozen
class After(Checked):
    """Some time after the entry before it has acted (the first entry: after the start)."""

    delay_us: Drawable = field(metadata=key(TIMES, "act this long after the entry before has acted", name="after"))


SETTLED, ISR_FULL, MOVES_DONE = "settled", "isr full", "moves done"
WAITS = {
    SETTLED: "nothing but routine is under way: no request, no copy, no session that is about to expire",
    ISR_FULL: "every replica is in its ISR and its broker is registered, but for replicas that a move is adding",
    MOVES_DONE: "no move is under way or still to be requested",
}
"""The conditions that an entry can wait for after the one before it, each with its meaning."""
UNTIL = Choice(tuple(WAITS), "wait")


@frozen
class Until(Checked):
    """As soon as one of ``WAITS`` holds: after the entry before it has acted (the first entry: after the start), its
    duration has ended, and ``delay_us`` has passed since it acted."""

    wait: str = field(
        metadata=key(UNTIL, "act as soon as this holds, after the entry before; may have an after", name="until")
    )
    delay_us: Drawable = field(default=0, metadata=key(TIMES, "but not before this long after it", name="after"))


# -- at a step --------------------------------------------------------------------------------------------------------


class Steps(Kind[tuple[str, ...]]):
    """A step's name, or a list of names: the first one that the running protocol has counts."""

    _list = ListOf(Text(check_step, "a step's name"), unique=True, empty=False)

    def read(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            check_step(value)
            return (value,)
        return self._list.read(value)

    def dump(self, value: tuple[str, ...]) -> object:
        return value[0] if len(value) == 1 else list(value)

    def schema(self) -> Schema:
        name: Schema = {"enum": [*known_steps(), *any_names()]}
        return {"anyOf": [name, {"type": "array", "items": name, "minItems": 1, "uniqueItems": True}]}


STEP_NAMES = Named("steps", Steps())


def _steps(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else as_tuple(names)


@frozen(kw_only=True)
class When(Checked):
    """At a step of the running protocol: ``when = { step = "move.start" }``.

    Attributes:
        steps: names of steps or phases; the first one that the running protocol has counts. ``any`` stands for every
            step, ``any move`` for those of the running reassignment protocol, ``any X`` for those of a procedure or a
            phase.
        edge: ``before`` or ``after`` the step.
        partition, broker, topic, hop: only visits of the gate that are about these.
        occurrence: the number of the visit among those, counted from 1.
    """

    steps: tuple[str, ...] = field(
        converter=_steps, metadata=key(STEP_NAMES, "a step, a phase, or a list", name="step")
    )
    edge: str = field(default="after", metadata=key(Choice(("before", "after"), "edge"), "before or after the step"))
    partition: str | None = field(default=None, metadata=key(PARTITION_NAME, "only for this partition"))
    broker: int | None = field(default=None, metadata=key(BROKER_ID, "only for this broker"))
    topic: str | None = field(default=None, metadata=key(TOPIC_NAME, "only for this topic"))
    hop: int | None = field(default=None, metadata=key(Integer(1), "only in this hop of kafka-6794, from 1"))
    occurrence: Drawable = field(
        default=1, metadata=key(SpanOf(Integer(1)), "which occurrence, counted from 1; steps repeat after a failover")
    )

    def gates(self, protocol: str) -> tuple[Gate, ...]:
        """The gate that it waits at under a reassignment protocol, several for ``any``; none where the protocol does
        not have the steps."""
        return gates_of(self.steps, self.edge, protocol)


STEP_WHEN: Named[When] = Named("when_step", Block(When))


# -- at a message, or at a write to ZooKeeper -------------------------------------------------------------------------

Since = int | When
"""The moment from which on a trigger counts occurrences: a virtual time in microseconds, or a step."""


class SinceKind(Kind[Since]):
    """A virtual time, or a step with its filters."""

    def read(self, value: object) -> Since:
        return DURATION.read(value) if isinstance(value, str) else STEP_WHEN.read(value)

    def checked(self, value: object) -> Since:
        return value if isinstance(value, When) else DURATION.checked(value)

    def dump(self, value: Since) -> object:
        return STEP_WHEN.kind.dump(value) if isinstance(value, When) else DURATION.dump(value)

    def schema(self) -> Schema:
        return {"anyOf": [DURATION.schema(), STEP_WHEN.schema()]}


SINCE = key(SinceKind(), "count occurrences from this virtual time or step on; absent = from the start")
OCCURRENCE = key(
    SpanOf(Integer(1)), "which occurrence, counted from 1; requests are sent again when a connection is lost"
)


@frozen(kw_only=True)
class WhenMessage(Checked):
    """At a message between two machines: ``when = { message = "LeaderAndIsr", to = 3 }``."""

    message: str = field(metadata=key(MESSAGE_NAME, "the API, or any, any control, any data"))
    response: bool = field(default=False, metadata=key(Boolean(), "the response instead of the request"))
    edge: str = field(
        default="sent",
        metadata=key(
            Choice(("sent", "delivered", "answered"), "edge"),
            "when it is sent; when it is delivered, before it is handled; when its response is delivered to its sender",
        ),
    )
    source: Target | None = field(default=None, metadata=key(TARGET, "only from these brokers", name="from"))
    target: Target | None = field(default=None, metadata=key(TARGET, "only to these brokers", name="to"))
    partition: str | None = field(
        default=None, metadata=key(PARTITION_NAME, "only if the message names this partition")
    )
    topic: str | None = field(default=None, metadata=key(TOPIC_NAME, "only if it names a partition of this topic"))
    occurrence: int = field(default=1, metadata=OCCURRENCE)
    since: Since | None = field(default=None, metadata=SINCE)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.response and self.edge == "answered":
            raise BadInput('an answer is not answered; write edge = "delivered"', where="edge")
        meant = [apis()[name] for name in self.messages]
        if not any(names_partitions(api.response if self.response else api.request) for api in meant):
            what = "the answer to " if self.response else ""
            for name in ("partition", "topic"):
                if getattr(self, name) is not None:
                    raise BadInput(f"{what}{self.message} names no partitions; leave {name!r} out", where=name)

    @property
    def name(self) -> str:
        return self.message

    @property
    def messages(self) -> tuple[str, ...]:
        """The APIs that it waits for."""
        return messages_of(self.message)

    @property
    def stoppable(self) -> bool:
        """Whether there is a message that can be held, delayed or lost."""
        return True


@frozen(kw_only=True)
class WhenZk(Checked):
    """At a write to ZooKeeper, or at a session event: ``when = { zk = "setData", path = "/controller" }``."""

    zk: str = field(
        metadata=key(Choice((*WRITES, *SESSION_EVENTS, ANY), "write"), "the write, any write, or the session event")
    )
    path: str | None = field(default=None, metadata=key(ZNODE_PATH, "only this znode; `*` matches any one segment"))
    edge: str = field(
        default="applied",
        metadata=key(
            Choice(("before", "applied", "answered"), "edge"),
            "when the request reaches ZooKeeper; when it has taken effect, before its response; when that arrives",
        ),
    )
    source: Target | None = field(default=None, metadata=key(TARGET, "only from these brokers", name="from"))
    occurrence: int = field(default=1, metadata=OCCURRENCE)
    since: Since | None = field(default=None, metadata=SINCE)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.stoppable:
            return
        if self.path is not None:
            raise BadInput("a session has no path; leave it out", where="path")
        if self.edge != "applied":
            raise BadInput("a session's turn has one edge, applied; leave 'edge' out", where="edge")

    @property
    def name(self) -> str:
        return self.zk

    @property
    def stoppable(self) -> bool:
        """Whether there is a request or an answer that can be held, delayed or lost."""
        return self.zk in (*WRITES, ANY)


MESSAGE_WHEN: Named[WhenMessage] = Named("when_message", Block(WhenMessage))
ZK_WHEN: Named[WhenZk] = Named("when_zk", Block(WhenZk))


# -- at a metric ------------------------------------------------------------------------------------------------------

METRIC_NAME = Choice(METRICS, "metric")


@frozen(kw_only=True)
class WhenMetric(Checked):
    """When a metric crosses a limit: ``when = { metric = "under_replicated_partitions", above = 0 }``.

    Attributes:
        above, below: the limit; the condition holds beyond it.
        lasting_us: the time for which it has to hold without a break, as for an alert.
        occurrence: the number of the time that this comes true, counted from 1.
    """

    metric: str = field(metadata=key(METRIC_NAME, "a gauge or a counter, of the whole cluster"))
    above: int | None = field(default=None, metadata=key(Integer(0), "it holds while the metric is more than this"))
    below: int | None = field(default=None, metadata=key(Integer(0), "it holds while the metric is less than this"))
    lasting_us: int = field(
        default=0, metadata=key(DURATION, "it has to hold for so long without a break, as for an alert", name="for")
    )
    occurrence: Drawable = field(
        default=1, metadata=key(SpanOf(Integer(1)), "which time that it comes true, counted from 1")
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if METRICS[METRIC_NAME.read(self.metric)].form == "total":
            raise BadInput(
                f"{self.metric!r} is known at the end of a run only; name a gauge or a counter", where="metric"
            )
        if (self.above is None) == (self.below is None):
            raise BadInput(
                "neither or both of above and below; write one limit, such as above = 0, or below = 3", where="above"
            )

    @property
    def name(self) -> str:
        return self.metric

    def holds(self, value: int) -> bool:
        """Whether the metric is beyond the limit."""
        return value > self.above if self.above is not None else self.below is not None and value < self.below


METRIC_WHEN: Named[WhenMetric] = Named("when_metric", Block(WhenMetric))


# -- at a request that a fault hits -----------------------------------------------------------------------------------


@frozen(kw_only=True)
class WhenFault(Checked):
    """When a fault on requests has hit one: ``when = { fault = "third", occurrence = 2 }``.

    Attributes:
        fault: the name that a ``request.fail``, ``request.drop``, ``request.delay`` or ``request.silence`` has given
            itself.
        occurrence: the hit that is waited for, counted from 1 since the fault began. Where it has come already the
            condition holds at once.
    """

    fault: str = field(metadata=key(Text(), "the name of a fault on requests"))
    occurrence: Drawable = field(
        default=1, metadata=key(SpanOf(Integer(1)), "how many requests it has to have hit, those before included")
    )

    @property
    def name(self) -> str:
        return self.fault


FAULT_WHEN: Named[WhenFault] = Named("when_fault", Block(WhenFault))


# -- any of them ------------------------------------------------------------------------------------------------------

Condition = When | WhenMessage | WhenZk | WhenMetric | WhenFault
_KINDS: Mapping[str, Named[Any]] = {
    "step": STEP_WHEN, "message": MESSAGE_WHEN, "zk": ZK_WHEN, "metric": METRIC_WHEN, "fault": FAULT_WHEN
}  # fmt: skip
_CLASSES: Mapping[str, type[Any]] = {
    "step": When, "message": WhenMessage, "zk": WhenZk, "metric": WhenMetric, "fault": WhenFault
}  # fmt: skip
CONDITIONS = tuple(_CLASSES.values())


class ConditionKind(Kind[Condition]):
    """A table with one of the keys ``step``, ``message``, ``zk``, ``metric`` and ``fault``, which decides what other
    keys it may have."""

    def read(self, value: object) -> Condition:
        if not isinstance(value, Mapping):
            raise refuse(value, "a table of keys")
        stated = [name for name in _KINDS if name in value]
        if len(stated) > 1:
            raise BadInput(f"{' and '.join(map(repr, stated))} are two conditions; keep one", where=stated[1])
        if not stated:
            known = dict.fromkeys(key.name for cls in _CLASSES.values() for key in keys_of(cls))
            refuse_unknown(value, known)
            raise BadInput("the key 'step' is missing (or 'message', 'zk', 'metric' or 'fault'); add one of them")
        found: Condition = _KINDS[stated[0]].read(value)
        return found

    def checked(self, value: object) -> Condition:
        found: Condition = instance_of(value, *CONDITIONS)
        return found

    def dump(self, value: Condition) -> object:
        name = next(name for name, cls in _CLASSES.items() if isinstance(value, cls))
        return _KINDS[name].dump(value)

    def schema(self) -> Schema:
        return {"oneOf": [kind.schema() for kind in _KINDS.values()]}


Trigger = At | After | Until | Condition
TRIGGERS = (At, After, Until, *CONDITIONS)
WHEN: Named[Condition] = Named("when", ConditionKind())
TRIGGER_KEYS = ("at", "after", "when", "until")


def read_trigger(reader: TableReader) -> Trigger | None:
    """The one trigger that a table states, None when it states none; ``BadInput`` when it states several. ``until`` may
    have an ``after``."""
    stated = [name for name in TRIGGER_KEYS if name in reader.table]
    if len(stated) > 1 and stated != ["after", "until"]:
        raise BadInput(f"two triggers, {' and '.join(map(repr, stated[:2]))}; keep one", where=stated[1])
    time_us: Drawable | None = reader.take("at", TIMES, None)
    delay_us: Drawable | None = reader.take("after", TIMES, None)
    when: Condition | None = reader.take("when", WHEN, None)
    wait: str | None = reader.take("until", UNTIL, None)
    if wait is not None:
        return Until(wait, delay_us or 0)
    if time_us is not None:
        return At(time_us)
    return when if delay_us is None else After(delay_us)


def dump_trigger(trigger: Trigger | None) -> dict[str, object]:
    if isinstance(trigger, At):
        return {"at": TIMES.dump(trigger.time_us)}
    if isinstance(trigger, After):
        return {"after": TIMES.dump(trigger.delay_us)}
    if isinstance(trigger, Until):
        after = {"after": TIMES.dump(trigger.delay_us)} if trigger.delay_us else {}
        return {**after, "until": trigger.wait}
    return {} if trigger is None else {"when": WHEN.dump(trigger)}


def trigger_schemas() -> dict[str, Schema]:
    (at,), (after,), (until, _) = keys_of(At), keys_of(After), keys_of(Until)
    return {
        "at": {**at.kind.schema(), "description": at.help},
        "after": {**after.kind.schema(), "description": after.help},
        "when": WHEN.schema(),
        "until": {**until.kind.schema(), "description": until.help},
    }


def one_trigger() -> Schema:
    """The JSON Schema of a table that has one trigger."""
    relative: Schema = {"anyOf": [{"required": ["after"]}, {"required": ["until"]}]}
    return {"oneOf": [{"required": ["at"]}, {"required": ["when"]}, relative]}
