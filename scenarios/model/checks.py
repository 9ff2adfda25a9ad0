"""Cross references of a scenario: every broker, topic, partition and step that is named exists and can be
reached.

The kinds have checked each value by itself; here each is held against the rest of the file. The first thing
that does not fit is refused, with its key path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from scenarios.errors import BadInput, did_you_mean
from scenarios.model.expect import Expect
from scenarios.model.kinds import at
from scenarios.model.method import MethodEntry
from scenarios.model.names import join_partition, split_partition
from scenarios.model.plan import Move
from scenarios.model.profile_names import check_profile
from scenarios.model.reach import check_moved, check_reach, check_steps
from scenarios.model.targets import Target
from scenarios.model.topics import TopicSpec
from scenarios.model.triggers import At, When
from scenarios.model.workloads import WorkloadSpec

if TYPE_CHECKING:
    from scenarios.model.scenario import Scenario

PLANNED_ROLES = ("adding", "removing", "kept")


def check_scenario(scenario: Scenario) -> None:
    """Refuse, with `BadInput`, the first reference that leads nowhere."""
    check_profile(scenario.profile)
    at("strategy.name", lambda _: scenario.strategy.parsed, None)
    known = Known(scenario)
    _each("topics", scenario.topics, known.check_topic)
    _each("workloads", scenario.workloads, lambda load: _check_workload(known, load))
    if scenario.plan is not None:
        _each("plan.partitions", scenario.plan.partitions, lambda move: _check_move(known, move))
    _each("method", scenario.method, lambda entry: _check_entry(known, entry))
    _each("rollbacks", scenario.rollbacks, lambda entry: _check_entry(known, entry))
    _each("expect", scenario.expect, lambda expect: _check_expect(known, expect))


class Known:
    """What the names in a scenario may refer to: its brokers, and its topics, those created on the way
    included."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.brokers = scenario.cluster.brokers
        self.topics: dict[str, TopicSpec] = {}
        for index, topic in enumerate(scenario.topics):
            self._add(topic, f"topics[{index}].name")
        for index, entry in enumerate(scenario.method):
            if entry.action == "topic.create":
                self._add(entry.param("topic"), f"method[{index}].topic.name")

    def _add(self, topic: TopicSpec, where: str) -> None:
        if topic.name in self.topics:
            raise BadInput(f"topic {topic.name!r} is there already; give each its own name", where=where)
        self.topics[topic.name] = topic

    def broker(self, broker: int, where: str) -> None:
        if broker >= self.brokers:
            raise BadInput(
                f"broker {broker} does not exist; write an id from 0 to {self.brokers - 1}", where=where
            )

    def all_brokers(self, brokers: Iterable[int], where: str) -> None:
        for broker in brokers:
            self.broker(broker, where)

    def topic(self, name: str, where: str) -> TopicSpec:
        if name not in self.topics:
            raise BadInput(f"unknown topic {name!r}; {did_you_mean(name, self.topics)}", where=where)
        return self.topics[name]

    def partition(self, name: str, where: str) -> None:
        topic_name, number = split_partition(name)
        topic = self.topics.get(topic_name)
        if topic is None or number >= topic.partitions:
            hint = did_you_mean(name, [join_partition(known.name, 0) for known in self.topics.values()])
            raise BadInput(f"unknown partition {name!r}; {hint}", where=where)

    def check_topic(self, topic: TopicSpec) -> None:
        if topic.replication_factor > self.brokers:
            raise BadInput(
                f"{topic.replication_factor} replicas do not fit on {self.brokers} brokers; "
                "lower the replication factor",
                where="replication_factor",
            )
        for partition, replicas in enumerate(topic.assignment or ()):
            self.all_brokers(replicas, f"assignment[{partition}]")


def _each(where: str, items: Iterable[Any], check: Callable[[Any], None]) -> None:
    for index, item in enumerate(items):
        at(f"{where}[{index}]", check, item)


def _check_workload(known: Known, workload: WorkloadSpec) -> None:
    known.topic(workload.topic, "topic")


def _check_move(known: Known, move: Move) -> None:
    topic = known.topic(move.topic, "topic")
    if move.partition >= topic.partitions:
        raise BadInput(
            f"{join_partition(move.topic, move.partition)!r} does not exist; "
            f"{move.topic} has the partitions 0 to {topic.partitions - 1}",
            where="partition",
        )
    known.all_brokers(move.replicas, "replicas")


def _check_entry(known: Known, entry: MethodEntry) -> None:
    if entry.action == "reassign.execute" and known.scenario.plan is None:
        raise BadInput("there is no plan to execute; add a [plan]", where="action")
    if isinstance(entry.trigger, At) and entry.trigger.time_us > known.scenario.horizon_us:
        raise BadInput("that is after the horizon; act earlier or write a later horizon", where="at")
    for where, value in (("when", entry.trigger), ("target", entry.target), *entry.params.items()):
        at(where, lambda found: _check_part(known, found), value)
    if "partition" in entry.params:
        known.partition(entry.params["partition"], "partition")


def _check_part(known: Known, value: object) -> None:
    """Whatever an entry holds that names something by its type; other values name nothing, or are checked
    by key."""
    if isinstance(value, When):
        _check_when(known, value)
    elif isinstance(value, Target):
        _check_target(known, value)
    elif isinstance(value, TopicSpec):
        known.check_topic(value)


def _check_when(known: Known, when: When) -> None:
    if when.partition is not None:
        known.partition(when.partition, "partition")
    if when.topic is not None:
        known.topic(when.topic, "topic")
    if when.broker is not None:
        known.broker(when.broker, "broker")
    check_reach(known.scenario, when)


def _check_target(known: Known, target: Target) -> None:
    known.all_brokers(target.brokers, "")
    role = target.parsed_role
    if role is not None and role.partition is not None:
        known.partition(role.partition, "")
        if role.name in PLANNED_ROLES:
            check_moved(known.scenario, role.partition, "")


def _check_expect(known: Known, expect: Expect) -> None:
    for statement in ("assignment", "leader", "isr", "failed_partitions"):
        for name, brokers in (getattr(expect, statement) or {}).items():
            known.partition(name, statement)
            known.all_brokers(brokers, f"{statement}.{name}")
    if expect.partition is not None:
        known.partition(expect.partition, "partition")
    if expect.steps is not None:
        check_steps(known.scenario, expect.steps, "after", expect.partition)
