"""F11: a broker fetches what it follows, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.protocol.events import FetcherStopped, NodeStarted
from emulator.protocol.java_hash import java_hash
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike
from scenarios.observe.checkers.led_in_time import SETTLING_US


class FetchersFit(BrokerMemory):
    """The threads of a broker's replica fetchers hold the partitions that it follows, each from the leader and in the
    leader epoch that it knows, and no others.

    Verified: when the cluster is at rest, and before (``BrokerMemory.looks_meanwhile``), each partition of a thread,
        against the role that the broker has in it. Since 2.2 the thread is that of its number: the hash of topic and
        partition, modulo num.replica.fetchers (AbstractFetcherManager.getFetcherId), also after that has changed
        (KIP-226). At rest each follower that reads in a session of the leader has fetched in the last
        replica.fetch.wait.max.ms, two back-offs and 5 s; or replica.socket.timeout.ms more, for which a lost request is
        waited for.

    Not verified: that each partition that it follows has a thread (``followed_in_time``); that it makes progress;
        copies between log directories.
    """

    ids = ("F11",)
    statement = (
        "at rest fetched(b, p) ⇒ follows(b, p, leader, epoch): a broker fetches what it follows, and nothing else"
    )
    fails_when = "fetchers keep partitions that were removed from them"
    looks_meanwhile = True

    def begin(self) -> None:
        super().begin()
        time_us = self.start.time_us
        self._pause_us = time_us("replica.fetch.wait.max.ms", 500) + SETTLING_US
        self._pause_us += 2 * time_us("replica.fetch.backoff.ms", 1_000)
        self._lost_us = time_us("replica.socket.timeout.ms", 30_000)
        self._unread: dict[tuple[int, TopicPartition, int], int] = {}
        """The followers that fetch in no session of their leader, by leader, with the time when that was first seen."""

        self._dead: dict[int, None] = {}
        """The brokers of which a thread has died, before KIP-461."""

    def on_died(self, event: FetcherStopped) -> None:
        if event.reason == "died":
            self._dead[event.node] = None

    def on_started(self, event: NodeStarted) -> None:
        self._dead.pop(event.node, None)

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        yield from self._silent(event, memories["followers"])
        yield from self.unlike_meanwhile(event, memories)

    def unlike_meanwhile(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        replicas = memories["replicas"]
        for tp, fetched in memories["fetched"].items():
            replica, state = replicas.get(tp), self.cluster.state(tp)
            if replica is None or replica.leads:
                yield Unlike("fetched", "", f"a fetcher from broker {fetched.leader}", "none", tp)
            elif state is None or replica.leader_epoch != state.leader_epoch:
                continue  # its role is older than ZooKeeper's: ``roles_adopted``
            elif (fetched.leader, fetched.leader_epoch) != (replica.leader, replica.leader_epoch):
                kept = f"a fetcher from broker {fetched.leader} in epoch {fetched.leader_epoch}"
                yield Unlike("fetched", "", kept, f"one from {replica.leader} in epoch {replica.leader_epoch}", tp)
            elif self.start.detects_bounces:
                number = _number(tp, memories["fetcher_threads"])
                if fetched.fetcher_id != number:
                    yield Unlike("fetched", "", f"fetcher {fetched.fetcher_id}", f"fetcher {number}", tp)

    def _silent(self, event: Remembered, led: Mapping[TopicPartition, Mapping[int, int]]) -> Iterator[Unlike]:
        most_us = self._pause_us + self.now.bound_at_rest(event.t_us, self._lost_us + self._pause_us)
        for tp, followers in led.items():
            for broker, silent_us in followers.items():
                key = event.node, tp, broker
                if not self._fetches(broker, event.node, tp) or (silent_us < 0 and self.now.throttled):
                    self._unread.pop(key, None)
                    continue
                since_us = self._unread.setdefault(key, event.t_us) if silent_us < 0 else event.t_us - silent_us
                if event.t_us - since_us > most_us:
                    last = f"no fetch since {since_us / 1e6:g} s"
                    yield Unlike("followers", f"broker {broker}", last, "one of now", tp)
                if silent_us >= 0:
                    self._unread.pop(key, None)

    def _fetches(self, broker: int, leader: int, tp: TopicPartition) -> bool:
        """Whether nothing keeps a follower from its next fetch."""
        cluster, now = self.cluster, self.now
        reached = now.reached_since_us(broker) is not None and cluster.connected(broker, leader)
        idle = cluster.is_shutting_down(broker) or cluster.lacks_dirs(broker) or broker in self._dead
        idle |= broker in now.impaired or cluster.is_deleting(tp.topic)
        clocks = broker in now.clocks or leader in now.clocks
        return reached and not idle and not clocks and cluster.fetches_from(broker, tp) == leader


def _number(tp: TopicPartition, fetchers: int) -> int:
    """The number of the thread that a partition belongs to, in Java's arithmetic of 32 bits."""
    code = (31 * java_hash(tp.topic) + tp.partition) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return 0 if signed == -(1 << 31) else abs(signed) % fetchers
