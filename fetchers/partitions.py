"""The partitions of one fetcher thread: some truncate, some are delayed, some are held back by a throttle; all others
are fetched.

The endpoint keeps the list of partitions to fetch; each change is passed on to it (``want``, ``forget``).
"""

from collections.abc import Iterable

from emulator.kernel import PendingWork
from emulator.nodes import Process
from emulator.protocol.fetch import FetchFields
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH
from emulator.protocol.shown import Deviated, FetchHeld
from emulator.protocol.types import TopicPartition
from fetchers.kinds import Records
from fetchers.metrics import ThreadMetrics
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState, LeaderEndPoint
from fetchers.state import PartitionFetchState


class Partitions:
    """The partitions of one thread, with their states.

    Attributes:
        states: all partitions, except failed ones.
        truncating, delayed, held: the partitions that are not fetched; each is in one of the three.
        all_delayed_until_us: the time until which every partition is delayed (see ``delay_all``), 0 for no such delay.
            Then the three are empty, and no state says that it is delayed.
        pending: keeps the world unsettled while the thread has work that it may not have noticed yet.
        on_fetch: fetch requests name the epoch of the last batch (``TruncationRule.on_fetch``).
        patience_us: how long ``pending`` may keep the world unsettled.
    """

    def __init__(
        self,
        process: Process,
        leader: int,
        endpoint: LeaderEndPoint,
        policies: FetcherPolicies,
        records: Records,
        metrics: ThreadMetrics,
    ) -> None:
        self.states: dict[TopicPartition, PartitionFetchState] = {}
        self.truncating: dict[TopicPartition, None] = {}
        self.delayed: dict[TopicPartition, None] = {}
        self.held: dict[TopicPartition, None] = {}
        self.all_delayed_until_us = 0
        self.pending = PendingWork(process)
        self.patience_us = policies.replica_fetch_wait_max_us + policies.replica_fetch_backoff_us
        self._process = process
        self._leader = leader
        self.on_fetch = policies.truncation.on_fetch
        self._endpoint = endpoint
        self._records = records
        self._metrics = metrics
        self._backoff_us = policies.replica_fetch_backoff_us
        self._idle_lag_unknown = policies.idle_lag_unknown

    def __contains__(self, state: PartitionFetchState) -> bool:
        """Whether ``state`` is current: its partition was neither removed nor added again under a new epoch."""
        return self.states.get(state.tp) is state

    @property
    def any_to_fetch(self) -> bool:
        """Whether any partition can be fetched, provided that none truncates."""
        return not self.all_delayed_until_us and len(self.states) > len(self.delayed) + len(self.held)

    @property
    def all_to_fetch(self) -> bool:
        """Whether each of some partitions can be fetched."""
        return self.any_to_fetch and not (self.truncating or self.delayed or self.held)

    def add(self, start: InitialFetchState) -> None:
        """Add a partition; one that is here under the same leader epoch keeps its state."""
        if self.all_delayed_until_us:
            self._delay_each()
        state = self.states.get(start.tp)
        if state is None or state.leader_epoch != start.leader_epoch:
            if state is not None:
                self.drop(start.tp)
            state = self.states[start.tp] = PartitionFetchState(
                start.tp, start.leader_epoch, start.offset, start.log, adding=start.adding,
                unread=self._idle_lag_unknown,
            )  # fmt: skip
            if self.on_fetch and state.log.latest_epoch != UNDEFINED_EPOCH:
                self.start_fetching(state, state.log.log_end_offset)
            else:
                self.truncating[start.tp] = None

    def drop(self, tp: TopicPartition) -> None:
        """Remove a partition, whatever its state."""
        if self.all_delayed_until_us:
            self._delay_each()
        state = self.states.pop(tp, None)
        self.truncating.pop(tp, None)
        self.delayed.pop(tp, None)
        self.held.pop(tp, None)
        self._endpoint.forget(tp)
        if state is not None:
            self._metrics.dropped(state)
            if not state.truncating:
                self._position(state, -1)

    def start_fetching(self, state: PartitionFetchState, offset: int) -> None:
        """Fetch from ``offset`` on: the log was truncated to it, or the leader's log begins or ends there."""
        state.truncating = False
        state.offset = offset
        self.truncating.pop(state.tp, None)
        self.want(state)
        self._position(state, offset)

    def hold(self, state: PartitionFetchState) -> None:
        """Leave the partition out of the fetches until ``let_go``."""
        state.held = True
        self.held[state.tp] = None
        self._endpoint.forget(state.tp)
        node = self._process.node
        self._process.show(FetchHeld, node.id, self._leader, *state.tp)

    def let_go(self, state: PartitionFetchState) -> None:
        state.held = False
        del self.held[state.tp]
        self._resume(state)

    def _resume(self, state: PartitionFetchState) -> None:
        """Fetch again from the same offset."""
        self.want(state)

    def want(self, state: PartitionFetchState) -> None:
        """Name the partition in the next fetch."""
        self._endpoint.want(self._wanted(state))

    def _wanted(self, state: PartitionFetchState) -> FetchFields:
        start = state.log_start = state.log.log_start_offset
        last = state.log.latest_epoch if self.on_fetch else UNDEFINED_EPOCH
        return state.tp, state.leader_epoch, state.offset, start, last

    def _position(self, state: PartitionFetchState, offset: int) -> None:
        tp = state.tp
        node = self._process.node.id
        self._process.emit(
            self._records.position, node, tp.topic, tp.partition, self._leader, state.leader_epoch, offset
        )

    def mark_for_truncation(self, tp: TopicPartition, offset: int) -> None:
        """Ask the leader again where to truncate the copy: the log that is copied was truncated to ``offset``."""
        state = self.states.get(tp)
        if state is None:
            return
        state.offset = min(state.offset, offset)
        if not state.truncating:
            state.truncating = True
            self._position(state, -1)
        if not state.delayed_until_us:
            state.held = False
            self.held.pop(tp, None)
            self.truncating[tp] = None
            self._endpoint.forget(tp)

    # -- delays -----------------------------------------------------------------------------------------------------

    def delay_all(self, states: list[PartitionFetchState]) -> None:
        """Do not fetch ``states``, all partitions of a fetch that was not answered, for a back-off.

        A leader that is down is asked again every two back-offs, until the controller has elected others, which takes
        longer the more partitions there are. So one number delays all of them, if the thread has no other partitions.
        With work for each partition in each attempt, the cost of a failover would grow with the square of the
        partitions.
        """
        others = self.truncating or self.delayed or self.held
        if states and not others and states == list(self.states.values()):
            self.all_delayed_until_us = self._process.clock_us + self._backoff_us
        else:
            self.delay_partitions(state for state in states if state in self)

    def _delay_each(self) -> None:
        """Delay each partition by itself from now on, because one of those that are delayed together changes."""
        until, self.all_delayed_until_us = self.all_delayed_until_us, 0
        for state in self.states.values():
            self._delay(state, until)

    def delay_partitions(self, states: Iterable[PartitionFetchState]) -> None:
        """Do not fetch the partitions for a back-off; those that are delayed already are not delayed for longer. Called
        after a request: ``all_delayed_until_us`` is 0 then."""
        until = self._process.clock_us + self._backoff_us
        for state in states:
            if not state.delayed_until_us:
                self._delay(state, until)

    def _delay(self, state: PartitionFetchState, until_us: int) -> None:
        state.delayed_until_us = until_us
        state.held = False
        self.truncating.pop(state.tp, None)
        self.held.pop(state.tp, None)
        self.delayed[state.tp] = None
        self._endpoint.forget(state.tp)

    def handle_error(self, state: PartitionFetchState) -> None:
        """The leader answered with an error for this partition: try again after a back-off
        (handlePartitionsWithErrors).

        The first error keeps the world unsettled, since a control request is on its way to one of the two brokers; a
        leader that goes on answering with errors must not.
        """
        if not state.had_error:
            state.had_error = True
            PendingWork(self._process).hold(self.patience_us)
        self.delay_partitions([state])

    def end_delays(self) -> None:
        """Resume the partitions whose back-off is over."""
        # A clock that is wrong may show a time before 0.
        if self.all_delayed_until_us and self.all_delayed_until_us <= self._process.clock_us:
            self.all_delayed_until_us = 0
            self._endpoint.want_only({tp: self._wanted(state) for tp, state in self.states.items()})
        now = self._process.clock_us
        self._show_those_that_wait_too_long(now)
        for tp in [tp for tp in self.delayed if self.states[tp].delayed_until_us <= now]:
            del self.delayed[tp]
            state = self.states[tp]
            state.delayed_until_us = 0
            if state.truncating:
                self.truncating[tp] = None
            else:
                self._resume(state)

    def _show_those_that_wait_too_long(self, now_us: int) -> None:
        """Show the partitions that still wait for longer than a back-off: the clock was set back since it began."""
        latest_us, broker = now_us + self._backoff_us, self._process.node.id
        all_wait = self.all_delayed_until_us and self.all_delayed_until_us > latest_us
        for tp in self.states if all_wait else self.delayed:
            if all_wait or self.states[tp].delayed_until_us > latest_us:
                self._process.mark(Deviated, broker, "DelayedItem.getDelay", *tp, broker)

    def next_end_of_delay_us(self) -> int | None:
        """The time until the first back-off is over, or until a throttled partition may be fetched; None: neither.

        The caller looks again after one back-off at the latest (AbstractFetcherThread.maybeFetch, 2.3): a clock that
        was set back may be set right meanwhile.
        """
        now = self._process.clock_us
        ends = [self.states[tp].delayed_until_us for tp in self.delayed]
        if self.all_delayed_until_us:
            ends.append(self.all_delayed_until_us)
        if not ends and not self.held:
            return None
        return min((self._backoff_us, *(end - now for end in ends)))
