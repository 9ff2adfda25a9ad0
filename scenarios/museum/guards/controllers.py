"""Guards of controllers, and of ZooKeeper, to which they write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from attrs import evolve

from brokers.requests.admin_topics import TopicPurgatory
from controller.controller import Controller
from controller.metrics import ControllerMetrics
from controller.metrics.channels import QueueMetrics
from controller.operations.notifications import Notifications
from controller.operations.rebalance import AutoLeaderRebalance
from controller.operations.shutdown import ControlledShutdowns
from controller.operations.topics import Assignment, TopicChanges
from controller.reassignment.steps_work import StepsWork
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.leader_election_algorithms import Candidates
from controller.state_machines.leader_elections import LeaderElections
from controller.state_machines.replicas import ReplicaStateMachine
from controller.states import ReplicaState
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.zookeeper.server.zookeeper_server import Session, SessionTracker
from scenarios.museum.guards.guard import Guard, TakenOut, nothing


def _same_epoch(successor: Callable[..., LeaderAndIsr]) -> Callable[..., LeaderAndIsr]:
    def keeps(self: LeaderElections, state: LeaderAndIsr, **changes: Any) -> LeaderAndIsr:
        return evolve(successor(self, state, **changes), leader_epoch=state.leader_epoch)

    return keeps


def _all_in_sync(candidates: Callable[..., Awaitable[Candidates]]) -> Callable[..., Awaitable[Candidates]]:
    async def takes_all(self: LeaderElections, *of: Any) -> Candidates:
        found = await candidates(self, *of)
        return evolve(found, isr=found.assignment)

    return takes_all


def _keeps_isr(successor: Callable[..., LeaderAndIsr]) -> Callable[..., LeaderAndIsr]:
    def keeps(self: LeaderElections, state: LeaderAndIsr, **changes: Any) -> LeaderAndIsr:
        return successor(self, state, **changes | {"isr": state.isr})

    return keeps


def _elects_all(_balance: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def elects(self: AutoLeaderRebalance) -> None:
        await self.elections.elect(list(self.context.partitions()))

    return elects


def _in_sync_at_once(_all_in_isr: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def says_so(self: StepsWork, tp: TopicPartition, replicas: Sequence[int]) -> bool:
        return True

    return says_so


def _sends_all_as_in_sync(write: Callable[..., Any]) -> Callable[..., Any]:
    def writes(
        self: ControllerBrokerRequestBatch,
        tp: TopicPartition,
        state: LeaderAndIsr,
        replicas: Sequence[int],
        is_new: bool,
    ) -> Any:
        return write(self, tp, evolve(state, isr=tuple(replicas)), replicas, is_new)

    return writes


def _shows_too_late(_show: Callable[..., None]) -> Callable[..., None]:
    def only_that_it_is(self: ControllerMetrics, *, active: bool) -> None:
        if active:
            self.gauges["ActiveControllerCount"].set(1)

    return only_that_it_is


def _waited_before_it_came(taken: Callable[..., None]) -> Callable[..., None]:
    return lambda self, waited_us: taken(self, -1 - waited_us)


def _adds_to_what_is_deleted(_restore: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def adds(self: TopicChanges, topic: str, _assignment: Assignment, new: Assignment) -> None:
        await self._create({topic: new})

    return adds


def _answers_at_once(_wait: Callable[..., None]) -> Callable[..., None]:
    return lambda _self, delayed, _timeout_us: delayed.answer([])


def _knows_no_broker(_refusal: Callable[..., Errors]) -> Callable[..., Errors]:
    return lambda *_of: Errors.UNKNOWN_SERVER_ERROR


def _skips_offline(handle: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def skips(self: ReplicaStateMachine, replicas: Any, target: ReplicaState) -> None:
        if target is not ReplicaState.OFFLINE:
            await handle(self, replicas, target)

    return skips


def _can_be_resumed(_end: Callable[..., None]) -> Callable[..., None]:
    def keeps(_self: SessionTracker, session: Session) -> None:
        if session.timer is not None:
            session.timer.cancel()

    return keeps


def _deletes_unread(_process: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def deletes(self: Notifications) -> None:
        path = znodes.ISR_CHANGE_NOTIFICATION
        await self._delete(path, await self.zk_client.children(path))

    return deletes


def _never_stops(_stop: Callable[..., None]) -> Callable[..., None]:
    return lambda _self: None


def _deletes_nothing(_delete: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def deletes(_self: StepsWork, _tp: TopicPartition, _replicas: Sequence[int]) -> None:
        return None

    return deletes


def _leaves_settings(delete: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def deletes(self: KafkaZkClient, paths: Iterable[str]) -> None:
        await delete(self, [path for path in paths if not path.startswith(znodes.CONFIG_TOPICS)])

    return deletes


GUARDS = (
    Guard(
        name="one_leader_per_epoch",
        title="an election keeps the leader epoch",
        here="A controller writes another leader with the leader epoch of before.",
        also=("epochs_grow", "roles_adopted"),
        taken_out=(TakenOut(owner=LeaderElections, function="successor", instead=_same_epoch),),
    ),
    Guard(
        name="controller_adds_none",
        title="an election puts all replicas into the ISR",
        here="A controller takes all assigned replicas for in sync when it elects a leader.",
        taken_out=(TakenOut(owner=LeaderElections, function="_candidates", instead=_all_in_sync),),
    ),
    Guard(
        name="elects_the_living",
        title="an election keeps the ISR",
        here="A controller that elects a leader in the place of a dead one leaves the dead one in the ISR. Kafka's "
        "nearest bug is KAFKA-14140 (until 3.3), in which a leader adds a dead one.",
        taken_out=(TakenOut(owner=LeaderElections, function="successor", instead=_keeps_isr),),
    ),
    Guard(
        name="one_active_controller",
        title="a controller that has resigned goes on showing that it is the controller",
        here="ActiveControllerCount of a broker stays 1 when it resigns. Seeds of chaos with KAFKA-4229 show two "
        "active controllers, too; its case is about what comes after that.",
        taken_out=(TakenOut(owner=ControllerMetrics, function="show_active", instead=_shows_too_late),),
    ),
    Guard(
        name="legal_transitions",
        title="the state machine of replicas makes every change that it is asked for",
        here="A deletion of a topic forgets to take the replicas offline, and the state machine lets a replica that is "
        "online begin to be deleted. With the state machine's check the same mistake is refused, and seen by nothing.",
        taken_out=(
            TakenOut(owner=ReplicaStateMachine, function="handle_state_changes", instead=_skips_offline),
            TakenOut(
                owner=ReplicaStateMachine,
                function="_legal",
                instead=lambda _legal: lambda _self, _broker, partitions, _target: partitions,
            ),
        ),
    ),
    Guard(
        name="no_write_after_expiry",
        title="ZooKeeper lets a client go on with a session that has expired",
        here="ZooKeeper ends a session, deletes its ephemeral znodes, and takes its client back when that connects "
        "again.",
        also=("sessions_end",),
        taken_out=(TakenOut(owner=SessionTracker, function="end", instead=_can_be_resumed),),
    ),
    Guard(
        name="times_true",
        title="a controller shows for how long a request has not waited yet",
        here="The time that a request was in the queue of its broker is taken the wrong way round, and is negative.",
        taken_out=(TakenOut(owner=QueueMetrics, function="taken", instead=_waited_before_it_came),),
    ),
    Guard(
        name="idle_changes_nothing",
        title="a controller elects preferred leaders where they lead already",
        here="The periodic check of the leaders elects the preferred replica of every partition, also where it leads. "
        "Each time the leader epoch rises, and all replicas are notified.",
        also=("elects_in_order",),
        taken_out=(TakenOut(owner=AutoLeaderRebalance, function="_balance", instead=_elects_all),),
    ),
    Guard(
        name="refusals_have_reasons",
        title="a controller takes every broker that shuts down for unknown",
        here="A broker that has been registered since the start asks three times whether it may go, is refused each "
        "time, and goes without having handed over.",
        taken_out=(TakenOut(owner=ControlledShutdowns, function="_refusal", instead=_knows_no_broker),),
    ),
    Guard(
        name="deleted_get_no_leader",
        title="a controller creates partitions that are added to a topic while it is deleted",
        here="The partitions get a leader, and are deleted with the others once the broker is back that the deletion "
        "waits for.",
        taken_out=(TakenOut(owner=TopicChanges, function="_restore", instead=_adds_to_what_is_deleted),),
    ),
    Guard(
        name="controller_remembers",
        title="a controller deletes the announcements of changed ISRs unread",
        here="A controller that is told of announcements in /isr_change_notification deletes them, and goes on with "
        "the ISRs that it knew.",
        also=("broker_remembers", "notifications_taken"),
        taken_out=(TakenOut(owner=Notifications, function="process_isr_changes", instead=_deletes_unread),),
    ),
    Guard(
        name="resigned_forgets",
        title="a controller that resigns still looks at the preferred leaders",
        here="The timer of the next look goes on after the resignation. What it puts into the queue is dropped while "
        "another broker is the controller, so nothing else shows it.",
        taken_out=(TakenOut(owner=AutoLeaderRebalance, function="stop", instead=_never_stops),),
    ),
    Guard(
        name="answers_taken",
        title="the answer of a broker that has deleted a replica is dropped",
        here="A controller has the replicas of a topic deleted, and drops the answers of the brokers.",
        also=("converged",),
        taken_out=(TakenOut(owner=Controller, function="_stopped", instead=nothing),),
    ),
    Guard(
        name="drops_stopped",
        title="a move ends and deletes no replica that leaves",
        here="A controller takes the replicas that leave out of the ISR and writes the new assignment, and asks nobody "
        "to delete them.",
        also=("converged", "controller_remembers", "steps_done"),
        taken_out=(TakenOut(owner=StepsWork, function="delete", instead=_deletes_nothing),),
    ),
    Guard(
        name="moves_end_in_sync",
        title="a controller does not wait until what a move adds is in sync",
        here="The replicas that a move adds count as in sync as soon as they are assigned, so it ends at once.",
        also=("steps_done",),
        taken_out=(TakenOut(owner=StepsWork, function="all_in_isr", instead=_in_sync_at_once),),
    ),
    Guard(
        name="steps_done",
        title="a controller deletes a topic and leaves its settings",
        here="The last step but one of a deletion does nothing, and a later topic of the name has settings that it was "
        "not given.",
        also=("gone_topics_forgotten",),
        taken_out=(TakenOut(owner=KafkaZkClient, function="delete", instead=_leaves_settings),),
    ),
    Guard(
        name="sent_as_written",
        title="a controller sends all assigned replicas as the ISR",
        here="LeaderAndIsr names the assigned replicas as in sync, whatever the ISR in ZooKeeper is.",
        also=("broker_remembers", "converged"),
        taken_out=(TakenOut(owner=ControllerBrokerRequestBatch, function="_write", instead=_sends_all_as_in_sync),),
    ),
    Guard(
        name="topic_answers_true",
        title="a controller does not wait until topics are there, or gone",
        here="A client asks the controller for topics, or to delete some, and is answered once that is in ZooKeeper.",
        taken_out=(TakenOut(owner=TopicPurgatory, function="try_complete_else_wait", instead=_answers_at_once),),
    ),
)
