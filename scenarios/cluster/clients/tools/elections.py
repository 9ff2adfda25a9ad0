"""Preferred elections: kafka-preferred-replica-election through ZooKeeper (up to 2.3; deprecated since 2.2), and
kafka-leader-election by the API (2.4, KIP-460)."""

from collections.abc import Sequence

from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.errors import Errors
from emulator.protocol.events import ElectionAnswered
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import PREFERRED_REPLICA_ELECTION, encode_preferred_election
from emulator.zookeeper import NodeExists
from scenarios.cluster.clients.admin import TimedOut
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools.assignments import read_assignments
from scenarios.cluster.clients.tools.outcome import DONE, Outcome

Partitions = Sequence[TopicPartition] | None
"""The partitions to elect; None: all."""


async def by_znode(operator: Operator, partitions: Partitions) -> Outcome:
    """Write the znode; partitions that do not exist are left out. While the znode of an earlier request is there, the
    tool refuses (with an error that has no code of its own)."""
    existing = await read_assignments(operator.zk)
    wanted = list(existing) if partitions is None else [tp for tp in partitions if tp in existing]
    try:
        await operator.zk.create(PREFERRED_REPLICA_ELECTION, encode_preferred_election(wanted))
    except NodeExists:
        return Outcome((("another preferred election is in progress", Errors.UNKNOWN_SERVER_ERROR),))
    return DONE


async def by_api(operator: Operator, partitions: Partitions) -> Outcome:
    """Ask the controller. A partition whose preferred replica leads already counts as done, as the tool has it."""
    request = ElectLeadersRequest(ElectionType.PREFERRED, None if partitions is None else tuple(partitions))
    response: ElectLeadersResponse
    try:
        response = await operator.admin.ask_controller(request)
    except TimedOut:
        answers = tuple((tp, Errors.REQUEST_TIMED_OUT) for tp in partitions or ())
        response = ElectLeadersResponse(Errors.REQUEST_TIMED_OUT, answers)
    for tp, error in response.partitions:
        operator.process.anchor(ElectionAnswered, tp.topic, tp.partition, error.name)
    fine = (Errors.NONE, Errors.ELECTION_NOT_NEEDED)
    failed = tuple((str(tp), error) for tp, error in response.partitions if error not in fine)
    if response.error is not Errors.NONE and not failed:
        return Outcome((("the election", response.error),))
    return Outcome(failed)
