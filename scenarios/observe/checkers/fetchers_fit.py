"""F11: a broker fetches what it follows, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.protocol.java_hash import java_hash
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike


class FetchersFit(BrokerMemory):
    """The threads of a broker's replica fetchers hold the partitions that it follows, each from the leader and in the
    leader epoch that it knows, and no others.

    Verified: when the cluster is at rest, and before (``BrokerMemory.looks_meanwhile``), each partition of a thread,
        against the role that the broker has in it. Since 2.2 the thread is that of its number: the hash of topic and
        partition, modulo num.replica.fetchers (AbstractFetcherManager.getFetcherId), also after that has changed
        (KIP-226).

    Not verified: that each partition that it follows has a thread (``followed_in_time``); that it makes progress;
        copies between log directories.
    """

    ids = ("F11",)
    statement = (
        "at rest fetched(b, p) ⇒ follows(b, p, leader, epoch): a broker fetches what it follows, and nothing else"
    )
    fails_when = "fetchers keep partitions that were removed from them"
    looks_meanwhile = True

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
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


def _number(tp: TopicPartition, fetchers: int) -> int:
    """The number of the thread that a partition belongs to, in Java's arithmetic of 32 bits."""
    code = (31 * java_hash(tp.topic) + tp.partition) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return 0 if signed == -(1 << 31) else abs(signed) % fetchers
