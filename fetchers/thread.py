"""One fetcher thread: its life, and the partitions that come and go (kafka-behaviour, 8.1 and 8.2; KIP-461).

It is a Trio task. What it does to partitions happens in synchronous transitions between two waits, so a LeaderAndIsr
can take partitions away or give them a new epoch while an answer is under way; such answers are ignored. What it
fetches from is a port: replica fetchers and those that move a replica between log directories share everything here.
"""

from collections.abc import Iterable
from contextlib import suppress

import structlog
import trio

from emulator.kernel import Mailbox
from emulator.network import Disconnected
from emulator.nodes import Process
from emulator.protocol.events import FetcherStarted, FetcherStopped
from emulator.protocol.types import TopicPartition
from fetchers.failed_partitions import FailedPartitions
from fetchers.failing import Failing
from fetchers.failures import FetcherDied
from fetchers.fetching import FetchRound, Finish
from fetchers.metrics import ThreadMetrics
from fetchers.partitions import Partitions
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState, LeaderEndPoint
from fetchers.quotas import Throttle
from fetchers.throttling import FollowerThrottle
from fetchers.truncating import TruncationRound


class FetcherThread:
    """See the module.

    Attributes:
        states: the partitions it fetches, failed ones excluded.
        address: where its leader listens, as the partitions that it was begun for had it.
        ended: it was ended.
        dead: an error has ended it. Its partitions stay as they are, and nothing happens to them any more.
    """

    def __init__(
        self,
        name: str,
        leader: int,
        process: Process,
        endpoint: LeaderEndPoint,
        policies: FetcherPolicies,
        failed: FailedPartitions,
        throttle: Throttle,
        metrics: ThreadMetrics,
        finish: Finish | None = None,
    ) -> None:
        self.name = name
        self.leader = leader
        self.address = ""
        self.ended = False
        self.dead = False
        self._process = process
        self._endpoint = endpoint
        self._policies = policies
        self._metrics = metrics
        self.partitions = partitions = Partitions(process, leader, endpoint, policies, failed.records, metrics)
        self.states = partitions.states
        self._throttle = FollowerThrottle(process, partitions, throttle)
        failing = Failing(process, name, partitions, failed, policies.failures, self._all_failed)
        self._truncation = TruncationRound(partitions, endpoint, policies.truncation, failing, name)
        self._fetching = FetchRound(
            partitions, endpoint, failing, self._truncation, policies, self._throttle, finish, metrics
        )
        self._bell = Mailbox(process.world, f"work for {process.name}/{name}")
        self._scope: trio.CancelScope | None = None
        self._log = structlog.get_logger("fetchers").bind(broker=process.node.id, fetcher=name)

    # -- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._process.emit(FetcherStarted, self._process.node.id, self.name, self.leader)
        self._process.spawn(self._run, name=self.name)

    def end(self, reason: str) -> None:
        """Stop at once, in the middle of whatever it waits for."""
        if self.ended:
            return
        self.ended = True
        self.partitions.pending.release()
        if not self.dead:
            self._process.emit(FetcherStopped, self._process.node.id, self.name, self.leader, reason)
        self._metrics.ended()
        self._endpoint.close()
        if self._scope is not None:
            self._scope.cancel()

    def _all_failed(self) -> None:
        if self._policies.end_thread_when_all_failed:
            self.end("all-failed")

    async def _run(self) -> None:
        async with self._process.world.open_nursery() as nursery:
            self._scope = nursery.cancel_scope
            try:
                await self._work()
            except FetcherDied as error:
                self._die(error)

    def _die(self, error: FetcherDied) -> None:
        """Nobody is told, and the manager goes on giving this thread partitions that it will never fetch."""
        self._log.error("thread died", reason=str(error))
        self.dead = True
        self._metrics.died()
        self.partitions.pending.release()
        self._process.emit(FetcherStopped, self._process.node.id, self.name, self.leader, "died")

    async def _work(self) -> None:
        partitions = self.partitions
        while not self.ended:
            partitions.end_delays()
            self._throttle.apply()
            if partitions.truncating:
                partitions.pending.release()
                await self._truncation.run()
            elif partitions.any_to_fetch:
                if not partitions.held:
                    partitions.pending.release()
                await self._fetch()
            else:
                await self._wait_within(partitions.next_end_of_delay_us())

    async def _fetch(self) -> None:
        """One round. A lost leader costs a back-off, then each partition another (the double wait is Kafka's).

        A partition that is added meanwhile ends the first wait and is not delayed.
        """
        try:
            answers = await self._endpoint.fetch()
        except Disconnected as lost:
            self._metrics.answered(())
            self._log.warning("leader does not answer", error=str(lost))
            self._endpoint.reset()
            states = list(self.states.values())
            await self._wait_within(self._policies.replica_fetch_backoff_us)
            self.partitions.delay(state for state in states if state in self.partitions)
        else:
            self._metrics.answered(answers)
            if answers:
                await self._fetching.take(answers)

    async def _wait_within(self, timeout_us: int | None) -> None:
        """Wait until partitions are added, but not longer than ``timeout_us``."""
        self._bell.clear()
        if timeout_us is None:
            await self._bell.get()
            return
        with suppress(trio.TooSlowError):
            await self._bell.get_within(timeout_us)

    # -- partitions come and go -------------------------------------------------------------------------------------

    def add(self, starts: Iterable[InitialFetchState]) -> None:
        """Take partitions on; one already here under the same epoch keeps its state."""
        partitions = self.partitions
        for start in starts:
            partitions.add(start)
            self._throttle.see(self.states[start.tp])
        self._wake()

    def truncate(self, tp: TopicPartition, offset: int) -> None:
        """What is fetched has been cut at ``offset``."""
        self.partitions.truncate(tp, offset)
        self._wake()

    def _wake(self) -> None:
        if (self.partitions.truncating or self.partitions.on_fetch) and not self.dead:
            self.partitions.pending.hold(self.partitions.patience_us)
        self._bell.put(None)

    def give_up(self) -> list[InitialFetchState]:
        """Take all partitions away; what another thread needs to go on with them."""
        starts = [
            InitialFetchState(
                state.tp, self.leader, state.leader_epoch, state.offset, state.log, state.adding, self.address
            )
            for state in self.states.values()
        ]
        self.remove([start.tp for start in starts])
        return starts

    def remove(self, gone: Iterable[TopicPartition]) -> None:
        for tp in gone:
            if tp in self.states:
                self.partitions.drop(tp)
        if not self.partitions.truncating:
            self.partitions.pending.release()
