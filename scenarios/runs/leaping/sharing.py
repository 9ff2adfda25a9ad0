"""Sharing: how fast each copy goes. A *copy* is a replica that is fetched and is not in sync.

A stretch in which all is simulated says what each copy got. Where a replication quota binds (KIP-73), the total of its
copies follows from its rate and from what replicas in sync take of it, and the stretch says who gets how much. When
copies have ended, their share goes to the others that the same quota binds, evenly, up to what other quotas leave them;
the next stretch says how right that was.

A copy is under two quotas, and one of them holds it back: the one that was exceeded at more looks. Only that one lets
pass all that it can; the other has what the first leaves.

A quota lets pass in bursts: all that its window allows at once, then little until that is over. So a copy ends in one
of them. A stretch is one whole cycle, and its *profile* says how much of what a copy got had come by each part of it. A
leap stops the clocks of quotas, so the profile stays in phase.

Rates are in messages per microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

from emulator.protocol.types import TopicPartition
from scenarios.runs.leaping.followed import FetchedReplica, Key

if TYPE_CHECKING:
    from brokers.broker import Broker
    from fetchers.quota import Quota

MICRO = 1_000_000
BINDS, CARD_BINDS = 0.8, 0.9
"""The share of a quota, or of a card, that has to be used for it to be what limits its copies. In a single stretch a
quota may have a burst less than in the mean."""
ROUNDS = 4
WRITTEN_PARTS = 5
"""The number of classes of quotas by the part of their rate that new data takes."""


Place = tuple[str, int]
"""A quota: ``leader`` or ``follower``, and its broker; or a card, ``egress`` or ``ingress``."""
Alike = tuple[str, float, int]
"""See ``Bound.alike``."""


class Bound(NamedTuple):
    """A quota that may bind some copies.

    Attributes:
        place: the quota.
        rate: its rate, in bytes per microsecond.
        used: what replicas in sync take of it.
        members: the copies.
        written: the new data of all of its replicas, in sync or not.
    """

    place: Place
    rate: float
    used: float
    members: tuple[Key, ...]
    written: float = 0.0

    @property
    def alike(self) -> Alike:
        """The side, the rate, and about which part of it new data takes: quotas that have all of this in common let
        pass the same part of their rate."""
        return self.place[0], self.rate, round(WRITTEN_PARTS * self.written / self.rate)

    def total(self, rates: Mapping[Key, float], sizes: Mapping[Key, float]) -> float:
        """The bytes per microsecond of its copies."""
        return sum([rates[key] * sizes[key] for key in self.members])

    def use(self, total: float) -> float:
        """The part of it that is used where its copies have ``total`` bytes per microsecond."""
        return (total + self.used) / self.rate

    def binds(self, use: float) -> bool:
        """Whether it limits its copies where so much of it is used."""
        return use >= (BINDS if self.place[0] in ("leader", "follower") else CARD_BINDS)


MoreBounds = Callable[[Sequence[FetchedReplica], Sequence[FetchedReplica], Mapping[TopicPartition, float]], list[Bound]]


@define(eq=False)
class Sharing:
    """The rates of all copies, as far as they are known.

    Attributes:
        more_bounds: what limits copies besides quotas; None: nothing does.
        rates: by copy.
        loads: what each partition's leader appends.
        span_us: how long the last stretch was.
        margin: the least part of a quota's rate by which the copies that it holds back come nearer to their ends, or
            fall behind; 1: no quota holds any back.
        over_us: when all copies have ended if those that a quota holds back use it to the full until then; infinite:
            it is not known, or never.
        error: by how much the last stretch differed from what was expected of it, as a share of that; None: nothing was
            expected.
    """

    more_bounds: MoreBounds | None = None
    rates: dict[Key, float] = field(factory=dict)
    loads: dict[TopicPartition, float] = field(factory=dict)
    error: float | None = None
    margin: float = 1.0
    over_us: float = inf
    span_us: int = 0
    waiting: dict[Key, int] = field(factory=dict)
    """The messages that each copy lacks besides what its log lacks: its leader is to get them. Those that the copy
    itself is to get count against them."""
    _profiles: dict[Key, list[int]] = field(factory=dict)
    """Where each copy was at each look of the last stretch, and at its end."""
    _passing: dict[Alike, tuple[float, int]] = field(factory=dict)
    """The parts of their rate that quotas which are alike let pass in the stretches where they limited copies:
    their sum, and their number. The mean is a little less than one, as requests and samples fall. In a single stretch a
    quota has a burst more or less than in the mean, so all of them say what each lets pass."""
    _quotas: dict[Place, tuple[Broker, Quota]] = field(factory=dict)
    """The quotas of the copies of this stretch,"""
    _exceeded: dict[Place, int] = field(factory=dict)
    """at how many looks each was exceeded,"""
    _counted: dict[Place, int] = field(factory=dict)
    """and the bytes that it had counted before."""
    _held_back: dict[Alike, tuple[float, int]] = field(factory=dict)
    """The parts of the looks at which quotas that are alike were exceeded: their sum over all stretches, and their
    number. In one stretch, which of two such quotas is exceeded more may be chance."""
    _stretches: int = 0
    """How many stretches in a row had the same copies, under quotas alone. Who gets how much is chance in a single
    one, up to a fifth of it, so their mean counts. A card shares in a rhythm, which the last stretch knows best."""
    _begun_us: int = 0
    _begun: dict[Key, int] = field(factory=dict)
    _ends: dict[TopicPartition, int] = field(factory=dict)

    def begin(self, now_us: int, fetched: Sequence[FetchedReplica]) -> None:
        self._begun_us = now_us
        self._begun = {each.key: each.state.offset for each in fetched}
        self._ends = {each.state.tp: each.led.log.end_offset for each in fetched}
        copies = [each for each in fetched if not each.in_sync]
        self._profiles = {each.key: [] for each in copies}
        self._quotas = _quotas(copies)
        self._exceeded = dict.fromkeys(self._quotas, 0)
        self._counted = {place: quota.counted for place, (_broker, quota) in self._quotas.items()}

    def look(self, fetched: Sequence[FetchedReplica]) -> None:
        """A part of the stretch is over; the parts are equally long."""
        profiles = self._profiles
        for each in fetched:
            if not each.in_sync and each.key in profiles:
                profiles[each.key].append(each.state.offset)
        for place, (broker, quota) in self._quotas.items():
            self._exceeded[place] += quota.byte_rate(broker.process.clock_us) > quota.rate

    def measured(self, now_us: int, fetched: Sequence[FetchedReplica]) -> None:
        """The stretch is over."""
        span_us, before = now_us - self._begun_us, self.rates
        self.span_us = span_us
        self.loads = {
            each.state.tp: (each.led.log.end_offset - self._ends[each.state.tp]) / span_us
            for each in fetched
            if each.state.tp in self._ends
        }
        copies = [each for each in fetched if not each.in_sync and each.key in self._begun]
        rates = {each.key: max(0, each.state.offset - self._begun[each.key]) / span_us for each in copies}
        ended = [key for key, profile in self._profiles.items() if key not in rates and profile]
        expected = [before[key] for key in rates if key in before]
        self.error = None
        if len(expected) == len(rates) and sum(expected) > 0:
            self.error = sum(abs(before[key] - rate) for key, rate in rates.items()) / sum(expected)
        sizes = {each.key: each.message_bytes for each in copies}
        found = self._bounds(copies, fetched)
        uses = {bound.place: self._use(bound, rates, sizes) for bound in found}
        limiting = self._limiting(found, uses)
        self._judge(now_us, [bound for bound, _free in limiting if bound.place in self._quotas], copies, rates, sizes)
        for bound, free in limiting:
            others = bound.total(rates, sizes) - sum(rates[key] * sizes[key] for key in free) + bound.used
            passed = uses[bound.place] * bound.rate - others
            if passed > 0:
                factor = max(0.0, bound.rate * self._passes(bound) - others) / passed
                for key in free:
                    rates[key] *= factor
        same = rates.keys() == before.keys() and all(bound.place in self._quotas for bound in found)
        self._stretches = self._stretches + 1 if same else 1
        for key in rates if same else ():
            rates[key] = before[key] + (rates[key] - before[key]) / self._stretches
        # Copies that have ended within the stretch leave their shares as others do.
        rates.update((key, (self._profiles[key][-1] - self._begun[key]) / span_us) for key in ended)
        self.rates = rates

    def _judge(
        self, now_us: int, quotas: Sequence[Bound], copies: Sequence[FetchedReplica], rates: Mapping[Key, float],
        sizes: Mapping[Key, float],
    ) -> None:  # fmt: skip
        """Find out how much nearer the copies that ``quotas`` hold back come to their ends."""
        gaps = {each.key: self.gap(each) * sizes[each.key] for each in copies}
        self.margin, left_us = 1.0, 0.0
        for quota in quotas:
            new = sum([self.loads.get(key[1], 0.0) * sizes[key] for key in quota.members])
            net = quota.total(rates, sizes) - new
            self.margin = min(self.margin, abs(net) / quota.rate)
            left_us = max(left_us, sum([gaps[key] for key in quota.members]) / net if net > 0 else inf)
        self.over_us = now_us + left_us if quotas else inf

    def _use(self, bound: Bound, rates: Mapping[Key, float], sizes: Mapping[Key, float]) -> float:
        """The part of a quota that was used in the stretch: by what it has counted, of which copies that have ended in
        it had a part. Of a card it is what copies have got."""
        if bound.place not in self._quotas:
            return bound.use(bound.total(rates, sizes))
        counted = self._quotas[bound.place][1].counted - self._counted[bound.place]
        return counted / self.span_us / bound.rate

    def _limiting(self, found: Sequence[Bound], uses: Mapping[Place, float]) -> list[tuple[Bound, list[Key]]]:
        """The quotas and cards that have held copies back, each with the copies of which nothing else has done so more:
        by how often they were exceeded, then by their use."""
        looks = max(1, max(map(len, self._profiles.values()), default=0))
        for bound in found:
            if bound.place in self._exceeded:
                share, times = self._held_back.get(bound.alike, (0.0, 0))
                self._held_back[bound.alike] = share + self._exceeded[bound.place] / looks, times + 1
        limiting, held_back = [], dict[Key, None]()
        for bound in sorted(found, key=lambda each: (-self._holds_back(each), -uses[each.place])):
            free = [key for key in bound.members if key not in held_back]
            held_back.update(dict.fromkeys(free))
            if free and bound.binds(use := uses[bound.place]):
                limiting.append((bound, free))
                if len(free) == len(bound.members):
                    passed, times = self._passing.get(bound.alike, (0.0, 0))
                    self._passing[bound.alike] = passed + use, times + 1
        return limiting

    def _holds_back(self, bound: Bound) -> float:
        """At which part of the looks a quota is exceeded, in the mean of all stretches; a card never is."""
        share, times = self._held_back.get(bound.alike, (0.0, 1))
        return share / times

    def _bounds(self, copies: Sequence[FetchedReplica], fetched: Sequence[FetchedReplica]) -> list[Bound]:
        """All that may limit the copies."""
        found = bounds(copies, fetched, self.loads)
        return found if self.more_bounds is None else found + self.more_bounds(copies, fetched, self.loads)

    def _budget(self, bound: Bound) -> float:
        """The bytes per microsecond that a quota lets pass to its copies together."""
        return max(0.0, bound.rate * self._passes(bound) - bound.used)

    def _passes(self, bound: Bound) -> float:
        """The part of its rate that a quota lets pass in the mean of all stretches."""
        passed, times = self._passing.get(bound.alike, (1.0, 1))
        return min(1.0, passed / times)

    def any_binds(self, found: Sequence[Bound], copies: Sequence[FetchedReplica], share: float) -> bool:
        """Whether at the rates of the last stretch ``share`` of any of ``found`` is used."""
        sizes = {each.key: each.message_bytes for each in copies}
        return any(bound.use(bound.total(self.rates, sizes)) >= share for bound in found)

    def gap(self, each: FetchedReplica) -> int:
        """The messages that a copy lacks."""
        return each.led.log.end_offset - each.state.offset + self.waiting.get(each.key, 0)

    def soonest(self, copies: Sequence[FetchedReplica]) -> list[FetchedReplica]:
        """The copies of which one can be the next to end: by its rate alone not two cycles later than the first."""
        ends = []
        for each in copies:
            net = self.rates[each.key] - self.loads.get(each.state.tp, 0.0)
            if net > 0:
                ends.append((self.gap(each) / net, each))
        first = min((end for end, _each in ends), default=0.0)
        return [each for end, each in ends if end <= first + 2 * self.span_us]

    def longest_us(self, copies: Sequence[FetchedReplica]) -> float:
        """In what time the last copy ends, by its rate alone; infinite where one never does."""
        found = 0.0
        for each in copies:
            net = self.rates[each.key] - self.loads.get(each.state.tp, 0.0)
            found = max(found, (each.led.log.end_offset - each.state.offset) / net if net > 0 else inf)
        return found

    def ends_in_us(self, each: FetchedReplica, phase_us: int) -> int | None:
        """In what time a copy has all of its leader's log; None: it never has, at its rate.

        Args:
            phase_us: how long the clocks of quotas have run since the stretch.
        """
        key = each.key
        rate, load = self.rates[key], self.loads.get(each.state.tp, 0.0)
        gap = self.gap(each)
        if rate <= load:
            return None
        profile = self._profiles.get(key, [])
        got = profile[-1] - self._begun.get(key, 0) if profile else 0
        if got <= 0:
            return int(gap / (rate - load))
        parts, cycle_us = len(profile), self.span_us
        first = phase_us % cycle_us * parts // cycle_us
        begun = self._begun[key]
        shares = [(at - begun) / got for at in profile]
        before = shares[first - 1] if first else 0.0
        cycles = max(0, int((gap / (rate - load) - cycle_us) / cycle_us) - 1)
        while True:
            for part in range(parts):
                place = first + part
                share = shares[place] if place < parts else 1 + shares[place - parts]
                in_us = cycles * cycle_us + (part + 1) * cycle_us // parts
                if rate * cycle_us * (cycles + share - before) >= gap + load * in_us:
                    return in_us
            cycles += 1

    def knows(self, copies: Sequence[FetchedReplica]) -> bool:
        """Whether the rate of each of these is known."""
        return all(each.key in self.rates for each in copies)

    def without_ended(self, copies: Sequence[FetchedReplica], fetched: Sequence[FetchedReplica]) -> bool:
        """Give the shares of the copies that have ended since to those that are left. Returns whether any has."""
        left = {each.key for each in copies}
        if len(left) == len(self.rates):
            return False
        self._stretches = 0
        bound_before = {key for key in self.rates if key not in left}
        self.rates = {each.key: self.rates[each.key] for each in copies}
        if bound_before:
            self._fill(copies, fetched)
        return True

    def _fill(self, copies: Sequence[FetchedReplica], fetched: Sequence[FetchedReplica]) -> None:
        rates, sizes = self.rates, {each.key: each.message_bytes for each in copies}
        found = self._bounds(copies, fetched)
        for last in [False] * (ROUNDS - 1) + [True]:
            totals = [(bound, self._budget(bound), bound.total(rates, sizes)) for bound in found]
            full = {key for bound, budget, total in totals if total >= 0.999 * budget for key in bound.members}
            for bound, budget, total in totals:
                open_to = [key for key in bound.members if key not in full]
                if open_to and not last:
                    more = (budget - total) / len(open_to)
                    for key in open_to:
                        rates[key] += more / sizes[key]
            for bound in found:
                budget, total = self._budget(bound), bound.total(rates, sizes)
                if total > budget:
                    for key in bound.members:
                        rates[key] *= budget / total


def _quotas(copies: Sequence[FetchedReplica]) -> dict[Place, tuple[Broker, Quota]]:
    """The quotas that may limit ``copies``, each with its broker."""
    found: dict[Place, tuple[Broker, Quota]] = {}
    for each in copies:
        for side, broker, throttle in each.throttles:
            quota = throttle.quota(each.state.tp, each.state.adding)
            if quota is not None and quota.limited:
                found.setdefault((side, broker.process.node.id), (broker, quota))
    return found


def bounds(
    copies: Sequence[FetchedReplica], fetched: Sequence[FetchedReplica], loads: Mapping[TopicPartition, float]
) -> list[Bound]:
    """The quotas that may bind ``copies``, those of leaders and those of followers."""
    rates: dict[Place, float] = {}
    used: dict[Place, float] = {}
    written: dict[Place, float] = {}
    wanted = {each.key for each in copies}
    members: dict[Place, list[Key]] = {}
    sizes: dict[TopicPartition, float] = {}
    """The bytes of a message that replicas in sync fetch next: they are all near the end of the log."""
    for each in fetched:
        tp, in_sync = each.state.tp, each.in_sync
        for side, broker, throttle in each.throttles:
            quota = throttle.quota(tp, each.state.adding and not in_sync)
            if quota is None or not quota.limited or (in_sync and quota is not throttle.listed):
                continue
            place = side, broker.process.node.id
            rates.setdefault(place, quota.rate / MICRO)
            members.setdefault(place, [])
            load = loads.get(tp, 0.0)
            if load and in_sync and tp not in sizes:
                sizes[tp] = each.message_bytes
            if load:
                load *= sizes[tp] if in_sync else each.message_bytes
            written[place] = written.get(place, 0.0) + load
            if in_sync:
                used[place] = used.get(place, 0.0) + load
            elif each.key in wanted:
                members[place].append(each.key)
    return [
        Bound(place, rates[place], used.get(place, 0.0), tuple(keys), written[place])
        for place, keys in members.items()
        if keys
    ]
