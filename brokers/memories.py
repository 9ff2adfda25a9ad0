"""The memory of a broker: its parts, each with where a broker that starts reads it: ZooKeeper, its own disks, and what
the controller sends it. ``scenarios/observe/checkers/broker_remembers.py`` compares."""

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from brokers.log.log_config import LogConfig
from emulator.memories import Memory, Recalled, recalled
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.shown import Remembered, RememberedMeanwhile
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from brokers.broker import Broker
    from brokers.coordinators.internal_topic import Coordinated
    from brokers.groups.group_metadata_manager import GroupMetadataManager
    from brokers.log.leader_epoch_cache import LeaderEpochFileCache
    from brokers.log.log import Log
    from brokers.log.producer_state_manager import ProducerStateManager
    from brokers.requests.reader_session import ReaderSession
    from brokers.transactions.transaction_state_manager import TransactionStateManager
    from fetchers.quota import QuotaSettings

CHECKER, RELOADS, FETCHES, GONE = "broker_remembers", "logs_reload", "fetchers_fit", "gone_topics_forgotten"
COORDINATES, LEADS, STABLE = "coordinators_remember", "coordinators_lead", "transactions_close"
ANSWERS, COUNTS, EXPIRE, DELETES = "requests_answered", "counts_true", "segments_expire", "deletions_complete"


class AppliedSettings(NamedTuple):
    """The settings that a topic's partitions work with, or those of the topics that have none of their own."""

    min_insync_replicas: int
    log: LogConfig


class HostedReplica(NamedTuple):
    """A replica as its broker knows it.

    Attributes:
        isr, zk_version: empty and -1 where it follows.
        directory: the log directory that holds its log.
    """

    leads: bool
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int
    directory: str


class ProducersKept(NamedTuple):
    """The batches of idempotent producers that a log remembers, and those that it would if it were loaded now: each
    with producer id, base offset and next offset. Those that end before the log's start are left out: Kafka's memory
    keeps them (``ProducerStateEntry.removeBatchesOlderThan``, 1.1 to 2.3, drops them from a copy), its snapshots do
    not."""

    kept: tuple[tuple[int, int, int], ...]
    loaded: tuple[tuple[int, int, int], ...]


class LogContent(NamedTuple):
    """The state of a replica: its offsets, and the start of each leader epoch of which it has records."""

    start: int
    end: int
    high_watermark: int
    epochs: tuple[tuple[int, int], ...]


class LogReloaded(NamedTuple):
    """A replica's log as its broker has it, and as it would be if it were loaded now."""

    kept: LogContent
    loaded: LogContent


class LogFlushed(NamedTuple):
    """The durable part of a replica's log.

    Attributes:
        newest: where its newest segment begins.
        durable: the offset up to which it survives a crash of the machine.
        recovery_point: the checkpoint from which on it is recovered then, as it is written next.
        end: where it ends.
    """

    newest: int
    durable: int
    recovery_point: int
    end: int


class NewestSegment(NamedTuple):
    """The newest segment of a replica's log: how many batches of how many bytes it has, the time of the last, and by
    how much that is younger than the first."""

    batches: int
    size: int
    last_us: int
    span_us: int


class Fetched(NamedTuple):
    """A partition of a replica fetcher thread. ``held``: left out of the fetches by a throttle."""

    leader: int
    leader_epoch: int
    held: bool
    fetcher_id: int = 0


class RequestInHand(NamedTuple):
    """A request that a broker has taken up and not answered. ``client``: the machine of its sender."""

    client: int
    request: Any
    since_us: int


def _settings(broker: "Broker") -> dict[str, AppliedSettings]:
    replicas = broker.replicas
    topics = dict.fromkeys(tp.topic for tp in replicas.partitions)
    policies = replicas.policies
    return {topic: AppliedSettings(policies.min_insync_replicas(topic), policies.log_config(topic)) for topic in topics}


def _started_with(broker: "Broker") -> AppliedSettings:
    config = broker.spec.policies.config
    return AppliedSettings(config.min_insync_replicas, config.log)


def _replicas(broker: "Broker") -> dict[TopicPartition, HostedReplica]:
    return {
        tp: HostedReplica(
            one.is_leader, one.leader, one.leader_epoch, one.isr_state.isr if one.is_leader else (),
            one.zk_version if one.is_leader else -1, one.log.directory.name,
        )
        for tp, one in broker.replicas.partitions.items()
    }  # fmt: skip


def _directories(broker: "Broker") -> dict[TopicPartition, str]:
    """The logs on the disks, by partition, with their directories."""
    return {
        TopicPartition.parse(path.partition("/")[2]): directory.name
        for directory in broker.replicas.logs.online
        for path in directory.logs_held()
    }


def _producers(broker: "Broker") -> dict[TopicPartition, ProducersKept]:
    found = {}
    for tp, partition in broker.replicas.partitions.items():
        log = partition.log
        kept, loaded = _since_start(log, log.producers), _since_start(log, log.producers_found())
        if kept or loaded:
            found[tp] = ProducersKept(kept, loaded)
    return found


def _since_start(log: "Log", producers: "ProducerStateManager") -> tuple[tuple[int, int, int], ...]:
    return tuple(one for one in producers.remembered_batches() if one[2] > log.start_offset)


def _logs(broker: "Broker") -> dict[TopicPartition, LogReloaded]:
    found = {}
    for tp, partition in broker.replicas.partitions.items():
        log = partition.log
        epochs = _with_records(log.epochs, log.end_offset)
        kept = LogContent(log.start_offset, log.end_offset, partition.high_watermark, epochs)
        batches, start = log.batches, log.loaded_start()
        end = batches[-1].next_offset if batches else log.bases[0]
        checkpoint = max(start, min(log.directory.checkpointed(partition), end))
        found[tp] = LogReloaded(kept, LogContent(start, end, checkpoint, _with_records(log.loaded_epochs(), end)))
    return found


def _flushed(broker: "Broker") -> dict[TopicPartition, LogFlushed]:
    logs = {tp: partition.log for tp, partition in broker.replicas.partitions.items()}
    return {
        tp: LogFlushed(log.bases[-1], log.recovery_point, log.directory.recovery_points.get(tp), log.end_offset)
        for tp, log in logs.items()
    }


def _newest(broker: "Broker") -> dict[TopicPartition, NewestSegment]:
    found = {}
    for tp, partition in broker.replicas.partitions.items():
        log = partition.log
        last = log.newest_segment()
        if last.begin < last.end:
            first_us, last_us = (log.batches[place].timestamp_us for place in (last.begin, last.end - 1))
            found[tp] = NewestSegment(last.end - last.begin, last.size, last_us, last_us - first_us)
    return found


def _with_records(epochs: "LeaderEpochFileCache", end: int) -> tuple[tuple[int, int], ...]:
    """The leader epochs that begin before the end of their log: of a later one there is no record yet."""
    return tuple(entry for entry in epochs.entries if entry[1] < end)


def _fetched(broker: "Broker") -> dict[TopicPartition, Fetched]:
    return {
        tp: Fetched(thread.leader, state.leader_epoch, state.held, fetcher_id)
        for (_, fetcher_id), thread in broker.replicas.fetchers.threads.items()
        for tp, state in thread.states.items()
    }


def _discarded(broker: "Broker") -> tuple[str, ...]:
    online = broker.replicas.logs.online
    return tuple(f"{directory.name}/{path}" for directory in online for path in directory.discarded())


def _futures(broker: "Broker") -> tuple[TopicPartition, ...]:
    """The logs on the disks that a start takes for copies under way, and that are none."""
    manager = broker.replicas.moves
    found = [
        (TopicPartition.parse(path.partition("/")[2]), directory.name)
        for directory in broker.replicas.logs.online
        for path in directory.futures()
    ]
    going = {(tp, future.log.directory.name) for tp, future in manager.futures.items()}
    return tuple(tp for tp, name in found if (tp, name) not in going)


def _copies(broker: "Broker") -> dict[TopicPartition, int]:
    return {tp: future.log.end_offset for tp, future in broker.replicas.moves.futures.items()}


def _committed_for(broker: "Broker") -> tuple[str, ...]:
    made = broker.groups.made
    groups = () if made is None else made.store.groups.values()
    return tuple(dict.fromkeys(tp.topic for group in groups for tp in group.committed.offsets))


def _left_files(broker: "Broker") -> tuple[tuple[TopicPartition, str], ...]:
    """The replicas that have no log in a directory whose checkpoints or other files name them, each with the file."""
    return tuple(
        (tp, kind)
        for directory in broker.replicas.logs.online
        for kind, named in directory.named()
        for tp in named
        if not directory.has_log(tp)
    )


def _throttles(broker: "Broker") -> "QuotaSettings":
    return broker.quotas.settings


def _open_transactions(broker: "Broker") -> dict[TopicPartition, tuple[int, ...]]:
    return {
        tp: tuple(ongoing)
        for tp, partition in broker.replicas.partitions.items()
        if partition.is_leader and (ongoing := getattr(partition.log.producers, "ongoing", None))
    }


def _coordinated(broker: "Broker") -> "dict[str, Coordinated]":
    stores = _stores(broker)
    return {store.partitions.topic: store.remembered() for store in stores}


def _coordinates(broker: "Broker") -> dict[TopicPartition, int]:
    return {
        TopicPartition.of(store.partitions.topic, partition): epoch
        for store in _stores(broker)
        for partition, epoch in store.partitions.owned.items()
    }


def _unwritten(broker: "Broker") -> dict[TopicPartition, int]:
    return {
        one.tp: one.high_watermark
        for one in broker.replicas.partitions.values()
        if one.log.directory.awaits_checkpoint(one)
    }


def _unwatched(broker: "Broker") -> dict[TopicPartition, str]:
    """The logs that periodic work has forgotten, each with what is to be done to it."""
    logs = broker.replicas.logs
    found = {}
    for tp, partition in broker.replicas.partitions.items():
        log = partition.log
        if logs.may_expire(log) and log.expires_us() is not None and not logs.retention.watches(log):
            found[tp] = "retention"
        elif logs.lacks_cleaning(log):
            found[tp] = "compaction"
        elif log.directory.awaits_cleaned(tp):
            found[tp] = "the cleaner's checkpoint"
    return found


def _followers(broker: "Broker") -> dict[TopicPartition, dict[int, int]]:
    """How long ago the followers of what it leads have fetched; -1: no session reads for that follower."""
    return {
        tp: {
            remote.broker: -1 if remote.session is None else cast("ReaderSession", remote.session).silent_us(tp)
            for remote in partition.remotes.values()
        }
        for tp, partition in broker.replicas.partitions.items()
        if partition.is_leader
    }


def _deletions(broker: "Broker") -> dict[TopicPartition, tuple[int, int]]:
    """The deletions of records that wait: the low watermark, and the least offset that one waits for."""
    deletion, partitions = broker.replicas.deletion, broker.replicas.partitions
    waiting = {} if deletion is None else deletion.waiting
    return {
        tp: (deletion.low_watermark(partitions[tp]), min(one.required[tp] for one in delayed))
        for tp, delayed in waiting.items()
        if deletion is not None and tp in partitions and partitions[tp].is_leader
    }


def _groups(broker: "Broker") -> dict[str, int]:
    """The groups, those in each state, and their offsets, by the names of their gauges."""
    made = broker.groups.made
    groups = () if made is None else made.store.groups.values()
    found = {"NumGroups": len(groups), "NumOffsets": sum(len(group.committed.offsets) for group in groups)}
    states = [group.state for group in groups]
    return found | {f"NumGroups{state}": states.count(state) for state in type(states[0])} if states else found


def _stores(broker: "Broker") -> "list[GroupMetadataManager | TransactionStateManager]":
    """The stores of the coordinators that the broker has needed."""
    groups, transactions = broker.groups.made, broker.transactions.made
    return [made.store for made in (groups, transactions) if made is not None]


def _in_hand(broker: "Broker") -> tuple[RequestInHand, ...]:
    """The requests of all open connections, without fetches, which may wait for what never comes."""
    channels = [one for one in broker.server.channels if one.busy and not isinstance(one.request, FetchRequest)]
    return tuple(RequestInHand(one.client, one.request, one.since_us) for one in channels)


MEMORIES: "tuple[Memory[Broker], ...]" = (
    Memory(
        "settings", "/config/topics/T and /config/brokers", "min.insync.replicas and the settings of logs, of the "
        "topics whose replicas it has", _settings, CHECKER,
    ),
    Memory(
        "started_with", "its properties", "the same settings before any is changed; no checker: nothing changes them",
        _started_with,
    ),
    Memory(
        "replicas", "LeaderAndIsr and StopReplica", "its replicas with role, leader epoch and ISR", _replicas, CHECKER
    ),
    Memory("directories", "its disks", "the logs in its directories", _directories, CHECKER),
    Memory("producers", "the logs", "the newest batches of each idempotent producer", _producers, CHECKER),
    Memory(
        "metadata", "UpdateMetadata", "the partitions that it tells clients about",
        lambda b: b.replicas.metadata.topics, CHECKER,
    ),
    Memory(
        "topic_ids", "UpdateMetadata", "the ids of topics that it tells clients about",
        lambda b: dict(b.replicas.metadata.topic_ids), CHECKER,
    ),
    Memory(
        "live_brokers", "UpdateMetadata", "the brokers that it tells clients about",
        lambda b: b.replicas.metadata.live_brokers, CHECKER,
    ),
    Memory(
        "logs", "the logs and their checkpoints", "of each replica the offsets and the leader epochs", _logs, RELOADS
    ),
    Memory("flushed", "its disks", "what is durable of each log, and its recovery point", _flushed, RELOADS),
    Memory("newest", "its disks", "the newest segment of each log", _newest, EXPIRE),
    Memory(
        "futures", "its disks", "the logs that are to replace others, and that nothing is copied to", _futures, RELOADS
    ),
    Memory(
        "fetched", "LeaderAndIsr and StopReplica", "the partitions of its replica fetcher threads", _fetched, FETCHES
    ),
    Memory("discarded", "its disks", "the logs that wait for their deletion", _discarded, GONE),
    Memory("left_files", "its disks", "checkpoints and other files of replicas without a log", _left_files, GONE),
    Memory(
        "throttles", "/config/topics/T and /config/brokers/N", "the rates of replication, and whom they limit",
        _throttles, CHECKER,
    ),
    Memory(
        "fetcher_threads", "/config/brokers", "num.replica.fetchers", lambda b: b.replicas.fetchers.size, CHECKER
    ),
    Memory(
        "controller", "UpdateMetadata", "the controller that it tells clients about",
        lambda b: b.replicas.metadata.controller, CHECKER,
    ),
    Memory(
        "unarmed", "its session", "the znodes that it watches, and of whose next change it will not hear",
        lambda b: b.zk.unarmed, CHECKER,
    ),
    Memory(
        "open_transactions", "the logs", "the producers that have a transaction open in a partition that it leads",
        _open_transactions, STABLE,
    ),
    Memory(
        "coordinated", "the internal topics", "the groups and transactional ids that it coordinates", _coordinated,
        COORDINATES,
    ),
    Memory(
        "coordinates", "LeaderAndIsr and StopReplica", "the partitions of the internal topics of which it is the "
        "coordinator", _coordinates, LEADS,
    ),
    Memory("copies", "its disks", "how far the logs have come that are to replace others", _copies, RELOADS),
    Memory("committed_for", "the internal topics", "the topics for which groups have offsets", _committed_for, GONE),
    Memory("groups", "the internal topics", "how many groups and offsets it has, and groups by state", _groups, COUNTS),
    Memory(
        "unwritten", "its disks", "the replicas whose high watermarks are to be written to a checkpoint", _unwritten,
        RELOADS,
    ),
    Memory("in_hand", "its connections", "the requests that it has not answered", _in_hand, ANSWERS),
    Memory(
        "unwatched", "its disks", "the logs that retention or the cleaner should look at again, and will not",
        _unwatched, RELOADS,
    ),
    Memory("followers", "fetches", "when the followers of what it leads have last fetched", _followers, FETCHES),
    Memory("deletions", "nothing", "the deletions of records that wait, and what for", _deletions, DELETES),
)  # fmt: skip
"""The parts that can be compared at rest."""


def show(broker: "Broker", occasion: str) -> None:
    """Show what a broker remembers, where anything looks."""
    process = broker.process
    if process.node.trace.shows(Remembered):
        process.mark(Remembered, process.node.id, "broker", occasion, recalled(MEMORIES, broker))


def show_meanwhile(broker: "Broker") -> None:
    """Show what a broker remembers while it may have work to do."""
    node = broker.process.node
    broker.process.mark(RememberedMeanwhile, node.id, "broker", "meanwhile", Recalled(MEMORIES, broker))
