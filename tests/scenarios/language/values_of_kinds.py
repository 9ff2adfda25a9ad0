"""Values that Python code may give to the keys of blocks: some that fit, by the kind of the key, and some that fit
hardly anything."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from emulator.protocol.delete_records import TO_HIGH_WATERMARK
from scenarios.errors import BadInput
from scenarios.language import (
    GeneratedPlan,
    Move,
    Plan,
    Target,
    Tolerance,
    When,
    WhenFault,
    WhenMessage,
    WhenMetric,
    WhenZk,
)
from scenarios.language.expect import ToleranceKind
from scenarios.language.kafka_settings import Config
from scenarios.language.plan import PlanKind
from scenarios.language.record_offsets import OffsetOrEnd
from scenarios.language.schema.kinds import (
    Choice,
    Integer,
    Kind,
    ListOf,
    MapOf,
    Named,
    Number,
    Quantity,
    SignedDuration,
)
from scenarios.language.schema.spans import RangeOf, Span, SpanOf
from scenarios.language.schema.table_reader import Block, keys_of
from scenarios.language.targets import PeersKind, TargetKind
from scenarios.language.triggers import ConditionKind, SinceKind
from scenarios.language.turns import NextKind, NextSpec

ODD: list[Any] = [
    object(), None, True, -1, 0, 1, 10**40, 0.5, float("nan"), "", "nonsense", "orders-", "10ms", "zookeeper", b"raw",
    [], (), [[]], [None], {}, {"latency": 1}, {"a", "b"}, range(3), int, datetime.date(2020, 1, 1),
    Target(brokers=(0,)),
]  # fmt: skip
"""Values of every sort: each fits few keys, and the first none."""

TEXTS = (
    "orders", "orders-0", "leader(orders-0)", "move.start", "LeaderAndIsr", "setData", "/controller", "/data/0", "any",
    "api", "zk", "kafka-2.3", "NONE", "NOT_CONTROLLER", "heal", "wiki", "zookeeper.stop", "0:20", "all", "payments",
    "duplicate", "1%",
)  # fmt: skip
GAUGE = "under_replicated_partitions"
WHEN = When(steps="move.start", partition="orders-0")


def fitting(kind: Kind[Any]) -> list[Any]:
    """Values that fit the kind, in Python's form."""
    found = []
    for value in _offered(kind):
        try:
            kind.checked(value)
        except BadInput:
            continue
        found.append(value)
    return found


def _offered(kind: Kind[Any]) -> Iterator[Any]:
    if isinstance(kind, Named):
        yield from _offered(kind.kind)
    elif isinstance(kind, OffsetOrEnd):
        yield from (0, 7, TO_HIGH_WATERMARK)
    elif isinstance(kind, Integer):
        yield from (kind.low, kind.low + 1, kind.low + 7)
    elif isinstance(kind, Number):
        yield from (kind.low, (kind.low + kind.high) / 2, int(kind.high))
    elif isinstance(kind, (Quantity, SignedDuration)):
        yield from (1, 1_500_000, 2_000_000_000)
    elif isinstance(kind, SpanOf):
        yield from _offered(kind.kind)
        yield Span(1, 3_000)
    elif isinstance(kind, RangeOf):
        yield from ((one, one) for one in _offered(kind.item))
    elif isinstance(kind, Choice):
        yield from sorted(kind.names, key=lambda name: name != GAUGE)[:6]
    elif isinstance(kind, ListOf):
        items = fitting(kind.item)
        yield from ([], items[:1], tuple(items[:2]), items)
    elif isinstance(kind, MapOf):
        yield from ({}, *({name: item} for name in fitting(kind.key)[:2] for item in fitting(kind.item)))
    elif isinstance(kind, Config):
        yield from ({}, *({name: one.default} for name, one in list(kind.settings.items())[:8]))
    elif isinstance(kind, Block):
        yield from built(kind.cls)
    else:
        yield from (True, False, *TEXTS, *_of_one_kind(kind))


def _of_one_kind(kind: Kind[Any]) -> Iterator[Any]:
    down = Target(state="down", mode="fixed", value=2)
    if isinstance(kind, TargetKind):
        yield from (Target(brokers=[1, 0]), Target(role="any isr(orders-0)"), Target(role="clients"), down)
    elif isinstance(kind, PeersKind):
        yield from ([1, 2], [Target(brokers=[3]), "controller", "zookeeper"], Target(brokers=(0,)), down, ["all"])
    elif isinstance(kind, (ConditionKind, SinceKind)):
        yield from (0, WHEN, WhenMessage(message="LeaderAndIsr"), WhenZk(zk="setData"))
        yield from (WhenMetric(metric=GAUGE, above=0), WhenFault(fault="third"))
    elif isinstance(kind, NextKind):
        yield from (NextSpec(), NextSpec(after_us=5, until="settled"))
    elif isinstance(kind, ToleranceKind):
        yield from (Tolerance(0, 5), Tolerance(3, 3))
    elif isinstance(kind, PlanKind):
        yield from (Plan(partitions=[Move(topic="orders", partition=0, replicas=[1, 2])]), GeneratedPlan(to=[3, 1]))


def built(cls: type[Any]) -> Iterator[Any]:
    """Instances of a block: with what it must have alone, and with one more key in turn."""
    required = {one.argument: fitting(one.kind)[0] for one in keys_of(cls) if one.required}
    more: list[dict[str, Any]] = [{}]
    more += [{one.argument: value} for one in keys_of(cls) for value in fitting(one.kind)[:2] if not one.required]
    for arguments in more:
        try:
            yield cls(**required, **arguments)
        except BadInput:
            continue  # a key that goes with another
