"""One replica as the specification knows it: ``part``, ``cache``, ``hw`` and the end of ``log`` of Cluster.tla."""

from __future__ import annotations

from attrs import define, field

from emulator.protocol.types import NO_LEADER
from scenarios.observe.history.replica_logs import BASE_OFFSET, ID, PLACE, ReplicaLogHistory

EVER = 1 << 62
NO_EPOCH = -2
"""Lower than the epoch of a replica that knows none."""
IDLE, FETCHING, FAILED = "idle", "fetching", "failed"


@define(eq=False)
class Replica:
    """The state of one partition on one broker.

    Attributes:
        leader, epoch, assigned, isr, version, decided: what the last LeaderAndIsr told, and ISR writes since.
        proposal: the ISR that it is about to write; empty: none.
        start: where its epoch as leader starts.
        fetch: ``idle``, ``fetching`` or ``failed``.
        end, hw: of its log.
        hw_then: the high watermark with which it began to follow; answers can take it back (0.8).
        peak: the end that its log had before it was cut: a leader of an epoch up to ``peak_until`` may still count it.
        cache: the leader epoch cache: epochs with the offsets where they start.
        prior: the epoch before, under the same leader: its answer may be on its way.
        led: the epochs that it has led.
        log: its content; None: no event was about it yet.
        settled: whether it has fetched since it became a follower of this epoch.
        source: the replica of its leader, on a follower.
        flows_from: the epoch of ``source`` in which it has appended in its role, so that of its next batch only place
            and content are looked at; NO_EPOCH: none.
        counted: on a leader, the other replicas that its high watermark waits for.
        wrote: the last version of the state znode that it has written as leader, and the ISR in it.
        unanswered: whether its broker's session has expired since it proposed: ZooKeeper's answer does not come.
        disk: whether its log directory has the partition.
    """

    broker: int
    leader: int = NO_LEADER
    epoch: int = -1
    assigned: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()
    proposal: tuple[int, ...] = ()
    version: int = -1
    decided: int = 0
    start: int = 0
    fetch: str = IDLE
    end: int = 0
    hw: int = 0
    hw_then: int = 0
    peak: int = 0
    peak_until: int = -1
    latest: int = -1
    prior: int = -1
    cache: list[tuple[int, int]] = field(factory=list)
    led: dict[int, None] = field(factory=dict)
    log: ReplicaLogHistory | None = None
    settled: bool = False
    source: Replica | None = None
    flows_from: int = NO_EPOCH
    counted: tuple[Replica, ...] = ()
    wrote: tuple[int, tuple[int, ...]] | None = None
    unanswered: bool = False
    disk: bool = False

    @property
    def presumes(self) -> bool:
        """Whether it serves as leader, rightly or not (``Presumes``)."""
        return self.leader == self.broker

    def forget(self) -> None:
        """Know no more than a Partition object that was just created (``NoPartition``)."""
        self.leader, self.epoch, self.version, self.decided, self.start = NO_LEADER, -1, -1, 0, 0
        self.assigned = self.isr = self.proposal = self.counted = ()
        self.stop_fetching(IDLE)
        self.source, self.prior = None, -1
        self.settled = False

    def stop_fetching(self, fetch: str) -> None:
        """Append nothing as a follower until it fetches again."""
        self.fetch, self.flows_from = fetch, NO_EPOCH

    def assign_epoch(self, epoch: int, start: int) -> None:
        """Enter an epoch into the cache (``Assigned``)."""
        if epoch > self.latest:
            while self.cache and self.cache[-1][1] >= start:
                self.cache.pop()
            self.cache.append((epoch, start))
            self.latest = epoch

    def was_at(self, offset: int, epoch: int) -> bool:
        """Whether its log went up to ``offset`` before it was cut, so far as a leader of ``epoch`` may know."""
        return self.peak >= offset and epoch <= self.peak_until

    def counts_below(self, mark: int) -> list[Replica]:
        """The replicas of ``counted`` that have never told that they have all up to ``mark``."""
        epoch = self.epoch
        return [one for one in self.counted if one.end < mark and not one.was_at(mark, epoch)]

    def cut(self, end: int, until: int = EVER) -> None:
        """Cut log and cache (``CutLog``). Leaders of epochs up to ``until`` may know the old end."""
        self.peak, self.peak_until = max(self.peak, self.end), until
        self.end, self.hw = end, min(self.hw, end)
        self.cut_cache(end)

    def cut_cache(self, end: int) -> None:
        """Forget the epochs that start at ``end`` or later (``CutCache``)."""
        while self.cache and self.cache[-1][1] >= end:
            self.cache.pop()
        self.latest = self.cache[-1][0] if self.cache else -1

    def begin_at(self, start: int) -> None:
        """Forget the epochs that end before ``start`` (LeaderEpochFileCache.truncateFromStart, 2.3.1)."""
        before = [epoch for epoch, at in self.cache if at <= start]
        if before:
            self.cache[: len(before)] = [(before[-1], start)]

    def empty(self) -> None:
        """Hold no record."""
        self.cut(0)
        self.cache.clear()
        self.latest = -1

    def has_last_of(self, other: Replica) -> bool:
        """Whether its log has the last record of ``other``, and all before it."""
        mine, its = self.log, other.log
        if mine is None or its is None or not (mine.known and its.known):
            return True
        return mine.holds(its.last) or (its.size == 1 and its.end_offset <= mine.end_offset)

    def has_batch_of(self, other: Replica) -> bool:
        """Whether its log has the last batch of ``other`` at that place, whatever comes before."""
        if self.has_last_of(other):
            return True
        mine, its = self.log, other.log
        assert mine is not None
        assert its is not None
        last = its.last
        return mine.has_forgotten(last[PLACE]) or mine.find(last[BASE_OFFSET], last[ID]) is not None

    def __str__(self) -> str:
        role = f"leads epoch {self.epoch}" if self.presumes else f"follows {self.leader} in epoch {self.epoch}"
        known = f", ISR {list(self.isr)}, version {self.version}" if self.presumes else f", {self.fetch}"
        proposed = f", proposes {list(self.proposal)}" if self.proposal else ""
        return f"broker {self.broker} {role}{known}{proposed}, log up to {self.end}, high watermark {self.hw}"
