"""Events about elections and shutdowns, some of which a client waits for."""

from typing import TYPE_CHECKING, ClassVar

from attrs import define

from controller.errors import ControllerError, ControllerMoved
from controller.events.asked import Asked
from controller.events.state import ControllerState
from controller.operations import preferred, shutdown
from controller.requests import answers
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.elect_leaders import ElectLeadersRequest
from emulator.protocol.errors import Errors
from emulator.zookeeper import ZkError

if TYPE_CHECKING:
    from controller.controller import Controller


@define(eq=False)
class ReplicaLeaderElection:
    """/admin/preferred_replica_election was created, or deleted by the controller itself, which has to watch it
    again."""

    state: ClassVar = ControllerState.MANUAL_LEADER_BALANCE

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await preferred.requested(controller)


@answers(ElectLeadersRequest)
@define(eq=False)
class ApiReplicaLeaderElection(Asked[ElectLeadersRequest]):
    """ElectLeaders."""

    state: ClassVar = ControllerState.MANUAL_LEADER_BALANCE

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            self.answer(await preferred.answer(controller, self.request))
        else:
            self.preempted(controller)

    def preempted(self, _controller: "Controller") -> None:
        self.answer(preferred.not_controller(self.request))


@answers(ControlledShutdownRequest)
@define(eq=False)
class ControlledShutdown(Asked[ControlledShutdownRequest]):
    """A broker is going down. It is answered whatever happens; as in Kafka, a controller that has been replaced is told
    so here and leaves its resignation to the watch on /controller."""

    state: ClassVar = ControllerState.CONTROLLED_SHUTDOWN

    async def process(self, controller: "Controller") -> None:
        try:
            response = await shutdown.answer(controller, self.request)
        except ControllerMoved:
            self.preempted(controller)
        except (ControllerError, ZkError):
            self.answer(ControlledShutdownResponse(Errors.UNKNOWN_SERVER_ERROR))
            raise
        else:
            self.answer(response)

    def preempted(self, _controller: "Controller") -> None:
        self.answer(ControlledShutdownResponse(Errors.STALE_CONTROLLER_EPOCH))


@define(eq=False)
class UncleanLeaderElectionEnable:
    """The brokers' unclean.leader.election.enable was switched on (KIP-226)."""

    state: ClassVar = ControllerState.UNCLEAN_LEADER_ELECTION_ENABLE

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await controller.partitions.elect_where_missing()


@define(eq=False)
class TopicUncleanLeaderElectionEnable:
    """A topic's unclean.leader.election.enable was switched on."""

    state: ClassVar = ControllerState.TOPIC_UNCLEAN_LEADER_ELECTION_ENABLE

    topic: str

    async def process(self, controller: "Controller") -> None:
        if controller.is_active:
            await controller.partitions.elect_where_missing(self.topic)
