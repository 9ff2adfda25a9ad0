"""The state of a cluster at a moment of a run, from its events: leaders, open moves and their steps, what is cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import asdict, define, field, frozen

from controller.procedures import STEPS
from emulator.protocol.events import Appended, LogLoaded, LogRecovered, ReplicaStopped, Truncated
from emulator.protocol.types import TopicPartition
from scenarios.observe.history.quotas import Quotas, QuotaUse
from scenarios.observe.measures.fold import Measured, RunParts
from scenarios.observe.measures.moves import Moves
from scenarios.observe.past.changes import AssignmentWritten, StateWritten
from scenarios.observe.past.cluster_past import Past, PastReplay
from scenarios.observe.past.cluster_state import LAST, FoldedState


@frozen
class Left:
    """The records that a replica which a move adds has still to copy.

    Attributes:
        records: records between the ends of its log and the leader's; None where one of the logs has not been seen.
        bytes: bytes of these, by the mean size of the partition's records; None before any was appended.
    """

    broker: int
    records: int | None
    bytes: int | None


@frozen
class OpenMove:
    """A move that is under way.

    Attributes:
        step: the step that its controller reached last; empty before the first.
        edge: ``before``: it is in the step or waits in it; ``after``: it has done it.
        meaning: the sentence about what happens in the step.
        left: for each replica that the move adds and that is not in sync.
        deleted_us: when its topic was deleted, since which no controller has gone on with it; None: it was not.
    """

    partition: str
    original: tuple[int, ...]
    target: tuple[int, ...]
    step: str
    edge: str
    meaning: str
    left: tuple[Left, ...]
    deleted_us: int | None = None

    @property
    def place(self) -> str:
        """``in wiki.4`` or ``after wiki.3``, and what that step does."""
        if self.deleted_us is not None:
            return f"left over (its topic was deleted at {self.deleted_us / 1e6:.3f} s)"
        if not self.step:
            return "requested, before its first step"
        return f"{'in' if self.edge == 'before' else 'after'} {self.step} ({self.meaning})"


@frozen
class PartitionState:
    """A partition as ZooKeeper has it; ``leader`` -1: none."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@frozen
class ClusterMoment:
    """The state at a virtual time.

    Attributes:
        controller: the broker that acts as the controller; -1: none. ``controller_epoch``: of the last one elected.
        cut: the routes that are cut, each from one machine to another; -1 is ZooKeeper, below it are clients.
        quotas: the exhausted quotas of replication, with the replicas that they hold back.
    """

    t_us: int
    controller: int
    controller_epoch: int
    zookeeper_stopped: bool
    down: tuple[int, ...]
    paused: tuple[int, ...]
    cut: tuple[tuple[int, int], ...]
    moves: tuple[OpenMove, ...]
    partitions: tuple[PartitionState, ...]
    quotas: tuple[QuotaUse, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The object that ``state --format json`` prints."""
        return asdict(self)


@define(eq=False)
class Moments:
    """Follows a run's events, in their order; ``now`` is the state after the last one seen.

    Attributes:
        past: the past of the cluster.
    """

    _replay: PastReplay = field(factory=PastReplay)
    _known: dict[TopicPartition, None] = field(factory=dict)
    _deleted: dict[TopicPartition, int] = field(factory=dict)
    """When the topic of a partition was last deleted."""
    _ends: dict[tuple[int, TopicPartition], int] = field(factory=dict)
    _appended: dict[TopicPartition, tuple[int, int]] = field(factory=dict)
    """Records and bytes that were appended to the partition's logs."""
    past: Past = field(init=False)
    _cluster: FoldedState = field(init=False)
    _moves: Moves = field(init=False)
    _quotas: Quotas = field(init=False)
    _t_us: int = 0

    def __attrs_post_init__(self) -> None:
        replay: Any = self._replay
        self.past = past = Past(replay, keeps=True)
        self._cluster = past.now
        past.subscribe(AssignmentWritten, self._know)
        past.subscribe(StateWritten, self._know)
        self._moves = Moves(RunParts(replay, past, Measured()))
        self._quotas = Quotas(replay, past.now, self.log_end, Appended)
        for kind, see in (
            (Appended, self._append), (LogLoaded, self._log_ends), (Truncated, self._log_ends),
            (LogRecovered, self._log_ends), (ReplicaStopped, self._stopped),
        ):  # fmt: skip
            replay.fold(kind, see)

    @property
    def controller(self) -> int:
        """The broker that acts as the controller; -1: none."""
        return self._cluster.acting_controller

    def see(self, event: Any) -> None:
        self._t_us = event.t_us
        self._replay.play((event,))

    def now(self, t_us: int | None = None) -> ClusterMoment:
        """The state; ``t_us``: its time, if it is later than the last event."""
        cluster, elected = self._cluster, self._cluster.elected.get(LAST)
        brokers = [node for node in sorted(cluster.lives) if node >= 0]
        return ClusterMoment(
            t_us=self._t_us if t_us is None else t_us,
            controller=self.controller,
            controller_epoch=-1 if elected is None else elected.controller_epoch,
            zookeeper_stopped=bool(cluster.zookeeper_stopped),
            down=tuple(filter(cluster.is_down, brokers)),
            paused=tuple(filter(cluster.is_paused, brokers)),
            cut=tuple(cluster.cut),
            moves=tuple(self.moves()),
            partitions=tuple(self._partitions()),
            quotas=self._quotas.uses(self._t_us if t_us is None else t_us),
        )

    def log_end(self, broker: int, tp: TopicPartition) -> int | None:
        """The end of the log of a broker's replica; None: nothing was seen of it."""
        return self._ends.get((broker, tp))

    def moves(self) -> Iterator[OpenMove]:
        """The moves that are under way, in the order of their requests."""
        for row in self._moves.open_rows:
            tp = TopicPartition.of(row.topic, row.partition)
            step, deleted_us = self._cluster.step(tp), self._deleted.get(tp, -1)
            if deleted_us >= max(row.t_us, 0 if step is None else step.t_us):
                yield OpenMove(str(tp), row.original, row.target, "", "", "", (), deleted_us)
                continue
            name, edge = ("", "") if step is None else (step.step, step.edge)
            meaning = STEPS[name].steps[name] if name else ""
            adding = tuple(self._left(tp, broker) for broker in row.target if self._lacks(tp, broker))
            yield OpenMove(str(tp), row.original, row.target, name, edge, meaning, adding)

    def _lacks(self, tp: TopicPartition, broker: int) -> bool:
        return broker not in self._cluster.isr(tp)

    def _left(self, tp: TopicPartition, broker: int) -> Left:
        end = self._ends.get((self._cluster.leader(tp), tp))
        if end is None:
            return Left(broker, None, None)
        records = max(0, end - self._ends.get((broker, tp), 0))
        appended, size = self._appended.get(tp, (0, 0))
        return Left(broker, records, records * size // appended if appended else None)

    def _partitions(self) -> Iterator[PartitionState]:
        for tp in sorted(self._known):
            found = partition_state(self._cluster, tp)
            if found is not None:
                yield found

    def _know(self, change: AssignmentWritten | StateWritten) -> None:
        self._known[change.tp] = None
        if type(change) is AssignmentWritten and not change.replicas:
            self._deleted[change.tp] = self._t_us

    def _append(self, event: Appended) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._ends[event.node, tp] = event.next_offset
        records, size = self._appended.get(tp, (0, 0))
        self._appended[tp] = records + event.next_offset - event.base_offset, size + event.size

    def _log_ends(self, event: LogLoaded | Truncated | LogRecovered) -> None:
        self._ends[event.node, TopicPartition.of(event.topic, event.partition)] = event.log_end_offset

    def _stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._ends.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)


def partition_state(cluster: FoldedState, tp: TopicPartition) -> PartitionState | None:
    """A partition as ZooKeeper has it; None: it does not exist."""
    state, replicas = cluster.state(tp), cluster.assignment(tp)
    if state is None:
        return PartitionState(tp.topic, tp.partition, -1, -1, replicas, ()) if replicas else None
    return PartitionState(tp.topic, tp.partition, state.leader, state.leader_epoch, replicas, state.isr)


Appends = Mapping[TopicPartition, tuple[int, int]]


def at(events: Iterable[Any], t_us: int, appended: Appends | None = None) -> ClusterMoment:
    """The state after all events up to and including ``t_us``. ``events``: of one run, from its beginning, in order.
    ``appended``: records and bytes of appends that are not among them."""
    moments = Moments(appended=dict(appended or {}))
    for event in events:
        if event.t_us > t_us:
            break
        moments.see(event)
    return moments.now(t_us)


def before(events: Iterable[Any], seq: int, appended: Appends | None = None) -> ClusterMoment:
    """The state just before event ``seq``."""
    moments, t_us = Moments(appended=dict(appended or {})), 0
    for event in events:
        if event.seq >= seq:
            t_us = event.t_us
            break
        moments.see(event)
    return moments.now(t_us)
