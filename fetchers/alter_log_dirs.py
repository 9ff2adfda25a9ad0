"""Alter-log-dirs fetchers: how a replica gets from one log directory of its broker to another (KIP-113)."""

from typing import ClassVar

from attrs import evolve

from emulator.nodes import Process
from emulator.protocol.types import TopicPartition
from fetchers.kinds import COPY, Records
from fetchers.local import LocalLeader
from fetchers.manager import FetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import CurrentLogs
from fetchers.quotas import Throttle
from fetchers.thread import FetcherThread
from fetchers.truncation import Kip279


class ReplicaAlterLogDirsManager(FetcherManager):
    """Copies what ``logs`` holds to the future logs that it is given; as their leader it is given the broker itself.

    ``fetchers``: num.replica.alter.log.dirs.threads, by default one for each log directory.
    """

    client_id: ClassVar[str] = "ReplicaAlterLogDirs"
    records: ClassVar[Records] = COPY

    def __init__(
        self,
        process: Process,
        policies: FetcherPolicies,
        logs: CurrentLogs,
        fetchers: int = 1,
        throttle: Throttle | None = None,
    ) -> None:
        if policies.truncation.on_fetch:
            policies = evolve(policies, truncation=Kip279())  # copies went on asking (ReplicaAlterLogDirsThread, 2.8)
        super().__init__(process, policies, fetchers)
        self._logs = logs
        self._throttle = throttle or Throttle()

    def _create(self, leader: int, number: int) -> FetcherThread:
        endpoint = LocalLeader(self.process.world, self._logs, self.policies)
        name = f"ReplicaAlterLogDirsThread-{number}"
        return FetcherThread(
            name, leader, self.process, endpoint, self.policies, self.failed, self._throttle,
            self.metrics.thread(name, leader), self._logs.replace,
        )  # fmt: skip

    def truncated(self, tp: TopicPartition, offset: int) -> None:
        """The current log of ``tp`` has been cut at ``offset``; its copy may hold more than that."""
        thread = self.threads.get((self.process.node.id, self.policies.assignment(tp, self._fetchers)))
        if thread is not None:
            thread.truncate(tp, offset)
