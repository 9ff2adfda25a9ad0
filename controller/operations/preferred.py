"""Elections that somebody asks for (the page's onPreferredReplicaElection; kafka-behaviour §4).

Two ways lead here: the znode /admin/preferred_replica_election, which a tool creates and the controller always
deletes, also where an election failed; and ElectLeaders (KIP-460), which is answered partition by partition.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

from controller.states.names import PartitionState
from controller.states.selectors import UNCLEAN
from controller.steps import Procedure, labels_of
from emulator.protocol import znodes
from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

PREFERRED = Procedure.numbered("preferred", "elect the preferred replicas")

log = structlog.get_logger("controller.preferred")

Outcomes = dict[TopicPartition, Errors]


async def requested(c: "Controller") -> None:
    """The znode was created, or has to be watched again."""
    if await c.store.exists(znodes.PREFERRED_REPLICA_ELECTION):
        await take_up(c)


async def take_up(c: "Controller") -> None:
    """Elect what the znode asks for, delete it, and look for the next one; a new controller does so too, whether or not
    there is a znode."""
    asked = await c.store.preferred_elections()
    await elect_preferred(c, [tp for tp in asked if _refusal(c, tp, ElectionType.PREFERRED) is Errors.NONE])
    await c.store.delete([znodes.PREFERRED_REPLICA_ELECTION])
    c.watches.look_for_elections()


async def elect_preferred(c: "Controller", partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
    """Have each partition's first replica lead; returns those where it does now."""
    if not partitions:
        return []
    async with c.step("preferred.1", *labels_of(partitions)):
        return await c.partitions.handle(partitions, PartitionState.ONLINE, c.policies.selectors.preferred)


async def answer(c: "Controller", request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Hold the elections that ``request`` asks for, and say of each partition what came of it.

    Kafka holds the answer back until the metadata of the controller's own broker shows the new leaders; here it goes
    out once they are written.
    """
    asked = tuple(c.context.partitions()) if request.partitions is None else request.partitions
    outcomes: Outcomes = {tp: _refusal(c, tp, request.type) for tp in asked}
    wanted = [tp for tp, error in outcomes.items() if error is Errors.NONE]
    if request.type is ElectionType.PREFERRED:
        elected, failure = await elect_preferred(c, wanted), Errors.PREFERRED_LEADER_NOT_AVAILABLE
    else:
        elected = await c.partitions.handle(wanted, PartitionState.ONLINE, UNCLEAN)
        failure = Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE
    outcomes.update(dict.fromkeys(wanted, failure))
    outcomes.update(dict.fromkeys(elected, Errors.NONE))
    told = outcomes.items()
    if request.partitions is None:
        told = {tp: error for tp, error in told if error is not Errors.ELECTION_NOT_NEEDED}.items()
    return ElectLeadersResponse(Errors.NONE, tuple(told))


def not_controller(request: ElectLeadersRequest) -> ElectLeadersResponse:
    """What a broker answers that is not the controller, or is it no longer."""
    outcomes = tuple((tp, Errors.NOT_CONTROLLER) for tp in request.partitions or ())
    return ElectLeadersResponse(Errors.NOT_CONTROLLER, outcomes)


def _refusal(c: "Controller", tp: TopicPartition, type: ElectionType) -> Errors:
    """Why there is nothing to elect for ``tp``; NONE where there is.

    Kafka's event throws where a partition never had a leader, and all of its work is lost; here that partition fails.
    """
    replicas, leader = c.context.replicas(tp), c.context.leader(tp)
    if not replicas:
        log.info("no election: no such partition", partition=str(tp))
        return Errors.UNKNOWN_TOPIC_OR_PARTITION
    if c.context.is_deleting(tp.topic):
        log.warning("no election: topic to be deleted", partition=str(tp))
        return Errors.INVALID_TOPIC_EXCEPTION
    if tp not in c.context.leadership:
        log.error("no election: never had a leader", partition=str(tp))
        return Errors.LEADER_NOT_AVAILABLE
    fine = leader == replicas[0] if type is ElectionType.PREFERRED else leader in c.context.live
    return Errors.ELECTION_NOT_NEEDED if fine else Errors.NONE
