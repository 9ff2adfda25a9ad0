"""The scenario file's reference as Markdown tables, rendered from the declarations that read the file.

``sections()`` gives the tables by name; docs/reference/scenario-file.md holds each of them between two marks, and a
test compares them. ``python -m scenarios.language.scenario_reference`` prints all of them; with the path of the page
as its
argument it writes them into the page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import float_info
from typing import Any

import attrs

from controller.procedures import ALIASES, PROCEDURES
from controller.steps import PHASES, Procedure, Span
from emulator.protocol.api import apis
from emulator.protocol.configs import LONG_MAX
from scenarios.language.actions import BurstSpec, DelaySpec, all_actions
from scenarios.language.chaos import ChaosBlock, all_kinds
from scenarios.language.clients import ClientBlock
from scenarios.language.cluster_spec import CardSpec, ClusterSpec, DiskSpec, NetworkSpec, ZooKeeperSpec
from scenarios.language.draws import DrawKind
from scenarios.language.entries import Branch, EntryKind
from scenarios.language.expect import AfterKind, Expect, SteadyState, ToleranceKind
from scenarios.language.kafka_settings import BROKER_SETTINGS, TOPIC_SETTINGS, Config, Setting
from scenarios.language.limited_metrics import METRICS
from scenarios.language.plan import GeneratedPlan, LogDir, Move, Plan, PlanInPlace, PlanKind, Version
from scenarios.language.record_offsets import OffsetOrEnd
from scenarios.language.recorded_frames import FramesKind
from scenarios.language.scenario import Scenario
from scenarios.language.schema import kinds
from scenarios.language.schema.spans import RangeOf, SpanOf
from scenarios.language.schema.table_reader import Block, Key, keys_of
from scenarios.language.schema.toml_text import write_value
from scenarios.language.strategies import SHAPES, parts_by_axis
from scenarios.language.strategies.strategy import StrategySpec
from scenarios.language.study_spec import SeedsKind, StudySpec
from scenarios.language.targets import PeersKind, RoleText, Target, TargetKind
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.triggers import (
    WAITS,
    ConditionKind,
    SinceKind,
    Steps,
    When,
    WhenFault,
    WhenMessage,
    WhenMetric,
    WhenZk,
)
from scenarios.language.turns import ForEachKind, NextKind, NextSpec, TurnsSpec
from scenarios.language.workloads import CONSUMER_SETTINGS, PRODUCER_SETTINGS, Acks, ConsumerSpec, WorkloadSpec
from scenarios.pages import marked, table, write_into
from scenarios.profiles import DEFAULT_PROFILE, PROFILES

BLOCKS: Mapping[str, type[Any]] = {
    "scenario": Scenario,
    "cluster": ClusterSpec,
    "cluster.network": NetworkSpec,
    "cluster.network.cards": CardSpec,
    "cluster.disk": DiskSpec,
    "cluster.zk": ZooKeeperSpec,
    "topics": TopicSpec,
    "workloads": WorkloadSpec,
    "consumers": ConsumerSpec,
    "strategy": StrategySpec,
    "plan": Plan,
    "plan.partitions": Move,
    "plan.words": GeneratedPlan,
    "steady_state": SteadyState,
    "when": When,
    "when.message": WhenMessage,
    "when.zk": WhenZk,
    "when.metric": WhenMetric,
    "when.fault": WhenFault,
    "turns": TurnsSpec,
    "next": NextSpec,
    "target": Target,
    "delay": DelaySpec,
    "burst": BurstSpec,
    "expect": Expect,
    "branches": Branch,
    "study": StudySpec,
}
"""The blocks of the file by the name of their section."""

_TYPES: Mapping[type[Any], str] = {
    kinds.Boolean: "true or false",
    kinds.SignedDuration: "duration, may be negative",
    kinds.SizeOrInteger: "bytes, or a size with its unit",
    Config: "table of settings",
    DrawKind: "range, or a list of values",
    FramesKind: '`{ file = "incident.frames" }`',
    PlanKind: 'plan, as JSON or in words, or `{ file = "move.json" }`',
    PlanInPlace: "plan",
    Version: "`1`",
    LogDir: '`"/data/N"` or `"any"`',
    Acks: '`"0"`, `"1"` or `"all"`',
    ConditionKind: "`when` table",
    SinceKind: "virtual time, or `when` table with a step",
    Steps: "step, phase, or a list of them",
    AfterKind: "action, or `action#N`",
    kinds.OneOrMore: "broker id, or list of them",
    ForEachKind: 'list of broker ids, or `"brokers"`',
    NextKind: "duration, wait, or `next` table",
    TargetKind: "target",
    ChaosBlock: "`[[chaos]]` table",
    ClientBlock: "`[[clients]]` table ([plug-ins](../extend/plugins.md))",
    PeersKind: 'target, `"zookeeper"`, `"brokers"`, `"all"`, or a list of these',
    RoleText: "role",
    SeedsKind: '`"A:B"`',
    kinds.AnyValue: "values",
    ToleranceKind: "limits",
    OffsetOrEnd: 'offset, or `"end"`',
}
_QUANTITIES = {id(kinds.DURATION): "duration", id(kinds.SOME_TIME): "duration > 0", id(kinds.SIZE): "size"}
_COMPUTED: Mapping[tuple[type[Any], str], str] = {
    (ClusterSpec, "brokers"): "as many as `broker_ids`",
    (TopicSpec, "partitions"): "as the assignment, or 1",
    (TopicSpec, "replication_factor"): "as the assignment, or 3",
    (ZooKeeperSpec, "session_timeout_us"): "the profile's",
    (StrategySpec, "stated"): "the profile's own",
    (Target, "mode"): '`"all"` for ids and clients, `"one"` otherwise',
}
"""Defaults that depend on other keys, in words."""


def sections() -> dict[str, str]:
    """The Markdown table of each section, by its name."""
    return {
        **{name: _block_table(block) for name, block in BLOCKS.items()},
        "cluster.config": _settings_table(BROKER_SETTINGS.values()),
        "topics.config": _settings_table(TOPIC_SETTINGS.values()),
        "workloads.config": _settings_table(PRODUCER_SETTINGS.values()),
        "consumers.config": _settings_table(CONSUMER_SETTINGS.values()),
        "actions": table(("Action", "Target", "Ended by", "What it does"), _action_rows()),
        "parameters": table(("Action", "Key", "Type", "Default", "Meaning"), _shared_rows(all_actions())),
        "chaos": table(("Kind", "What it adds"), ((f"`{name}`", kind.help) for name, kind in all_kinds().items())),
        "chaos.parameters": table(("Kind", "Key", "Type", "Default", "Meaning"), _shared_rows(all_kinds())),
        "phases": table(("Phase", "Meaning", *(f"`{protocol.name}`" for protocol in _reassignments())), _phase_rows()),
        "steps": table(("Step", "What happens in it"), _step_rows()),
        "waits": table(("Wait", "It holds when"), ((f"`{name}`", meaning) for name, meaning in WAITS.items())),
        "messages": table(("Message", "What it is"), ((f"`{m.name}`", m.help) for m in apis().values())),
        "metrics": table(("Metric", "Form", "Unit", "Meaning", "Kafka's MBean"), _metric_rows()),
        "strategies": table(("Strategy", "Steps"), _strategy_rows()),
        "strategies.parts": table(
            ("Part", "Axis", "Meaning"), ((f"`+{name}`", axis, help) for name, axis, help in parts_by_axis())
        ),
        "profiles": table(("Profile", "Behaviour", "Its own strategy", "Other defaults"), _profile_rows()),
    }


def type_of(kind: kinds.Kind[Any]) -> str:
    if isinstance(kind, kinds.Named):
        return type_of(kind.kind)
    if isinstance(kind, SpanOf):
        return f"{type_of(kind.kind)}, or range"
    if isinstance(kind, kinds.Quantity):
        return _QUANTITIES.get(id(kind), "rate")
    if isinstance(kind, kinds.Number):
        return f"number {kind.low:g} to {kind.high:g}" if kind.high < float_info.max else f"number ≥ {kind.low:g}"
    if isinstance(kind, kinds.Integer):
        return "integer" + ("" if kind.high is None and not kind.low else _bounds(kind))
    if isinstance(kind, kinds.Choice):
        # More than fit a cell have a table of their own.
        article = "an" if kind.what[0] in "aeiou" else "a"
        return ", ".join(map(_code, kind.names)) if len(kind.names) < 6 else f"name of {article} {kind.what}"
    if isinstance(kind, kinds.Text):
        return kind.form.removeprefix("a ").replace('"orders-0"', "`orders-0`")
    if isinstance(kind, kinds.ListOf):
        return "list of broker ids" if kind.item is kinds.BROKER_ID else f"list of {_several(type_of(kind.item))}"
    if isinstance(kind, kinds.MapOf):
        return f"table: {type_of(kind.key)} to {type_of(kind.item)}"
    if isinstance(kind, Block):
        return f"{_name_of(kind.cls)} table"
    if isinstance(kind, RangeOf):
        return f"{type_of(kind.item)}, or a list of the least and the most"
    return "entry" if isinstance(kind, EntryKind) else _TYPES[type(kind)]


def _several(item: str) -> str:
    """The plural of a kind that is no more than a noun: ``topic names``."""
    if not re.fullmatch(r"(`\S+` )?(?!.* of )[a-z' ]*[^s]", item):
        return item
    return f"{item[:-1]}ies" if item.endswith("y") else f"{item}s"


def _bounds(kind: kinds.Integer) -> str:
    return f" ≥ {kind.low}" if kind.high is None else f" {kind.low} to {kind.high:,}"


def _name_of(block: type[Any]) -> str:
    name = next(name for name, known in BLOCKS.items() if known is block)
    return f"`{name}`"


def _block_table(block: type[Any]) -> str:
    return table(("Key", "Type", "Default", "Meaning"), (_key_row(block, key) for key in keys_of(block)))


def _key_row(block: type[Any], key: Key) -> Sequence[str]:
    return f"`{key.name}`", type_of(key.kind), _default(block, key), key.help


def _default(block: type[Any], key: Key) -> str:
    if key.required:
        return "**required**"
    if (block, key.attribute) in _COMPUTED:
        return _COMPUTED[block, key.attribute]
    default = getattr(attrs.fields(block), key.attribute).default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    return _written(key.kind, default)


def _written(kind: kinds.Kind[Any], value: Any) -> str:
    """A default as the file would write it; ``-`` for none."""
    if value is None or value in ((), {}, ""):
        return "-"
    if isinstance(kind, Block):
        return "its defaults"
    return _code(kind.dump(value))


def _code(value: object) -> str:
    return f"`{write_value(value)}`"


def _settings_table(settings: Iterable[Setting]) -> str:
    return table(
        ("Setting", "Type", "Default", "Meaning"),
        ((f"`{s.name}`", type_of(s.kind), _setting_default(s), s.help) for s in settings),
    )


def _setting_default(setting: Setting) -> str:
    return "no limit" if setting.default in (LONG_MAX, float_info.max) else _code(setting.default)


def _action_rows() -> Iterator[Sequence[str]]:
    for action in all_actions().values():
        target = "yes" if action.takes_target else "-"
        yield f"`{action.name}`", target, f"`{action.undo.name}`" if action.undo else "-", action.help


def _shared_rows(blocks: Mapping[str, type[Any]]) -> Iterator[Sequence[str]]:
    """The keys of all blocks. What several have alike is one row, which names them, or those that have it otherwise."""
    owners: dict[Sequence[str], list[str]] = {}
    for name, block in blocks.items():
        for key in keys_of(block):
            owners.setdefault(_key_row(block, key), []).append(name)
    for row, having in owners.items():
        others = [name for name in blocks if name not in having]
        usual = len(having) > len(others)
        named = ", ".join(f"`{name}`" for name in (others if usual else having))
        yield f"all but {named}" if usual else named, *row


def _reassignments() -> list[Procedure]:
    return [procedure for procedure in PROCEDURES.values() if procedure.reassignment]


def _phase_rows() -> Iterator[Sequence[str]]:
    for phase, meaning in PHASES.items():
        yield f"`{phase}`", meaning, *(_span(protocol.phases[phase]) for protocol in _reassignments())


def _span(span: Span) -> str:
    steps = span.first if span.first == span.last else f"{span.first} to {span.last}"
    return steps + (", of the next hop" if span.next_hop else "")


def _step_rows() -> Iterator[Sequence[str]]:
    for protocol in PROCEDURES.values():
        yield from ((f"`{step}`", meaning) for step, meaning in protocol.steps.items())
    yield from ((f"`{alias}`", f"another name of `{step}`") for alias, step in ALIASES.items())


def _metric_rows() -> Iterator[Sequence[str]]:
    for metric in METRICS.values():
        jmx = f"`{metric.jmx}`" if metric.jmx else "-"
        yield f"`{metric.name}`", metric.form, metric.unit, metric.help, jmx


def _strategy_rows() -> Iterator[Sequence[str]]:
    return ((f"`{shape.name}`", shape.help) for shape in SHAPES.values())


def _profile_rows() -> Iterator[Sequence[str]]:
    for profile in PROFILES.values():
        defaults = [f"`{name}` {_code(value)}" for name, value in profile.defaults.items()]
        if profile.session_timeout_us != PROFILES[DEFAULT_PROFILE].session_timeout_us:
            defaults.append(f"`session_timeout` {_code(kinds.DURATION.dump(profile.session_timeout_us))}")
        yield f"`{profile.name}`", profile.help, f"`{profile.strategy}`", ", ".join(defaults) or "-"


def main(arguments: Sequence[str]) -> None:
    """Print the sections, or write them into the page named."""
    if arguments:
        write_into(arguments[0], sections())
        return
    print("\n\n".join(marked(name, text) for name, text in sections().items()))


if __name__ == "__main__":
    main(sys.argv[1:])
