"""E2: epochs never go back."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    BrokerRegistered,
    ControlResponse,
    NodeStarted,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONTROLLER_EPOCH
from emulator.trace import Event
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.epoch_facts import EpochFell, EpochOf, LeaderChanged
from scenarios.observe.history.history import History
from scenarios.observe.past.changes import StateWritten


class EpochsGrow(Checker):
    """Leader epochs, controller epochs and broker epochs never go back, and each new leader has a new leader epoch.

    Verified: in ZooKeeper the leader epoch of a partition never falls, and rises with each change of the leader;
        /controller_epoch rises. A broker takes roles in a partition in rising leader epochs (so a LeaderAndIsr with an
        old epoch changes nothing), accepts no control request of an older controller than the last one it accepted,
        and registers with rising broker epochs. After a restart of the process, for a deleted replica and for a
        deleted partition, the comparison starts over.

    Not verified: the epochs in metadata (``metadata_follows``).
    """

    name: ClassVar[str] = "epochs_grow"
    ids: ClassVar[tuple[str, ...]] = ("E2",)
    statement: ClassVar[str] = (
        "le_b, ce_b, be_b, C and Z.epoch never decrease, Z.epoch grows with each leader: epochs never go back"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-1188",)
    fails_when: ClassVar[str | None] = "an election lowers the epoch"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._roles: dict[int, dict[TopicPartition, int]] = {}
        self._obeyed: dict[int, int] = {}
        self._registered: dict[int, int] = {}
        self._controller_epoch = -1

    # -- ZooKeeper ----------------------------------------------------------------------------------------------------

    def on_state(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if state is None or before is None:
            return
        if state.leader_epoch < before.leader_epoch:
            self._back(event, "znode", None, before.leader_epoch, state.leader_epoch, event.tp)
        elif state.leader != before.leader and state.leader_epoch == before.leader_epoch:
            self.violated(event, LeaderChanged(before.leader, state.leader, state.leader_epoch), event.tp)

    def on_written(self, event: ZkWritten) -> None:
        if event.path == CONTROLLER_EPOCH and event.op != "delete":
            epoch = int(event.data)
            if epoch <= self._controller_epoch:
                self._back(event, "controller epoch", None, self._controller_epoch, epoch)
            self._controller_epoch = epoch

    # -- brokers ------------------------------------------------------------------------------------------------------

    def on_started(self, event: NodeStarted) -> None:
        self._roles.pop(event.node, None)
        self._obeyed.pop(event.node, None)

    def on_became_leader(self, event: BecameLeader) -> None:
        self._take_role(event)

    def on_became_follower(self, event: BecameFollower) -> None:
        self._take_role(event)

    def _take_role(self, event: BecameLeader | BecameFollower) -> None:
        roles = self._roles.setdefault(event.node, {})
        partition = TopicPartition.of(event.topic, event.partition)
        last = roles.get(partition, -1)
        if event.leader_epoch <= last:
            self._back(event, "replica", event.node, last, event.leader_epoch, partition)
        roles[partition] = event.leader_epoch

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._roles.get(event.node, {}).pop(TopicPartition.of(event.topic, event.partition), None)

    def on_response(self, event: ControlResponse) -> None:
        if event.error != "NONE":
            return
        last = self._obeyed.get(event.node, -1)
        if event.controller_epoch < last:
            self._back(event, "controller", event.node, last, event.controller_epoch)
        self._obeyed[event.node] = event.controller_epoch

    def on_registered(self, event: BrokerRegistered) -> None:
        last = self._registered.get(event.node, -1)
        if event.broker_epoch <= last:
            self._back(event, "broker", event.node, last, event.broker_epoch)
        self._registered[event.node] = event.broker_epoch

    def _back(
        self, event: Event, of: EpochOf, broker: int | None, last: int, epoch: int, tp: TopicPartition | None = None
    ) -> None:
        self.violated(event, EpochFell(of, broker, last, epoch), tp)
