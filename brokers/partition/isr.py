"""The in-sync replicas of a partition that this broker leads: their state, the rules, and the two ways to change them.

The state is ``kafka.cluster.IsrState`` (2.7.2): committed, or a change is in flight. While one is in flight the leader
does not know whether ZooKeeper has the old or the new set, and ``maximal_isr`` is the larger of the two. At most one
change of a partition is in flight.

An ISR is listed in the order of Kafka's ``Set`` (``Partition.updateIsr``, 2.3.1; ``expandIsr``, 2.4.1): up to four
members the latest to join is the last. Up to 2.3 it is a set of ``Replica`` objects, so that one which shrinks from
above four members to four or fewer has the order of their hash codes; that order is not emulated.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from attrs import define, field, frozen

from brokers.partition.remote import UNKNOWN_OFFSET, RemoteReplica
from emulator.protocol.assignments import without
from emulator.protocol.scala_order import ScalaCollections
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr

NO_LIMIT = -1


# -- the state --------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class CommittedIsr:
    """No change is in flight: ``isr`` is the set that the leader last read from or wrote to ZooKeeper."""

    isr: tuple[int, ...]
    maximal_isr: tuple[int, ...] = field(init=False)
    is_inflight = False

    @maximal_isr.default
    def _same(self) -> tuple[int, ...]:
        return self.isr


@frozen(eq=False)
class PendingExpandIsr:
    """``new_in_sync_replica`` is about to join ``isr``, a set of the broker's ``collections``."""

    isr: tuple[int, ...]
    new_in_sync_replica: int
    collections: ScalaCollections
    is_inflight = True
    kind = "expand"

    @property
    def proposed_isr(self) -> tuple[int, ...]:
        return self.collections.set_order((*self.isr, self.new_in_sync_replica))

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        return self.proposed_isr


@frozen(eq=False)
class PendingShrinkIsr:
    """``out_of_sync_replicas`` are about to leave ``isr``, a set of the broker's ``collections``."""

    isr: tuple[int, ...]
    out_of_sync_replicas: tuple[int, ...]
    collections: ScalaCollections
    is_inflight = True
    kind = "shrink"

    @property
    def proposed_isr(self) -> tuple[int, ...]:
        return without(self.collections.set_order(self.isr), self.out_of_sync_replicas)

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        return self.isr


committed_isr = lru_cache(4096)(CommittedIsr)
"""The state in which ``isr`` is committed. Partitions share it: there are few such sets and many partitions."""

PendingIsr = PendingExpandIsr | PendingShrinkIsr
IsrState = CommittedIsr | PendingIsr

NO_ISR = CommittedIsr(())
"""The state of every partition that this broker does not lead."""


# -- which followers are out of sync ----------------------------------------------------------------------------------


class OutOfSyncRule(Protocol):
    """A rule that decides which members leave the ISR.

    The rules look at members of the ISR only, and at the leader's view of them, which changes when they fetch.
    """

    @property
    def max_messages(self) -> int:
        """A follower that lags by more messages is out of sync at once; ``NO_LIMIT``: there is no such limit."""

    @property
    def even_at_the_end(self) -> bool:
        """Whether a follower whose log ends where the leader's does can be out of sync."""

    def overdue_us(self, remote: RemoteReplica, now_us: int) -> int:
        """The time for which ``remote`` has been late by this rule, if it lags; compared with
        replica.lag.time.max.ms."""

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool:
        """Whether ``remote`` is out of sync, while the leader's log ends at ``leader_end``."""


@frozen
class NotCaughtUp:
    """A follower that lags and was not caught up for longer than replica.lag.time.max.ms (0.9, KAFKA-1546).

    A follower whose log ends where the leader's does is in sync, however long ago it fetched (KAFKA-7152, 2.1).

    Attributes:
        even_at_the_end: before KAFKA-7152, a follower at the leader's end was out of sync like any other.
    """

    max_messages: int = NO_LIMIT
    even_at_the_end: bool = False

    def overdue_us(self, remote: RemoteReplica, now_us: int) -> int:
        return now_us - remote.last_caught_up_us

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool:
        lags = remote.log_end_offset != leader_end or self.even_at_the_end
        return lags and self.overdue_us(remote, now_us) > lag_time_us


@frozen
class StuckOrSlow:
    """A follower that lags and did not fetch for replica.lag.time.max.ms, or lags by more than replica.lag.max.messages
    (0.8).

    0.8.0 stamps a follower's offset with the time of each fetch, also when the offset did not change
    (Replica.logEndOffset): a follower that fetches and makes no progress is slow, not stuck. One that has not fetched
    since the election is not slow either.
    """

    max_messages: int = 4000
    even_at_the_end = False

    def overdue_us(self, remote: RemoteReplica, now_us: int) -> int:
        return now_us - max(remote.last_fetch_us, remote.last_caught_up_us)

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool:
        end = remote.log_end_offset
        slow = end != UNKNOWN_OFFSET and leader_end - end > self.max_messages
        return slow or (end < leader_end and self.overdue_us(remote, now_us) > lag_time_us)


# -- how a change gets into ZooKeeper ---------------------------------------------------------------------------------


class IsrWrites(Protocol):
    """A way in which leaders change their ISR, and what it means for the high watermark while a change is in flight."""

    @property
    def holds_high_watermark(self) -> bool:
        """Whether the high watermark does not move while a change is in flight, as under ``leaderIsrUpdateLock``. If
        not, it moves by ``maximal_isr``, and a replica that is about to join counts as in sync."""

    @property
    def outcome_moves_high_watermark(self) -> bool:
        """Whether the leader looks at its high watermark when it learns the outcome of a change."""


@frozen
class ByZooKeeper:
    """The leader writes the state znode itself, on condition of its version (kafka-behaviour §7.6).

    Attributes:
        compares: whether a write that is refused for its version counts as done if the znode holds the same data: it
            was applied before its connection was lost (KAFKA-1382, 0.8.2). False: it counts as refused.
        conditional: whether the write is on condition of the version, and the leader has the new ISR once the write is
            done (KAFKA-428, 0.8.0, before its release). False: the leader has it at once, and puts it into whatever the
            znode holds.
    """

    compares: bool = True
    conditional: bool = True
    holds_high_watermark: bool = True
    outcome_moves_high_watermark: bool = True


@frozen
class ByController:
    """The leader asks the controller, which validates, writes and answers (KIP-497; Partition.sendAlterIsrRequest,
    2.7.2).

    Attributes:
        outcome_moves_high_watermark: False: before KAFKA-13091 (3.1) the high watermark moves with the next append or
            fetch only.
        awaits_answers: KAFKA-12686 (3.0): a LeaderAndIsr leaves what was asked for under an earlier leader epoch, and
            no other change of that partition is asked for before its answer has come. Before, that answer took along
            what had been asked for since.
        asks_again: KAFKA-14010 (3.2.1): a leader that is refused for a reason that may pass asks again. Before, its own
            first try was in the way.
        at_once: a change is sent as soon as no other request of its broker is in flight (2.8). Before, every 50 ms.
    """

    at_once: bool = False
    awaits_answers: bool = False
    asks_again: bool = False

    holds_high_watermark: bool = False
    outcome_moves_high_watermark: bool = False


@define(eq=False)
class IsrLocks:
    """The locks of partitions that one broker holds while it writes their ISRs to ZooKeeper (leaderIsrUpdateLock of
    kafka.cluster.Partition).

    Behavior: the write lock is held over the whole round trip (maybeExpandIsr, maybeShrinkIsr; 0.8.0 to 2.6.3), and
    KafkaZkClient.retryRequestsUntilConnected does not return before ZooKeeper has answered: while ZooKeeper is slow or
    away, everything waits that needs the lock. Since KIP-497 (2.7) no write of an ISR is waited for.

    Attributes:
        held: the partitions whose lock is held.
        taken: functions that are called after a lock was taken.
        released: functions that are called with a partition after its lock was released.
    """

    held: dict[TopicPartition, None] = field(factory=dict)
    taken: list[Callable[[], object]] = field(factory=list)
    released: list[Callable[[TopicPartition], object]] = field(factory=list)

    def take(self, tp: TopicPartition) -> None:
        """Hold the lock of ``tp``: its leader writes."""
        self.held[tp] = None
        for call in self.taken:
            call()

    def release(self, tp: TopicPartition, outcome: Callable[[], object] = lambda: None) -> None:
        """Release the lock of ``tp``: ZooKeeper has answered. ``outcome``: what the leader makes of the answer, before
        anything else gets the lock."""
        self.held.pop(tp, None)
        outcome()
        for call in self.released:
            call(tp)


@define(eq=False)
class AlterIsrItem:
    """One change on its way into ZooKeeper (kafka.server.AlterIsrItem, 2.7). ``taken`` or ``refused`` is called once,
    and only while the item is not ``abandoned``.

    Attributes:
        leader_and_isr: the state to write, with the version that the leader knows.
        cause: the number of the event that proposed the change.
        abandoned: whether the partition's state has changed since, by a LeaderAndIsr or because it no longer leads.
        taken: ``(isr, zk_version)``: the change took effect.
        refused: ``(reason, for_good)``: it did not. ``for_good``: it stays in flight until the next LeaderAndIsr, so
            that no other change is tried before that.
    """

    tp: TopicPartition
    leader_and_isr: LeaderAndIsr
    cause: int
    abandoned: Callable[[], bool]
    taken: Callable[[tuple[int, ...], int], object]
    refused: Callable[[str, bool], object]


class AlterIsrManager(Protocol):
    """Writes changes of ISRs to ZooKeeper (kafka.server.AlterIsrManager, 3.0)."""

    def start(self) -> None:
        """Begin the periodic work."""

    def accepts(self, tp: TopicPartition, again: Callable[[], object]) -> bool:
        """Whether a change of ``tp`` can be submitted now; if not, ``again`` is called when one can."""

    def submit(self, item: AlterIsrItem) -> None:
        """Write the change of ``item``. There is at most one of each partition."""

    def clear(self, tp: TopicPartition) -> None:
        """Drop the item of ``tp`` that was not sent yet, because a LeaderAndIsr has come."""
