"""The objects that names in a scenario may refer to, and whether its triggers can fire.

``KnownNames`` has the brokers of a scenario, and its topics as the method creates, expands and deletes them, in the
order of
its entries. A trigger that cannot fire would make the run ``failed: not exercised``: a step that the strategy does not
have, a partition that is not moved, a message that is never sent. The functions below refuse it before the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from controller.procedures import STEPS
from emulator.protocol.api import Request, apis
from emulator.protocol.types import unified
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import at
from scenarios.language.step_names import Gate, gates_of, is_move_step, unreachable
from scenarios.language.topic_spec import TopicSpec, join_partition, split_partition
from scenarios.language.triggers import When

if TYPE_CHECKING:
    from scenarios.language.scenario import Scenario


INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state")


class KnownNames:
    """The brokers and topics of one scenario. A name is known for the whole of it, wherever its topic is made or
    deleted. A topic that is made twice has the most partitions that it ever has."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.brokers, self.ids = scenario.cluster.brokers, scenario.cluster.ids
        names = [load.name for load in scenario.workloads] + [consumer.name for consumer in scenario.consumers]
        names += [client.name for client in scenario.clients]
        self.clients = tuple(dict.fromkeys(filter(None, (*names, *scenario.attached))))
        self.topics: dict[str, TopicSpec] = {}
        self._partitions: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self._unified: dict[str, str] = {}
        for index, topic in enumerate(scenario.topics):
            self.add(topic, f"topics[{index}].name")
        for index, entry in enumerate(scenario.method):
            at(f"method[{index}]", entry.action.follow, self)

    @property
    def least_brokers(self) -> int:
        """The least number of brokers, given those that topics and ``cluster.controller`` name."""
        topics = self.topics.values()
        named = [broker for topic in topics for replicas in (topic.assignment or ()) for broker in replicas]
        highest = max((*named, self.scenario.cluster.controller or 0))
        return max((highest + 1, *(topic.replication_factor for topic in topics)))

    def add(self, topic: TopicSpec, where: str) -> None:
        if topic.name in self._now:
            raise BadInput(f"topic {topic.name!r} is there already; give each its own name", where=where)
        other = self._unified.setdefault(unified(topic.name), topic.name)
        if other != topic.name:
            raise BadInput(
                f"topic {topic.name!r} collides with {other!r}, as Kafka's metrics have underscores for dots; "
                "write another name",
                where=where,
            )
        self.topics[topic.name] = topic
        self._has(topic.name, topic.partitions)

    def _has(self, topic: str, partitions: int) -> None:
        self._now[topic] = partitions
        self._partitions[topic] = max(partitions, self._partitions.get(topic, 0))

    def remove(self, name: str, where: str) -> None:
        self._now.pop(self.topic(name, where).name, None)
        self._unified.pop(unified(name), None)

    def expand(self, name: str, partitions: int, assignment: Sequence[Sequence[int]] | None) -> None:
        """Give the topic ``partitions`` from now on; ``assignment``: the replicas of the added ones."""
        topic = self.topic(name, "topic")
        now = self._now.get(topic.name)
        if now is None:
            raise BadInput(f"topic {topic.name!r} is deleted by then; create it again before", where="topic")
        if partitions <= now:
            raise BadInput(
                f"{topic.name!r} has {now} partitions by then, and none can be taken away; write more than {now}",
                where="partitions",
            )
        self._check_added(topic, partitions - now, assignment)
        self._has(topic.name, partitions)

    def _check_added(self, topic: TopicSpec, count: int, assignment: Sequence[Sequence[int]] | None) -> None:
        if assignment is not None and len(assignment) != count:
            raise BadInput(
                f"it lists {len(assignment)} of {count} added partitions; list each, or leave it out",
                where="assignment",
            )
        for index, replicas in enumerate(assignment or ()):
            self.all_brokers(replicas, f"assignment[{index}]")
            if len(replicas) != topic.replication_factor:
                raise BadInput(
                    f"{len(replicas)} replicas where the replication factor is {topic.replication_factor}; "
                    "all partitions of a topic have the same number",
                    where=f"assignment[{index}]",
                )

    def broker(self, broker: int, where: str) -> None:
        self.scenario.cluster.check_broker(broker, where)

    def all_brokers(self, brokers: Iterable[int], where: str) -> None:
        for broker in brokers:
            self.broker(broker, where)

    def has_clients(self, name: str | None, where: str) -> None:
        """Refuse a scenario without producers and consumers, or without any of the given name."""
        scenario = self.scenario
        if name is None and not (scenario.workloads or scenario.consumers or scenario.clients or scenario.attached):
            raise BadInput("there are no clients; add [[workloads]] or [[consumers]]", where=where)
        if name is not None and name not in self.clients:
            hint = did_you_mean(name, self.clients) if self.clients else f"add name = {name!r} to one of [[workloads]]"
            raise BadInput(
                f"no producer or consumer has the name {name!r}; {hint}, or list it in 'attached' where it is a real "
                "client's",
                where=where,
            )

    def topic(self, name: str, where: str) -> TopicSpec:
        if name not in self.topics:
            raise BadInput(f"unknown topic {name!r}; {did_you_mean(name, self.topics)}", where=where)
        return self.topics[name]

    def partition(self, name: str, where: str) -> None:
        topic, number = split_partition(name)
        if self.scenario.attached and topic in INTERNAL_TOPICS:
            return  # real clients have it created
        count = self._partitions.get(topic, 0)
        if number >= count:
            others = [join_partition(known, 0) for known in self.topics]
            last = join_partition(topic, count - 1)
            hint = f"the last one of {topic} is {last!r}" if count else did_you_mean(name, others)
            raise BadInput(f"unknown partition {name!r}; {hint}", where=where)

    def check_topic(self, topic: TopicSpec) -> None:
        if topic.replication_factor > self.brokers:
            raise BadInput(
                f"{topic.replication_factor} replicas do not fit on {self.brokers} brokers; "
                "lower the replication factor",
                where="replication_factor",
            )
        self.all_brokers(topic.brokers, "brokers")
        for partition, replicas in enumerate(topic.assignment or ()):
            self.all_brokers(replicas, f"assignment[{partition}]")
        dirs = self.scenario.cluster.log_dirs
        for partition, numbers in enumerate(topic.log_dirs):
            if any(number >= dirs for number in numbers):
                raise BadInput(
                    f"log directory {max(numbers)} does not exist; write numbers from 0 to {dirs - 1}",
                    where=f"log_dirs[{partition}]",
                )


_BROUGHT_ABOUT_BY = {
    "delete": ("topic.delete", "no topic is deleted"),
    "shutdown": ("broker.controlled_shutdown", "no broker asks for its shutdown"),
}


def check_reach(known: KnownNames, when: When) -> None:
    """Refuse a trigger (or a gate) at a step that the scenario's strategy, plan or method cannot reach."""
    gate = check_steps(known, when.steps, when.edge, when.partition)
    if when.hop is not None:
        _check_hop(known.scenario, gate, when.partition, when.hop)


def check_protocol(known: KnownNames, steps: Sequence[str], edge: str) -> Sequence[Gate]:
    """The gates that the strategy has of these steps. Raises: BadInput where there is none."""
    strategy = known.scenario.strategy
    gates = gates_of(steps, edge, strategy.parsed.protocol)
    if not gates:
        raise BadInput(unreachable(steps[0], strategy, known.scenario.profile), where="step")
    return gates


def check_steps(known: KnownNames, steps: Sequence[str], edge: str, partition: str | None) -> Gate:
    """Refuse steps of which the strategy has none, and steps of a move that is never started. Returns the gate of the
    first one that it has."""
    scenario, gates = known.scenario, check_protocol(known, steps, edge)
    gate = gates[0]
    if len(gates) > 1 and not all(is_move_step(each.step) for each in gates):
        return gate
    if scenario.attached:
        return gate  # real clients may start what no entry does
    if not is_move_step(gate.step):
        _check_cause(scenario, gate.step)
        return gate
    if all(entry.name != "reassign.execute" for entry in scenario.method):
        raise BadInput(
            f'step {gate.step!r} is never reached: no move is started; add an entry with action = "reassign.execute"',
            where="step",
        )
    check_moved(known, partition, "partition")
    return gate


def _check_cause(scenario: Scenario, step: str) -> None:
    """Refuse a step of an operation that only an action starts, where no entry has that action."""
    action, lacking = _BROUGHT_ABOUT_BY.get(STEPS[step].name, ("", ""))
    if action and all(entry.name != action for entry in (*scenario.method, *scenario.rollbacks)):
        raise BadInput(
            f'step {step!r} is never reached: {lacking}; add an entry with action = "{action}"', where="step"
        )


def check_moved(known: KnownNames, partition: str | None, where: str) -> None:
    """Refuse a partition that the plan does not move."""
    moved = known.scenario.targets()
    if partition is not None and partition not in moved:
        raise BadInput(f"{partition!r} is not moved by the plan; it moves {', '.join(moved) or 'nothing'}", where=where)


def hops(current: Sequence[int], target: Sequence[int], width: int | None = 1) -> int:
    """The number of hops of KAFKA-6794: one for each ``width`` replicas to add (None: for all of them), and the last,
    which adds none (readings §2)."""
    added = sum(replica not in current for replica in target)
    return -(-added // (width or max(1, added))) + 1


def _check_hop(scenario: Scenario, gate: Gate, partition: str | None, hop: int) -> None:
    strategy = scenario.strategy.parsed
    if not is_move_step(gate.step):
        raise BadInput("only the steps of a move have hops; leave 'hop' out", where="hop")
    most = _most_hops(scenario, partition) if strategy.protocol == "kafka-6794" else 1
    if hop + gate.hop_shift > most:
        raise BadInput(
            f"no move of this plan has hop {hop} at that step under strategy {strategy.name!r}; "
            f"write 1 to {max(1, most - gate.hop_shift)}, or leave it out",
            where="hop",
        )


def _most_hops(scenario: Scenario, partition: str | None) -> int:
    current = scenario.assignments()
    moves = [move for plan in scenario.plans for move in plan.targets().items()]
    width = scenario.strategy.parsed.width
    return max(
        (hops(current.get(name, ()), target, width) for name, target in moves if partition in (None, name)), default=1
    )


_BY_API = 'via = "api" under kip-455'
_SENT_ON_DEMAND: Mapping[str, str] = {
    "Produce": "add [[workloads]]",
    "InitProducerId": 'add [[workloads]] with config = { "enable.idempotence" = true }',
    "Metadata": "add [[workloads]]",
    "AllocateProducerIds": "write profile 'kafka-3.0', and add a producer with enable.idempotence",
    "AlterIsr": "write a profile whose leaders ask the controller, such as 'kafka-2.7'",
    "ControlledShutdown": 'add an entry with action = "broker.controlled_shutdown"',
    "AlterPartitionReassignments": f'add action = "reassign.execute" with {_BY_API}, or "reassign.cancel"',
    "ListPartitionReassignments": 'add an entry with action = "reassign.list"',
    "AlterReplicaLogDirs": 'add an entry with action = "reassign.execute" and a plan with log_dirs',
    "DescribeLogDirs": 'add an entry with action = "reassign.verify" and a plan with log_dirs',
    "ElectLeaders": 'add action = "election.preferred" with via = "api"',
    "DeleteRecords": 'add an entry with action = "records.delete"',
}
"""The messages that not every scenario sends, each with what to write so that it is sent."""


_SENT_BY_ITSELF = ("Fetch", "ListOffsets", "LeaderAndIsr", "StopReplica", "UpdateMetadata", "OffsetsForLeaderEpoch")
"""The messages that every scenario sends, or may send."""


_SENT_BY_BROKERS = ("AllocateProducerIds", "AlterIsr", "ControlledShutdown")
"""The messages that no client sends."""


def only_attached_send(message: str) -> bool:
    """Whether only real clients send a message: the emulated ones have no use for it."""
    api = apis().get(message)
    own = api is not None and api.request.__module__.startswith(Request.__module__.rpartition(".")[0])
    return own and message not in (*_SENT_BY_ITSELF, *_SENT_ON_DEMAND)


def check_sent(known: KnownNames, message: str) -> None:
    """Refuse a message that neither a load, nor a consumer, nor a real client, nor an entry, nor the profile causes."""
    if known.scenario.attached:
        return
    if known.scenario.clients and message not in _SENT_BY_BROKERS:  # a behaviour may send any request
        return
    if only_attached_send(message):
        raise BadInput(f"only real clients send {message}; list the client.id of one in 'attached'", where="message")
    if message in _SENT_ON_DEMAND and message not in _sent(known):
        raise BadInput(f"{message} is never sent here; {_SENT_ON_DEMAND[message]}", where="message")


def _sent(known: KnownNames) -> Iterator[str]:
    scenario = known.scenario
    for load in scenario.workloads:
        yield from ("Produce", "Metadata")
        if load.setting("enable.idempotence"):
            yield "InitProducerId"
            if scenario.policies.brokers.asks_for_producer_ids:
                yield "AllocateProducerIds"
    if scenario.consumers:
        yield "Metadata"
    if scenario.policies.alters_isr:
        yield "AlterIsr"
    for entry in (*scenario.method, *scenario.rollbacks):
        yield from entry.action.sends(known)
