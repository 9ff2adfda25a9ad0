"""QuietCluster: producers hold and are acknowledged, then readers hold, then nothing of the data plane is in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field

from brokers.requests.follower_session import BETWEEN_POLLS_US
from emulator.kernel import Signal
from scenarios.runs.leaping.followed import FetchedReplica, Restless, leaders, running, threads

if TYPE_CHECKING:
    from brokers.partition.partition import Partition
    from emulator.protocol.types import TopicPartition
    from scenarios.cluster.clients.consumer import Consumer
    from scenarios.cluster.clients.producer import Producer
    from scenarios.cluster.cluster import Cluster

SOON_US = 200_000
"""The time in which what producers close is acknowledged, at most, where nothing keeps it waiting."""
LOOK_US = 1_000
"""How often it looks whether all is quiet."""
PATIENCE_US = 300_000
"""How long it waits for quiet at most."""
PATIENCE_THROTTLED_US = 11_000_000
"""How long it waits where a throttle holds back followers in sync, for some seconds each: one cycle of its quota."""
LATE = 0.5
"""How late they may be, as a part of the time after which a leader removes them: with more, a leap might pass over
that."""
PATIENCE_SATURATED_US = 5_000_000
"""How long it waits where cards are saturated: what is in flight takes its time, and what waits in producers stays."""
UNACKNOWLEDGED = "producers wait for acknowledgements"
ROUNDS = 10
"""How many looks there are between two searches for the sessions of readers."""


@define(eq=False)
class QuietCluster:
    """Holds and releases the data plane of one cluster.

    Attributes:
        unanswered_us: how long a message can be on its way to which there is no answer (acks=0).
        producers: the producers that are held; empty while none is.
        since_us: since when.
        waits: whether messages waited, when ``calm`` looked last.
        saturated: whether it was for cards rather than for throttles.
        patience_us: how long it waits for quiet at most, as far as ``calm`` knows.
    """

    cluster: Cluster
    unanswered_us: int
    producers: list[Producer] = field(factory=list)
    since_us: int = 0
    waits: bool = False
    saturated: bool = False
    patience_us: int = PATIENCE_US
    _consumers: list[Consumer] = field(factory=list)
    _signal: Signal | None = None
    _asked: int = 0
    _rounds: int = 0
    """How often requests that wait were answered since readers are held."""
    _works: bool = False
    """Whether the load is held. The world is not settled then, as it would not be with the messages that are left out:
    a run that ended in between would be shorter than the exact one, and count less."""
    _refused_us: int = 0
    """When a throttle let something pass last, as far as leaps know."""
    _known: list[Any] = field(factory=list)
    """The sessions of readers, as they were found last."""

    def calm(self, fetched: list[FetchedReplica], loads: Mapping[TopicPartition, float], late: float) -> str:
        """Why the cluster cannot be made quiet soon; empty: it probably can. A look changes nothing, but where a card
        or a quota keeps the load waiting, holding it back would.

        Args:
            loads: the messages per microsecond of each partition.
            late: how late followers in sync were in the last stretch (``lateness``).
        """
        self.saturated, self.patience_us = False, PATIENCE_US
        waits = any(producer.unfinished(self.cluster.world.now - SOON_US) for producer in self.cluster.producers)
        for each in fetched:
            behind = each.led.log.end_offset - each.state.offset
            if each.in_sync and behind > loads.get(each.state.tp, 0.0) * SOON_US + 1:
                if _is_throttled(each) and late > LATE:
                    return "a throttle holds back a follower in sync"
                waits = True
        self.waits = waits
        if not waits:
            return ""
        if not any(broker.quotas.leader.active for broker in running(self.cluster)):
            self.saturated, self.patience_us = True, PATIENCE_SATURATED_US
            return ""
        self.patience_us = PATIENCE_THROTTLED_US
        return UNACKNOWLEDGED if late > LATE else ""

    def begin(self, then: Callable[[], object], failed: Callable[[str], object]) -> None:
        """Make the cluster quiet, and call ``then``; or ``failed`` with the reason, after which readers go on and
        producers are still held."""
        now = self.cluster.world.now
        if not self._works:
            self._works = True
            self.cluster.world.foreground += 1
        if not self.producers:
            self.producers, self.since_us = self.cluster.producers, now
            for producer in self.producers:
                producer.hold(with_backlog=self.saturated)
        self._asked += 1
        self._look((self._asked, now, then, failed))

    def stop(self) -> None:
        """Give up what ``begin`` has begun."""
        self._asked += 1
        self.release_readers()

    def _look(self, asked: tuple[int, int, Callable[[], object], Callable[[str], object]]) -> None:
        number, began_us, then, failed = asked
        world = self.cluster.world
        if number != self._asked:
            return
        self.cluster.trace.cause = 0
        try:
            why = self._restless()
        except Restless as restless:
            why = str(restless)
        if not why:
            then()
        elif world.now - began_us >= self.patience_us:
            self.stop()
            failed(why)
        else:
            world.call_later(LOOK_US, self._look, asked, True)

    def _restless(self) -> str:
        """Why it is not quiet yet; empty: it is. Raises: Restless."""
        if self._signal is None:
            why = self._unacknowledged()
            if why:
                return why
            self._hold_readers()
        for thread in threads(self.cluster):
            if not thread.rests:
                self._answer()
                return "a fetcher has a request in flight"
        if not all(consumer.rests for consumer in self._consumers):
            self._answer()
            return "a consumer has a request in flight"
        return ""

    def _unacknowledged(self) -> str:
        if not all(producer.rests for producer in self.producers):
            return UNACKNOWLEDGED
        silent = any(producer.load.acks == 0 for producer in self.producers)
        if silent and self.cluster.world.now - self.since_us < self.unanswered_us:
            return "a message may be on its way"
        if any(broker.replicas.logs.compacts for broker in running(self.cluster)):
            return "a log is compacted"
        led = leaders(self.cluster)
        if not all(_is_followed(partition) for partition in led.values()):
            return "a follower in sync is behind"
        if self.cluster.consumers:
            committed = {tp: partition.high_watermark for tp, partition in led.items()}
            if not all(consumer.reads_on(committed.get) for consumer in self.cluster.consumers):
                return "a consumer is behind"
        return ""

    def _hold_readers(self) -> None:
        self._signal = Signal(self.cluster.world, "the end of a leap")
        self._rounds = 0
        for thread in threads(self.cluster):
            thread.hold(self._signal)
        self._consumers = self.cluster.consumers
        for consumer in self._consumers:
            consumer.hold()

    def _answer(self) -> None:
        """Answer the fetch requests that wait."""
        if self._rounds % ROUNDS == 0:
            self._known = self._sessions()
        self._rounds += 1
        for session in self._known:
            session.delayed.answer_now()
        for broker in running(self.cluster):
            broker.replicas.purgatory.complete()

    def _sessions(self) -> list[Any]:
        sessions: dict[Any, None] = {}
        for broker in running(self.cluster):
            for partition in broker.replicas.partitions.values():
                for remote in partition.remotes.values():
                    if remote.session is not None:
                        sessions[remote.session] = None
                for reader in partition.readers or ():
                    sessions[reader.session] = None
        return list(sessions)

    # -- release ------------------------------------------------------------------------------------------------------

    def release_readers(self) -> None:
        """Let fetchers and consumers go on."""
        if self._signal is None:
            return
        signal, self._signal, self._known = self._signal, None, []
        for thread in threads(self.cluster):
            thread.release()
        signal.set(None)
        for consumer in self._consumers:
            consumer.release()
        self._consumers = []

    def release_load(self) -> None:
        """Let producers go on."""
        producers, self.producers = self.producers, []
        for producer in producers:
            producer.release()
        if self._works:
            self._works = False
            waits_us = max(0, self._refused_us + self._refusal_us() - self.cluster.world.now)
            self.cluster.world.call_later(waits_us, self._rest, None, True)

    def arrived(self) -> None:
        """A leap is over: what a throttle let pass last came now."""
        self._refused_us = self.cluster.world.now

    def _refusal_us(self) -> int:
        """For how long a leader that a throttle has made to refuse a follower is not at rest."""
        leaders = [broker for broker in running(self.cluster) if broker.quotas.leader.active]
        waits_us = [broker.replicas.fetchers.policies.replica_fetch_wait_max_us for broker in leaders]
        return max(waits_us, default=-BETWEEN_POLLS_US) + BETWEEN_POLLS_US

    def _rest(self, _: Any) -> None:
        self.cluster.world.foreground -= 1


def lateness(fetched: Iterable[FetchedReplica]) -> float:
    """How long the latest follower in sync has not been at the end of its leader's log, as a part of the time after
    which the leader removes it from the ISR."""
    late = 0.0
    for each in fetched:
        remote, policies = each.remote, each.leader.replicas.policies
        if remote is not None and each.in_sync and remote.log_end_offset != each.led.log.end_offset:
            overdue_us = policies.out_of_sync.overdue_us(remote, each.leader.process.clock_us)
            late = max(late, overdue_us / policies.config.replica_lag_time_max_us)
    return late


def _is_throttled(each: FetchedReplica) -> bool:
    """Whether a throttle may leave this replica out of fetches once it is behind."""
    tp, adding = each.state.tp, each.state.adding
    sides = each.leader.quotas.leader, each.broker.quotas.follower
    return any(side.active and side.quota(tp, adding) is not None for side in sides)


def _is_followed(led: Partition) -> bool:
    """Whether each replica in sync has fetched from this leader up to the end of its log."""
    end, here = led.log.end_offset, led.process.node.id
    return led.high_watermark == end and all(
        broker == here or (broker in led.remotes and led.remotes[broker].log_end_offset == end)
        for broker in led.isr_state.isr
    )
