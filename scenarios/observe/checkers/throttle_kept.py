"""F9: replication throttles hold back what they should, and no more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush

from attrs import define, field

from emulator.protocol.events import (
    BatchesAppended,
    BecameLeader,
    FetchPosition,
    ImpendingReplicasReceived,
    LeapBegan,
    Leapt,
    NodeCrashed,
)
from emulator.protocol.shown import FetchHeld, QuotaCounted, SettingsTaken
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS, broker_entity
from fetchers.quota import NO_PARTITIONS, listed_here, stood_still_us
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.fetch_facts import HeldUnderQuota, OverQuota
from scenarios.units import MICROSECONDS

SECOND_US = MICROSECONDS["s"]
SIDES = ("leader", "follower")
NO_REPLICAS: frozenset[int] = frozenset()


@define(eq=False)
class _Window:
    """The bytes that one broker has surely counted for one quota, and may have.

    Kafka's window consists of samples, of which nothing here knows where they begin: what is younger than all of them
    but one is in it, what is older than all of them is not, and it is at least as long as one.

    Attributes:
        rate: the limit in bytes per second; None for none.
        free_us: when it was surely not known to be exceeded last.
    """

    windows: int
    window_us: int
    rate: int | None = None
    free_us: int = 0
    _sure: list[tuple[int, int]] = field(factory=list)
    """A heap of the earliest time at which each was counted, and its bytes."""
    _sure_bytes: int = 0
    _possible: deque[tuple[int, int]] = field(factory=deque)
    """When each was there, and its bytes."""
    _possible_bytes: int = 0
    _moved_us: int = 0
    """By how much all was moved so far: times are kept without that."""

    def count(self, since_us: int, now_us: int, size: int) -> None:
        """``size`` bytes were counted at some time from ``since_us`` to ``now_us``."""
        self.look(now_us)
        heappush(self._sure, (since_us - self._moved_us, size))
        self._sure_bytes += size
        self._possible.append((now_us - self._moved_us, size))
        self._possible_bytes += size
        self._forget(now_us)
        self.look(now_us)

    def look(self, now_us: int) -> None:
        """Note whether it is exceeded now. Between two counts it can only come to be free."""
        over_us = now_us - self._moved_us - (self.windows - 1) * self.window_us
        while self._sure and self._sure[0][0] <= over_us:
            self._sure_bytes -= heappop(self._sure)[1]
        if self.rate is None or self._sure_bytes * SECOND_US <= self.rate * self.windows * self.window_us:
            self.free_us = now_us

    def shift(self, by_us: int) -> None:
        """Move all that it has counted to later: the broker's own clock stood still for that long."""
        self._moved_us += by_us
        self.free_us += by_us

    def _forget(self, now_us: int) -> None:
        over_us = now_us - self._moved_us - self.windows * self.window_us
        while self._possible and self._possible[0][0] < over_us:
            self._possible_bytes -= self._possible.popleft()[1]

    def may_be_exceeded(self, now_us: int) -> bool:
        self._forget(now_us)
        return self.rate is not None and self._possible_bytes * SECOND_US > self.rate * self.window_us


@define(eq=False)
class _Side:
    """One broker as a leader, or as a follower.

    Attributes:
        listed: partitions whose replica here is listed, by topic; None: all.
        window: the window of KIP-73's quota. reassigned: the window of KIP-542's.
    """

    window: _Window
    reassigned: _Window
    listed: dict[str, frozenset[int] | None] = field(factory=dict)

    def lists(self, topic: str, partition: int) -> bool:
        partitions = self.listed.get(topic, NO_PARTITIONS)
        return partitions is None or partition in partitions


@define(eq=False)
class _Fetched:
    """One replica since it fetches from its leader of now.

    Attributes:
        since_us: when it last appended something, or began: what it appends next it has asked for since.
        certain: whether no setting has changed for either broker since then.
        committed: the leader's high watermark then: what the next answer brings shows at least this one.
        behind: whether the answer that came then has surely shown that it lags.
        apart: whether it was then out of sync, as its leader knew it.
    """

    leader: int
    since_us: int
    certain: bool = False
    committed: int = 0
    behind: bool = False
    apart: bool = False


class ThrottleKept(Checker):
    """While a quota for replication is exceeded, what it limits gets no records (KIP-73; ReplicaManager and
    ReplicaFetcherThread, 0.10.1 to 2.7).

    Verified: each append of a listed replica that follows: from its append before that to this one, its broker's own
        window as a follower was not exceeded all the time, if that append left it behind the leader's high watermark;
        nor was its leader's, if it was out of sync then and now. The response that exceeds a quota passes. Each time
        that a follower leaves a replica out of its fetches: its quota can be exceeded (KIP-542's too, which counts only
        replicas that a move adds).

    A window is taken for exceeded where it is, wherever its samples begin: by the bytes of all samples but one, over
    the length of all of them. A follower leaves something out with reason where the bytes of all samples exceed the
    rate over the length of one.

    A leap (``Leapt``) stops the clocks of quotas: the windows here are moved as those are, and what logs get meanwhile
    counts for neither. What a follower leaves out then is not judged.

    Not verified: that a replica with a quota to spare is fetched; KIP-542's rates while they are exceeded; copies
        between log directories; brokers whose clocks a fault has set.
    """

    ids = ("F9",)
    statement = (
        "bytes(window) > rate · window ⇒ no records for listed, lagging replicas: "
        "a replication throttle holds back what it should, and only while its quota is exceeded"
    )
    catches = ("KIP-73",)
    fails_when = "quotas are never exceeded"

    def begin(self) -> None:
        self._logs = self.history.commits.logs  # with their high watermarks
        brokers = self.start.brokers
        self._rates_of_all = self.start.rates_of_all
        self._taken: dict[tuple[int, str], dict[str, str]] = {}
        """The settings that each broker has taken since it started: its own, and those of all."""
        self._windows = int(brokers.get("replication.quota.window.num", 11))
        self._window_us = int(brokers.get("replication.quota.window.size.seconds", 1)) * SECOND_US
        self._sides: dict[int, dict[str, _Side]] = {}
        """The two sides, ``leader`` and ``follower``, of each broker that has a rate or a list."""
        self._fetched: dict[int, dict[TopicPartition, _Fetched]] = {}
        self._added: dict[TopicPartition, frozenset[int] | None] = {}
        """The replicas that moves have added so far; None: nothing says which (KIP-352's draft)."""
        self._leaps = False

    # -- settings -----------------------------------------------------------------------------------------------------

    def on_settings(self, event: SettingsTaken) -> None:
        settings, node = dict(event.settings), event.node
        entities = (ALL_BROKERS, broker_entity(node)) if self._rates_of_all else (broker_entity(node),)
        if event.entity in entities:
            self._taken[node, event.entity] = settings
            of_all, own = (self._taken.get((node, entity), {}) for entity in (entities[0], entities[-1]))
            self._limit(node, {**of_all, **own}, event.t_us)
        elif event.entity.startswith("topics/"):
            self._list(node, event.entity.removeprefix("topics/"), settings)

    def _limit(self, node: int, settings: dict[str, str], now_us: int) -> None:
        for name in SIDES:
            rates = [settings.get(f"{name}.{of}.throttled.rate") for of in ("replication", "reassignment")]
            if node not in self._sides and rates == [None, None]:
                continue
            side = self._side(node, name)
            for window, rate in zip((side.window, side.reassigned), rates, strict=True):
                window.look(now_us)
                window.rate = None if rate is None else int(rate)
                window.look(now_us)
        self._settings_changed(node)

    def _list(self, node: int, topic: str, settings: dict[str, str]) -> None:
        for name in SIDES:
            partitions = listed_here(settings, f"{name}.replication.throttled.replicas", node)
            if partitions is None or partitions:
                self._side(node, name).listed[topic] = partitions
            elif node in self._sides:
                self._side(node, name).listed.pop(topic, None)
        self._settings_changed(node)

    def _side(self, node: int, name: str) -> _Side:
        sides = self._sides.get(node)
        if sides is None:
            sides = self._sides[node] = {each: _Side(self._window(), self._window()) for each in SIDES}
        return sides[name]

    def _window(self) -> _Window:
        return _Window(self._windows, self._window_us)

    def _known(self, node: int, name: str) -> _Side | None:
        return self._sides[node][name] if node in self._sides else None

    def _settings_changed(self, node: int) -> None:
        if node in self._sides:
            for broker, replicas in self._fetched.items():
                for fetched in replicas.values():
                    if node in (broker, fetched.leader):
                        fetched.certain = False

    # -- who fetches what ---------------------------------------------------------------------------------------------

    def on_position(self, event: FetchPosition) -> None:
        tp, replicas = TopicPartition.of(event.topic, event.partition), self._fetched.setdefault(event.node, {})
        if event.offset < 0:
            replicas.pop(tp, None)
        else:
            replicas[tp] = _Fetched(event.leader, event.t_us)

    def on_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        before = self._added.get(tp, NO_REPLICAS)
        if event.adding and before is not None:
            self._added[tp] = before.union(event.adding)

    def on_impending(self, event: ImpendingReplicasReceived) -> None:
        self._added[TopicPartition.of(event.topic, event.partition)] = None

    def on_crashed(self, event: NodeCrashed) -> None:
        self._sides.pop(event.node, None)
        for entity in (ALL_BROKERS, broker_entity(event.node)):
            self._taken.pop((event.node, entity), None)
        self._fetched.pop(event.node, None)

    def on_counted(self, event: QuotaCounted) -> None:
        side = self._known(event.node, event.side)
        if side is not None:
            side.window.count(event.t_us, event.t_us, event.size)

    def on_leap(self, event: LeapBegan) -> None:
        self._leaps = True

    def on_leapt(self, event: Leapt) -> None:
        self._leaps = False
        by_us = stood_still_us(event.t_us - event.since_us, self._window_us)
        if not by_us:
            return
        for sides in self._sides.values():
            for side in sides.values():
                for window in (side.window, side.reassigned):
                    window.shift(by_us)
        for replicas in self._fetched.values():
            for fetched in replicas.values():
                fetched.since_us = min(fetched.since_us + by_us, event.t_us)

    # -- what is fetched ----------------------------------------------------------------------------------------------

    def on_appended(self, event: BatchesAppended) -> None:
        if event.leader or not self._sides:
            return
        replicas = self._fetched.get(event.node, {})
        sizes: dict[int, int] = {}
        for partition, size in zip(event.partitions, event.sizes, strict=True):
            sizes[partition] = sizes.get(partition, 0) + size
        for partition, size in sizes.items():
            tp = TopicPartition.of(event.topic, partition)
            fetched = replicas.get(tp)
            if fetched is not None and self._leaps:
                self._note(event, tp, fetched)
            elif fetched is not None:
                self._check(event, tp, fetched)
                for window, since_us in self._counting(event, tp, fetched):
                    window.count(since_us, event.t_us, size)
                self._note(event, tp, fetched)

    def _counting(self, event: BatchesAppended, tp: TopicPartition, fetched: _Fetched) -> Iterator[tuple[_Window, int]]:
        """The quotas for which what arrives is counted, and since when it may have been: a leader counts what it
        sends."""
        for side, since_us in (
            (self._known(event.node, "follower"), event.t_us),
            (self._known(fetched.leader, "leader"), fetched.since_us),
        ):
            if side is not None and side.lists(*tp):
                yield side.window, since_us
            elif side is not None and self._is_added(event.node, tp):
                yield side.reassigned, since_us

    def _is_added(self, node: int, tp: TopicPartition) -> bool:
        """Whether a move may have added this replica."""
        added = self._added.get(tp, NO_REPLICAS)
        return added is None or node in added

    def _check(self, event: BatchesAppended, tp: TopicPartition, fetched: _Fetched) -> None:
        node, leader = event.node, fetched.leader
        if not fetched.certain or node in self.now.clocks or leader in self.now.clocks:
            return
        apart = fetched.apart and self._is_apart(node, tp, leader)
        for broker, name, limited in ((node, "follower", fetched.behind), (leader, "leader", apart)):
            side = self._known(broker, name)
            if side is None or not limited or not side.lists(*tp):
                continue
            side.window.look(event.t_us)
            if side.window.free_us < fetched.since_us:
                self.violated(event, OverQuota(node, leader, broker, name, side.window.rate, fetched.since_us), tp)

    def _note(self, event: BatchesAppended, tp: TopicPartition, fetched: _Fetched) -> None:
        """Note the state of both replicas as the follower makes its next request."""
        log, of_leader = self._logs.get(event.node, tp), self._logs.get(fetched.leader, tp)
        fetched.behind = log is not None and log.end_offset < fetched.committed
        fetched.committed = 0 if of_leader is None else of_leader.high_watermark or 0
        fetched.apart = self._is_apart(event.node, tp, fetched.leader)
        fetched.since_us, fetched.certain = event.t_us, True

    def _is_apart(self, node: int, tp: TopicPartition, leader: int) -> bool:
        led = self.cluster.as_led(leader, tp)
        return led is not None and node not in led.isr

    def on_held(self, event: FetchHeld) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if self._leaps or event.leader == event.node or event.node in self.now.clocks:
            return
        side = self._known(event.node, "follower")
        window = None if side is None else side.window if side.lists(*tp) else side.reassigned
        if window is None or not window.may_be_exceeded(event.t_us):
            rate = None if window is None else window.rate
            self.violated(event, HeldUnderQuota(event.node, rate), tp)
