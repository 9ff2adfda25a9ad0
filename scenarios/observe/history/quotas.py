"""Use of the replication quotas (KIP-73), and the replicas that exhausted quotas hold back.

A quota counts what listed replicas get, in sync or not, and holds back those alone that are not: a leader's where the
follower is out of sync (``ReplicaManager.shouldLeaderThrottle``, 2.3), a follower's where its replica lags.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from emulator.protocol.events import Appended, BatchesAppended, FetchPosition, NodeCrashed, NodeStarted, ReplicaStopped
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONFIG_BROKERS, CONFIG_TOPICS, decode_config
from emulator.trace.events import ZkWritten
from fetchers.quota import listed_here
from scenarios.observe.past.cluster_state import FoldedState
from scenarios.units import MICROSECONDS

WINDOW_US, LEAST_US = 10 * MICROSECONDS["s"], 2 * MICROSECONDS["s"]
"""The window over which a rate is stated, and the shortest: the last ten seconds, or the time since the first rate was
set, once that is two seconds. Kafka's own window has 10 to 11 s by default."""
LEADER, FOLLOWER = "leader", "follower"
_NEARLY = 0.8
"""A quota is exhausted from this share on: followers look once a second, so 10/11 of it pass at most."""


@frozen
class ThrottledReplica:
    """A replica out of sync that a quota holds back.

    Attributes:
        since_us: time of its last records; where it never got any, of its first fetch.
        got: bytes per second that it got in the window.
        lacks: records, from the end of its log to the end of the leader's.
    """

    partition: str
    broker: int
    since_us: int
    got: int
    lacks: int


@frozen
class QuotaUse:
    """The use of one broker's quota by a moment.

    Attributes:
        side: ``leader``: of what the broker sends; ``follower``: of what it gets.
        rate: bytes per second.
        window_us: how long before the moment was looked at.
        in_sync, others: bytes per second that replicas in sync got in that time, and those out of sync.
        held: the replicas that it holds back; there is one.
    """

    broker: int
    side: str
    rate: int
    window_us: int
    in_sync: int
    others: int
    held: tuple[ThrottledReplica, ...]

    @property
    def used_up(self) -> bool:
        """Whether what replicas in sync get leaves nothing to others."""
        return self.in_sync >= self.rate


@frozen
class _Got:
    """Bytes that a replica got from its leader; ``in_sync``: as it was in the ISR."""

    t_us: int
    leader: int
    broker: int
    tp: TopicPartition
    size: int
    in_sync: bool


@define(eq=False)
class Quotas:
    """Follows the quotas of all brokers. Appends are looked at from the first rate on.

    Attributes:
        end: the end of the log of a broker's replica; None: nothing was seen of it.
        kind: ``BatchesAppended``, or ``Appended`` where events come as rows.
    """

    _trace: Any
    _cluster: FoldedState
    end: Callable[[int, TopicPartition], int | None]
    kind: type = BatchesAppended
    _rates: dict[tuple[int, str], int] = field(factory=dict)
    _lists: dict[str, Mapping[str, str]] = field(factory=dict)
    _listed: dict[tuple[int, str, str], frozenset[int] | None] = field(factory=dict)
    _leaders: dict[tuple[int, TopicPartition], int] = field(factory=dict)
    """The leader that each replica fetches from."""
    _since: dict[tuple[int, TopicPartition], int] = field(factory=dict)
    _window: deque[_Got] = field(factory=deque)
    _down: dict[int, None] = field(factory=dict)
    _follows_since_us: int | None = None

    def __attrs_post_init__(self) -> None:
        for kind, see in (
            (ZkWritten, self._written), (FetchPosition, self._position), (NodeCrashed, self._crashed),
            (NodeStarted, self._started), (ReplicaStopped, self._stopped),
        ):  # fmt: skip
            self._trace.fold(kind, see)

    def uses(self, now_us: int) -> tuple[QuotaUse, ...]:
        """The exhausted quotas that hold back replicas, by broker."""
        if not self._rates or self._follows_since_us is None or now_us - self._follows_since_us < LEAST_US:
            return ()
        window_us = min(WINDOW_US, now_us - self._follows_since_us)
        self._forget(now_us)
        got: Counter[tuple[int, TopicPartition]] = Counter()
        for one in self._window:
            got[one.broker, one.tp] += one.size
        held: dict[tuple[int, str], list[ThrottledReplica]] = {}
        for (broker, tp), leader in sorted(self._leaders.items()):
            lacks = self._lacks(broker, tp, leader)
            if lacks > 0:
                got_per_s = _per_second(got[broker, tp], window_us)
                replica = ThrottledReplica(str(tp), broker, self._since[broker, tp], got_per_s, lacks)
                for quota in self._limiting(broker, tp, leader):
                    held.setdefault(quota, []).append(replica)
        found = (self._use(broker, side, replicas, window_us) for (broker, side), replicas in sorted(held.items()))
        return tuple(use for use in found if use.in_sync + use.others >= use.rate * _NEARLY)

    def _lacks(self, broker: int, tp: TopicPartition, leader: int) -> int:
        """The records that a replica out of sync lacks; 0 for one in sync, or that is not fetched from its leader."""
        state = self._cluster.state(tp)
        if state is None or state.leader != leader or leader in self._down or broker in state.isr:
            return 0
        if broker not in self._cluster.assignment(tp):
            return 0
        ends, own = self.end(leader, tp), self.end(broker, tp)
        return 0 if ends is None else ends - (own or 0)

    def _limiting(self, broker: int, tp: TopicPartition, leader: int) -> Iterator[tuple[int, str]]:
        for quota in ((leader, LEADER), (broker, FOLLOWER)):
            if quota in self._rates and self._lists_it(quota, tp):
                yield quota

    def _lists_it(self, quota: tuple[int, str], tp: TopicPartition) -> bool:
        broker, side = quota
        place = (broker, side, tp.topic)
        if place not in self._listed:
            name = f"{side}.replication.throttled.replicas"
            self._listed[place] = listed_here(self._lists.get(tp.topic, {}), name, broker)
        partitions = self._listed[place]
        return partitions is None or tp.partition in partitions

    def _use(self, broker: int, side: str, held: list[ThrottledReplica], window_us: int) -> QuotaUse:
        quota = (broker, side)
        counted = [
            one
            for one in self._window
            if quota == ((one.leader, LEADER) if side == LEADER else (one.broker, FOLLOWER))
            and self._lists_it(quota, one.tp)
        ]
        in_sync = sum(one.size for one in counted if one.in_sync)
        others = sum(one.size for one in counted if not one.in_sync)
        in_sync, others = (_per_second(size, window_us) for size in (in_sync, others))
        return QuotaUse(broker, side, self._rates[quota], window_us, in_sync, others, tuple(held))

    # -- what happens -------------------------------------------------------------------------------------------------

    def _written(self, event: ZkWritten) -> None:
        parent, _, name = event.path.rpartition("/")
        if parent not in (CONFIG_BROKERS, CONFIG_TOPICS):
            return
        settings = {} if event.op == "delete" or not event.data else decode_config(event.data)
        if parent == CONFIG_TOPICS:
            self._lists[name] = settings
            self._listed.clear()
        elif name.isdigit():
            for side in (LEADER, FOLLOWER):
                rate = settings.get(f"{side}.replication.throttled.rate")
                self._rates.pop((int(name), side), None)
                if rate is not None:
                    self._rates[int(name), side] = int(rate)
                    self._follow(event.t_us)

    def _follow(self, now_us: int) -> None:
        if self._follows_since_us is None:
            self._follows_since_us = now_us
            self._trace.fold(self.kind, self._appended)

    def _position(self, event: FetchPosition) -> None:
        replica = (event.node, TopicPartition.of(event.topic, event.partition))
        if event.offset < 0:
            self._leaders.pop(replica, None)
        else:
            self._leaders[replica] = event.leader
            self._since.setdefault(replica, event.t_us)

    def _appended(self, event: BatchesAppended | Appended) -> None:
        if event.leader:
            return
        sizes: dict[int, int] = {}
        if isinstance(event, BatchesAppended):
            for partition, size in zip(event.partitions, event.sizes, strict=True):
                sizes[partition] = sizes.get(partition, 0) + size
        else:
            sizes[event.partition] = event.size
        node, t_us = event.node, event.t_us
        for partition, size in sizes.items():
            tp = TopicPartition.of(event.topic, partition)
            replica, state = (node, tp), self._cluster.state(tp)
            self._since[replica] = t_us
            leader, in_sync = self._leaders.get(replica, -1), state is not None and node in state.isr
            self._window.append(_Got(t_us, leader, node, tp, size, in_sync))
        self._forget(event.t_us)

    def _forget(self, now_us: int) -> None:
        window = self._window
        while window and window[0].t_us <= now_us - WINDOW_US:
            window.popleft()

    def _started(self, event: NodeStarted) -> None:
        self._down.pop(event.node, None)

    def _crashed(self, event: NodeCrashed) -> None:
        self._down[event.node] = None
        for replica in [replica for replica in self._leaders if replica[0] == event.node]:
            del self._leaders[replica]

    def _stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._since.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)


def _per_second(size: int, window_us: int) -> int:
    return size * MICROSECONDS["s"] // window_us
