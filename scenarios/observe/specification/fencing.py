"""Fencing.tla: what brokers do with the controller's requests, and brokers that die."""

from __future__ import annotations

from typing import NamedTuple

from emulator.protocol.control_requests import ControlHandled
from emulator.protocol.errors import Errors
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    ControlResponse,
    FetchPosition,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    ReplicaOffline,
    ReplicaStopped,
    UnassignedFollowerAdded,
)
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import NO_LEADER, TopicPartition
from scenarios.observe.specification.isr_rules import Isr
from scenarios.observe.specification.rejection import Sentence
from scenarios.observe.specification.replica import FAILED, FETCHING, IDLE
from scenarios.observe.specification.variables import Variables

STALE = Sentence(
    "Fencing",
    "HandleRequest",
    "m.by < seen[b]",
    "a broker refuses an older controller epoch, and no other",
)
TAKES_EPOCH = Sentence(
    "Fencing",
    "BecomeLeaderOrFollower",
    "m.epoch > part[b].epoch",
    "a broker takes a role in a higher leader epoch than its own, and in no other",
)
TAKES_ASSIGNED = Sentence(
    "Fencing",
    "BecomeLeaderOrFollower",
    "(b \\in m.replicas \\/ JoinsUnassigned)",
    "a broker takes a role in a partition that the request assigns to it",
)
TAKES_ROLE = Sentence(
    "Fencing", "BecomeLeaderOrFollower", "IF m.leader = b THEN MakeLeader(b, m) ELSE MakeFollower(b, m)",
    "a broker takes the role that the request has for it",
)  # fmt: skip
TAKES_ASKED = Sentence(
    "Fencing", "HandleRequest", "LET m == Head(queue[c][b]) IN", "a broker takes a role because a request says so"
)
LEADS_ISR = Sentence("Fencing", "MakeLeader", "isr |-> m.isr", "a new leader has the ISR of the request")
STARTS_AT_END = Sentence("Fencing", "MakeLeader", "LET end == Len(log[b])", "a new leader starts at the end of its log")
STOPS_EPOCH = Sentence(
    "Fencing",
    "StopReplicas",
    "m.epoch < part[b].epoch \\/ (RefusesStopInOwnEpoch /\\ m.epoch = part[b].epoch)",
    "a StopReplica with an older leader epoch is refused, until 3.4 with the same one, and no other",
)


class Taken(NamedTuple):
    """The role that a broker has taken in the transition that is under way, and its leader epoch before."""

    event: BecameLeader | BecameFollower
    before: int


class Fencing:
    """The fold of roles: what a request asks for is compared once the broker has handled it."""

    def __init__(self, variables: Variables, isr: Isr) -> None:
        self._variables = variables
        self._isr = isr
        self._any_replica = "JoinsUnassigned" in variables.constants
        self._own = 1 if "RefusesStopInOwnEpoch" in variables.constants else 0
        self._late_epochs = "EntersEpochWithRecord" in variables.constants
        self._stops_unfenced = "StopsUnfenced" in variables.constants
        self._taken: dict[int, dict[TopicPartition, Taken]] = {}
        self._stopped: dict[int, dict[TopicPartition, int]] = {}
        self._responses: dict[int, ControlResponse] = {}

    # -- what a broker does -------------------------------------------------------------------------------------------

    def on_leader(self, event: BecameLeader) -> None:
        variables, node, tp = self._variables, event.node, TopicPartition.of(event.topic, event.partition)
        replica = variables.of(node, tp)
        self._taken.setdefault(node, {})[tp] = Taken(event, replica.epoch)
        if event.log_end_offset != replica.end:
            variables.reject(event, tp, STARTS_AT_END, f"{node} starts at {event.log_end_offset}", replica)
        replica.disk = True
        replica.leader, replica.epoch, replica.start = node, event.leader_epoch, replica.end
        replica.isr, replica.assigned, replica.proposal = event.isr, event.replicas, ()
        replica.stop_fetching(IDLE)
        replica.source, replica.hw = None, event.high_watermark
        replica.led[event.leader_epoch] = None
        if not self._late_epochs:
            replica.assign_epoch(event.leader_epoch, replica.end)
        replica.log = variables.history.logs.made(node, *tp)
        self._isr.recount(replica, tp)

    def on_follower(self, event: BecameFollower) -> None:
        variables, node, tp = self._variables, event.node, TopicPartition.of(event.topic, event.partition)
        replica = variables.of(node, tp)
        self._taken.setdefault(node, {})[tp] = Taken(event, replica.epoch)
        prior = replica.epoch if replica.leader == event.leader else -1
        replica.forget()
        replica.prior = prior
        replica.disk = True
        replica.leader, replica.epoch, replica.fetch = event.leader, event.leader_epoch, FETCHING
        replica.source, replica.hw_then = variables.of(event.leader, tp), event.high_watermark
        replica.log = variables.history.logs.made(node, *tp)

    def on_stopped(self, event: ReplicaStopped) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        replica = self._variables.of(event.node, tp)
        self._stopped.setdefault(event.node, {})[tp] = replica.epoch
        replica.stop_fetching(IDLE)
        if event.deleted:
            replica.forget()
            replica.empty()
            replica.disk = False

    def on_taken_in(self, event: UnassignedFollowerAdded) -> None:
        replica = self._variables.on(event.node, event.topic)[event.partition]
        replica.assigned = (*replica.assigned, event.broker)

    def on_position(self, event: FetchPosition) -> None:
        replica = self._variables.on(event.node, event.topic)[event.partition]
        if replica.leader not in (NO_LEADER, event.node):
            if event.offset < 0:
                replica.stop_fetching(IDLE)
            else:
                replica.fetch = FETCHING

    def on_failed(self, event: PartitionFailed) -> None:
        self._variables.on(event.node, event.topic)[event.partition].stop_fetching(FAILED)

    def on_offline(self, event: ReplicaOffline) -> None:
        """A log directory has failed, which the specification leaves out: nothing is known of the replica."""
        self._variables.on(event.node, event.topic)[event.partition].forget()

    def on_process(self, event: NodeCrashed | NodeStarted) -> None:
        """``BrokerDies``: nothing is left of what requests have said."""
        self._variables.seen.pop(event.node, None)
        self._taken.pop(event.node, None)
        self._stopped.pop(event.node, None)
        for replica in self._variables.on_broker(event.node):
            replica.forget()

    # -- what the request said ----------------------------------------------------------------------------------------

    def on_response(self, event: ControlResponse) -> None:
        self._responses[event.node] = event

    def on_handled(self, event: ControlHandled) -> None:
        node, request = event.node, event.request
        taken, stopped = self._taken.pop(node, {}), self._stopped.pop(node, {})
        by, seen = request.controller_epoch, self._variables.seen.get(node, 0)
        stale = event.error is Errors.STALE_CONTROLLER_EPOCH
        if stale is not (by < seen) and (stale or event.error is Errors.NONE):
            words = f"{node} {'refuses' if stale else 'takes'} a request of controller epoch {by}, and has met {seen}"
            self._variables.reject(event, None, STALE, words, request)
        if event.error is not Errors.NONE:
            return
        self._variables.seen[node] = by
        if isinstance(request, LeaderAndIsrRequest):
            for state in request.partitions:
                self._check_role(event, state, taken.pop(state.tp, None))
            for tp, one in taken.items():
                self._variables.reject(event, tp, TAKES_ASKED, f"{node} has taken a role: {one.event}")
        elif isinstance(request, StopReplicaRequest):
            self._check_stops(event, request, stopped)

    def _check_role(self, event: ControlHandled, m: LeaderAndIsrPartition, taken: Taken | None) -> None:
        variables, node, tp = self._variables, event.node, m.tp
        replica = variables.of(node, tp)
        asked = f"leader {m.leader}, epoch {m.leader_epoch}, ISR {list(m.isr)}, replicas {list(m.replicas)}"
        if taken is None:
            if m.leader_epoch > replica.epoch and self._refusal(node, tp) == Errors.STALE_CONTROLLER_EPOCH.name:
                variables.reject(event, tp, TAKES_EPOCH, f"{node} refuses {asked}", replica)
            return
        if m.leader_epoch <= taken.before:
            found = f"{node}, in epoch {taken.before}, takes {asked}"
            variables.reject(event, tp, TAKES_EPOCH, found, replica)
        if node not in m.replicas and not self._any_replica:
            variables.reject(event, tp, TAKES_ASSIGNED, f"{node} takes {asked}", replica)
        leads = type(taken.event) is BecameLeader
        if leads is not (m.leader == node) or replica.leader != m.leader or replica.epoch != m.leader_epoch:
            variables.reject(event, tp, TAKES_ROLE, f"{node} takes {asked}", replica)
        elif leads and taken.event.isr != m.isr:  # type: ignore[union-attr]
            variables.reject(event, tp, LEADS_ISR, f"{node} takes {asked}", replica)
        replica.version, replica.decided = m.zk_version, m.controller_epoch
        if leads and not self._any_replica:
            replica.assigned = m.replicas
            self._isr.recount(replica, tp)

    def _refusal(self, node: int, tp: TopicPartition) -> str:
        """The error with which a broker has just refused a partition."""
        response = self._responses.get(node)
        if response is None or str(tp) not in response.refused:
            return ""
        return response.errors[response.refused.index(str(tp))]

    def _check_stops(
        self, event: ControlHandled, request: StopReplicaRequest, stopped: dict[TopicPartition, int]
    ) -> None:
        if self._stops_unfenced or not request.leader_epochs:
            return
        for tp, epoch in zip(request.partitions, request.leader_epochs, strict=True):
            before = stopped.get(tp)
            replica = self._variables.of(event.node, tp)
            if before is not None and 0 <= epoch < before + self._own:
                found = f"{event.node}, in epoch {before}, is stopped by epoch {epoch}"
                self._variables.reject(event, tp, STOPS_EPOCH, found, replica)
            elif (
                before is None
                and epoch >= replica.epoch + self._own > 0
                and self._refusal(event.node, tp) == Errors.FENCED_LEADER_EPOCH.name
            ):
                found = f"{event.node} refuses to be stopped by epoch {epoch}"
                self._variables.reject(event, tp, STOPS_EPOCH, found, replica)
