"""kafka-reassign-partitions: execute through ZooKeeper (up to 2.5) or the API (2.6, KAFKA-8820), cancel, list,
verify.

Through ZooKeeper there is no response, so the tool checks the plan itself; by the API the controller does, partition by
partition. Asked by the API the tool goes ahead while other moves are in progress, as with ``--additional``.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.assignments import ReplicaAssignment, without
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveAnswered, MoveCancelled, MovesListed, MoveStarted, MovesVerified
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from emulator.protocol.shown import MistakeAnswered
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import BROKER_IDS, REASSIGN_PARTITIONS, decode_reassignment, encode_reassignment
from emulator.zookeeper import NodeExists, NoNode, ZkClient
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import reassigned_log_dirs
from scenarios.cluster.clients.tools.adapting import Adaptation
from scenarios.cluster.clients.tools.assignments import Assignments, read_assignments
from scenarios.cluster.clients.tools.command_outcome import DONE, CommandOutcome
from scenarios.cluster.clients.tools.reassigned_log_dirs import Directories
from scenarios.cluster.clients.tools.throttle import BrokersDown, impose, lift, limit
from scenarios.language.strategies import Throttle

Plan = Assignments
"""Partition -> its target replicas."""

IN_PROGRESS = CommandOutcome((("another reassignment is in progress", Errors.REASSIGNMENT_IN_PROGRESS),))
"""The tool's outcome where the znode exists already."""


async def execute(operator: Operator, moves: Plan, via: str = "zk", throttle: Throttle | None = None) -> CommandOutcome:
    """--execute, with --throttle where one is given. ``via``: zk or api."""
    try:
        return await (_by_api if via == "api" else _by_znode)(operator, moves, throttle)
    except BrokersDown as error:
        return error.outcome


async def cancel(
    operator: Operator, partitions: Sequence[TopicPartition] | None = None, targets: Iterable[int] = ()
) -> CommandOutcome:
    """--cancel: ``partitions``, or all that are in progress, by the API, which is the only way. If nothing was refused,
    all throttles are cleared, those of other moves too (2.6). ``targets``: the brokers of the plan.

    The tool of 2.6 asks first which of them are in progress, and leaves out the others; that of 3.7 to 3.9 also those
    that only add replicas (ReassignPartitionsCommand.cancelAssignment, 2.6.0, 3.6.2, 3.7.0 and 3.9.0). Before 2.6 the
    tool has no --cancel: the controller is asked, and refuses where there is nothing to cancel."""
    active = partitions or ()
    if partitions is None or operator.has_tool_2_6:
        listed = await _ask_for_list(operator, partitions)
        if listed.error is not Errors.NONE:
            return CommandOutcome((("the list of reassignments", listed.error),))
        if partitions is None and not listed.partitions:
            return CommandOutcome((("nothing is being reassigned", Errors.NO_REASSIGNMENT_IN_PROGRESS),))
        keeps = operator.tool_keeps_widenings
        active = [tp for tp, found in listed.partitions if not (keeps and found.adding and not found.removing)]
    for tp in active:
        operator.process.anchor(MoveCancelled, tp.topic, tp.partition)
    outcome = await _alter(operator, dict.fromkeys(active)) if active else DONE
    if outcome == DONE:
        topics = dict.fromkeys(tp.topic for tp in partitions or active)
        try:
            await lift(operator, topics, targets, by_brokers=operator.has_tool_2_6)
        except BrokersDown as error:
            return error.outcome
    return outcome


async def list_reassignments(operator: Operator, partitions: Sequence[TopicPartition] | None = None) -> CommandOutcome:
    """--list: write those of ``partitions`` (None: of all) that are being reassigned into the trace."""
    listed = await _ask_for_list(operator, partitions)
    detail = "; ".join(f"{tp}: {_said(assignment)}" for tp, assignment in listed.partitions)
    operator.process.anchor(MovesListed, listed.error.name, len(listed.partitions), detail)
    return DONE if listed.error is Errors.NONE else CommandOutcome((("the list of reassignments", listed.error),))


async def in_progress(operator: Operator, via: str) -> tuple[TopicPartition, ...] | None:
    """The partitions that are being reassigned, requested in any way, as ZooKeeper or the API shows them. None: there
    was no answer."""
    if via == "api":
        listed = await _ask_for_list(operator, None)
        return tuple(tp for tp, _ in listed.partitions) if listed.error is Errors.NONE else None
    return tuple(await _written(operator.zk))


# -- the end ----------------------------------------------------------------------------------------------------------


async def verify(operator: Operator, moves: Plan, via: str = "zk", directories: Directories | None = None) -> None:
    """--verify: write the progress of ``moves`` into the trace, and clear the throttles if they are over: if all are
    done (up to 2.5), or if nothing at all is being reassigned (2.6). ``directories``: the plan's."""
    under_way = await in_progress(operator, via)
    now = await _existing(operator.zk, moves)
    open_ = [tp for tp in moves if under_way is None or tp in under_way]
    done = [tp for tp, target in moves.items() if tp not in open_ and now.get(tp) == target]
    failed = len(moves) - len(open_) - len(done)
    over = under_way == () if via == "api" or operator.has_tool_2_6 else len(done) == len(moves)
    if directories:
        over = await reassigned_log_dirs.verify(operator, directories) and over
    lifted = over and await _lift(operator, moves, via)
    operator.process.anchor(MovesVerified, len(done), len(open_), failed, lifted)


async def _lift(operator: Operator, moves: Plan, via: str) -> bool:
    """Clear the throttles, from 2.6 on also on those brokers of the plan that are down (``clearAllThrottles``). Returns
    whether that was possible, and anything was set."""
    also = dict.fromkeys(broker for target in moves.values() for broker in target) if operator.has_tool_2_6 else ()
    by_brokers = via == "api" and operator.has_tool_2_6
    try:
        return await lift(operator, dict.fromkeys(tp.topic for tp in moves), also, by_brokers=by_brokers)
    except BrokersDown:
        return False


async def verify_at_the_end(
    operator: Operator, moves: Plan, via: str, poll_us: int, directories: Directories, adaptation: Adaptation | None
) -> None:
    """Check every ``poll_us`` whether anything is still being reassigned or copied, then verify ``moves``.
    ``adaptation``: chooses the rate meanwhile."""
    while True:
        under_way = await in_progress(operator, via)
        if under_way == () and not await reassigned_log_dirs.any_under_way(operator, directories):
            break
        if adaptation is not None and under_way:
            await adaptation.look_at_last(operator, under_way)
        await operator.process.world.sleep(poll_us, background=True)
    await verify(operator, moves, via, directories)


# -- by the API -------------------------------------------------------------------------------------------------------


async def _by_api(operator: Operator, moves: Plan, throttle: Throttle | None) -> CommandOutcome:
    if throttle is not None:
        await _impose_by_api(operator, moves, throttle)
    for tp, target in moves.items():
        operator.process.anchor(MoveStarted, tp.topic, tp.partition, target)
    return await _alter(operator, moves)


async def _impose_by_api(operator: Operator, moves: Plan, throttle: Throttle) -> None:
    """The lists hold all that is being reassigned, as well. In 2.6 and 2.7 whom such a move adds already counts as one
    from before, so that the move goes on without the followers' half (KAFKA-10779)."""
    existing = await _existing(operator.zk, moves)
    listed = await _ask_for_list(operator, None)
    if operator.tool_heeds_moves:
        under_way = dict(listed.partitions)
        sources = {tp: without(found.replicas, found.adding) for tp, found in under_way.items()}
        added = {tp: found.adding for tp, found in under_way.items() if tp not in moves}
        known = {tp: existing[tp] for tp in moves if tp in existing}
        before, gaining = {**known, **sources}, {**added, **moves}
        await impose(operator, throttle, before, gaining, all_leaders=True, by_brokers=operator.has_tool_2_6)
        return
    others = {tp: assignment.replicas for tp, assignment in listed.partitions if tp not in moves}
    before = {**others, **{tp: existing[tp] for tp in moves if tp in existing}}
    gaining = {**dict.fromkeys(others, ()), **moves}
    await impose(operator, throttle, before, gaining, all_leaders=True, by_brokers=operator.has_tool_2_6)


async def _alter(operator: Operator, targets: Mapping[TopicPartition, tuple[int, ...] | None]) -> CommandOutcome:
    response: AlterPartitionReassignmentsResponse
    try:
        response = await operator.admin.ask_controller(AlterPartitionReassignmentsRequest(targets))
    except KafkaError:
        response = AlterPartitionReassignmentsResponse(Errors.REQUEST_TIMED_OUT)
    answers = response.partitions or tuple((tp, response.error) for tp in targets)
    for tp, error in answers:
        operator.process.anchor(MoveAnswered, tp.topic, tp.partition, error.name)
    return CommandOutcome(tuple((str(tp), error) for tp, error in answers if error is not Errors.NONE))


def possible(replicas: Sequence[int]) -> bool:
    """Whether a partition can have these replicas: some, each once, by numbers that brokers can have."""
    return bool(replicas) and len(set(replicas)) == len(replicas) and min(replicas) >= 0


async def ask_by_mistake(operator: Operator, tp: TopicPartition, target: tuple[int, ...]) -> CommandOutcome:
    """Ask for a target that is not ``possible``, which no tool checks before, and let checkers see the answer."""
    response: AlterPartitionReassignmentsResponse
    with suppress(KafkaError):
        response = await operator.admin.ask_controller(AlterPartitionReassignmentsRequest({tp: target}))
        node = operator.process.node
        for asked, error in response.partitions:
            node.trace.show(MistakeAnswered, node.id, asked.topic, asked.partition, target, error.name)
    return DONE


async def _ask_for_list(
    operator: Operator, partitions: Sequence[TopicPartition] | None
) -> ListPartitionReassignmentsResponse:
    request = ListPartitionReassignmentsRequest(None if partitions is None else tuple(partitions))
    try:
        response: ListPartitionReassignmentsResponse = await operator.admin.ask_controller(request)
        return response
    except KafkaError:
        return ListPartitionReassignmentsResponse(Errors.REQUEST_TIMED_OUT)


def _said(assignment: ReplicaAssignment) -> str:
    parts = {"replicas": assignment.replicas, "adding": assignment.adding, "removing": assignment.removing}
    return ", ".join(f"{name} {list(replicas)}" for name, replicas in parts.items() if replicas)


# -- by way of ZooKeeper ----------------------------------------------------------------------------------------------


async def _by_znode(operator: Operator, moves: Plan, throttle: Throttle | None) -> CommandOutcome:
    """A throttle is set before the plan is written. While moves are under way it only changes the limits of the plan's
    brokers (up to 2.5), which is all there is to do if they are this plan's; the tool of 2.6 changes nothing then."""
    existing = await _existing(operator.zk, moves)
    refused = check(moves, existing, await _registered(operator.zk))
    if refused is not DONE:
        return refused
    if throttle is not None:
        under_way = await _written(operator.zk)
        if under_way and operator.has_tool_2_6:
            return IN_PROGRESS
        if under_way:
            await limit(operator, throttle, existing, moves)
            return DONE if under_way.items() <= dict(moves).items() else IN_PROGRESS
        before = {tp: existing[tp] for tp in moves} if operator.has_tool_2_6 else existing
        await impose(operator, throttle, before, moves, all_leaders=operator.has_tool_2_6)
    return await write_plan(operator, moves)


async def write_plan(operator: Operator, moves: Plan) -> CommandOutcome:
    """Write ``moves`` to the znode, unless it exists."""
    try:
        await operator.zk.create(REASSIGN_PARTITIONS, encode_reassignment(moves))
    except NodeExists:
        return IN_PROGRESS
    for tp, target in moves.items():
        operator.process.anchor(MoveStarted, tp.topic, tp.partition, target)
    return DONE


def check(moves: Plan, existing: Assignments, brokers: Sequence[int]) -> CommandOutcome:
    """The errors of the plan, DONE if it has none (ReassignPartitionsCommand.parseAndValidate, 1.1 to 2.5). The
    tool gives its reasons in words only; the codes are those that the API has for them.

    ``brokers``: those that are registered; to the tool a dead one does not exist.
    """
    if not moves:
        return _refused("the plan moves nothing")
    for tp, target in moves.items():
        if not target:
            return _refused(f"the replica list of {tp} is empty")
        if len(set(target)) < len(target):
            return _refused(f"the replica list of {tp} names a broker twice: {list(target)}")
    missing = [str(tp) for tp in moves if tp not in existing]
    if missing:
        return _refused(f"no such partitions: {', '.join(missing)}", Errors.UNKNOWN_TOPIC_OR_PARTITION)
    unknown = sorted({broker for target in moves.values() for broker in target if broker not in brokers})
    return _refused(f"no such brokers now: {', '.join(map(str, unknown))}") if unknown else DONE


def _refused(why: str, code: Errors = Errors.INVALID_REPLICA_ASSIGNMENT) -> CommandOutcome:
    return CommandOutcome(((why, code),))


async def _existing(zk: ZkClient, moves: Plan) -> Assignments:
    return await read_assignments(zk, (tp.topic for tp in moves))


async def _written(zk: ZkClient) -> Plan:
    """The partitions in the znode that the controller has not finished."""
    try:
        data, _ = await zk.get(REASSIGN_PARTITIONS)
    except NoNode:
        return {}
    return decode_reassignment(data)


async def _registered(zk: ZkClient) -> list[int]:
    return [int(name) for name in await zk.children(BROKER_IDS)]
