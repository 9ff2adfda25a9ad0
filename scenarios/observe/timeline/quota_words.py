"""Exhausted quotas of replication in words: who uses them up, and whom they hold back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scenarios.observe.history.quotas import LEADER, QuotaUse, ThrottledReplica
from scenarios.units import BYTES, MICROSECONDS, counted, whole_unit

_APART_US = MICROSECONDS["s"]
"""Times of several replicas that are closer together are one."""


def exhausted(use: QuotaUse) -> str:
    """The quota, and who gets what it allows."""
    whose = f"leader {use.broker}'s throttle" if use.side == LEADER else f"broker {use.broker}'s throttle as a follower"
    who = "followers in sync" if use.side == LEADER else "its replicas in sync"
    rate, in_sync = _rates(use.rate, use.in_sync)
    if use.used_up:
        return (
            f"{whose} of {rate} is used up by {who}, which got {in_sync} {_window(use.window_us)} (KIP-73 counts that)"
        )
    _, others = _rates(use.rate, use.others)
    shares = f"replicas out of sync got {others} {_window(use.window_us)}"
    return f"{whose} of {rate} is exhausted: {shares}" + (f", {who} {in_sync}" if use.in_sync else "")


def holds_back(use: QuotaUse, now_us: int) -> Iterator[str]:
    """Texts on a quota's brokers with replicas out of sync: what they got, and lack; one for each."""
    by_broker: dict[int, list[ThrottledReplica]] = {}
    for held in use.held:
        by_broker.setdefault(held.broker, []).append(held)
    for broker, replicas in by_broker.items():
        where = replicas[0].partition if len(replicas) == 1 else counted(len(replicas), "partitions")
        yield f"broker {broker} {_got(use, replicas, now_us, f' in {where}')}"


def summaries(uses: Iterable[QuotaUse], now_us: int) -> Iterator[str]:
    """Quotas of the same rate that are exhausted in the same way, in a sentence each."""
    alike: dict[tuple[str, int, bool], list[QuotaUse]] = {}
    for use in uses:
        alike.setdefault((use.side, use.rate, use.used_up), []).append(use)
    for (side, rate, used_up), found in alike.items():
        quota = f"{_rates(rate, 0)[0]} of {_named(side, [use.broker for use in found])}"
        by = "followers in sync" if side == LEADER else "their replicas in sync"
        how = f"used up by {by}, whose traffic KIP-73 counts" if used_up else "exhausted"
        held = [held for use in found for held in use.held]
        brokers = sorted({one.broker for one in held})
        lack = _got(found[0], held, now_us, plural=len(brokers) > 1)
        yield f"{quota}: {how}; {_named('broker', brokers)} {lack}"


def _named(noun: str, brokers: list[int]) -> str:
    return f"{noun}{'s' * (len(brokers) > 1)} {', '.join(map(str, brokers))}"


def held_back(use: QuotaUse, held: ThrottledReplica, now_us: int) -> str:
    """The bytes that one replica got, and the records that it lacks."""
    return _got(use, [held], now_us)


def _got(
    use: QuotaUse, replicas: Sequence[ThrottledReplica], now_us: int, where: str = "", *, plural: bool = False
) -> str:
    """The records that brokers with replicas out of sync lack, and the bytes that they got. Their names come before."""
    lack, have = ("lack", "have") if plural else ("lacks", "has")
    lacking = f"{lack} {counted(sum(held.lacks for held in replicas), 'records')}{where}"
    since_us = [held.since_us for held in replicas]
    idle_us = now_us - max(since_us)
    if idle_us >= use.window_us:
        longer = " or longer" if max(since_us) - min(since_us) >= _APART_US else ""
        return f"{lacking} and {have} got none for {idle_us / 1e6:.1f} s{longer}"
    return f"{lacking} and got {_rates(use.rate, sum(held.got for held in replicas))[1]} {_window(use.window_us)}"


def _window(window_us: int) -> str:
    return f"in the last {window_us / 1e6:.1f} s".replace(".0 s", " s")


def _rates(rate: int, measured: int) -> tuple[str, str]:
    """A throttle and what passed, in the unit in which the throttle is a whole number."""
    unit = whole_unit(rate, BYTES, ("GiB", "MiB", "MB", "KiB", "kB", "B"))
    per = BYTES[unit]
    return f"{rate // per:,} {unit}/s", f"{measured:,} B/s" if per == 1 else f"{measured / per:.1f} {unit}/s"
