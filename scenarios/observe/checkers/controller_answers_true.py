"""M17: what a controller answers about elections, moves and shutdowns is so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from emulator.protocol import znodes
from emulator.protocol.alter_reassignments import AlterPartitionReassignmentsRequest
from emulator.protocol.assignments import ReassigningReplicas, ReplicaAssignment, Replicas
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest
from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest
from emulator.protocol.errors import Errors
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.administrator_answers import AdministratorAnswers
from scenarios.observe.history.lately import Lately
from scenarios.observe.past.changes import StateWritten

KNOWN_AFTER_US = 5_000_000
"""After so long without faults a controller knows what is in ZooKeeper, and what it answers has that."""
NO_LEADER_FITS = Errors.PREFERRED_LEADER_NOT_AVAILABLE, Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE


class TopicVersion(NamedTuple):
    """The content of a topic's znode; None: there is none."""

    assignment: Mapping[int, Replicas] | None = None
    moves: Mapping[int, ReassigningReplicas] = {}

    def of(self, partition: int) -> ReplicaAssignment | None:
        """The assignment of a partition, with its move; None: there is no such partition."""
        if self.assignment is None or partition not in self.assignment:
            return None
        found = self.moves.get(partition)
        adding, removing = ((), ()) if found is None else (tuple(found.adding), tuple(found.removing))
        return ReplicaAssignment(tuple(self.assignment[partition]), adding, removing)


class ControllerAnswersTrue(AdministratorAnswers):
    """A controller answers an election, or a move, without an error once ZooKeeper has it, refuses one for a reason,
    and lists the moves that there are (KIP-460, KIP-455).

    Verified: each answer to ElectLeaders, AlterPartitionReassignments and ListPartitionReassignments: it has the
        partitions of the request, each once, or none besides them. Against ZooKeeper since the broker took the request
        up: an election without an error, or without need, has the leader that was asked for; a controller that has been
        replaced may see no need, as it writes nothing (KafkaController.processReplicaLeaderElection, 3.9.0). A move
        without an error is that of the topic's znode, or the partition has these replicas; a cancelled one leads back
        to the replicas from before. Where nothing has delayed the controller for 5 s: a preferred replica that is not
        available is not in the ISR, or does not live; an unknown partition is not there, a topic that is being deleted
        is; a move that is not in progress is not. Each move in the list is that of the topic's znode then or shortly
        before, and each move of a znode that was there all the while is in the list. An answer to ControlledShutdown
        names the partitions with other replicas that the broker still leads; its epoch is stale only where it has
        registered since. A broker that was the controller all the time is not none.

    Not verified: other errors, INVALID_REPLICA_ASSIGNMENT (``refusals_have_reasons``); what comes of it later
        (``steps_done``, ``converged``).
    """

    ids = ("M17",)
    statement = (
        "answered(p) ⇒ Z[p], listed = Z.moves: elections and moves are in ZooKeeper once a controller says so, and it "
        "lists those that are under way"
    )
    fails_when = "a controller lists no moves"

    def begin(self) -> None:
        self.history.answers.of(
            self._answered, AlterPartitionReassignmentsRequest, ElectLeadersRequest, ListPartitionReassignmentsRequest
        )
        self.history.answers.of(self._left, ControlledShutdownRequest)
        self._topics: Lately[str, TopicVersion] = Lately(TopicVersion())
        self._states: Lately[TopicPartition, LeaderAndIsr | None] = Lately(None)
        self._marked: Lately[str, bool] = Lately(False)

    def on_written(self, event: ZkWritten) -> None:
        parent, _, name = event.path.rpartition("/")
        if parent == znodes.TOPICS:
            gone = event.op == "delete"
            version = (
                TopicVersion()
                if gone
                else TopicVersion(znodes.decode_topic(event.data), znodes.decode_reassigning(event.data))
            )
            self._topics.put(name, event.t_us, version)
        elif parent == znodes.DELETE_TOPICS:
            self._marked.put(name, event.t_us, event.op != "delete")

    def on_state(self, event: StateWritten) -> None:
        self._states.put(event.tp, event.t_us, event.state)

    def _answered(self, event: RequestAnswered) -> None:
        request, response = event.request, event.response
        elected = self.cluster.acting.get(event.node)
        here_us = max(elected.t_us, self.cluster.controller_since_us) if elected is not None else event.t_us
        is_controller = event.node == self.cluster.controller and here_us < event.since_us
        if response.error is Errors.NOT_CONTROLLER and is_controller:
            self.wrong(event, "", response.error.name, "it is the controller")
        if response.error is not Errors.NONE:
            return
        answered = [tp for tp, _ in response.partitions]
        asked = list(request.targets) if isinstance(request, AlterPartitionReassignmentsRequest) else request.partitions
        some = asked is None or isinstance(request, ListPartitionReassignmentsRequest)
        wanted = [tp for tp in answered if asked is None or tp in asked] if some else dict.fromkeys(asked or ())
        if sorted(answered) != sorted(dict.fromkeys(wanted)):
            self.wrong(event, "", sorted(map(str, answered)), sorted(map(str, wanted)))
            return
        calm = self._is_calm(event)
        for tp, outcome in response.partitions:
            if isinstance(request, ElectLeadersRequest):
                self._elected(event, request.type, tp, outcome, calm=calm)
            elif isinstance(request, AlterPartitionReassignmentsRequest):
                self._moved(event, tp, request.targets[tp], outcome, calm=calm)
        if isinstance(request, ListPartitionReassignmentsRequest) and calm:
            self._listed(event, asked)

    def _is_calm(self, event: RequestAnswered) -> bool:
        """Whether the broker that answers has been the controller for long, and nothing delays it."""
        since_us, elected = self.now.controlled_since_us(), self.cluster.acting.get(event.node)
        long_ago_us = event.since_us - KNOWN_AFTER_US
        calm = since_us is not None and since_us < long_ago_us and event.node == self.cluster.controller
        return calm and elected is not None and elected.t_us < long_ago_us and event.node not in self.now.impaired

    # -- elections ----------------------------------------------------------------------------------------------------

    def _elected(
        self, event: RequestAnswered, type: ElectionType, tp: TopicPartition, error: Errors, *, calm: bool
    ) -> None:
        states, versions = self._states.since(tp, event.since_us), self._versions(event, tp, event.since_us)
        first = {found.replicas[0] for found in versions if found is not None and found.replicas}
        leaders = {state.leader for state in states if state is not None}
        is_controller = event.node == self.cluster.controller
        if error is Errors.NONE or (error is Errors.ELECTION_NOT_NEEDED and is_controller):
            fits = leaders & first if type is ElectionType.PREFERRED else any(leader >= 0 for leader in leaders)
            if not fits:
                self.wrong(event, "", error.name, f"the leader was {sorted(leaders)}", tp)
        elif calm and error in NO_LEADER_FITS and len(states) == len(versions) == 1:
            self._not_available(event, tp, error, states[0], versions[0])
        elif calm:
            self._unknown(event, tp, error)
            if error is Errors.LEADER_NOT_AVAILABLE and None not in self._states.since(tp, self._before_us(event)):
                self.wrong(event, "", error.name, "it has had leaders", tp)

    def _not_available(
        self, event: RequestAnswered, tp: TopicPartition, error: Errors, state: LeaderAndIsr | None,
        assignment: ReplicaAssignment | None,
    ) -> None:  # fmt: skip
        if state is None or assignment is None:
            return
        preferred = error is Errors.PREFERRED_LEADER_NOT_AVAILABLE
        fit = [
            replica for replica in assignment.replicas[: 1 if preferred else None] if self._lives(event, replica, tp)
        ]
        if fit and (not preferred or fit[0] in state.isr):
            self.wrong(event, "", error.name, f"broker {fit[0]} can lead", tp)

    def _lives(self, event: RequestAnswered, broker: int, tp: TopicPartition) -> bool:
        cluster, since_us = self.cluster, self.now.reached_since_us(broker)
        sound = since_us is not None and since_us < event.since_us - KNOWN_AFTER_US
        return sound and not cluster.is_shutting_down(broker) and not cluster.lacks_dirs(broker)

    def _unknown(self, event: RequestAnswered, tp: TopicPartition, error: Errors) -> None:
        """Look at an error that says that the partition is not there, or its topic is being deleted."""
        before_us = self._before_us(event)
        there = None not in self._versions(event, tp, before_us)
        marked = any(self._marked.since(tp.topic, before_us))
        if error is Errors.UNKNOWN_TOPIC_OR_PARTITION and there and not marked:
            self.wrong(event, "", error.name, "it is there", tp)
        if error is Errors.INVALID_TOPIC_EXCEPTION and there and not marked:
            self.wrong(event, "", error.name, "its topic is not being deleted", tp)

    # -- shutdowns ----------------------------------------------------------------------------------------------------

    def _left(self, event: RequestAnswered) -> None:
        request, response = event.request, event.response
        broker = request.broker
        if not self._is_calm(event):
            return
        registered = self.cluster.registrations.get(broker)
        stale = response.error is Errors.STALE_BROKER_EPOCH and registered is not None
        if stale and registered is not None and registered.epoch <= request.broker_epoch:
            self.wrong(event, "", response.error.name, f"{request.broker_epoch} is the epoch of broker {broker}")
        if response.error is not Errors.NONE:
            return
        for tp in response.remaining:
            if all(state is None or state.leader != broker for state in self._states.since(tp, event.since_us)):
                self.wrong(event, "", f"broker {broker} leads it", f"broker {self.cluster.leader(tp)} does", tp)
        for tp, state in self.cluster.states.items():
            if state.leader != broker or tp in response.remaining or any(self._marked.since(tp.topic, 0)):
                continue
            states = self._states.since(tp, self._before_us(event))
            versions = self._versions(event, tp, self._before_us(event))
            leads = all(one is not None and one.leader == broker for one in states)
            if leads and all(one is not None and len(one.replicas) > 1 for one in versions):
                self.wrong(event, "", f"broker {broker} does not lead it", "it does", tp)

    # -- moves --------------------------------------------------------------------------------------------------------

    def _before_us(self, event: RequestAnswered) -> int:
        return event.since_us - KNOWN_AFTER_US

    def _versions(self, _event: RequestAnswered, tp: TopicPartition, since_us: int) -> list[ReplicaAssignment | None]:
        return [version.of(tp.partition) for version in self._topics.since(tp.topic, since_us)]

    def _moved(
        self, event: RequestAnswered, tp: TopicPartition, target: Replicas | None, error: Errors, *, calm: bool
    ) -> None:
        versions = self._versions(event, tp, event.since_us)
        found = [version for version in versions if version is not None]
        moving = [version for version in found if version.adding or version.removing]
        if error is Errors.NONE:
            targets = [version.target for version in found]
            wanted = {tuple(target)} if target is not None else {version.origin for version in found}
            same = any(set(one) == set(other) for one in targets for other in wanted)
            if not same or (target is None and not moving):
                self.wrong(event, "", error.name, f"it is to have {[list(one) for one in targets]}", tp)
        elif calm:
            self._unknown(event, tp, error)
            if error is Errors.NO_REASSIGNMENT_IN_PROGRESS and (target is not None or len(moving) == len(versions)):
                self.wrong(event, "", error.name, "it is moved", tp)

    def _listed(self, event: RequestAnswered, asked: Any) -> None:
        before_us = self._before_us(event)
        listed = dict(event.response.partitions)
        for tp, said in listed.items():
            versions = self._versions(event, tp, before_us)
            if said not in versions or not (said.adding or said.removing):
                self.wrong(event, "", _shown(said), _shown(versions[-1]), tp)
        for topic in self.cluster.reassigning:
            for partition in self.cluster.reassigning[topic]:
                tp = TopicPartition.of(topic, partition)
                versions = self._versions(event, tp, before_us)
                stands = all(found is not None and (found.adding or found.removing) for found in versions)
                if stands and tp not in listed and (asked is None or tp in asked):
                    self.wrong(event, "", "no move", _shown(versions[-1]), tp)


def _shown(assignment: ReplicaAssignment | None) -> str:
    if assignment is None:
        return "no such partition"
    return f"{list(assignment.replicas)}, adding {list(assignment.adding)}, removing {list(assignment.removing)}"
