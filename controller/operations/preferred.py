"""Elections that an administrator requests (the page's onPreferredReplicaElection; kafka-behaviour §4).

There are two ways: the znode /admin/preferred_replica_election, which a tool creates and the controller always deletes,
even after a failed election; and ElectLeaders (KIP-460), which is answered partition by partition.
"""

from collections.abc import Sequence

from attrs import define

from controller.context import ControllerContext
from controller.state_machines.leader_election_algorithms import UNCLEAN
from controller.state_machines.partitions import PartitionStateMachine
from controller.states import PartitionState
from controller.steps import Procedure, Steps, labels_of
from controller.watches import Watches
from controller.zk_client import KafkaZkClient
from emulator.logger import get_logger
from emulator.protocol import znodes
from emulator.protocol.elect_leaders import ElectionsRequested, ElectionType, ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

PREFERRED = Procedure.numbered("preferred", "elect the preferred replicas")

log = get_logger("controller.preferred")

Outcomes = dict[TopicPartition, Errors]


@define(eq=False, repr=False)
class PreferredElections:
    """Holds the elections of the znode, of ElectLeaders, and of the automatic rebalance.

    Attributes:
        elects_again: whether the znode's elections are also held where the preferred replica leads already.
        refuses_needless: whether an election of ElectLeaders that is not needed is an error.
    """

    context: ControllerContext
    zk_client: KafkaZkClient
    watches: Watches
    partitions: PartitionStateMachine
    _step: Steps
    elects_again: bool = False
    refuses_needless: bool = False

    async def znode_changed(self) -> None:
        """The znode was created, or has to be read to arm its watch."""
        if await self.zk_client.exists(znodes.PREFERRED_REPLICA_ELECTION):
            await self.process_znode()

    async def process_znode(self, *, ends: bool = True) -> None:
        """Hold the elections that the znode asks for, delete it (``ends``) and watch for the next one; a new controller
        does this whether or not there is a znode."""
        requested = await self.zk_client.preferred_elections()
        held = (Errors.NONE, Errors.ELECTION_NOT_NEEDED) if self.elects_again else (Errors.NONE,)
        await self.elect([tp for tp in requested if self._refusal(tp, ElectionType.PREFERRED) in held])
        if ends:
            await self.zk_client.delete([znodes.PREFERRED_REPLICA_ELECTION])
            self.watches.read_elections()

    async def elect(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Elect each partition's preferred replica; returns the partitions where that succeeded."""
        if not partitions:
            return []
        async with self._step("preferred.1", *labels_of(partitions)):
            selector = self.partitions.selectors.preferred
            return await self.partitions.handle_state_changes(partitions, PartitionState.ONLINE, selector)

    async def answer(self, request: ElectLeadersRequest) -> ElectLeadersResponse:
        """Hold the elections that ``request`` asks for; the response has each partition's outcome.

        Kafka delays the response until the metadata of the controller's own broker shows the new leaders; here it is
        sent once they are written.
        """
        process = self.partitions.elections.process
        process.show(ElectionsRequested, process.node.id, request)
        named = tuple(self.context.partitions()) if request.partitions is None else request.partitions
        outcomes: Outcomes = {tp: self._refusal(tp, request.type) for tp in named}
        wanted = [tp for tp, error in outcomes.items() if error is Errors.NONE]
        if request.type is ElectionType.PREFERRED:
            elected, failure = await self.elect(wanted), Errors.PREFERRED_LEADER_NOT_AVAILABLE
        else:
            elected = await self.partitions.handle_state_changes(wanted, PartitionState.ONLINE, UNCLEAN)
            failure = Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE
        outcomes.update(dict.fromkeys(wanted, failure))
        outcomes.update(dict.fromkeys(elected, Errors.NONE))
        needless = [tp for tp, error in outcomes.items() if error is Errors.ELECTION_NOT_NEEDED]
        if not self.refuses_needless:
            outcomes.update(dict.fromkeys(needless, Errors.NONE))
        elif request.partitions is None:
            outcomes = {tp: error for tp, error in outcomes.items() if error is not Errors.ELECTION_NOT_NEEDED}
        return ElectLeadersResponse(Errors.NONE, tuple(outcomes.items()))

    def _refusal(self, tp: TopicPartition, type: ElectionType) -> Errors:
        """Why no election is held for ``tp``; NONE where one is.

        Kafka's event throws where a partition never had a leader, and all of its work is lost; here that partition
        fails.
        """
        context = self.context
        replicas, leader = context.replicas(tp), context.leader(tp)
        if not replicas:
            log.info("no election: no such partition", partition=str(tp))
            return Errors.UNKNOWN_TOPIC_OR_PARTITION
        if context.is_deleting(tp.topic):
            log.warning("no election: topic to be deleted", partition=str(tp))
            return Errors.INVALID_TOPIC_EXCEPTION
        if tp not in context.leadership_info:
            log.error("no election: never had a leader", partition=str(tp))
            return Errors.LEADER_NOT_AVAILABLE
        fine = leader == replicas[0] if type is ElectionType.PREFERRED else leader in context.live
        return Errors.ELECTION_NOT_NEEDED if fine else Errors.NONE
