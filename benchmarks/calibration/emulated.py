"""The facts of an emulated run of a scenario."""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, evolve, field

from benchmarks.calibration.clients.base import Client
from benchmarks.calibration.emulated_client import talk
from benchmarks.calibration.facts import (
    COUNTED,
    COUNTS,
    LOGS,
    NO_ERROR,
    TOOL,
    ZOOKEEPER,
    Count,
    Fact,
    Log,
    PartitionState,
    Request,
    Write,
    compared,
    stopped,
)
from emulator.network import InterceptedMessage
from emulator.network.endpoint import Endpoint
from emulator.protocol.events import BatchesAppended, NodeCrashed
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest, LeaderAndIsrResponse
from emulator.protocol.stop_replica import StopReplicaRequest, StopReplicaResponse
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest, UpdateMetadataResponse
from emulator.trace.events import ZkSession, ZkWritten
from emulator.zookeeper.spec import ZOOKEEPER as SERVER
from scenarios.cluster.cluster import Cluster
from scenarios.language import Scenario
from scenarios.language.schema.spans import Span, certain
from scenarios.language.triggers import After
from scenarios.observe.exposition import ShownMetrics
from scenarios.profiles import PROFILES
from scenarios.runs.runner import Stage
from scenarios.wire.released_versions import error_names, versions_of_requests

CONTROL = {
    LeaderAndIsrRequest: LeaderAndIsrResponse,
    UpdateMetadataRequest: UpdateMetadataResponse,
    StopReplicaRequest: StopReplicaResponse,
}


AFTER_US = 9_000_000
"""ISR changes are announced up to five seconds late."""


LATE_US, LATE_START_US = 500_000, 6_000_000
"""The most by which an entry is late with a seed other than 0: any part of the wait of a follower's fetch. The second:
a start, which takes a real broker 2 s or more until it is registered."""


def played(scenario: Scenario, profile: str, seed: int = 0) -> "Listener":
    """Run ``scenario`` under ``profile``; what was written and answered, in order, and how long sessions outlived
    their brokers."""
    stage = RecordedStage((_late(scenario) if seed else scenario).for_run(profile=profile, seed=seed))
    listener = Listener(stage)
    shown = _shown(stage) if COUNTS in scenario.tags else ShownMetrics()
    stage.play()
    stage.cluster.trace.flush()
    listener.facts += _counts(shown, stage.world.now)
    listener.facts += (*stage.logs, *(answer for client in stage.clients for answer in client.answers))
    return listener


def _late(scenario: Scenario) -> Scenario:
    """The scenario with entries that are late by a time that its seed draws."""
    found = []
    for entry in scenario.method:
        assert isinstance(entry.trigger, After)
        after_us, late_us = certain(entry.trigger.delay_us), LATE_START_US if entry.name == "broker.start" else LATE_US
        found.append(evolve(entry, trigger=After(Span(after_us, after_us + late_us))))
    return evolve(scenario, method=tuple(found))


class RecordedStage(Stage):
    """A stage that is watched for as long as a real cluster is after the last thing that happened.

    Attributes:
        logs: the final contents of the replicas, where the case compares them.
        clients: the clients of the cases that have some, with what they were answered.
    """

    logs: tuple[Log, ...] = ()
    clients: Sequence[Client] = ()

    def begin(self) -> None:
        self.clients = talk(self)
        super().begin()

    async def drive(self, cluster: Cluster) -> None:
        await super().drive(cluster)
        await self.world.sleep(AFTER_US, background=True)
        if LOGS in self.scenario.tags:
            self.logs = tuple(_logs(cluster))


@define(eq=False)
class Listener:
    """Takes down what happens on a stage.

    Attributes:
        copied: seconds after the last request for moves, and the bytes that followers had got since.
        expiries_s: the seconds from each kill of a broker to the end of its session.
    """

    stage: Stage
    facts: list[Fact] = field(factory=list)
    expiries_s: list[float] = field(factory=list)
    copied: list[tuple[float, int]] = field(factory=list)
    _moved_us: int = 0
    _killed: dict[int, int] = field(factory=dict)
    _asked: dict[Endpoint, Any] = field(factory=dict)
    _epochs: dict[int, dict[int, int]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        cluster = self.stage.cluster
        cluster.trace.fold(ZkWritten, self._written)
        cluster.trace.fold(BatchesAppended, self._appended)
        cluster.trace.fold(NodeCrashed, self._crashed)
        cluster.trace.fold(ZkSession, self._ended)
        for request, answer in CONTROL.items():
            cluster.network.interceptors.arm(request, "delivered", self._delivered)
            cluster.network.interceptors.arm(answer, "sent", self._answered)

    def _written(self, event: ZkWritten) -> None:
        if event.path == "/admin/reassign_partitions" and event.op == "create":
            self._moved_us = event.t_us
            self.copied.clear()
        by = event.client if event.client >= 0 else ZOOKEEPER if event.client == SERVER else TOOL
        version = event.version if event.op == "setData" else 0
        self.facts.append(Write(by, event.op, event.path, version, compared(event.path, event.data)))

    def _appended(self, event: BatchesAppended) -> None:
        if not event.leader and self._moved_us:
            before = self.copied[-1][1] if self.copied else 0
            self.copied.append(((event.t_us - self._moved_us) / 1e6, before + sum(event.sizes)))

    def _crashed(self, event: NodeCrashed) -> None:
        if event.kind == "process":
            self._killed[event.node] = event.t_us

    def _ended(self, event: ZkSession) -> None:
        if event.state == "expired" and event.client in self._killed:
            self.expiries_s.append((event.t_us - self._killed.pop(event.client)) / 1e6)

    def _delivered(self, message: InterceptedMessage) -> None:
        self._asked[message.endpoint] = message.body

    def _answered(self, message: InterceptedMessage) -> None:
        asked = self._asked.pop(message.endpoint)
        self.facts.append(self._request(message.source, asked, message.body))

    def _request(self, broker: int, asked: Any, answer: Any) -> Request:
        epochs = self._epochs.setdefault(broker, {})
        incarnation = 0 if asked.broker_epoch < 0 else epochs.setdefault(asked.broker_epoch, len(epochs) + 1)
        delete, brokers, states = False, (), ()  # type: bool, tuple[int, ...], tuple[PartitionState, ...]
        if isinstance(asked, StopReplicaRequest):
            states, delete = _stopped(asked, answer), asked.delete_partitions
        elif isinstance(asked, LeaderAndIsrRequest):
            errors = {tp: error.name for tp, error in answer.partitions}
            states = tuple(_state(each, _roles(each), errors.get(each.tp, NO_ERROR)) for each in asked.partitions)
            brokers = asked.live_leaders
        else:
            states = tuple(_state(each, _offline(each), NO_ERROR) for each in asked.partitions)
            brokers = asked.live_brokers
        return Request(
            broker, asked.api.name, asked.controller_id, asked.controller_epoch, incarnation, answer.error.name,
            tuple(sorted(states)), tuple(sorted(brokers)), delete,
        )  # fmt: skip


def _logs(cluster: Cluster) -> Iterator[Log]:
    for broker, process in cluster.brokers.items():
        for tp, partition in sorted(process.replicas.partitions.items()):
            if partition.log is not None:
                epochs = tuple(epoch for epoch, _ in partition.log.epochs.entries)
                yield Log(broker, tp.topic, tp.partition, epochs, str([batch.id for batch in partition.log.batches]))


def _shown(stage: Stage) -> ShownMetrics:
    """The metrics that the brokers show, when the run is over."""
    profile = PROFILES[stage.scenario.profile]
    lacks = profile.policies.brokers.lacks_metrics
    shown = ShownMetrics(lacks, versions_of_requests(profile.release), error_names(profile.release))
    stage.cluster.trace.sink(shown.see, as_rows=False)
    return shown


def _counts(shown: ShownMetrics, now_us: int) -> Iterator[Count]:
    for node in shown.nodes:
        for metric, found in shown.metrics(node, now_us):
            if COUNTED.fullmatch(metric):
                yield Count(node, metric, int(found.value))


def _stopped(asked: StopReplicaRequest, answer: StopReplicaResponse) -> tuple[PartitionState, ...]:
    errors: dict[TopicPartition, str] = {tp: error.name for tp, error in answer.partitions}
    epochs = asked.leader_epochs or (-1,) * len(asked.partitions)
    return tuple(
        stopped(tp.topic, tp.partition, epoch, errors.get(tp, NO_ERROR), asked.delete_partitions)
        for tp, epoch in zip(asked.partitions, epochs, strict=True)
    )


def _state(each: LeaderAndIsrPartition | PartitionMetadata, more: str, error: str) -> PartitionState:
    return PartitionState(
        each.tp.topic, each.tp.partition, each.controller_epoch, each.leader, each.leader_epoch,
        tuple(sorted(each.isr)), each.zk_version, each.replicas, more, error,
    )  # fmt: skip


def _roles(each: LeaderAndIsrPartition) -> str:
    lists = (("adding", each.adding), ("removing", each.removing))
    moving = [f"{name}={list(brokers)}" for name, brokers in lists if brokers]
    return " ".join([*["isNew"] * each.is_new, *moving, *["recovering"] * each.recovering])


def _offline(each: PartitionMetadata) -> str:
    return f"offline={list(each.offline_replicas)}" if each.offline_replicas else ""
