"""The memory of a controller: its parts, each with where a new controller reads it.

A controller that takes over reads all of it, one that resigns forgets it, and between the two it follows by watches and
answers. ``scenarios/observe/checkers/controller_remembers.py`` compares.
"""

from typing import Protocol

from controller.channel_manager import ControllerChannelManager
from controller.context import ControllerContext
from controller.operations.rebalance import AutoLeaderRebalance
from controller.request_batch import ControllerBrokerRequestBatch
from controller.states import PartitionState, ReplicaState
from controller.watches import Watches
from emulator.memories import Memory, Recalled, recalled
from emulator.nodes import Process
from emulator.protocol.shown import Remembered, RememberedMeanwhile
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkClient

CHECKER, RESIGNED = "controller_remembers", "resigned_forgets"
STATE = "/brokers/topics/T/partitions/P/state"


class Remembering(Protocol):
    """The parts of a controller that remember something (``Controller``)."""

    zk: ZkClient
    context: ControllerContext
    channels: ControllerChannelManager
    watches: Watches
    batch: ControllerBrokerRequestBatch
    rebalance: AutoLeaderRebalance


def _assignments(controller: Remembering) -> dict[str, dict[int, tuple[int, ...]]]:
    return {topic: dict(replicas) for topic, replicas in controller.context.assignments.items()}


def _reassigning(controller: Remembering) -> dict[TopicPartition, tuple[tuple[int, ...], tuple[int, ...]]]:
    return {
        TopicPartition.of(topic, number): (found.adding, found.removing)
        for topic, partitions in controller.context.reassigning.items()
        for number, found in partitions.items()
        if found.adding or found.removing
    }


def _moves(controller: Remembering) -> dict[TopicPartition, tuple[int, ...]]:
    return {tp: move.target for tp, move in controller.context.reassignments.items()}


def _offline_dirs(controller: Remembering) -> dict[int, tuple[TopicPartition, ...]]:
    return {broker: tuple(lost) for broker, lost in controller.context.offline_dirs.items() if lost}


def _states(controller: Remembering) -> dict[TopicPartition, PartitionState]:
    return dict(controller.context.partition_states)


def _not_online(controller: Remembering) -> dict[int, dict[TopicPartition, ReplicaState]]:
    """The states of replicas that are not Online, and of those that are not assigned, by broker."""
    context = controller.context
    found: dict[int, dict[TopicPartition, ReplicaState]] = {}
    for tp in context.partitions():
        for broker in context.replicas(tp):
            state = context.replica_state(tp, broker)
            if state is not ReplicaState.ONLINE:
                found.setdefault(broker, {})[tp] = state
    for broker, states in context.replica_states.items():
        for tp, state in states.items():
            if broker not in context.replicas(tp):
                found.setdefault(broker, {})[tp] = state
    return found


def _left_deletions(controller: Remembering) -> tuple[str, ...]:
    """The topics that are begun, wait or are tried again, and are not to be deleted."""
    deletions = controller.context.deletions
    of_all = {**deletions.begun, **deletions.ineligible, **deletions.retrying}
    return tuple(topic for topic in of_all if topic not in deletions.queued)


def _unarmed(controller: Remembering) -> tuple[str, ...]:
    return controller.zk.unarmed if controller.context.epoch else ()


def _rebalance_lost(controller: Remembering) -> bool:
    rebalance = controller.rebalance
    return bool(controller.context.epoch) and rebalance.settings.enabled and not rebalance.due


MEMORIES: tuple[Memory[Remembering], ...] = (
    Memory("epoch", "/controller_epoch", "the controller epoch; 0: not active", lambda c: c.context.epoch, CHECKER),
    Memory(
        "brokers", "/brokers/ids", "the live brokers with their broker epochs", lambda c: dict(c.context.brokers),
        CHECKER,
    ),
    Memory(
        "shutting_down", "requests for a controlled shutdown", "the live brokers that have asked to end",
        lambda c: tuple(c.context.shutting_down), CHECKER,
    ),
    Memory("assignments", "/brokers/topics/T", "the replicas of each partition", _assignments, CHECKER),
    Memory("reassigning", "/brokers/topics/T (KIP-455)", "adding and removing replicas", _reassigning, CHECKER),
    Memory("leaders", STATE, "the leader, leader epoch and ISR", lambda c: dict(c.context.leadership_info), CHECKER),
    Memory("partition_states", STATE + " and /brokers/ids", "whether a partition is online", _states, CHECKER),
    Memory(
        "offline_dirs", "answers to LeaderAndIsr", "the replicas whose log directory has failed", _offline_dirs, CHECKER
    ),
    Memory(
        "moves", "/admin/reassign_partitions, or /brokers/topics/T (KIP-455)", "the moves with their targets", _moves,
        CHECKER,
    ),
    Memory(
        "deletions", "/admin/delete_topics", "the topics to be deleted", lambda c: tuple(c.context.deletions.queued),
        CHECKER,
    ),
    Memory(
        "topic_ids", "/brokers/topics/T (KIP-516)", "the ids of topics", lambda c: dict(c.context.topic_ids), CHECKER
    ),
    Memory(
        "replica_states", "/brokers/topics/T and /brokers/ids", "the replicas that are not online, or not assigned",
        _not_online, CHECKER,
    ),
    Memory(
        "left_deletions", "none", "the topics that wait for their deletion and are not to be deleted",
        _left_deletions, CHECKER,
    ),
    Memory("channels", "/brokers/ids", "the brokers to which there is a queue", lambda c: c.channels.brokers, CHECKER),
    Memory(
        "watched_topics", "/brokers/topics", "the topics whose znode has a handler", lambda c: c.watches.topics, CHECKER
    ),
    Memory("watched", "fixed", "the znodes of all topics that have a handler", lambda c: c.watches.fixed, CHECKER),
    Memory("unarmed", "fixed", "the znodes with a handler, and no watch at ZooKeeper", _unarmed, CHECKER),
    Memory(
        "watches", "fixed, and the moves in progress", "how many znodes have a handler", lambda c: c.watches.count,
        RESIGNED,
    ),
    Memory(
        "batch", "none: it is sent when its change is done", "how many brokers have a request in the batch",
        lambda c: c.batch.brokers, CHECKER,
    ),
    Memory(
        "rebalance", "none", "whether the next look at preferred leaders is due", lambda c: c.rebalance.due, RESIGNED
    ),
    Memory(
        "rebalance_lost", "none", "whether the controller looks at preferred leaders no more, and should",
        _rebalance_lost, CHECKER,
    ),
)  # fmt: skip
"""All of it. What a new controller counts from the start again (metrics, the number of a move's hop) is not listed."""

OUTSIDE_THE_CONTEXT = (
    "epoch",
    "channels",
    "watched_topics",
    "watched",
    "unarmed",
    "watches",
    "batch",
    "rebalance",
    "rebalance_lost",
)
"""The memories that are not in the ``ControllerContext``."""


def show(controller: Remembering, process: Process, occasion: str) -> None:
    """Show what the controller of a broker's process remembers, where anything looks."""
    if process.node.trace.shows(Remembered):
        process.mark(Remembered, process.node.id, "controller", occasion, recalled(MEMORIES, controller))


def show_meanwhile(controller: Remembering, process: Process) -> None:
    """Show what the controller of a broker's process remembers while it may have work to do."""
    process.mark(RememberedMeanwhile, process.node.id, "controller", "meanwhile", Recalled(MEMORIES, controller))
