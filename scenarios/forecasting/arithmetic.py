"""The first half of a forecast: one outlook for each throttle and strategy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve, frozen

from scenarios.errors import BadInput
from scenarios.forecasting.capacities import Capacities, capacities_of
from scenarios.forecasting.fluid import Flow, Flowed, Full
from scenarios.forecasting.lower_bound import at_least_s
from scenarios.forecasting.moving import Demand, Moving, demand_of
from scenarios.forecasting.outages import Outage
from scenarios.language.strategies import SHAPES, Throttle, parse_strategy
from scenarios.language.strategies.strategy import Strategy

if TYPE_CHECKING:
    from scenarios.language import Plan, Scenario
    from scenarios.language.entries import MethodEntry

WIDE = 1.5
"""A throttle is wide if it is at least so many times the least one that lets a plan end."""


@frozen
class BrokerBytes:
    """The bytes that a plan and the loads send out of and into a broker.

    Attributes:
        copied_out, copied_in: bytes of copies, as its leaders send them and as it receives them.
        written: bytes per second that producers write to what it leads.
        in_sync_out, in_sync_in: bytes per second to and from followers in sync.
        counted: of these, what its throttle as a leader counts, once the whole plan is under way.
    """

    broker: int
    copied_out: float
    copied_in: float
    written: float
    in_sync_out: float
    in_sync_in: float
    counted: float


@frozen
class Outlook:
    """A strategy under a throttle.

    Attributes:
        name: the name of the strategy with its throttle, under which a run has both.
        strategy: its name, without the throttle.
        throttle: bytes per second of each broker; None: there is none.
        at_least_s: the time that the plan takes at least; infinite: it certainly never ends.
        estimate_s: the estimated time; None: it does not end.
        ended: how many moves end.
        full: what holds copies back; of a plan that never ends, what they need there.
        least_throttle: a throttle of about this rate or more lets it end, in bytes per second; None where any does.
        waits_for: the brokers that are down for ever, and for which a plan that never ends waits.
    """

    name: str
    strategy: str
    throttle: int | None
    at_least_s: float
    estimate_s: float | None
    ended: int
    full: tuple[Full, ...]
    least_throttle: int | None
    waits_for: tuple[int, ...] = ()

    @property
    def never_ends(self) -> bool:
        return self.estimate_s is None

    @property
    def near(self) -> bool:
        """Whether the throttle is hardly above the least one: a small error of what it lets through is then a large one
        of what it leaves, and so of the estimate."""
        if self.throttle is None or self.least_throttle is None or self.never_ends:
            return False
        return self.throttle < WIDE * self.least_throttle

    @property
    def instant(self) -> bool:
        """Whether no limit holds copies back, so that an estimate has nothing to go by."""
        return self.estimate_s is not None and self.estimate_s < 1 and not self.full

    def to_json(self) -> dict[str, Any]:
        """See ``Forecast.to_json``."""
        full = [{**asdict(one), "kind": one.kind.value, "needed": one.needed} for one in self.full]
        at_least = None if self.at_least_s == inf else self.at_least_s
        return {
            **asdict(self, recurse=False),
            "at_least_s": at_least,
            "never_ends": self.never_ends,
            "near": self.near,
            "full": full,
        }


@frozen
class Forecast:
    """A plan: the bytes that it moves, and the time that this takes under each throttle and strategy.

    Attributes:
        moving: the partitions of the plan.
        brokers: those that the plan concerns.
        outlooks: the shortest first, those that never end last.
        left_out: what the file has and the arithmetic does not know.
        outages: the brokers that are down while the plan is carried out, in seconds after it is requested.
    """

    title: str
    moving: tuple[Moving, ...]
    brokers: tuple[BrokerBytes, ...]
    outlooks: tuple[Outlook, ...]
    left_out: tuple[str, ...]
    outages: tuple[Outage, ...] = ()

    @property
    def copied(self) -> int:
        """The bytes that are copied, without what is written meanwhile."""
        return sum(moving.copied for moving in self.moving)

    def to_json(self) -> dict[str, Any]:
        """The forecast as JSON holds it: sizes in bytes, rates in bytes per second; a time without end is null."""
        return {
            "title": self.title,
            "copied": self.copied,
            "partitions": [{**asdict(one), "added": one.added, "copied": one.copied} for one in self.moving],
            "brokers": [asdict(one) for one in self.brokers],
            "outlooks": [one.to_json() for one in self.outlooks],
            "left_out": self.left_out,
            "outages": [one.to_json() for one in self.outages],
        }


def forecast(
    scenario: Scenario,
    plan: Plan,
    throttles: Iterable[int | None] = (),
    strategies: Iterable[str] = (),
) -> Forecast:
    """The forecast of a plan in a scenario.

    Args:
        throttles: bytes per second, None for no throttle; none given: as the scenario has it.
        strategies: names; none given: the scenario's.

    Raises:
        BadInput: a throttle is chosen by a rule, which reads what only a run has.
    """
    settled = scenario.settled()
    demand, capacities = demand_of(settled, plan), capacities_of(settled)
    names = tuple(strategies) or (settled.strategy.name,)
    own = throttle_of(settled, plan)
    found = [
        outlook(settled, demand, capacities, parse_strategy(name), _chosen(parse_strategy(name), rate, own))
        for name in names
        for rate in (tuple(throttles) or ("as it is",))
    ]
    found = list(dict.fromkeys(_with_one_least(found)))
    found.sort(key=lambda one: (one.estimate_s is None, one.estimate_s or 0.0, -(one.throttle or 0)))
    return Forecast(
        settled.title, demand.moving, tuple(_brokers(demand)), tuple(found), demand.left_out, demand.outages
    )


def _with_one_least(outlooks: Iterable[Outlook]) -> list[Outlook]:
    """The outlooks, where all throttles of a strategy have the same least one. What each finds differs somewhat, as
    copies end in another order: the widest under which the plan never ends counts, else the narrowest."""
    found, least = list(outlooks), dict[str, int]()
    for one in sorted(found, key=lambda one: (not one.never_ends, (one.throttle or 0) * (-1 if one.never_ends else 1))):
        if one.least_throttle is not None:
            least.setdefault(one.strategy, one.least_throttle)
    return [one if one.throttle is None else evolve(one, least_throttle=least.get(one.strategy)) for one in found]


def throttle_of(scenario: Scenario, plan: Plan) -> Throttle | None:
    """The throttle under which the scenario requests the plan: the command's, else the strategy's."""
    entry = request_of(scenario, plan)
    rate = None if entry is None else getattr(entry.action, "throttle", None)
    return scenario.strategy.limit if rate is None else Throttle(rate)


def request_of(scenario: Scenario, plan: Plan) -> MethodEntry | None:
    """The entry of the method that requests the plan; None: there is none."""
    for entry in scenario.method:
        if entry.name == "reassign.execute" and (entry.action.own_plan() or scenario.plan) is plan:
            return entry
    return None


def _chosen(strategy: Strategy, rate: int | str | None, own: Throttle | None) -> Throttle | None:
    named = strategy.execution.throttle
    throttle = named or (own if isinstance(rate, str) else None if rate is None else Throttle(rate))
    if throttle is not None and throttle.rule is not None:
        raise BadInput(
            f"{throttle.name} chooses its rate by what it sees in a run; name one, such as 50MB/s", where="--throttle"
        )
    return throttle


def outlook(
    scenario: Scenario, demand: Demand, capacities: Capacities, strategy: Strategy, throttle: Throttle | None
) -> Outlook:
    by_znode = not SHAPES[strategy.shape].api or scenario.reassigns_by != "api"
    flowed = Flow(demand, capacities, strategy, throttle, by_znode, scenario.seed).carry_out()
    least = at_least_s(demand, capacities, strategy, throttle)
    if flowed.duration_s is not None:
        least = min(least, flowed.duration_s)
    bare = _without_throttle(strategy)
    return Outlook(
        name="+".join((bare, *([] if throttle is None else [throttle.name]))),
        strategy=bare,
        throttle=None if throttle is None else throttle.rate,
        at_least_s=least,
        estimate_s=flowed.duration_s,
        ended=flowed.ended,
        full=flowed.full,
        least_throttle=_least(flowed, throttle),
        waits_for=flowed.waits_for,
    )


def _without_throttle(strategy: Strategy) -> str:
    """A strategy's name without its throttle."""
    parts = evolve(strategy.execution, throttle=None).names
    return "+".join((strategy.name.split("+")[0], *parts))


def _least(flowed: Flowed, throttle: Throttle | None) -> int | None:
    return None if throttle is None or not flowed.most_needed else round(flowed.most_needed)


def _brokers(demand: Demand) -> list[BrokerBytes]:
    now = demand.phases[0][2]
    moving = {one.name: one for one in demand.moving}
    figures: dict[int, dict[str, float]] = {}

    def add(broker: int, **more: float) -> None:
        of = figures.setdefault(broker, {})
        for name, amount in more.items():
            of[name] = of.get(name, 0) + amount

    for name, replicas in demand.replicas.items():
        rate, one = now.get(name, 0.0), moving.get(name)
        to_followers = rate * (len(replicas) - 1)
        counted = to_followers if one is not None and one.added else 0.0
        add(replicas[0], written=rate, in_sync_out=to_followers, counted=counted)
        for broker in replicas[1:]:
            add(broker, in_sync_in=rate)
        if one is not None:
            add(replicas[0], copied_out=one.copied)
            for broker in one.added:
                add(broker, copied_in=one.size)
    return [BrokerBytes(broker, **_complete(figures[broker])) for broker in sorted(figures)]


def _complete(figures: Mapping[str, float]) -> dict[str, float]:
    names = ("copied_out", "copied_in", "written", "in_sync_out", "in_sync_in", "counted")
    return {name: figures.get(name, 0) for name in names}
