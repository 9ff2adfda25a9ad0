"""A plan carried out by arithmetic: data flows at the rates that throttles, cards, disks and fetches leave it.

There are no messages and no protocol: what is written flows to followers in sync as it comes, and the copies share the
rest (``shares``). Between two changes (an end of a copy, a request of the operator, a load that begins or stops)
all rates stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, inf

import numpy as np
from attrs import Factory, define, field, frozen

from emulator.protocol.assignments import Replicas
from emulator.protocol.types import TopicPartition
from emulator.streams import Streams
from scenarios.forecasting.capacities import KINDS, Capacities, Kind
from scenarios.forecasting.moving import Demand, Hop, Moving
from scenarios.forecasting.shares import Floats, Numbers, numbers, share
from scenarios.language.strategies import PlannedMove, Throttle
from scenarios.language.strategies.strategy import Strategy
from scenarios.language.topic_spec import split_partition

NOTHING = 1e-3
"""Bytes, and bytes per second, that are rounding errors."""
MANY = 300
"""More copies than that are not followed end by end: those that end within 1 % of the time passed end together."""
COARSE = 0.01
WITHIN_S = 1e9
"""A move that takes longer never ends."""


@frozen
class Full:
    """A limit of a broker that copies are up against.

    Attributes:
        capacity: bytes per second that pass.
        in_sync: those that replicas in sync take of it.
        new: those that are written to the partitions that are copied through it: a copy gets nearer to its end only
            with more than these.
    """

    kind: Kind
    broker: int
    capacity: float
    in_sync: float
    new: float

    @property
    def needed(self) -> float:
        """Bytes per second that the limit has to exceed."""
        return self.in_sync + self.new


@frozen
class Flowed:
    """A plan carried out.

    Attributes:
        duration_s: from the request to the end of the last move; None: it never ends.
        ended: how many moves end.
        ends_s: when each does, in the order of their ends.
        full: if it never ends, what holds back those that do not end; else what has held back copies the longest.
        most_needed: the most that a throttle had to exceed at any time, so that all copies got nearer to their ends.
    """

    duration_s: float | None
    ended: int
    ends_s: tuple[float, ...]
    full: tuple[Full, ...]
    most_needed: float


@define(eq=False)
class _Copy:
    """A replica that is being added. ``gap``: the bytes that it lacks."""

    move: _Move
    follower: int
    gap: float


@define(eq=False)
class _Move:
    """A partition's way through its hops. ``joined``: the replicas of this hop that are in sync."""

    moving: Moving
    hops: tuple[Hop, ...]
    planned: PlannedMove
    hop: int = -1
    joined: list[int] = field(factory=list)
    open: int = 0
    listed: bool = False

    @property
    def leader(self) -> int:
        return self.moving.before[0] if self.hop < len(self.hops) else self.moving.next_leader

    @property
    def in_sync(self) -> Replicas:
        """The replicas in sync."""
        if self.hop < 0:
            return self.moving.before
        return (*self.hops[self.hop].in_sync, *self.joined) if self.hop < len(self.hops) else self.moving.target


@define(eq=False)
class Flow:
    """The state of a plan that is carried out under one strategy and throttle (None: there is none)."""

    demand: Demand
    capacities: Capacities
    strategy: Strategy
    throttle: Throttle | None
    one_batch: bool
    """Whether the next moves can be requested only when all others have ended (by ZooKeeper)."""
    seed: int = 0
    now_s: float = 0.0
    copies: list[_Copy] = field(factory=list)
    gaps: Floats = Factory(lambda: np.zeros(0))
    written: dict[str, float] = field(factory=dict)
    _moves: dict[str, _Move] = field(factory=dict)
    _waiting: list[_Move] = field(factory=list)
    _under_way: dict[str, _Move] = field(factory=dict)
    _ends_s: list[float] = field(factory=list)
    _base: Floats = field(init=False)
    """What replicas in sync take of each broker's limits: a row for each kind."""
    _talk: dict[tuple[int, int], float] = field(factory=dict)
    """Batches a second that a broker fetches from another as a follower in sync."""
    _bank: Floats = field(init=False)
    """What each broker's quota as a leader still lets through at once."""
    _held: dict[tuple[Kind, int], float] = field(factory=dict)
    """How long each limit was full."""
    _most_needed: float = 0.0
    _new: Floats = field(init=False)
    """What is written to the partition of each copy."""
    _pairs: list[tuple[int, int]] = field(init=False)
    """The leaders and followers between which anything is copied."""
    _places: Numbers = field(init=False)
    """The pair of each copy."""
    _counts: Numbers = field(init=False)
    _uses: Numbers = field(init=False)
    _weights: Floats = field(init=False)
    _fetched: Floats = field(init=False)
    _rest: Floats = field(init=False)
    """What copies leave of each limit."""

    def __attrs_post_init__(self) -> None:
        brokers = len(self.capacities.egress)
        rate = inf if self.throttle is None else self.throttle.rate
        self._bank = np.full(brokers, rate * self.capacities.window_s)
        planned = []
        for place, moving in enumerate(self.demand.moving):
            tp = TopicPartition(*split_partition(moving.name))
            planned.append(PlannedMove(tp, place, moving.before, moving.target, moving.size))
        ordered = self.strategy.execution.sorted(planned, Streams(self.seed).stream("strategy", "order"))
        for move in ordered:
            moving = self.demand.moving[move.place]
            self._moves[moving.name] = _Move(moving, moving.hops(self.strategy), move)
        self._waiting = list(self._moves.values())
        self._load()

    # -- the whole ----------------------------------------------------------------------------------------------------

    def carry_out(self) -> Flowed:
        """Carry the plan out until nothing more can end."""
        turns = [end_s for _, end_s, _ in self.demand.phases]
        self._request()
        while self._under_way or self._waiting:
            rates = self._rates()
            if self._stands_still(rates) and turns[0] == inf:
                return self._result(None, self._in_the_way())
            step = min(self._next_end(rates), self._next_bank(rates), turns[0] - self.now_s)
            self._pass(max(step, NOTHING), rates)
            if self.now_s > WITHIN_S:
                return self._result(None, self._in_the_way())
            if self.now_s >= turns[0] - NOTHING:
                turns.pop(0)
                self._load()
            if self._end_copies() and self._waiting and (not self.one_batch or not self._under_way):
                self._await_look()
                self._request()
        return self._result(self._ends_s[-1] if self._ends_s else 0.0, self._longest())

    def _result(self, duration_s: float | None, full: tuple[Full, ...]) -> Flowed:
        return Flowed(duration_s, len(self._ends_s), tuple(self._ends_s), full, self._most_needed)

    # -- moves --------------------------------------------------------------------------------------------------------

    def _request(self) -> None:
        """Request what the strategy admits now."""
        from scenarios.language.strategies import PlanProgress

        while self._waiting:
            progress = PlanProgress(
                tuple(move.planned for move in self._waiting),
                tuple(move.planned for move in self._under_way.values()),
                len(self._ends_s),
            )
            chosen = self.strategy.execution.admission
            admitted = {move.place for move in chosen.part.rule(progress, **chosen.number_argument)}
            if not admitted:
                return
            begun = [move for move in self._waiting if move.planned.place in admitted]
            self._waiting = [move for move in self._waiting if move.planned.place not in admitted]
            for move in begun:
                self._change(move, -1)
                move.listed = True
                self._under_way[move.moving.name] = move
                self._next_hop(move)
                self._change(move, 1)
            self._gather()
            if self._under_way:
                return

    def _next_hop(self, move: _Move) -> None:
        move.hop += 1
        move.joined = []
        if move.hop < len(move.hops):
            grown = self._grown(move)
            copied = move.hops[move.hop].copied
            move.open = len(copied)
            self.copies += [_Copy(move, follower, grown) for follower in copied]
            return
        del self._under_way[move.moving.name]
        self._ends_s.append(self.now_s)
        # The lists of a whole plan stay until its end; a later part of a plan brings its own.
        move.listed = self.strategy.execution.at_once

    def _grown(self, move: _Move) -> float:
        """The bytes of a replica of the partition now."""
        name, size = move.moving.name, float(move.moving.size)
        for begin_s, end_s, written in self.demand.phases:
            size += written.get(name, 0.0) * max(0.0, min(end_s, self.now_s) - begin_s)
        return size

    def _end_copies(self) -> bool:
        """Let the replicas that lack nothing join. Returns whether any move has ended."""
        done = np.flatnonzero(self.gaps <= NOTHING)
        if not len(done):
            return False
        before = len(self._ends_s)
        self._keep_gaps()
        ended = {int(place) for place in done}
        joined = [self.copies[place] for place in sorted(ended)]
        self.copies = [copy for place, copy in enumerate(self.copies) if place not in ended]
        for copy in joined:
            move = copy.move
            self._change(move, -1)
            move.joined.append(copy.follower)
            move.open -= 1
            if not move.open:
                self._next_hop(move)
            self._change(move, 1)
        self._gather()
        return len(self._ends_s) > before

    def _keep_gaps(self) -> None:
        for copy, gap in zip(self.copies, self.gaps, strict=True):
            copy.gap = float(gap)

    def _gather(self) -> None:
        """Take note of the copies that there are now."""
        self.gaps = np.array([copy.gap for copy in self.copies])
        self._new = np.array([self.written.get(copy.move.moving.name, 0.0) for copy in self.copies])
        pairs: dict[tuple[int, int], int] = {}
        places = [pairs.setdefault((copy.move.leader, copy.follower), len(pairs)) for copy in self.copies]
        self._places = np.array(places, dtype=np.intp)
        self._pairs = list(pairs)
        self._counts = np.bincount(self._places, minlength=len(pairs)) if places else np.zeros(0, dtype=np.intp)
        brokers = len(self.capacities.egress)
        self._uses = numbers(
            [
                [kind * brokers + (leader if kind % 2 == 0 else follower) for kind in range(len(KINDS))]
                for leader, follower in pairs
            ],
            len(KINDS),
        )
        counts = [int(count) for count in self._counts]
        self._weights = np.array([float(self.capacities.asked_by(count)) for count in counts])
        self._fetched = np.array(
            [self.capacities.fetched(*pair, count) for pair, count in zip(self._pairs, counts, strict=True)]
        )
        if self.throttle is not None and self.copies:
            needed = (full.needed * self.throttle.rate / full.capacity for full in self._quotas())
            self._most_needed = max(self._most_needed, *needed)

    # -- loads --------------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Take over what is written from now on."""
        self._keep_gaps()
        self.written = next(
            written for _, end_s, written in self.demand.phases if self.now_s < end_s - NOTHING
        )
        self._base = np.zeros((len(KINDS), len(self.capacities.egress)))
        self._talk = {}
        for name, replicas in self.demand.replicas.items():
            move = self._moves.get(name)
            if move is not None:
                self._change(move, 1)
            else:
                self._replicate(name, replicas[0], replicas, None, 1)
        self._gather()

    def _change(self, move: _Move, sign: int) -> None:
        self._replicate(move.moving.name, move.leader, move.in_sync, move, sign)

    def _replicate(self, name: str, leader: int, in_sync: Iterable[int], move: _Move | None, sign: int) -> None:
        """Add (``sign`` 1) or take away what replicas in sync take of the limits."""
        rate = sign * self.written.get(name, 0.0)
        if not rate:
            return
        followers = [broker for broker in in_sync if broker != leader]
        read = rate * (len(followers) + self.demand.readers.get(split_partition(name)[0], 0))
        base = self._base
        base[2, leader] += read
        base[3, leader] += rate
        base[4, leader] += read
        base[5, leader] += rate
        for broker in followers:
            base[3, broker] += rate
            base[5, broker] += rate
            talk = self.demand.batches_per_s.get(name, 0.0)
            self._talk[leader, broker] = self._talk.get((leader, broker), 0.0) + sign * talk
        if move is None or not move.listed or self.throttle is None or self.throttle.only_reassigned:
            return
        if leader in move.moving.before:
            base[0, leader] += rate * len(followers)
        for broker in followers:
            if broker in move.moving.added:
                base[1, broker] += rate

    # -- rates --------------------------------------------------------------------------------------------------------

    def _rates(self) -> Floats:
        """The rate of each copy."""
        if not self.copies:
            return np.zeros(0)
        left = self._limits() - self._base
        self._quota_rows(left)
        rates, rest = share(self._weights, self._fetched, self._uses, np.maximum(left, 0.0).ravel())
        self._rest = rest.reshape(left.shape)
        each: Floats = (rates / self._counts)[self._places]
        return each

    def _limits(self) -> Floats:
        capacities, brokers = self.capacities, len(self.capacities.egress)
        reads, writes = self._base[4], self._base[5]
        busy = reads / capacities.read + writes / capacities.write
        free = np.maximum(0.0, capacities.disks - busy)
        infinite = np.full(brokers, inf)
        return np.array(
            [
                infinite,
                infinite,
                capacities.egress,
                capacities.ingress,
                free * capacities.read + reads if capacities.read < inf else infinite,
                free * capacities.write + writes if capacities.write < inf else infinite,
            ]
        )

    def _quota_rows(self, left: Floats) -> None:
        """Set what the quotas leave to copies."""
        if self.throttle is None:
            return
        as_leader, as_follower = self._let_through()
        rest = np.where(self._inflow(), as_leader, 0.0) - self._base[0]
        left[0] = np.where(self._bank > NOTHING, inf, np.where(self._bank < -NOTHING, 0.0, rest))
        left[1] = as_follower - self._base[1]

    def _let_through(self) -> tuple[Floats, Floats]:
        """What the throttle of each broker lets through, as a leader and as a follower.

        All that may pass does at a look, and what becomes free until the next sample begins is lost. A fetcher all of
        whose partitions are held back looks each replica.fetch.backoff.ms; a fetch that finds no data at the leader
        waits replica.fetch.wait.max.ms; where there are partitions in sync, each batch of theirs is a look
        (docs/understand/experiments.md, E3).
        """
        assert self.throttle is not None
        capacities, brokers = self.capacities, len(self.capacities.egress)
        looks = np.full((2, brokers), inf)
        answers = np.zeros((2, brokers))
        for (leader, follower), count in zip(self._pairs, self._counts, strict=True):
            talk = self._talk.get((leader, follower), 0.0)
            gap_s = 1 / talk if talk > NOTHING else inf
            looks[0, leader] = min(looks[0, leader], capacities.wait_s, gap_s)
            looks[1, follower] = min(looks[1, follower], capacities.backoff_s, gap_s)
            asked = capacities.asked_by(int(count))
            answers[0, leader] += asked
            answers[1, follower] += asked
        lost = np.minimum(looks, capacities.sample_s) / capacities.window_s
        rate = float(self.throttle.rate)
        through = rate * (1 - lost) + np.minimum(answers, rate * capacities.sample_s) * lost / capacities.window_s
        return through[0], through[1]

    def _inflow(self) -> bool:
        """Whether the first window is over. It lets all that it holds pass at once, and then nothing until it ends:
        half of that time, on the average of a move that ends at some moment of a later one."""
        return self.now_s >= self.capacities.window_s / 2

    def _next_bank(self, rates: Floats) -> float:
        """The time until a leader's quota has no more, or again some, to let through at once."""
        if self.throttle is None:
            return inf
        flow = self._bank_flow(rates)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(self._bank * flow < -NOTHING, -self._bank / flow, inf)
        ends = float(times.min())
        half = self.capacities.window_s / 2 - self.now_s
        return min(ends, half) if half > 0 else ends

    def _bank_flow(self, rates: Floats) -> Floats:
        sent = np.zeros(len(self._bank))
        for place, (leader, _) in enumerate(self._pairs):
            sent[leader] += rates[self._places == place].sum()
        through = self._let_through()[0] if self._inflow() else np.zeros(len(self._bank))
        flow: Floats = through - self._base[0] - sent
        return flow

    # -- time ---------------------------------------------------------------------------------------------------------

    def _next_end(self, rates: Floats) -> float:
        if not len(rates):
            return inf
        gains = rates - self._new
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(gains > NOTHING, self.gaps / gains, inf)
        first = float(times.min())
        if len(times) <= MANY or first == inf:
            return first
        together = times[times <= first + COARSE * (self.now_s + first)]
        return float(together.max())

    def _pass(self, step_s: float, rates: Floats) -> None:
        self.gaps = self.gaps - (rates - self._new) * step_s
        if self.throttle is not None and self.copies and (self._bank_flow(rates) < inf).all():
            bank = self._bank + self._bank_flow(rates) * step_s
            self._bank = np.minimum(
                np.where(np.abs(bank) < 1.0, 0.0, bank), self.throttle.rate * self.capacities.window_s
            )
        if self.copies:
            brokers = len(self.capacities.egress)
            for number in np.unique(self._uses[self._rest.ravel()[self._uses] <= 1.0]):
                key = KINDS[number // brokers], int(number % brokers)
                self._held[key] = self._held.get(key, 0.0) + step_s
        self.now_s += step_s

    def _await_look(self) -> None:
        """Let time pass until the operator looks again."""
        poll_s = self.strategy.execution.poll_us / 1e6
        wait_s = ceil(self.now_s / poll_s - 1e-9) * poll_s - self.now_s
        if wait_s > 0:
            rates = self._rates()
            self._pass(wait_s, rates)

    def _stands_still(self, rates: Floats) -> bool:
        """Whether no copy gets nearer to its end, and none will."""
        if not len(rates):
            return True
        paused = self.throttle is not None and (self._bank > NOTHING).any()
        waits = self.throttle is not None and not self._inflow()
        recovers = self.throttle is not None and bool(
            ((self._bank < -NOTHING) & (self._let_through()[0] > self._base[0])).any()
        )
        return not (paused or waits or recovers or (rates - self._new > NOTHING).any())

    # -- what is in the way -------------------------------------------------------------------------------------------

    def _quotas(self) -> list[Full]:
        as_leader, as_follower = self._let_through()
        return [
            Full(KINDS[kind], broker, float(through[broker]), float(self._base[kind, broker]), new)
            for kind, through in enumerate((as_leader, as_follower))
            for broker, new in self._new_through(kind).items()
        ]

    def _new_through(self, kind: int) -> dict[int, float]:
        """What is written to the partitions that are copied, by the broker whose limit the copies go through."""
        found: dict[int, float] = {}
        for copy, new in zip(self.copies, self._new, strict=True):
            broker = copy.move.leader if kind % 2 == 0 else copy.follower
            found[broker] = found.get(broker, 0.0) + float(new)
        return found

    def _in_the_way(self) -> tuple[Full, ...]:
        """The limits that leave the copies no more than what is written."""
        limits = self._limits()
        fulls = self._quotas() if self.throttle is not None else []
        for kind in range(2, len(KINDS)):
            fulls += [
                Full(KINDS[kind], broker, float(limits[kind, broker]), float(self._base[kind, broker]), new)
                for broker, new in self._new_through(kind).items()
            ]
        return tuple(full for full in fulls if full.needed >= full.capacity * (1 - 1e-9))

    def _longest(self) -> tuple[Full, ...]:
        """The limits that were full for at least half of the time, the longest first."""
        held = sorted(self._held.items(), key=lambda item: -item[1])
        return tuple(
            Full(kind, broker, 0.0, 0.0, 0.0) for (kind, broker), held_s in held if held_s > self.now_s / 2
        )
