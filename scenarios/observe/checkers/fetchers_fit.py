"""F11: a broker fetches what it follows, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.protocol.shown import Remembered
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike


class FetchersFit(BrokerMemory):
    """The threads of a broker's replica fetchers hold the partitions that it follows, each from the leader and in the
    leader epoch that it knows, and no others.

    Verified: when the cluster is at rest, each partition of a thread, against the role that the broker has in it.

    Not verified: that each partition that it follows has a thread (``followed_in_time``); that it makes progress;
        copies between log directories.
    """

    ids = ("F11",)
    statement = (
        "at rest fetched(b, p) ⇒ follows(b, p, leader, epoch): a broker fetches what it follows, and nothing else"
    )
    fails_when = "fetchers keep partitions that were removed from them"

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
