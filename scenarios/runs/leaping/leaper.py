"""The leaper: the course of a sampled run.

    window    all is simulated, and how fast each copy goes is measured
    drain     producers hold, then readers (``QuietCluster``)
    leap      only the control plane acts, up to the end of a copy, an event, an entry, or until a window is due
    settle    readers go on and producers are held, until the control plane has done what follows from the leap

From ``settle`` the next leap begins, or, where rates are not known well enough any more, the next window. At the end of
a copy the leap stays *open* where it can: only the partitions whose copies have ended are brought to now, and what
follows for them is simulated (a *piece*). All others wait, their copies shut out by the quotas of their leaders, until
the leap is over or their own copies end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, field

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    Fault,
    FetcherStarted,
    IsrChanged,
    IsrProposed,
    LeapBegan,
    Leapt,
    NodeCrashed,
    ReplicaStopped,
    RoutesChanged,
    StretchBegan,
    StretchEnded,
)
from emulator.protocol.shown import SettingsTaken
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ISR_CHANGE_NOTIFICATION
from emulator.trace.events import Step, ZkWritten
from scenarios.language import Scenario
from scenarios.runs.leaping.arrival import arrive
from scenarios.runs.leaping.bounds import Bounds, LeapEnd
from scenarios.runs.leaping.cards import cards
from scenarios.runs.leaping.followed import FetchedReplica, Key, Restless, followed, running
from scenarios.runs.leaping.gain import small_gain
from scenarios.runs.leaping.held_quotas import HeldQuotas, is_shut_out
from scenarios.runs.leaping.leaps_account import Leaping
from scenarios.runs.leaping.quiet import QuietCluster, lateness
from scenarios.runs.leaping.sharing import Bound, Sharing
from scenarios.runs.leaping.throttle_bursts import BURST_US, ThrottleBursts
from scenarios.units import MICROSECONDS

if TYPE_CHECKING:
    from scenarios.cluster.cluster import Cluster

SECOND_US = MICROSECONDS["s"]
LOOK_US = 100_000
"""How often it looks whether it can go on."""
CALM_US = 200_000
"""How long the control plane has done nothing before a leap begins."""
WARM_CYCLES = 2
"""The cycles of throttles that are left out where no rate is known: the first ends with a pause, seen in the second."""
CYCLES_BETWEEN = 4
"""A window is due again after so many cycles of quotas at the earliest,"""
SHARE_BETWEEN, COPIES = 0.25, 200
"""and after so large a part of the time since the first one. With many copies, single ones matter less, and a window
costs more: the part is all of that time for so many of them, twice that time for twice as many."""
AGREED, AGREED_AGAIN = 0.02, 4
"""Where a window was as expected, up to so large a part of all rates, the next one is twice as late, and so on so often
at most: what is wanted is a mean that is as good as that."""
ENDED = 3
"""A window is due at once when one of so many copies has ended since the last one."""
LONGEST_US = 1_000 * SECOND_US
"""A leap is no longer than this."""
SHORTEST_US = 100_000
"""Nor shorter than this, where copies end one soon after the other."""
BEFORE_END_US, BEFORE_END = 2 * SECOND_US, 0.05
"""Where cards are saturated, a leap ends so long before the first end of a copy, and before so large a part of the way
there."""
STEADY = 0.03
"""By how much of all the rates of two windows may differ there."""
UNSTEADY = "what copies get of a saturated card changes"
FULL = 0.75
"""A card is full in the bursts of quotas where copies and messages use so much of it all the time."""
FULL_CARDS = "a throttle's bursts fill a card"
UNSETTLED_US = 3 * SECOND_US
"""How long producers are held in a row without a leap."""
OPEN_US = 30 * SECOND_US
"""A leap does not stay open so shortly before an entry: by then everything is brought to now."""
FEW = 60
"""With no more copies a leap does not stay open: a piece is then a large part of the time, and costs little."""
TRIES = 20
"""How often an open leap tries to make the cluster quiet again. Then it is given up: what waits comes at once."""
FIRST_RETRY_US, LAST_RETRY_US = SECOND_US, 60 * SECOND_US
"""After a drain that failed it waits for the first of these, and twice as long each time, up to the second."""

EVENTS = (
    BecameFollower, BecameLeader, Fault, FetcherStarted, IsrChanged, IsrProposed, NodeCrashed, ReplicaStopped,
    RoutesChanged, SettingsTaken, Step, ZkWritten,
)  # fmt: skip
"""The events that end a leap: the control plane does something."""
UPSETTING = (Fault, NodeCrashed, RoutesChanged, SettingsTaken)
"""The events after which no rate is known."""


@define(eq=False)
class Leaper:
    """Lets one run leap.

    Attributes:
        moving: whether moves are open, so that there is something to leap for.
    """

    cluster: Cluster
    scenario: Scenario
    bounds: Bounds
    moving: Callable[[], bool]
    quiet: QuietCluster
    sharing: Sharing
    quotas: HeldQuotas
    leaps: int = 0
    pieces: int = 0
    leapt_us: int = 0
    windows: int = 0
    failed: dict[str, int] = field(factory=dict)
    refused: str = ""
    _phase: str = "window"
    _calm_us: int = 0
    """When the control plane did something last."""
    _window_us: int | None = None
    """When the window began, or its first cycle that is left out."""
    _warming: bool = True
    _stretch: tuple[int, int] = (0, 0)
    """The last window."""
    _leapt_since_us: int = 0
    """How much was leapt since then."""
    _first_us: int | None = None
    _began_us: int | None = None
    """When copies were seen first."""
    _events: int = 0
    """The events of the run when the window began,"""
    _events_per_us: float = 0.0
    """and those of the last window."""
    _agreed: int = 0
    """How many windows in a row were as expected."""
    _undisturbed: bool = False
    """Whether all was simulated since the last window."""
    _adjacent: bool = False
    """Whether it was between the last two windows."""
    _ended: bool = False
    """Whether copies have ended since the last window."""
    _late: float = 0.0
    """How late followers in sync were in the last window, or are in this one."""
    _measured_copies: int = 0
    """How many copies there were in the last window."""
    _retry_us: int = 0
    _wait_us: int = FIRST_RETRY_US
    _since_us: int = 0
    _bursts: ThrottleBursts = field(factory=ThrottleBursts)
    _starts: dict[Key, int] = field(factory=dict)
    _ends: Mapping[Key, int] = field(factory=dict)
    _owed: dict[Key, int] = field(factory=dict)
    """The messages that the last leap has not brought to each copy, since a batch is not divided."""
    _reason: str = ""
    _number: int = 0
    _open: bool = False
    """Whether a leap has begun and is not over."""
    _leg_us: int = 0
    """The time up to which the progress of copies is counted."""
    _closed: int = 0
    """The batches that producers would have closed in the leap so far."""
    _stale: bool = False
    """Whether something has changed how fast copies go since the leap began."""
    _tries: int = 0

    @classmethod
    def of(
        cls,
        cluster: Cluster,
        scenario: Scenario,
        acts_us: Callable[[], int | None],
        moving: Callable[[], bool],
        late_us: int,
    ) -> Leaper:
        """The leaper of a run. ``late_us``: how long a message and its answer can be on their way."""
        quiet = QuietCluster(cluster, 2 * late_us)

        def saturated_cards(*copies_and_loads: Any) -> list[Bound]:
            # Where cards only lend a burst its speed, the quota behind it is what holds copies back.
            return cards(cluster, *copies_and_loads) if quiet.saturated else []

        limits, sharing = Bounds(cluster, scenario, acts_us), Sharing(saturated_cards)
        return cls(cluster, scenario, limits, moving, quiet, sharing, HeldQuotas(cluster))

    def begin(self) -> None:
        """Everything has started."""
        self.refused = self.bounds.refusal()
        if not self.refused:
            for kind in EVENTS:
                self.cluster.trace.fold(kind, self._upset if kind in UPSETTING else self._happened)
            self._look_later(LOOK_US)

    def account(self) -> Leaping:
        return Leaping(
            leaps=self.leaps, leapt_us=self.leapt_us, run_us=self.cluster.world.now, windows=self.windows,
            failed=self.failed, refused=self.refused, error=self.sharing.error, pieces=self.pieces,
        )  # fmt: skip

    # -- what happens -------------------------------------------------------------------------------------------------

    def _happened(self, event: Any) -> None:
        """The control plane does something."""
        if type(event) is Step and not event.topic:
            return
        if type(event) is ZkWritten and event.path.startswith(ISR_CHANGE_NOTIFICATION):
            return  # what follows from it is metadata, which moves no data
        self._calm_us = self.cluster.world.now
        if self._phase == "leap":
            self._phase, self._reason = "arrive", "event"
            self.cluster.world.call_at(self.cluster.world.now, self._arrive, self._number, True)
        elif self._phase == "drain":
            self.quiet.stop()
            held_us = self._calm_us - max(self.quiet.since_us, self._leg_us)
            if self._open or held_us < self.quiet.patience_us:
                self._settle()
            else:
                self._go_on_simulating()

    def _upset(self, event: Any) -> None:
        """Something changes how fast copies go."""
        if self._open:
            self._stale = True
        else:
            self._forget_rates()
        self._happened(event)

    def _forget_rates(self) -> None:
        self.sharing.rates.clear()
        self._owed.clear()
        self._stale, self._warming, self._window_us, self._agreed = False, True, None, 0

    def _look_later(self, delay_us: int) -> None:
        self.cluster.world.call_later(delay_us, self._look, None, True)

    def _look(self, _: Any) -> None:
        self._look_later(LOOK_US)
        now = self.cluster.world.now
        if self._phase not in ("window", "settle"):
            return
        self.cluster.trace.cause = 0
        if not self.moving() or self._entry_is_near(now):
            self._end_sampling()
        elif now - self._calm_us >= CALM_US and now >= self._retry_us:
            try:
                self._decide(now, followed(self.cluster))
            except Restless as restless:
                if self._phase == "settle" and now - self._since_us > UNSETTLED_US:
                    self._fail(str(restless))
        elif self._phase == "settle" and now - self._since_us > UNSETTLED_US:
            if self._open:
                self._fail("the control plane goes on")
            else:
                self._go_on_simulating()

    def _end_sampling(self) -> None:
        """Simulate all from here on, and bring what waits before."""
        self._window_us = None
        if self._open:
            self._drain(for_window=True)
        else:
            self._go_on_simulating()

    def _entry_is_near(self, now: int) -> bool:
        entry_us = self.bounds.entry_us()
        return entry_us is not None and now + SHORTEST_US >= entry_us

    def _decide(self, now: int, fetched: list[FetchedReplica]) -> None:
        copies = [each for each in fetched if not each.in_sync]
        if not copies:
            self._end_sampling()
        elif self._phase == "window" and not self._measured(now, fetched, copies):
            return
        elif self._phase == "settle":
            self._drain(for_window=self._is_due(now, copies))
        elif why := self._small_gain(now, copies):
            if not self.leaps:
                self.failed.setdefault(why, 1)
        elif why := self.quiet.calm(fetched, self.sharing.loads, self._late):
            self._fail(why)
        elif self.quiet.waits and not self.quiet.saturated and self._cards_bind(copies, fetched):
            self._fail(FULL_CARDS)
        elif self.quiet.saturated and not self._steady:
            self.failed[UNSTEADY] = self.failed.get(UNSTEADY, 0) + 1
        elif self.quiet.saturated and self._reach(copies)[0].t_us < now + self.quotas.cycle_us:
            self._retry_us = now + SECOND_US
        else:
            self._drain(for_window=False)

    def _small_gain(self, now: int, copies: list[FetchedReplica]) -> str:
        """Why leaps are not worth it; empty: they are."""
        longest_us, began_us = self.sharing.longest_us(copies), self._began_us or 0
        left_us = min(longest_us, max(0.0, self.sharing.over_us - now))
        events, late = left_us * self._events_per_us, not self.leaps and left_us < now - began_us
        lasts_us = now - began_us + left_us
        return small_gain(lasts_us, longest_us, self.quotas.cycle_us, events, self.sharing.margin, late=late)

    def _cards_bind(self, copies: list[FetchedReplica], fetched: list[FetchedReplica]) -> bool:
        """Whether a card is full in the bursts of quotas: what waits hardly becomes less while producers are held."""
        return self.sharing.any_binds(cards(self.cluster, copies, fetched, self.sharing.loads), copies, FULL)

    def _is_due(self, now: int, copies: list[FetchedReplica]) -> bool:
        if self._stale or not self.sharing.knows(copies):
            return True
        ended = self._measured_copies - len(copies)
        if self.quiet.saturated and (ended or not self._steady):
            return True
        return now >= self._due_us() or ENDED * ended >= self._measured_copies

    def _due_us(self) -> int:
        first_us = self._stretch[1] if self._first_us is None else self._first_us
        share = max(SHARE_BETWEEN, len(self.sharing.rates) / COPIES)
        least_us = (CYCLES_BETWEEN << min(self._agreed, AGREED_AGAIN)) * self.quotas.cycle_us
        since_us = max(least_us, int(share * (self._stretch[1] - first_us)))
        return self._stretch[1] + since_us

    def _measured(self, now: int, fetched: list[FetchedReplica], copies: list[FetchedReplica]) -> bool:
        """Go on with the window. Returns whether all rates are known."""
        if self._window_us is None:
            if self._stretch[1] and not self._is_due(now, copies):
                return True
            if self._warming or now - self._since_us >= BURST_US or not self._bursts.pass_now(copies, fetched):
                self._begin_window(now, fetched)
            return False
        if not self._warming:
            self.sharing.look(fetched)
            self._late = max(self._late, lateness(fetched))
        self._bursts.look(copies)
        over_us = now - self._window_us - self.quotas.cycle_us
        warm_us = (WARM_CYCLES - 1) * self.quotas.cycle_us
        if over_us < (self._bursts.longer_us(copies, fetched, warm_us) if self._warming else 0):
            return False
        if self._warming:
            self._warming = False
            self._begin_window(now, fetched)
            return False
        self.sharing.measured(now, fetched)
        self._events_per_us = (self.cluster.world.events - self._events) / self.sharing.span_us
        error = self.sharing.error
        self._agreed = self._agreed + 1 if error is not None and error <= AGREED else 0
        self.cluster.trace.emit(StretchEnded)
        self.windows += 1
        self._adjacent, self._undisturbed = self._undisturbed, True
        self._stretch = self._window_us, now
        self._first_us = now if self._first_us is None else self._first_us
        self._window_us, self._ended, self._leapt_since_us = None, False, 0
        self._measured_copies = len(copies)
        return self.sharing.knows(copies)

    def _begin_window(self, now: int, fetched: list[FetchedReplica]) -> None:
        self._window_us, self._late, self._events = now, 0.0, self.cluster.world.events
        self._began_us = now if self._began_us is None else self._began_us
        self.sharing.begin(now, fetched)
        self.cluster.trace.emit(StretchBegan)

    # -- leaps --------------------------------------------------------------------------------------------------------

    def _drain(self, *, for_window: bool) -> None:
        self._phase, self._undisturbed = "drain", False
        self.quiet.begin(self._return if for_window else self._leap, self._fail)

    def _fail(self, why: str) -> None:
        """The cluster cannot be made quiet: simulate all for a while."""
        self.failed[why] = self.failed.get(why, 0) + 1
        self._tries += 1
        if self._open and self._tries <= TRIES:
            self._settle()
            return
        self._retry_us = self.cluster.world.now + self._wait_us
        self._wait_us = min(2 * self._wait_us, LAST_RETRY_US)
        self._go_on_simulating()

    def _go_on_simulating(self) -> None:
        if self._open:
            self._end_leap()
        self.quiet.release_load()
        self._phase = "window"

    def _settle(self) -> None:
        self._phase, self._since_us = "settle", self.cluster.world.now
        self._calm_us = self.cluster.world.now

    def _return(self) -> None:
        """All is quiet, and a window is due: producers go on, with nothing missed."""
        if self._open:
            copies = [each for each in _still_followed(self.cluster) if not each.in_sync]
            self._starts = {each.key: each.state.offset for each in copies}
        self._begin_leap(LeapEnd(self.cluster.world.now, "window"), {})
        self._arrive(self._number)
        self.quiet.release_load()
        self._phase, self._window_us, self._since_us = "window", None, self.cluster.world.now

    def _leap(self) -> None:
        """All is quiet: leap."""
        now = self.cluster.world.now
        self._wait_us, self._tries = FIRST_RETRY_US, 0
        fetched = followed(self.cluster)
        copies = [each for each in fetched if not each.in_sync]
        if not self.sharing.knows(copies):
            self._return()
            return
        self._ended = self.sharing.without_ended(copies, fetched) or self._ended
        self.sharing.waiting = self._waiting(copies) if self._open else {}
        limit, ends = self._reach(copies)
        if limit.reason == "copy" and limit.t_us < now + SHORTEST_US:
            _, ends = self._limit(LeapEnd(now + SHORTEST_US, "copy"), copies)
            limit = LeapEnd(now + SHORTEST_US, "copy")
        elif limit.reason != "copy":
            since_us = self._clocks_since_us
            limit = LeapEnd(since_us + self.quotas.whole_us(limit.t_us - since_us), limit.reason)
        if limit.t_us <= now:
            self._return()
            return
        self._starts = {each.key: each.state.offset for each in copies}
        self._begin_leap(limit, ends)
        self.cluster.world.call_at(limit.t_us, self._due, self._number, True)

    @property
    def _steady(self) -> bool:
        """Whether the last two windows, with nothing but simulation between them, have shown the same rates. A
        saturated card serves its copies in a rhythm of its own, which a leap would break before it is found."""
        error = self.sharing.error
        return self._adjacent and error is not None and error <= STEADY

    def _limit(self, most: LeapEnd, copies: Sequence[FetchedReplica]) -> tuple[LeapEnd, Mapping[Key, int]]:
        """How far a leap may go from now, at most to ``most``, and when copies end within it."""
        since_us = self._leg_us if self._open else self.cluster.world.now
        phase_us = since_us - self._stretch[1] - self._leapt_since_us  # for which the clocks of quotas have run
        return self.bounds.limit(most, copies, self.sharing, since_us, phase_us)

    def _reach(self, copies: Sequence[FetchedReplica]) -> tuple[LeapEnd, Mapping[Key, int]]:
        """How far a leap may go from now, and when copies end within it. Where cards are saturated, what an end changes
        is not known: it is simulated."""
        now = self.cluster.world.now
        most = LeapEnd(now + LONGEST_US, "limit")
        if not self.quiet.saturated and (self._ended or self._due_us() > now):
            in_us = max(self._due_us(), now + self.quotas.cycle_us) - self._clocks_since_us
            most = min(most, LeapEnd(self._clocks_since_us - self.quotas.whole_us(-in_us), "window"))
        limit, ends = self._limit(most, copies)
        if self.quiet.saturated and limit.reason == "copy":
            before_us = BEFORE_END_US + int(BEFORE_END * (limit.t_us - now))
            return LeapEnd(max(now, limit.t_us - before_us), "window"), {}
        return limit, ends

    @property
    def _clocks_since_us(self) -> int:
        """Since when the clocks of quotas stand still in the leap that is under way, or is about to begin."""
        return self.quotas.since_us if self._open else self.cluster.world.now

    def _begin_leap(self, limit: LeapEnd, ends: Mapping[Key, int]) -> None:
        self._number += 1
        self._phase, self._ends, self._reason = "leap", ends, limit.reason
        if self._open:
            return
        self._open, self._closed = True, 0
        self._leg_us = self.cluster.world.now
        self.quotas.hold(self.quiet.producers)
        self.cluster.trace.emit(LeapBegan, *self._stretch)

    def _waiting(self, copies: list[FetchedReplica]) -> dict[Key, int]:
        """The messages that each copy lacks besides what its log lacks (``Sharing.waiting``)."""
        kept: dict[TopicPartition, int] = {}
        for producer in self.quiet.producers:
            for tp, count in producer.kept().items():
                kept[tp] = kept.get(tp, 0) + count
        return {each.key: kept.get(each.state.tp, 0) - self._owed.get(each.key, 0) for each in copies}

    def _brought(self, fetched: list[FetchedReplica]) -> frozenset[TopicPartition] | None:
        """The partitions that are brought to now while the leap stays open; None: all, it is over."""
        now, entry_us = self.cluster.world.now, self.bounds.entry_us()
        ended = frozenset(tp for (_broker, tp), t_us in self._ends.items() if t_us <= now)
        is_long = now - self.quotas.since_us >= LONGEST_US
        if self._measured_copies <= FEW or self._reason != "copy" or not ended or is_long:
            return None
        if entry_us is not None and entry_us < now + OPEN_US:
            return None
        return ended if all(each.in_sync or is_shut_out(each) for each in fetched) else None

    def _due(self, number: int) -> None:
        if self._phase == "leap" and number == self._number:
            self._arrive(number)

    def _arrive(self, number: int) -> None:
        """The leap is over, or a copy has ended in it."""
        if number != self._number:
            return
        cluster, now = self.cluster, self.cluster.world.now
        self._phase = "arrive"
        cluster.trace.cause = 0
        fetched = _still_followed(cluster)
        chunk, only = self.bounds.chunk(), self._brought(fetched)
        until_us = self.quotas.since_us + self.quotas.still_us if only is None else now
        passed_us = until_us - self._leg_us
        rates, starts, ends, owed = self.sharing.rates, self._starts, self._ends, self._owed

        def target(each: FetchedReplica, end: int) -> int:
            key = each.key
            if key not in starts:
                return each.state.offset
            if ends.get(key, now + 1) <= now:
                return end
            return starts[key] + owed.get(key, 0) + int(rates.get(key, 0.0) * passed_us)

        self._closed += arrive(cluster, fetched, self.quiet.producers, chunk, target, self.sharing.loads, only)
        for each in fetched:  # a copy gets whole batches: what it lacks of its target comes later
            if each.key in starts:
                end = each.led.log.end_offset
                due = target(each, end)
                brought = only is None or each.state.tp in only
                owed[each.key] = (min(end, due) if brought else due) - each.state.offset
        self._leg_us = now
        self._leapt_since_us += passed_us
        if only is None:
            self._end_leap()
        else:
            self.pieces += 1
        self._starts = {}
        self.quiet.release_readers()
        self._settle()

    def _end_leap(self) -> None:
        """The leap is over: quotas go on."""
        self._open = False
        self._bursts.forget()
        self.quotas.release()
        self.cluster.trace.emit(Leapt, self.quotas.since_us, self._closed, self._reason)
        self.quotas.count(self.sharing, _still_followed(self.cluster))
        passed_us = self.cluster.world.now - self.quotas.since_us
        if passed_us:
            self.quiet.arrived()
            self.leaps += 1
            self.leapt_us += passed_us
        if self._stale:
            self._forget_rates()


def _still_followed(cluster: Cluster) -> list[FetchedReplica]:
    """The replicas that can be brought to now, whatever the control plane has just begun."""
    brokers = {broker.process.node.id: broker for broker in running(cluster)}
    found = []
    for broker in brokers.values():
        for thread in broker.replicas.fetchers.threads.values():
            leader = brokers.get(thread.leader)
            if thread.ended or thread.dead or leader is None or not thread.rests:
                continue
            for tp, state in thread.states.items():
                led = leader.replicas.partitions.get(tp)
                if led is not None and led.is_leader and not (state.truncating or state.delayed_until_us):
                    found.append(FetchedReplica(broker, leader, thread, state, led))
    return found
