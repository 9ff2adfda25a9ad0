"""E8: how near executors come to the least number of rounds (Hall et al. 2001; Kari, Kim and Russell).

Data migration as theory has it: moves of one size, each from one machine to another, and no machine takes part in more
than c at a time. No schedule needs fewer rounds than the largest of ceil(d / c), d being the moves of a machine; where
c is even that many are enough; and a schedule that never lets two free machines wait needs fewer than twice as many.

Here a move is one replica of 100 MiB that goes to another broker. What bounds it is the round trip of its fetches, so
that it takes the same time whatever moves beside it: a round. The executor is Cruise Control's, a bound for each
broker; the window bounds the moves of all brokers together, so only one of c is sure to keep to c a broker.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import Experiment, Finding, Outcome, Tolerance, within
from scenarios.language import Scenario

BROKERS = 8
MOVES = 48
CAPS = (1, 2, 3, 4)
SIZE_MB = 104.8576
"""A hundred answers of 1 MiB each."""
LATENCY_MS = 50
ORDERS = ("", "+random")
POLL = "poll-100ms"

Move = tuple[int, int]
BETWEEN = Tolerance("1 to 2 of it", lambda expected, emulated: expected <= emulated * 1.005 and emulated < 2 * expected)


def drawn(seed: int, moves: int) -> list[Move]:
    """Moves from a broker to another one, unevenly: some brokers take part in many."""
    random = Random(seed)
    weights = [1 + broker % 3 for broker in range(BROKERS)]
    found: list[Move] = []
    while len(found) < moves:
        source, target = random.choices(range(BROKERS), weights, k=2)
        if source != target:
            found.append((source, target))
    return found


def least_rounds(moves: Sequence[Move], cap: int) -> int:
    """The bound: the largest of ceil(d / cap)."""
    return max(math.ceil(d / cap) for d in Counter(broker for move in moves for broker in move).values())


def took_s(moves: Sequence[Move], strategy: str) -> float:
    scenario = Scenario.from_table(
        {
            "title": f"{len(moves)} moves of one size, {strategy}",
            "profile": "kafka-2.6",
            "horizon": "30m",
            "cluster": {
                "brokers": BROKERS + 1,
                "controller": BROKERS,
                "config": {"auto.leader.rebalance.enable": False},
                "network": {"latency": f"{LATENCY_MS}ms"},
            },
            "topics": [
                {"name": "orders", "assignment": [[source] for source, _ in moves], "size": f"{SIZE_MB}MB"},
            ],
            "strategy": {"name": f"kip-455+{strategy}"},
            "plan": {
                "version": 1,
                "partitions": [
                    {"topic": "orders", "partition": number, "replicas": [target]}
                    for number, (_, target) in enumerate(moves)
                ],
            },
            "method": [{"at": "1s", "action": "reassign.execute"}],
        }
    )
    return emulate(scenario).seconds("time_to_complete_s")


def findings(seeds: Sequence[int], moves: int) -> Iterator[Finding]:
    """Rounds are times by the time of one move, which has its share of looks and of the controller's work, too."""
    round_s = took_s(drawn(0, 1), f"window-1+{POLL}")
    for seed in seeds:
        plan = drawn(seed, moves)
        for cap in CAPS:
            least = least_rounds(plan, cap)
            for order in ORDERS:
                rounds = took_s(plan, f"per-broker-cap-{cap}{order}+{POLL}") / round_s
                name = f"plan {seed}, {cap} a broker{', shuffled' if order else ''}"
                yield Finding(what=f"{name}: rounds", expected=least, emulated=rounds, tolerance=BETWEEN, unit="")
    for cap in CAPS:
        rounds = took_s(plan, f"window-{cap}+{POLL}") / round_s
        what = f"plan {seed}, a window of {cap} for all brokers: rounds"
        yield Finding(what=what, expected=math.ceil(moves / cap), emulated=rounds, tolerance=within(0.15), unit="")


def carry_out(quick: bool) -> Outcome:
    """Three plans; quick: one of fewer moves."""
    return Outcome(findings=tuple(findings((0,), MOVES // 4) if quick else findings((0, 1, 2), MOVES)))


EXPERIMENT = Experiment(
    name="e8",
    title="how near a cap for each broker comes to the least number of rounds",
    source="Hall, Hartline, Karlin, Saia and Wilkes 2001; Kari, Kim and Russell (constraints of each machine's own)",
    carry_out=carry_out,
)
