"""A plan carried out by arithmetic: data flows at the rates that throttles, cards, disks and fetches leave it.

There are no messages and no protocol: what is written flows to followers in sync as it comes, and the copies share the
rest (``shares``). Between two changes (an end of a copy, a request of the operator, a load that begins or stops, a
broker that dies or is back) all rates stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, inf

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen

from emulator.protocol.assignments import Replicas, without
from emulator.protocol.types import TopicPartition
from emulator.streams import Streams
from scenarios.forecasting.bursts import NOTHING, Bursts
from scenarios.forecasting.capacities import KINDS, Capacities, LimitKind
from scenarios.forecasting.copying import Copying
from scenarios.forecasting.moving import Demand, Hop, Moving
from scenarios.forecasting.shares import Floats, share
from scenarios.forecasting.standing import BrokerChange, Standing, turns_of
from scenarios.language.strategies import PlannedMove, Throttle
from scenarios.language.strategies.strategy import Strategy
from scenarios.language.topic_spec import split_partition

MANY = 300
"""The moves of a larger plan are not followed end by end: copies that end within 2 % of the time since the last request
end together."""
COARSE = 0.02
VERY_MANY = 1000
"""Beyond so many moves these 2 % grow with their number."""
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

    kind: LimitKind
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
        waits_for: the brokers for which what does not end waits, as they are down and never come back.
    """

    duration_s: float | None
    ended: int
    ends_s: tuple[float, ...]
    full: tuple[Full, ...]
    most_needed: float
    waits_for: tuple[int, ...] = ()


@define(eq=False)
class _Move:
    """A partition's way through its hops.

    Attributes:
        joined: the replicas of this hop that are in sync.
        elected: the leader in the place of one that has died; None: the first one leads.
    """

    moving: Moving
    hops: tuple[Hop, ...]
    planned: PlannedMove
    hop: int = -1
    joined: list[int] = field(factory=list)
    open: int = 0
    listed: bool = False
    elected: int | None = None

    @property
    def leader(self) -> int:
        if self.elected is not None:
            return self.elected
        return self.moving.before[0] if self.hop < len(self.hops) else self.moving.next_leader

    @property
    def in_sync(self) -> Replicas:
        if self.hop < 0:
            return self.moving.before
        return (*self.hops[self.hop].in_sync, *self.joined) if self.hop < len(self.hops) else self.moving.target

    @property
    def assigned(self) -> Replicas:
        """The partition's replicas, in the controller's order."""
        if 0 <= self.hop < len(self.hops):
            return self.hops[self.hop].assigned
        return self.moving.before if self.hop < 0 else self.moving.target

    def waits_for(self, standing: Standing) -> list[int]:
        """The replicas that were in sync, stay, and have to be in sync again before this hop is over."""
        name, stay = self.moving.name, self.hops[self.hop].stay if self.hop < len(self.hops) else ()
        return [broker for broker in self.in_sync if broker in stay and standing.is_missed(name, broker)]


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
    copies: Copying[_Move] = field(init=False)
    bursts: Bursts | None = None
    written: dict[str, float] = field(factory=dict)
    standing: Standing = field(factory=Standing)
    _outages: list[BrokerChange] = field(init=False)
    """The changes of brokers that are still to come."""
    _moves: dict[str, _Move] = field(factory=dict)
    _waiting: list[_Move] = field(factory=list)
    _under_way: dict[str, _Move] = field(factory=dict)
    _begun: list[tuple[_Move, int, float]] = field(factory=list)
    """The copies that are to begin."""
    _ends_s: list[float] = field(factory=list)
    _asked_s: float = 0.0
    """When the operator requested something last."""
    _base: Floats = field(init=False)
    """The bytes per second that replicas in sync take of each broker's limits: a row for each kind."""
    _talk: Floats = field(init=False)
    """Batches a second that a broker (column) fetches from another (row) as a follower in sync."""
    _through: tuple[Floats, Floats] = field(init=False)
    """See ``_let_through``."""
    _rest: Floats = field(init=False)
    """The rest of each limit, beside copies."""
    _held: Floats = field(init=False)
    """How long each limit was full."""
    _most_needed: float = 0.0

    def __attrs_post_init__(self) -> None:
        brokers = len(self.capacities.egress)
        self.copies = Copying(self.capacities)
        self._held = np.zeros((len(KINDS), brokers))
        if self.throttle is not None:
            self.bursts = Bursts.of(self.throttle.rate, self.capacities.window_s, brokers)
        planned = []
        for place, moving in enumerate(self.demand.moving):
            tp = TopicPartition(*split_partition(moving.name))
            planned.append(PlannedMove(tp, place, moving.before, moving.target, moving.size))
        ordered = self.strategy.execution.sorted(planned, Streams(self.seed).stream("strategy", "order"))
        for move in ordered:
            moving = self.demand.moving[move.place]
            self._moves[moving.name] = _Move(moving, moving.hops(self.strategy), move)
        self._waiting = list(self._moves.values())
        self._outages = turns_of(self.demand.outages)
        self._load()

    # -- the whole ----------------------------------------------------------------------------------------------------

    def carry_out(self) -> Flowed:
        """Carry the plan out until nothing more can end."""
        ends_s = [end_s for _, end_s, _ in self.demand.phases]
        turns = sorted({*ends_s, *(turn.at_s for turn in self._outages if turn.at_s > NOTHING)})
        self._request()
        while self._under_way or self._waiting:
            rates = self._rates()
            if self._stands_still(rates) and turns[0] == inf:
                return self._result(None, self._in_the_way())
            end_s, together = self._next_end(rates)
            other_s = min(self._next_burst(rates), turns[0] - self.now_s)
            if min(end_s, other_s) == inf:
                return self._result(None, self._in_the_way())
            self._pass(max(min(end_s, other_s), NOTHING), rates)
            if end_s <= other_s:
                self.copies.gaps[together] = 0.0
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
        waits_for = () if duration_s is not None else tuple(sorted(self._missed()))
        return Flowed(duration_s, len(self._ends_s), tuple(self._ends_s), full, self._most_needed, waits_for)

    def _missed(self) -> set[int]:
        """The dead brokers for which moves under way wait."""
        needed = {
            broker for move in self._under_way.values() for broker in (move.leader, *move.waits_for(self.standing))
        }
        return (needed | set(map(int, self.copies.followers))) & set(self.standing.dead)

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
            self._asked_s = self.now_s
            for move in begun:
                self._change(move, -1)
                move.listed = True
                self._under_way[move.moving.name] = move
                self._next_hop(move)
                self._change(move, 1)
            self._arrange()
            if self._under_way:
                return

    def _next_hop(self, move: _Move) -> None:
        move.hop += 1
        move.joined = []
        if move.hop < len(move.hops):
            grown = self._grown(move)
            copied = move.hops[move.hop].copied
            move.open = len(copied)
            self._begun += [(move, follower, grown) for follower in copied]
            return
        del self._under_way[move.moving.name]
        if self.demand.outages:  # else nothing is left of it
            self.copies.drop(move)
        if move.elected not in move.moving.target:
            move.elected = None
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
        before, joined = len(self._ends_s), self.copies.end()
        for move, follower in joined:
            self._change(move, -1)
            if self.standing.lagging.pop((move.moving.name, follower), None) is None:
                move.joined.append(follower)
                move.open -= 1
            if not move.open and not move.waits_for(self.standing):
                self._next_hop(move)
            self._change(move, 1)
        if joined:
            self._arrange()
        return len(self._ends_s) > before

    def _arrange(self) -> None:
        """Take note of the copies that there are now."""
        begun, self._begun = self._begun, []
        if begun:
            moves, followers, gaps = zip(*begun, strict=True)
            self.copies.add(moves, [move.leader for move in moves], followers, gaps)
            for move in dict.fromkeys(moves) if self.standing.elected else ():
                self._count(move)
        self.copies.arrange(np.array([self.written.get(move.moving.name, 0.0) for move in self.copies.moves]))
        if self.bursts is not None and self.throttle is not None:
            self._through = self._let_through(self.throttle)
            self.bursts.send(map(int, self.copies.pairs[:, 0]), self.now_s)
            needed = (full.needed * self.throttle.rate / full.capacity for full in self._quotas())
            self._most_needed = max(self._most_needed, *needed, 0.0)

    # -- brokers that die ---------------------------------------------------------------------------------------------

    def _happen(self) -> None:
        """Let happen to brokers what is due."""
        while self._outages and self._outages[0].at_s <= self.now_s + NOTHING:
            turn = self._outages.pop(0)
            standing, broker, at_s = self.standing, turn.broker, turn.at_s
            if turn.kind == "dies":
                standing.die(broker, at_s, ((name, leader, isr) for name, leader, _, isr in self._partitions()))
            elif turn.kind == "noticed":
                for name in standing.elect(broker, at_s, self._partitions()):
                    if name in self._moves:
                        self._moves[name].elected = standing.elected[name]
                        self.copies.lead(self._moves[name], standing.elected[name])
                        self._count(self._moves[name])
            else:
                for name, since_s in standing.come_back(broker):
                    self._catch_up(name, broker, at_s - since_s)

    def _partitions(self) -> Iterator[tuple[str, int, Replicas, Replicas]]:
        """Each partition with its leader, its replicas in the controller's order, and those that are in sync unless
        their broker has died."""
        for name, replicas in self.demand.replicas.items():
            move = self._moves.get(name)
            if move is None:
                yield name, self.standing.leader(name, replicas[0]), replicas, replicas
            else:
                yield name, move.leader, move.assigned, move.in_sync

    def _count(self, move: _Move) -> None:
        """Have the quotas count the copies of a move: of a leader that was there before the move, and of a follower
        that was not (KIP-73's lists as the tools make them)."""
        if self.throttle is None or self.throttle.only_reassigned:
            return
        before = move.moving.before
        self.copies.count(move, move.leader in before, without(move.moving.target, before))

    def _catch_up(self, name: str, broker: int, missed_s: float) -> None:
        """Let a replica get what was written while its broker was down, where a move may wait for it."""
        move = self._under_way.get(name)
        if move is None:
            del self.standing.lagging[name, broker]
        elif not self.copies.has(move, broker):
            self._begun.append((move, broker, self.written.get(name, 0.0) * missed_s))

    # -- loads --------------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Take over what is written, and what has happened to brokers, from now on."""
        self.written = next(written for _, end_s, written in self.demand.phases if self.now_s < end_s - NOTHING)
        self._happen()
        brokers = len(self.capacities.egress)
        self._base, self._talk = np.zeros((len(KINDS), brokers)), np.zeros((brokers, brokers))
        for name, replicas in self.demand.replicas.items():
            move = self._moves.get(name)
            if move is not None:
                self._change(move, 1)
            else:
                self._replicate(name, self.standing.leader(name, replicas[0]), replicas, None, 1)
        self._arrange()

    def _change(self, move: _Move, sign: int) -> None:
        self._replicate(move.moving.name, move.leader, move.in_sync, move, sign)

    def _replicate(self, name: str, leader: int, in_sync: Iterable[int], move: _Move | None, sign: int) -> None:
        """Add (``sign`` 1) or take away what replicas in sync take of the limits."""
        rate = sign * self.written.get(name, 0.0)
        if not rate:
            return
        if leader in self.standing.dead:
            return
        followers = self.standing.followers(name, leader, in_sync)
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
            self._talk[leader, broker] += sign * talk
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
        if not len(self.copies):
            return np.zeros(0)
        left = self._limits() - self._base
        if self.bursts is not None:
            as_leader, as_follower = self._through
            left[0] = self.bursts.left(as_leader, self._base[0], self.now_s)
            left[1] = as_follower - self._base[1]
        copies = self.copies
        live = ~np.isin(copies.pairs, list(self.standing.dead)).any(axis=1)
        rates, rest = share(copies.weights, copies.fetched * live, copies.uses, np.append(np.maximum(left, 0.0), inf))
        self._rest = rest[:-1].reshape(left.shape)
        each: Floats = (rates / copies.counts)[copies.places]
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

    def _let_through(self, throttle: Throttle) -> tuple[Floats, Floats]:
        """The bytes per second that the throttle of each broker lets through, as a leader and as a follower.

        All that may pass does at a look, and what becomes free from the last look in a sample to the sample's end is
        lost. A fetcher all of whose partitions are held back looks each replica.fetch.backoff.ms, and the answer that
        exceeds the limit makes up for some of it; a fetch that finds no data at the leader waits
        replica.fetch.wait.max.ms; where there are partitions in sync, each batch of theirs is a look
        (docs/understand/experiments.md, E3).
        """
        capacities, (leaders, followers) = self.capacities, self.copies.pairs.T
        brokers, rate = len(capacities.egress), float(throttle.rate)
        with np.errstate(divide="ignore"):
            gaps_s = 1 / np.maximum(self._talk[leaders, followers], 0.0)
        as_leader, as_follower = np.full(brokers, capacities.sample_s), np.full(brokers, capacities.sample_s)
        np.minimum.at(as_leader, leaders, np.minimum(gaps_s, capacities.wait_s))
        np.minimum.at(as_follower, followers, np.minimum(gaps_s, capacities.backoff_s))
        answers = np.bincount(followers, self.copies.weights, brokers)
        return (
            rate * (1 - as_leader / capacities.window_s),
            rate - np.maximum(0.0, rate * as_follower - answers) / capacities.window_s,
        )

    def _next_burst(self, rates: Floats) -> float:
        """The time until a leader's quota lets through otherwise."""
        if self.bursts is None:
            return inf
        return self.bursts.changes_s(self._flow(rates), self.now_s, self._coarse_s)

    def _flow(self, rates: Floats) -> Floats:
        assert self.bursts is not None
        sent = self.copies.through(0, rates)
        return self.bursts.flow(self._through[0], self._base[0], sent, self.now_s)

    # -- time ---------------------------------------------------------------------------------------------------------

    def _next_end(self, rates: Floats) -> tuple[float, npt.NDArray[np.bool_]]:
        """The time until the next copies end, and which: if many are taken together, some a little too early and others
        as much too late."""
        gains = rates - self.copies.new
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(gains > NOTHING, self.copies.gaps / gains, inf)
        first = float(times.min(initial=inf))
        if first == inf or not self._coarse_s:
            return first, times == first
        together: npt.NDArray[np.bool_] = times <= first * (1 + COARSE) + self._coarse_s
        return float(times[together].mean()), together

    @property
    def _coarse_s(self) -> float:
        """The time within which changes are taken together."""
        if len(self._moves) <= MANY:
            return 0.0
        return COARSE * max(1.0, len(self._moves) / VERY_MANY) * (self.now_s - self._asked_s + 1)

    def _pass(self, step_s: float, rates: Floats) -> None:
        copies = self.copies
        if len(copies):
            copies.gaps = copies.gaps - (rates - copies.new) * step_s
            self._held += step_s * (self._rest <= 1.0)
        if self.bursts is not None:
            self.bursts.pass_time(self._flow(rates), self._through[0], self.now_s, step_s)
        self.now_s += step_s

    def _await_look(self) -> None:
        """Let time pass until the operator looks again. Copies end meanwhile, and are seen then."""
        poll_s = self.strategy.execution.poll_us / 1e6
        look_s = ceil(self.now_s / poll_s - 1e-9) * poll_s
        while self.now_s < look_s - NOTHING:
            rates = self._rates()
            end_s, together = self._next_end(rates)
            other_s = min(look_s - self.now_s, self._next_burst(rates) if len(rates) else inf)
            self._pass(max(min(end_s, other_s), NOTHING), rates)
            if end_s <= other_s:
                self.copies.gaps[together] = 0.0
            self._end_copies()

    def _stands_still(self, rates: Floats) -> bool:
        """Whether no copy gets nearer to its end, and none will."""
        if not len(rates):
            return True
        if self.bursts is not None and self.bursts.will_change(self._through[0], self._base[0], self.now_s):
            return False
        return not (rates - self.copies.new > NOTHING).any()

    # -- what is in the way -------------------------------------------------------------------------------------------

    def _quotas(self) -> list[Full]:
        return [full for kind in (0, 1) for full in self._fulls(kind, self._through[kind])]

    def _fulls(self, kind: int, limits: Floats) -> list[Full]:
        """The need of the copies for a kind of limit, by the broker whose limit it is."""
        new, base = self.copies.through(kind, self.copies.new), self._base[kind]
        ids = self.copies.leaders if kind % 2 == 0 else self.copies.followers
        return [
            Full(KINDS[kind], int(broker), float(limits[broker]), float(base[broker]), float(new[broker]))
            for broker in np.unique(ids)
        ]

    def _in_the_way(self) -> tuple[Full, ...]:
        """The limits that leave the copies no more than what is written."""
        limits = self._limits()
        fulls = self._quotas() if self.bursts is not None else []
        for kind in range(2, len(KINDS)):
            fulls += self._fulls(kind, limits[kind])
        return tuple(full for full in fulls if full.needed >= full.capacity * (1 - 1e-9))

    def _longest(self) -> tuple[Full, ...]:
        """The limits that were full for at least half of the time, the longest first."""
        found = [
            (float(self._held[kind, broker]), KINDS[kind], int(broker))
            for kind, broker in np.argwhere(self._held > self.now_s / 2)
        ]
        found.sort(key=lambda one: -one[0])
        return tuple(Full(kind, broker, 0.0, 0.0, 0.0) for _, kind, broker in found)
