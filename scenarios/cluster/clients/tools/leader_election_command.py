"""Elections that an operator asks for: kafka-preferred-replica-election through ZooKeeper (up to 2.3; deprecated since
2.2), kafka-leader-election by the API (2.4, KIP-460), and unclean ones by a topic's settings, as before 2.4."""

from collections.abc import Sequence

from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.errors import Errors
from emulator.protocol.events import ElectionAnswered
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    PREFERRED_REPLICA_ELECTION,
    LeaderAndIsr,
    broker_path,
    encode_preferred_election,
    state_path,
    topic_entity,
)
from emulator.zookeeper import NodeExists, NoNode
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import config_command
from scenarios.cluster.clients.tools.assignments import read_assignments
from scenarios.cluster.clients.tools.command_outcome import DONE, CommandOutcome

Partitions = Sequence[TopicPartition] | None
"""The partitions to elect; None: all."""


async def by_znode(operator: Operator, partitions: Partitions) -> CommandOutcome:
    """Write the znode; partitions that do not exist are left out. While the znode of an earlier request is there, the
    tool refuses (with an error that has no code of its own)."""
    existing = await read_assignments(operator.zk)
    wanted = list(existing) if partitions is None else [tp for tp in partitions if tp in existing]
    try:
        await operator.zk.create(PREFERRED_REPLICA_ELECTION, encode_preferred_election(wanted))
    except NodeExists:
        return CommandOutcome((("another preferred election is in progress", Errors.UNKNOWN_SERVER_ERROR),))
    return DONE


async def by_api(
    operator: Operator, partitions: Partitions, type: ElectionType = ElectionType.PREFERRED
) -> CommandOutcome:
    """Ask the controller. A partition that needs no election counts as done, as the tool has it: its preferred replica
    leads already, or for an unclean election its leader is alive."""
    request = ElectLeadersRequest(type, None if partitions is None else tuple(partitions))
    response: ElectLeadersResponse
    try:
        response = await operator.admin.ask_controller(request)
    except KafkaError:
        answers = tuple((tp, Errors.REQUEST_TIMED_OUT) for tp in partitions or ())
        response = ElectLeadersResponse(Errors.REQUEST_TIMED_OUT, answers)
    for tp, error in response.partitions:
        operator.process.anchor(ElectionAnswered, tp.topic, tp.partition, error.name)
    fine = (Errors.NONE, Errors.ELECTION_NOT_NEEDED)
    failed = tuple((str(tp), error) for tp, error in response.partitions if error not in fine)
    if response.error is not Errors.NONE and not failed:
        return CommandOutcome((("the election", response.error),))
    return CommandOutcome(failed)


UNCLEAN, ALLOWED = "unclean.leader.election.enable", "true"
LOOKS, LOOK_US = 60, 1_000_000


async def unclean_by_config(operator: Operator, partitions: Partitions) -> CommandOutcome:
    """Allow unclean elections for the topics of ``partitions`` (None: of all), look every second until each has a
    leader, for a minute at most, then set what was set before."""
    wanted = [tp for tp in await read_assignments(operator.zk) if partitions is None or tp in partitions]
    entities = [topic_entity(topic) for topic in dict.fromkeys(tp.topic for tp in wanted)]
    before = {entity: (await config_command.read(operator, entity) or {}).get(UNCLEAN) for entity in entities}
    await config_command.alter(operator, entities, {UNCLEAN: ALLOWED})
    without = wanted
    for _ in range(LOOKS):
        await operator.process.world.sleep(LOOK_US)
        without = [tp for tp in without if not await _is_led(operator, tp)]
        if not without:
            break
    for entity, value in before.items():
        settings = {} if value is None else {UNCLEAN: value}
        await config_command.alter(operator, [entity], settings, () if settings else (UNCLEAN,))
    for tp in wanted:
        error = Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE if tp in without else Errors.NONE
        operator.process.anchor(ElectionAnswered, tp.topic, tp.partition, error.name)
    return CommandOutcome(tuple((str(tp), Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE) for tp in without))


async def _is_led(operator: Operator, tp: TopicPartition) -> bool:
    """Whether the partition has a leader that is registered."""
    try:
        data, _ = await operator.zk.get(state_path(tp))
    except NoNode:
        return False
    leader = LeaderAndIsr.decode(data, 0).leader
    return leader >= 0 and await operator.zk.exists(broker_path(leader)) is not None
