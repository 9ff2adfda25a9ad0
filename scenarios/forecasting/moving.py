"""The partitions that a plan moves: the bytes of each partition, and what is written to it meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from attrs import Factory, frozen

from controller.reassignment.kafka_6794 import Kafka6794, plan_hop
from emulator.protocol.assignments import Replicas, without
from scenarios.forecasting.outages import AT_ONCE, BY_SESSION, START, Outage, scripted
from scenarios.language.kafka_settings import THROTTLED_REPLICAS
from scenarios.language.triggers import At
from scenarios.language.workloads import WorkloadSpec
from scenarios.units import MICROSECONDS

if TYPE_CHECKING:
    from scenarios.language import Plan, Scenario
    from scenarios.language.strategies.strategy import Strategy

PER_S = MICROSECONDS["s"]
SOME_KEYS = 10_000
"""The most keys whose partitions are looked up one by one; more than that spread evenly enough."""


@frozen
class Hop:
    """Replicas that one move adds at a time.

    Attributes:
        copied: the replicas that are added.
        in_sync: the replicas that have been in sync since before, of which the first leads.
        assigned: its replicas in the controller's order; those of ``stay`` have to be in sync at its end.
    """

    copied: Replicas
    in_sync: Replicas
    assigned: Replicas
    stay: Replicas


@frozen
class Moving:
    """A partition of the plan.

    Attributes:
        before, target: its replicas at the start and at the end, preferred leader first.
        size: bytes of one replica when the move is requested.
        written: bytes per second that are written to it then.
    """

    name: str
    before: Replicas
    target: Replicas
    size: int
    written: float

    @property
    def added(self) -> Replicas:
        return without(self.target, self.before)

    @property
    def copied(self) -> int:
        """The bytes that are copied, without what is written meanwhile."""
        return self.size * len(self.added)

    @property
    def next_leader(self) -> int:
        """The leader when the move is over: the one from before, if it stays."""
        return self.before[0] if self.before[0] in self.target else self.target[0]

    def hops(self, strategy: Strategy) -> tuple[Hop, ...]:
        """The replicas that are copied at a time, under the protocol of a strategy."""
        protocol = strategy.make_protocol()
        if not isinstance(protocol, Kafka6794):
            every = (*self.target, *without(self.before, self.target))  # the target first, as in KIP-455
            return (Hop(self.added, self.before, every, self.target),) if self.added else ()
        current = self.before
        found: list[Hop] = []
        while True:
            hop = plan_hop(current, self.target, self.before[0], width=protocol.width, surplus=protocol.surplus)
            if not hop.new:
                return tuple(found)
            found.append(Hop(hop.new, without(hop.target, hop.new), hop.target, hop.target))
            current = hop.target


@frozen(slots=False)
class Demand:
    """All that moves, and all that is written while it does.

    Attributes:
        begins_s: when the plan is requested, in virtual seconds from the start of the run.
        moving: the partitions of the plan, in its order.
        replicas: the replicas of every partition at the start.
        loads: the loads by topic, each with its share of every partition, in bytes per second.
        readers: the number of consumers of each topic.
        left_out: what the file has and the arithmetic does not know.
        outages: the times in which a broker is down, in seconds after the plan is requested, the first first.
    """

    begins_s: float
    moving: tuple[Moving, ...]
    replicas: Mapping[str, Replicas]
    loads: tuple[tuple[WorkloadSpec, Mapping[str, float]], ...]
    readers: Mapping[str, int]
    left_out: tuple[str, ...] = Factory(tuple)
    outages: tuple[Outage, ...] = ()

    @cached_property
    def phases(self) -> tuple[tuple[float, float, dict[str, float]], ...]:
        """The times between which no load begins or stops, in seconds after the plan is requested, each with the bytes
        per second that are written to each partition. The last one has no end."""
        changes = {at / PER_S for load, _ in self.loads for at in (load.start_us, load.stop_us) if at is not None}
        turns = [self.begins_s, *sorted(at for at in changes if at > self.begins_s), inf]
        return tuple(
            (begin - self.begins_s, end - self.begins_s, _written(self.loads, begin)) for begin, end in pairwise(turns)
        )

    @cached_property
    def batches_per_s(self) -> dict[str, float]:
        """How many batches a second are written to each partition, as long as all loads last."""
        found: dict[str, float] = {}
        for load, shares in self.loads:
            for name, rate in shares.items():
                messages = rate / load.message_size
                found[name] = found.get(name, 0.0) + min(messages, load.producers * PER_S / load.linger_us)
        return found


def demand_of(scenario: Scenario, plan: Plan | None) -> Demand:
    """The demand of a plan, or of the load alone where there is none, in a scenario whose draws are settled."""
    targets = {} if plan is None else plan.targets()
    replicas = scenario.assignments()
    begins_s = _begins_us(scenario, plan) / PER_S
    loads = tuple((load, _shares(scenario, load)) for load in scenario.workloads)
    now = _written(loads, begins_s)
    sizes = scenario.sizes()
    until = dict.fromkeys(targets, 0.0)
    for load, shares in loads:
        end_s = min(begins_s, begins_s if load.stop_us is None else load.stop_us / PER_S)
        for name in until:
            until[name] += shares.get(name, 0.0) * max(0.0, end_s - load.start_us / PER_S)
    moving = tuple(
        Moving(name, replicas[name], target, sizes[name] + int(until[name]), now.get(name, 0.0))
        for name, target in targets.items()
        if name in replicas
    )
    readers: dict[str, int] = {}
    for consumer in scenario.consumers:
        readers[consumer.topic] = readers.get(consumer.topic, 0) + 1
    down = scripted(scenario, replicas)
    return Demand(
        begins_s,
        moving,
        replicas,
        loads,
        readers,
        (*_left_out(scenario, plan), *dict.fromkeys(down.left_out)),
        tuple(outage.after(begins_s) for outage in down.outages),
    )


def _begins_us(scenario: Scenario, plan: Plan | None) -> int:
    """When the plan is requested, where the file says that as a time; else 0."""
    for entry in scenario.method:
        if entry.name == "reassign.execute" and plan is not None and (entry.action.own_plan() or scenario.plan) is plan:
            trigger = entry.trigger
            return trigger.time_us if isinstance(trigger, At) and isinstance(trigger.time_us, int) else 0
    return 0


def _written(loads: tuple[tuple[WorkloadSpec, Mapping[str, float]], ...], at_s: float) -> dict[str, float]:
    found: dict[str, float] = {}
    for load, shares in loads:
        if load.start_us / PER_S <= at_s and (load.stop_us is None or at_s < load.stop_us / PER_S):
            for name, rate in shares.items():
                found[name] = found.get(name, 0.0) + rate
    return found


def _shares(scenario: Scenario, load: WorkloadSpec) -> dict[str, float]:
    """Bytes per second of a load for each partition: evenly, by its shares, or by the partitions of its keys."""
    topic = next((topic for topic in scenario.topics if topic.name == load.topic), None)
    if topic is None:  # an action creates it
        return {}
    names, rate = topic.partition_names, float(load.producer_rate * load.message_size)
    if load.shares:
        every = sum(load.shares)
        shared = zip(names, load.shares, strict=True)
        return {name: rate * share / every for name, share in shared if share}
    if load.keys is None or load.key_skew or load.keys > SOME_KEYS:
        return dict.fromkeys(names, rate / len(names))
    from scenarios.cluster.clients.producing.partitioner import partition_of

    found = dict.fromkeys(names, 0.0)
    for number in range(load.keys):
        found[names[partition_of(f"key-{number}".encode(), len(names))]] += rate / load.keys
    return {name: share for name, share in found.items() if share}


def _left_out(scenario: Scenario, plan: Plan | None) -> list[str]:
    """The things in the file that the arithmetic passes over, in words of the file."""
    conditions: list[tuple[Callable[[], bool], str]] = [
        (lambda: any(load.key_skew for load in scenario.workloads), "key_skew (keys are taken as spread evenly)"),
        (lambda: bool(scenario.cluster.service), "cluster.service"),
        (lambda: bool(scenario.chaos), "[[chaos]]"),
        (lambda: plan is not None and bool(plan.directories()), "log_dirs of the plan"),
        (lambda: any(_lists_throttled(topic.config) for topic in scenario.topics), "the lists of throttled replicas"),
        (lambda: any(_is_kept_short(topic.config) for topic in scenario.topics), "retention"),
    ]
    found = [name for holds, name in conditions if holds()]
    known = (*BY_SESSION, *AT_ONCE, START)
    names = [entry.name for entry in scenario.method if entry.name not in known]
    return [*found, *dict.fromkeys(name for name in names if not name.startswith("reassign."))]


def _lists_throttled(config: Mapping[str, object]) -> bool:
    """Whether a topic has throttled replicas before the plan's tool lists any: rates of brokers hold them back too."""
    return any(config.get(name) for name in THROTTLED_REPLICAS)


def _is_kept_short(config: Mapping[str, object]) -> bool:
    return any(str(name).startswith("retention.") for name in config)
