"""E2: epochs never go back."""

from __future__ import annotations

from emulator.protocol.events import BecameFollower, BecameLeader, BrokerRegistered, ControlResponse, NodeStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONTROLLER_EPOCH
from emulator.trace import Event
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.epoch_facts import EpochFell, EpochOf, LeaderChanged
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.past.knowledge import Role


class EpochsGrow(Checker):
    """Leader epochs, controller epochs and broker epochs never go back, and each new leader has a new leader epoch.

    Verified: in ZooKeeper the leader epoch of a partition never falls, and rises with each change of the leader;
        /controller_epoch rises. A broker takes roles in a partition in rising leader epochs (so a LeaderAndIsr with an
        old epoch changes nothing), accepts no control request of an older controller than the last one it accepted,
        and registers with rising broker epochs. After a restart of the process, for a deleted replica and for a
        deleted partition, the comparison starts over.

    Not verified: the epochs in metadata (``metadata_follows``).
    """

    ids = ("E2",)
    statement = "le_b, ce_b, be_b, C and Z.epoch never decrease, Z.epoch grows with each leader: epochs never go back"
    catches = ("KAFKA-1188",)
    fails_when = "an election lowers the epoch"

    def begin(self) -> None:
        self._obeyed: dict[int, int] = {}

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
            epoch, before = int(event.data), self.history.past.replaced(event)
            if before is not None and epoch <= int(before.data):
                self._back(event, "controller epoch", None, int(before.data), epoch)

    # -- brokers ------------------------------------------------------------------------------------------------------

    def on_started(self, event: NodeStarted) -> None:
        self._obeyed.pop(event.node, None)

    def on_role(self, event: BecameLeader | BecameFollower) -> None:
        before: Role | None = self.history.past.replaced(event)
        if before is None or before.stopped == "deleted":
            return
        last = before.event.leader_epoch
        if event.leader_epoch <= last:
            tp = TopicPartition.of(event.topic, event.partition)
            self._back(event, "replica", event.node, last, event.leader_epoch, tp)

    def on_response(self, event: ControlResponse) -> None:
        if event.error != "NONE":
            return
        last = self._obeyed.get(event.node, -1)
        if event.controller_epoch < last:
            self._back(event, "controller", event.node, last, event.controller_epoch)
        self._obeyed[event.node] = event.controller_epoch

    def on_registered(self, event: BrokerRegistered) -> None:
        before: BrokerRegistered | None = self.history.past.replaced(event)
        if before is not None and event.broker_epoch <= before.broker_epoch:
            self._back(event, "broker", event.node, before.broker_epoch, event.broker_epoch)

    def _back(
        self, event: Event, of: EpochOf, broker: int | None, last: int, epoch: int, tp: TopicPartition | None = None
    ) -> None:
        self.violated(event, EpochFell(of, broker, last, epoch), tp)
