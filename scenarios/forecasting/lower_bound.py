"""The time below which a plan cannot be over: what has to pass the narrowest limit, over what can pass there.

It holds in whatever order replicas catch up and however they share a limit, so it is below the estimate (``fluid``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from attrs import frozen

from emulator.protocol.assignments import Replicas
from scenarios.forecasting.capacities import Capacities
from scenarios.forecasting.moving import Demand, Moving
from scenarios.language.strategies import Throttle
from scenarios.language.strategies.strategy import Strategy
from scenarios.language.topic_spec import split_partition

FULL = 0.9
"""The share of a card from which on it counts as full."""


@frozen
class _Passing:
    """The bytes that one partition sends through a limit.

    Attributes:
        copied: the bytes of the copies.
        grows: bytes per second that are written and have to follow, until the move is over.
        others: the brokers at the other end.
        beside: bytes per second to followers that are in sync all the time, until then.
    """

    copied: float
    grows: float
    others: Replicas
    beside: float = 0.0


def at_least_s(demand: Demand, capacities: Capacities, strategy: Strategy, throttle: Throttle | None) -> float:
    """The bound, in seconds after the request; infinite if the plan cannot end at all."""
    deaths = [one for one in demand.outages if one.ends_s > 0]
    writes = (
        not deaths
        and len(demand.phases) == 1
        and _loads_fit(demand, capacities, 0 if throttle is None else throttle.rate)
    )
    together = strategy.execution.at_once
    counts = throttle is not None and not throttle.only_reassigned
    bounds = [0.0, *_back_s(demand)]
    died = {one.broker for one in demand.outages}
    new_leaders = {broker for one in demand.moving if one.before[0] in died for broker in (*one.before, *one.target)}
    as_leader: dict[int, list[_Passing]] = {}
    as_follower: dict[int, list[_Passing]] = {}
    for moving in demand.moving:
        rate = moving.written if writes else 0.0
        added = moving.added
        if added:
            beside = rate * _stay(moving, strategy) if counts and together else 0.0
            passing = _Passing(moving.copied, rate * len(added), added, beside)
            if moving.before[0] not in died:  # else another leads, and sends a part of it
                as_leader.setdefault(moving.before[0], []).append(passing)
            for broker in added:
                if broker in died:  # its quota starts over
                    continue
                as_follower.setdefault(broker, []).append(_Passing(float(moving.size), rate, moving.before[:1]))
                if moving.size and moving.before[0] not in died:
                    bounds.append(moving.size / capacities.fetched(moving.before[0], broker, 1))
    for limits, cards, disk in (
        (as_leader, capacities.egress, capacities.read),
        (as_follower, capacities.ingress, capacities.write),
    ):
        for broker, all_passing in limits.items():
            bounds.append(_through(all_passing, cards[broker], 0.0))
            bounds.append(_through(all_passing, disk * capacities.disks, 0.0))
            if throttle is not None:
                others = len({other for one in all_passing for other in one.others}) + len(new_leaders)
                answers = capacities.fetchers * capacities.response * others
                bounds.append(_under_quota(all_passing, throttle.rate, capacities, answers))
    return max(bounds)


def _back_s(demand: Demand) -> Iterator[float]:
    """When brokers are back that the plan needs, where they are down at the request or die at once; infinite for one
    that is never back and gets something that cannot all have come before it died."""
    for one in demand.outages:
        gets = [moving for moving in demand.moving if one.broker in moving.added and moving.size]
        if gets and one.begins_s <= 0:
            yield max(0.0, one.ends_s)


def _loads_fit(demand: Demand, capacities: Capacities, rate: int) -> bool:
    """Whether what is written goes on in any case: a load that shares a full card or disk with copies slows down
    (acks=all), and then only what there is at the start is certain. ``rate``: the throttle; 0: there is none."""
    if not capacities.has_cards:
        return True
    if not rate or min(capacities.read, capacities.write) < inf:
        return False
    moving = {one.name: one.target for one in demand.moving}
    for replicas_of in (demand.replicas, {**demand.replicas, **moving}):
        out, into = [float(rate)] * len(capacities.egress), [float(rate)] * len(capacities.ingress)
        for name, written in demand.phases[0][2].items():
            leader, *followers = replicas_of[name]
            readers = demand.readers.get(split_partition(name)[0], 0)
            out[leader] += written * (len(followers) + readers)
            for broker in replicas_of[name]:
                into[broker] += written
        for used, cards in ((out, capacities.egress), (into, capacities.ingress)):
            if any(amount > FULL * card for amount, card in zip(used, cards, strict=True)):
                return False
    return True


def _stay(moving: Moving, strategy: Strategy) -> int:
    """How many followers stay in sync, and so count for the leader's quota, until the move is over."""
    kept = set(moving.before)
    for hop in moving.hops(strategy):
        kept &= set(hop.in_sync)
    return max(0, len(kept) - 1)


def _under_quota(passing: Sequence[_Passing], rate: int, capacities: Capacities, answers: float) -> float:
    """As ``_through``, for a quota: a window of it holds its rate and an answer to each fetcher, and the first one
    passes at once."""
    window_s = capacities.window_s
    in_window = rate * window_s + answers
    return _through(passing, in_window / window_s, in_window)


def _through(passing: Sequence[_Passing], rate: float, at_once: float) -> float:
    """When all has passed a limit of ``rate`` and, in the beginning, ``at_once`` besides.

    When the k-th partition is over, at least the k smallest copies have passed, with what was written to these
    partitions until they were over, and what followers in sync got of the others until then. That bounds each of
    these times, one after the other.
    """
    copied = sorted(one.copied for one in passing)
    grows = min(one.grows + one.beside for one in passing)
    beside = sorted(one.beside for one in passing)
    idle = [0.0]
    for rest in beside:
        idle.append(idle[-1] + rest)
    passed, end_s = 0.0, 0.0
    for place, size in enumerate(copied):
        passed += size
        left = rate - grows - idle[len(copied) - place - 1]
        if left <= 0:
            return inf
        end_s = max(end_s, (passed - at_once) / left)
        passed += grows * end_s
    return end_s
