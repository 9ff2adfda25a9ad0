"""A plan's log_dirs, as kafka-reassign-partitions handles them (KIP-113; ReassignPartitionsCommand, 2.3 and 2.6)."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from emulator.protocol.errors import Errors
from emulator.protocol.events import AlterLogDirAnswered, LogDirsVerified
from emulator.protocol.log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, broker_entity
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import config_command
from scenarios.cluster.clients.tools.assignments import Assignments, read_assignments
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome
from scenarios.cluster.clients.tools.throttle import COPY_RATE, involved

Replica = tuple[TopicPartition, int]
Directories = Mapping[Replica, str]
"""Partition and broker -> the name of the directory for the replica."""

TIMEOUT_US = 10_000_000
"""--timeout: how long the request is repeated for replicas that do not exist yet."""
ASK_AGAIN_US = 100_000


async def around(
    operator: Operator,
    directories: Directories,
    moves: Assignments,
    rate: int | None,
    command: Callable[..., Awaitable[CommandOutcome]],
    *args: object,
) -> CommandOutcome:
    """Run ``command(operator, *args)``, which writes the plan ``moves``, and have its replicas in their directories.

    The tool sends AlterReplicaLogDirs after the command, so that an existing replica is moved. Up to 2.5 it does so
    before it, too, so that a new replica is created in the right directory, and neither while moves are under way.
    ``rate``: --replica-alter-log-dirs-throttle, bytes per second.
    """
    if rate is not None:
        await config_command.alter(operator, await _limited(operator, directories, moves), {COPY_RATE: str(rate)})
    answers: dict[Replica, Errors] = {}
    if not operator.has_tool_2_6:
        if await operator.zk.exists(REASSIGN_PARTITIONS) is not None:
            return await command(operator, *args)
        answers = await _ask(operator, directories, answers)
        refused = {r: error for r, error in answers.items() if error not in (Errors.NONE, Errors.REPLICA_NOT_AVAILABLE)}
        if refused:
            return _outcome(refused)
    outcome = await command(operator, *args)
    return outcome if outcome.errors else await _until_taken(operator, directories, answers)


async def _limited(operator: Operator, directories: Directories, moves: Assignments) -> Iterable[str]:
    """The brokers whose copies are limited: all that have the plan's topics (up to 2.5), or ``directories`` (2.6)."""
    brokers = _brokers(directories)
    if operator.has_tool_2_6:
        return map(broker_entity, brokers)
    return involved(await read_assignments(operator.zk, (tp.topic for tp in moves)), moves, brokers)


async def _until_taken(operator: Operator, directories: Directories, answers: dict[Replica, Errors]) -> CommandOutcome:
    """Repeat the request for replicas that the controller has not created yet; each is requested at least once."""
    world = operator.process.world
    deadline_us = world.now + TIMEOUT_US
    left = directories
    while True:
        answers |= await _ask(operator, left, answers)
        left = {replica: name for replica, name in left.items() if answers[replica] is not Errors.NONE}
        over = any(answers[replica] is not Errors.REPLICA_NOT_AVAILABLE for replica in left)
        if not left or over or world.now >= deadline_us:
            return _outcome({replica: answers[replica] for replica in left})
        await world.sleep(ASK_AGAIN_US)


def _outcome(refused: Mapping[Replica, Errors]) -> CommandOutcome:
    return CommandOutcome(
        tuple((f"the log directory of {tp} on broker {broker}", e) for (tp, broker), e in refused.items())
    )


async def _ask(operator: Operator, directories: Directories, before: Mapping[Replica, Errors]) -> dict[Replica, Errors]:
    """Each broker's answer for its replicas; new ones go into the trace."""
    answers: dict[Replica, Errors] = {}
    for broker in _brokers(directories):
        wanted = tuple((tp, name) for (tp, its), name in directories.items() if its == broker)
        try:
            response: AlterReplicaLogDirsResponse = await operator.admin.ask_broker(
                broker, AlterReplicaLogDirsRequest(wanted), TIMEOUT_US
            )
            errors = dict(response.partitions)
        except KafkaError:
            errors = dict.fromkeys((tp for tp, _name in wanted), Errors.REQUEST_TIMED_OUT)
        for tp, name in wanted:
            answers[tp, broker] = errors[tp]
            if before.get((tp, broker)) is not errors[tp]:
                operator.process.anchor(AlterLogDirAnswered, broker, tp.topic, tp.partition, name, errors[tp].name)
    return answers


def _brokers(directories: Iterable[Replica]) -> list[int]:
    return sorted({broker for _tp, broker in directories})


async def verify(operator: Operator, directories: Directories) -> bool:
    """Write into the trace where the replicas are. Returns whether all are in the directory of the plan."""
    done, under_way = await _found(operator, directories)
    failed = len(directories) - done - under_way
    operator.process.anchor(LogDirsVerified, done, under_way, failed)
    return done == len(directories)


async def any_under_way(operator: Operator, directories: Directories) -> bool:
    """Whether a replica is being copied to its new directory."""
    _done, under_way = await _found(operator, directories)
    return under_way > 0


async def _found(operator: Operator, directories: Directories) -> tuple[int, int]:
    """The number of replicas that are done, and of those that are being copied."""
    done = under_way = 0
    for broker in _brokers(directories):
        partitions = tuple(tp for tp, its in directories if its == broker)
        try:
            response: DescribeLogDirsResponse = await operator.admin.ask_broker(
                broker, DescribeLogDirsRequest(partitions), TIMEOUT_US
            )
        except KafkaError:
            continue
        held = {(i.tp, i.future): each.name for each in response.directories for i in each.replicas}
        wanted = [(tp, directories[tp, broker]) for tp in partitions]
        under_way += sum(held.get((tp, True)) == name for tp, name in wanted)
        done += sum((tp, True) not in held and held.get((tp, False)) == name for tp, name in wanted)
    return done, under_way
