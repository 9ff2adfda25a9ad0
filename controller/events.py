"""The events of a controller (Kafka's ControllerEvent). Events are data: ``Controller`` decides what each one leads
to."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from attrs import define

from emulator.kernel import Signal
from emulator.network import Channel
from emulator.protocol.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from emulator.protocol.alter_isr import AlterIsrRequest, AlterIsrResponse
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.api import Request
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.errors import Errors
from emulator.protocol.leader_and_isr import LeaderAndIsrResponse
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from emulator.protocol.types import TopicPartition


class ControllerState(IntEnum):
    """The kinds of work of a controller, as the gauge ControllerState shows them (Kafka 0.11 and later).

    Each state has a timer. Until 2.3 ALTER_PARTITION_REASSIGNMENT was called PartitionReassignment, with the same
    number and timer.
    """

    IDLE = 0
    CONTROLLER_CHANGE = 1
    BROKER_CHANGE = 2
    TOPIC_CHANGE = 3
    TOPIC_DELETION = 4
    ALTER_PARTITION_REASSIGNMENT = 5
    AUTO_LEADER_BALANCE = 6
    MANUAL_LEADER_BALANCE = 7
    CONTROLLED_SHUTDOWN = 8
    ISR_CHANGE = 9
    LEADER_AND_ISR_RESPONSE_RECEIVED = 10
    LOG_DIR_CHANGE = 11
    CONTROLLER_SHUTDOWN = 12
    UNCLEAN_LEADER_ELECTION_ENABLE = 13
    TOPIC_UNCLEAN_LEADER_ELECTION_ENABLE = 14
    LIST_PARTITION_REASSIGNMENT = 15

    @property
    def timer(self) -> str:
        """The name of the state's timer."""
        stem = _OLDER_NAMES.get(self) or "".join(word.capitalize() for word in self.name.split("_"))
        return f"{stem}RateAndTimeMs"


_OLDER_NAMES = {
    ControllerState.BROKER_CHANGE: "LeaderElection",
    ControllerState.ALTER_PARTITION_REASSIGNMENT: "PartitionReassignment",
}
"""Timers that had their names before the states had theirs."""


class Event(Protocol):
    """Something that happened.

    Attributes:
        state: the controller's state while it processes the event.
    """

    state: ClassVar[ControllerState]


# -- elections of controllers ----------------------------------------------------------------------------------------
# These concern every broker's controller; all other events only the active one.


@define(eq=False)
class Startup:
    """The broker has started."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE


@define(eq=False)
class ControllerChange:
    """/controller was created or changed."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE


@define(eq=False)
class Reelect:
    """/controller was deleted."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE


@define(eq=False)
class Expire:
    """The ZooKeeper session has expired, and with it /controller and the broker's registration.

    It takes precedence over all queued events, which belong to the lost session. Kafka opens the new session beside the
    queue; no queued event could do anything before that, so here the queue waits for it.
    """

    state: ClassVar = ControllerState.CONTROLLER_CHANGE


@define(eq=False)
class RegisterBrokerAndReelect:
    """A new session has begun: register the broker, and take part in an election."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE


@define(eq=False)
class ControllerEpochChange:
    """/controller_epoch was changed (before KAFKA-1096, 0.8.2)."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE


@define(eq=False)
class NewSession:
    """There is a new session, which was begun beside the queue (before KAFKA-5642, 1.1)."""

    state: ClassVar = ControllerState.CONTROLLER_CHANGE


# -- tests ------------------------------------------------------------------------------------------------------------


@define(eq=False)
class Latch:
    """An event that keeps the event thread until ``released``: the latch in a mocked event, by which Kafka's tests hold
    it (ControllerIntegrationTest, 2.4)."""

    state: ClassVar = ControllerState.TOPIC_CHANGE

    released: Signal


# -- brokers, topics, ISRs --------------------------------------------------------------------------------------------


@define(eq=False)
class BrokerChange:
    """The children of /brokers/ids changed."""

    state: ClassVar = ControllerState.BROKER_CHANGE


@define(eq=False)
class LeaderAndIsrResponseReceived:
    """A broker has answered a LeaderAndIsr."""

    state: ClassVar = ControllerState.LEADER_AND_ISR_RESPONSE_RECEIVED

    broker: int
    response: LeaderAndIsrResponse


@define(eq=False)
class TopicChange:
    """The children of /brokers/topics changed."""

    state: ClassVar = ControllerState.TOPIC_CHANGE


@define(eq=False)
class PartitionModifications:
    """The assignment of a topic changed; the controller's own writes cause this event too."""

    state: ClassVar = ControllerState.TOPIC_CHANGE

    topic: str


@define(eq=False)
class IsrChangeNotification:
    """Leaders have announced changes of ISRs."""

    state: ClassVar = ControllerState.ISR_CHANGE


@define(eq=False)
class LogDirEventNotification:
    """Brokers have announced failed log directories."""

    state: ClassVar = ControllerState.LOG_DIR_CHANGE


# -- topic deletion ---------------------------------------------------------------------------------------------------


@define(eq=False)
class TopicDeletion:
    """The children of /admin/delete_topics changed; the controller's own writes cause this event too."""

    state: ClassVar = ControllerState.TOPIC_DELETION


@define(eq=False)
class TopicDeletionStopReplicaResponseReceived:
    """A broker has answered a StopReplica with deletion.

    Attributes:
        error: the error of the whole response.
        partitions: the partitions of topics that are being deleted, each with the error for the broker's replica.
    """

    state: ClassVar = ControllerState.TOPIC_DELETION

    broker: int
    error: Errors
    partitions: tuple[tuple[TopicPartition, Errors], ...]


# -- elections --------------------------------------------------------------------------------------------------------


@define(eq=False)
class ReplicaLeaderElection:
    """/admin/preferred_replica_election was created, or deleted by the controller itself, which then has to arm its
    watch again."""

    state: ClassVar = ControllerState.MANUAL_LEADER_BALANCE


@define(eq=False)
class AutoPreferredReplicaLeaderElection:
    """The interval between two checks of the leader imbalance is over."""

    state: ClassVar = ControllerState.AUTO_LEADER_BALANCE


@define(eq=False)
class UncleanLeaderElectionEnable:
    """The brokers' unclean.leader.election.enable was switched on (KIP-226)."""

    state: ClassVar = ControllerState.UNCLEAN_LEADER_ELECTION_ENABLE


@define(eq=False)
class TopicUncleanLeaderElectionEnable:
    """A topic's unclean.leader.election.enable was switched on."""

    state: ClassVar = ControllerState.TOPIC_UNCLEAN_LEADER_ELECTION_ENABLE

    topic: str


# -- reassignments ----------------------------------------------------------------------------------------------------


@define(eq=False)
class ReassignmentChange:
    """/admin/reassign_partitions was created or changed, or deleted by the controller itself, which then has to arm its
    watch again."""

    state: ClassVar = ControllerState.ALTER_PARTITION_REASSIGNMENT


@define(eq=False)
class ReassignmentIsrChange:
    """The state znode of a partition that is being reassigned changed; the controller's own writes cause this event
    too."""

    state: ClassVar = ControllerState.ALTER_PARTITION_REASSIGNMENT

    tp: TopicPartition


# -- requests ---------------------------------------------------------------------------------------------------------

R = TypeVar("R")
E = TypeVar("E", bound="type[RequestReceived[Any]]")

EVENTS: dict[type[Request], "type[RequestReceived[Any]]"] = {}
"""The event that a request of each class becomes."""


def answers(request: type[Request]) -> Callable[[E], E]:
    """Declare that each request of this class becomes an event of the decorated class."""

    def declare(event: E) -> E:
        assert request not in EVENTS, f"two events for {request.__name__}"
        EVENTS[request] = event
        return event

    return declare


@define(eq=False)
class RequestReceived(Generic[R]):
    """A request, to be answered once: when it has been carried out, or refused.

    It arrives whether or not this controller is active. If its event fails there is no answer, and the client's timeout
    ends its wait, as in Kafka.
    """

    state: ClassVar[ControllerState]

    request: R
    channel: Channel

    def answer(self, response: Any) -> None:
        self.channel.reply(response, response.size)

    def refuse(self) -> None:
        """Answer that this broker is not the active controller."""
        raise NotImplementedError


@answers(AlterIsrRequest)
@define(eq=False)
class AlterIsr(RequestReceived[AlterIsrRequest]):
    """A leader asks the controller to change ISRs (KIP-497)."""

    state: ClassVar = ControllerState.ISR_CHANGE

    def refuse(self) -> None:
        self.answer(AlterIsrResponse(Errors.NOT_CONTROLLER))


@answers(AllocateProducerIdsRequest)
@define(eq=False)
class AllocateProducerIds(RequestReceived[AllocateProducerIdsRequest]):
    """A broker asks for a block of producer ids (KIP-730)."""

    state: ClassVar = ControllerState.IDLE

    def refuse(self) -> None:
        self.answer(AllocateProducerIdsResponse(Errors.NOT_CONTROLLER))


@answers(ElectLeadersRequest)
@define(eq=False)
class ApiReplicaLeaderElection(RequestReceived[ElectLeadersRequest]):
    """A client asks for elections (KIP-460)."""

    state: ClassVar = ControllerState.MANUAL_LEADER_BALANCE

    def refuse(self) -> None:
        outcomes = tuple((tp, Errors.NOT_CONTROLLER) for tp in self.request.partitions or ())
        self.answer(ElectLeadersResponse(Errors.NOT_CONTROLLER, outcomes))


@answers(ControlledShutdownRequest)
@define(eq=False)
class ControlledShutdown(RequestReceived[ControlledShutdownRequest]):
    """A broker is shutting down."""

    state: ClassVar = ControllerState.CONTROLLED_SHUTDOWN

    def refuse(self) -> None:
        self.answer(ControlledShutdownResponse(Errors.STALE_CONTROLLER_EPOCH))


@answers(AlterPartitionReassignmentsRequest)
@define(eq=False)
class AlterReassignments(RequestReceived[AlterPartitionReassignmentsRequest]):
    """A client asks to begin, replace or cancel reassignments; it is answered when each has been begun."""

    state: ClassVar = ControllerState.ALTER_PARTITION_REASSIGNMENT

    def refuse(self) -> None:
        self.answer(AlterPartitionReassignmentsResponse(Errors.NOT_CONTROLLER))


@answers(ListPartitionReassignmentsRequest)
@define(eq=False)
class ListReassignments(RequestReceived[ListPartitionReassignmentsRequest]):
    """A client asks which reassignments are in progress."""

    state: ClassVar = ControllerState.LIST_PARTITION_REASSIGNMENT

    def refuse(self) -> None:
        self.answer(ListPartitionReassignmentsResponse(Errors.NOT_CONTROLLER))
