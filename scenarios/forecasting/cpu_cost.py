"""The CPU time that a run of a scenario takes, about: from the batches and fetches that it simulates one by one."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from attrs import frozen

from scenarios.errors import BadInput
from scenarios.forecasting.moving import PER_S, Demand, demand_of
from scenarios.language.fidelity import SAMPLED
from scenarios.language.plan import Plan
from scenarios.language.schema.spans import Drawable, Span
from scenarios.language.strategies import parse_strategy
from scenarios.language.triggers import At
from scenarios.progress import words

if TYPE_CHECKING:
    from scenarios.language import Scenario

WORTH_SAYING_S = 10.0
"""The CPU time from which on it is said beforehand."""
MIB = 1 << 20
START_S = 0.1
BROKER_SECOND_S = 50e-6
"""A virtual second of a broker in which nothing comes."""
BATCH_S, REPLICA_S, READER_S = 20e-6, 12e-6, 30e-6
"""A batch: at its producer and leader; at each replica; at each consumer."""
ROUND_S = 115e-6
"""A fetch of a follower that is answered by batches as they come."""
COPIED_S, COPIED_HELD_S = 70e-6, 180e-6
"""A MiB of a copy, and of one that a throttle holds back."""
BEHIND_S = 5e-6
"""A batch, for each copy of its partition that is under way: the leader looks whether it may be sent."""
MOVE_S = 8e-3
"""A move, for the control plane."""
PIECE_S = 60e-3
"""A piece of a leap in a sampled run."""
HELD_SECOND_S, HELD_COPY_S = 0.5e-3, 3e-6
"""A virtual second in which a throttle holds back the copies of a pair of brokers, and each round in it for a copy.

``python -m benchmarks.forecast`` measures how far the sum is off, ``python -m benchmarks.cost`` that of sampled runs.
"""


@frozen
class Cost:
    """The estimated cost of a run.

    Attributes:
        virtual_s: the virtual time that the run lasts, about.
        batches: how many batches producers write.
        rounds: how many times followers fetch them.
        copied: bytes of copies.
        load_s, copies_s, idle_s, moves_s: the CPU seconds for these: what is written, copied, passing time, and what
            the control plane does about the moves.
        simulated: the share of its virtual time of which each message is simulated, or would be in a sampled run.
        pieces_s: the CPU seconds that a sampled run adds to that, for the pieces of its leaps.
        is_sampled: whether it is one.
        busiest_linger_s: the linger of the load that writes the most batches; None: there is no load.
    """

    virtual_s: float
    batches: float
    rounds: float
    copied: float
    load_s: float
    copies_s: float
    idle_s: float
    moves_s: float
    busiest_linger_s: float | None
    simulated: float = 1.0
    pieces_s: float = 0.0
    is_sampled: bool = False

    @property
    def cpu_s(self) -> float:
        pieces_s = self.pieces_s if self.is_sampled else 0.0
        return START_S + self.load_s + self.copies_s + self.idle_s + self.moves_s + pieces_s

    @property
    def sampled_s(self) -> float:
        """The CPU seconds of the run as a sampled one."""
        share = 1.0 if self.is_sampled else self.simulated
        return START_S + share * (self.load_s + self.copies_s) + self.idle_s + self.moves_s + self.pieces_s

    @property
    def worth_saying(self) -> bool:
        return self.cpu_s >= WORTH_SAYING_S


def cost_of(scenario: Scenario, *, precise: bool = False) -> Cost | None:
    """The cost of one run; None where chance decides its length (``[[chaos]]``, draws that do not fit).

    Its moves last as long as the arithmetic says; where even the whole horizon costs little, and it
    need not be ``precise``, that is the estimate.
    """
    try:
        settled = scenario.settled()
    except BadInput:
        return None
    if settled.chaos:
        return None
    plan = settled.plans[0] if settled.plans else None
    demand = demand_of(settled, plan)
    horizon_s = settled.horizon_us / PER_S
    longest = _cost(settled, demand, horizon_s, horizon_s)
    if not (longest.worth_saying or precise):
        return longest
    takes_s = 0.0 if plan is None else _moves_s(settled, plan)
    return _cost(settled, demand, min(horizon_s, max(_said_s(settled), demand.begins_s + takes_s)), takes_s)


def _moves_s(scenario: Scenario, plan: Plan) -> float:
    """How long the plan takes; infinite, if it never ends or that is not known."""
    from scenarios.forecasting.arithmetic import forecast  # it needs numpy, which most runs do without

    try:
        estimate_s = forecast(scenario, plan).outlooks[0].estimate_s
    except BadInput:
        return inf
    return inf if estimate_s is None else estimate_s


def _said_s(scenario: Scenario) -> float:
    """The time of the last thing that the file does at a stated time; its horizon, where it does something at another
    moment than a stated one, as a run then lasts at most."""
    last = 0.0
    for entry in scenario.method:
        trigger = entry.trigger
        if not isinstance(trigger, At):
            return scenario.horizon_us / PER_S
        last = max(last, (_latest(trigger.time_us) + _latest(entry.duration_us or 0)) / PER_S)
    return last if scenario.method else scenario.horizon_us / PER_S


def _latest(time_us: Drawable) -> int:
    """The time, or the end of the range that it is drawn from."""
    return time_us.high if isinstance(time_us, Span) else time_us


def _cost(scenario: Scenario, demand: Demand, virtual_s: float, moves_s: float) -> Cost:
    """The cost of so much virtual time, of which the moves take the last ``moves_s``, at most."""
    batches = rounds = replicas = read = 0.0
    busiest: tuple[float, float] | None = None
    for load, shares in demand.loads:
        end_s = min(virtual_s, virtual_s if load.stop_us is None else load.stop_us / PER_S)
        lasts_s = max(0.0, end_s - load.start_us / PER_S)
        ticks = load.producers * PER_S / load.linger_us
        each = {name: min(rate / load.message_size, ticks) for name, rate in shares.items()}
        pairs: dict[tuple[int, int], float] = {}
        for name, rate in each.items():
            leader, *followers = demand.replicas[name]
            for follower in followers:
                pairs[leader, follower] = pairs.get((leader, follower), 0.0) + rate
            replicas += rate * lasts_s * len(demand.replicas[name])
        written = sum(each.values()) * lasts_s
        batches += written
        read += written * demand.readers.get(load.topic, 0)
        rounds += sum(min(rate, ticks) for rate in pairs.values()) * lasts_s
        busiest = max(busiest or (0.0, 0.0), (written, load.linger_us / PER_S))
    copied = sum(one.copied + one.written * len(one.added) * min(moves_s, virtual_s) for one in demand.moving)
    ways = {(one.before[0], broker) for one in demand.moving for broker in one.added}
    held_s = min(moves_s, virtual_s) if _is_throttled(scenario) else 0.0
    copies = sum(len(one.added) for one in demand.moving)
    at_a_time = _at_a_time(scenario, demand, copies)
    behind = copies and at_a_time / copies * held_s * sum(
        demand.batches_per_s.get(one.name, 0.0) * len(one.added) for one in demand.moving
    )
    copied_s = copied / MIB * (COPIED_HELD_S if held_s else COPIED_S)
    held_copies_s = held_s * (len(ways) * HELD_SECOND_S + at_a_time * HELD_COPY_S) + behind * BEHIND_S
    loaded_s = batches * BATCH_S + replicas * REPLICA_S + read * READER_S + rounds * ROUND_S
    simulated_s, pieces = held_s, 0.0
    exact_s = loaded_s + copied_s + held_copies_s
    if exact_s >= WORTH_SAYING_S / 2:  # else it is not said
        from scenarios.forecasting.capacities import capacities_of
        from scenarios.forecasting.sampled_cost import simulated

        cycle_s = capacities_of(scenario).window_s
        requests = _requests(scenario, demand, copies, at_a_time)
        found = simulated(held_s, copies, at_a_time, cycle_s, requests, exact_s)
        simulated_s, pieces = found.seconds, found.pieces
    part = min(1.0, simulated_s / held_s) if held_s else 1.0
    is_sampled = scenario.fidelity == SAMPLED
    share = part if is_sampled else 1.0
    return Cost(
        virtual_s=virtual_s,
        batches=batches,
        rounds=rounds,
        copied=copied,
        load_s=share * loaded_s,
        copies_s=share * (copied_s + held_copies_s),
        idle_s=virtual_s * scenario.cluster.brokers * BROKER_SECOND_S,
        moves_s=len(demand.moving) * MOVE_S,
        busiest_linger_s=None if busiest is None else busiest[1],
        simulated=part,
        pieces_s=pieces * PIECE_S,
        is_sampled=is_sampled,
    )


def _at_a_time(scenario: Scenario, demand: Demand, copies: int) -> int:
    """How many copies are under way at the same time, about: all, or those of the moves that a strategy admits."""
    execution = parse_strategy(scenario.strategy.name).execution
    admission, moves = execution.admission, max(1, len(demand.moving))
    if execution.at_once:
        return copies
    admitted = admission.number or 1
    if "per-broker" in admission.part.name:
        admitted *= max(1, len({one.before[0] for one in demand.moving}))
    return max(1, min(copies, copies * admitted // moves))


def _requests(scenario: Scenario, demand: Demand, copies: int, at_a_time: int) -> int:
    """How often a strategy requests moves: once, in waves, or move by move."""
    admission = parse_strategy(scenario.strategy.name).execution.admission
    if at_a_time == copies or admission.part.name.startswith("waves"):
        return -(-copies // max(1, at_a_time))
    return max(1, len(demand.moving) - (admission.number or 1))


def _is_throttled(scenario: Scenario) -> bool:
    return scenario.strategy.limit is not None or any(getattr(e.action, "throttle", None) for e in scenario.method)


def in_words(cost: Cost) -> str:
    return (
        f"about {words(cost.cpu_s)} of CPU for {words(cost.virtual_s)} of virtual time: {cost.batches:,.0f} batches "
        f"({words(cost.load_s)}), copies ({words(cost.copies_s)})"
    )


def cheaper(cost: Cost) -> Iterator[str]:
    """The changes that make a run cheaper: a sampled run first, then the one that saves most."""
    if cost.sampled_s < cost.cpu_s / 2:
        yield f"a sampled run (--sampled) takes about {words(cost.sampled_s)}; see docs/understand/sampled.md"
    longer_s = None if cost.busiest_linger_s is None else 5 * cost.busiest_linger_s
    if longer_s is not None and cost.load_s > cost.copies_s:
        saved = cost.load_s * 0.8
        yield (
            f"a linger of {longer_s:g} s, five times as long, saves about {words(saved)}; latencies are then those of "
            "such a linger"
        )
    if cost.copies_s > cost.cpu_s / 3:
        yield f"half the size of its topics saves about {words(cost.copies_s / 2)}"
