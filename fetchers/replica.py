"""Replica fetchers: what a follower has from the leader on another broker."""

from collections.abc import Callable, Mapping
from typing import ClassVar

import structlog

from emulator.nodes import Process
from fetchers.kinds import REPLICA, Records
from fetchers.manager import FetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import Connection
from fetchers.quotas import Throttle
from fetchers.remote import RemoteLeader
from fetchers.thread import FetcherThread


class ReplicaFetcherManager(FetcherManager):
    """``connect`` opens the way to a leader, by its broker id; ``throttle`` binds the broker as a follower."""

    client_id: ClassVar[str] = "Replica"
    records: ClassVar[Records] = REPLICA

    def __init__(
        self,
        process: Process,
        policies: FetcherPolicies,
        connect: Callable[[int], Connection],
        throttle: Throttle | None = None,
    ) -> None:
        super().__init__(process, policies, policies.num_replica_fetchers)
        self._connect = connect
        self._throttle = throttle or Throttle()

    def configured(self, settings: Mapping[str, str]) -> None:
        """The broker's settings have changed: num.replica.fetchers may (KIP-226, 1.1).

        Kafka takes at most twice as many threads, and at least half (DynamicThreadPool, 2.3).
        """
        wanted = int(settings.get("num.replica.fetchers", self.policies.num_replica_fetchers))
        if self._fetchers // 2 <= wanted <= self._fetchers * 2:
            self.resize(wanted)
        else:
            structlog.get_logger("fetchers").error("num.replica.fetchers not changed", now=self._fetchers, to=wanted)

    def _create(self, leader: int, number: int) -> FetcherThread:
        endpoint = RemoteLeader(self.process.node.id, self._connect(leader), self.policies)
        name = f"ReplicaFetcherThread-{number}-{leader}"
        return FetcherThread(
            name, leader, self.process, endpoint, self.policies, self.failed,
            self._throttle, self.metrics.thread(name, leader),
        )  # fmt: skip
