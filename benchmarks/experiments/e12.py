"""E12: the cost of a larger ISR under acks=all, where a batch waits for the slowest follower.

Where the time from the leader's append to a follower's next fetch is lognormal, and that of each follower its own, a
batch is acknowledged after the largest of n such delays. Its percentile q is that of one delay at q^(1/n).
"""

from collections.abc import Iterator, Sequence
from math import exp
from statistics import NormalDist
from typing import Any

from attrs import frozen

from benchmarks.experiments.charts import Chart, Line, Point
from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import Experiment, Finding, Outcome, Tolerance, within
from benchmarks.experiments.latencies import Latencies
from scenarios.language import Scenario

MEDIAN_MS = 5
SIGMA = 0.6
PUBLISHED_MS = {1: 20, 3: 25, 5: 28, 7: 30}
"""Followers in the ISR -> p99, ms."""
LEADER = 0
LINGER_MS = 100
"""Longer than any delay that comes up: no batch meets a follower whose fetch is still on its way."""
BEGIN_S = 10
SETTLED_S = 30
"""From the start of a move until nothing but the dead broker keeps it."""


def law_ms(followers: int, share: float = 0.99) -> float:
    """The percentile of the largest of that many delays."""
    return MEDIAN_MS * exp(SIGMA * NormalDist().inv_cdf(share ** (1 / followers)))


def far_followers(brokers: int, replicas: Sequence[int], entries: Sequence[dict[str, Any]], **more: Any) -> Scenario:
    """One partition whose followers' fetches take long to reach the leader; nothing else takes any time."""
    others = [broker for broker in range(brokers - 1) if broker != LEADER]
    slow = {"latency": f"{MEDIAN_MS}ms", "sigma": SIGMA}
    return Scenario.from_table(
        {
            "title": "followers whose fetches take a lognormal time",
            "cluster": {
                "brokers": brokers,
                "controller": brokers - 1,
                "config": {"auto.leader.rebalance.enable": False},
                "network": {"latency": "0s"},
            },
            "topics": [{"name": "orders", "assignment": [list(replicas)]}],
            "workloads": [{"topic": "orders", "producerRate": 10, "messageSize": 1_000, "linger": f"{LINGER_MS}ms"}],
            "method": [
                {"at": "1s", "action": "link.delay", "target": others, "peer": LEADER, "direction": "from",
                 "delay": slow},
                *entries,
            ],
            **more,
        }
    )  # fmt: skip


# -- a fixed ISR -----------------------------------------------------------------------------------------------------


def p99_ms(followers: int, length_s: int) -> float:
    end_s = BEGIN_S + length_s
    heal = {"at": f"{end_s}s", "action": "link.heal", "target": {"mode": "all"}}
    scenario = far_followers(followers + 2, range(followers + 1), [heal], horizon=f"{end_s + 60}s")
    latencies = Latencies()
    emulate(scenario, latencies.watch)
    return latencies.percentile_ms(0.99, BEGIN_S, end_s)


# -- an ISR that grows while a move waits ----------------------------------------------------------------------------


@frozen
class Stall:
    """A move from brokers 0, 1, 2 to 3, 4, 5 that never ends, since broker 5 dies when it begins.

    Attributes:
        followers: the followers in the ISR while the move waits.
    """

    strategy: str
    followers: int

    def percentiles_ms(self, length_s: int) -> tuple[float, float]:
        """p99 before the move begins, and while it waits."""
        begin_s, end_s = BEGIN_S + length_s, BEGIN_S + 2 * length_s
        scenario = far_followers(
            7,
            (0, 1, 2),
            [
                {"at": f"{begin_s}s", "action": "reassign.execute"},
                {"when": {"step": "move.start", "edge": "before"}, "action": "broker.crash", "target": 5},
                {"at": f"{end_s}s", "action": "link.heal", "target": {"mode": "all"}},
            ],
            horizon=f"{end_s}s",
            strategy={"name": self.strategy},
            plan={"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [3, 4, 5]}]},
        )
        latencies = Latencies()
        emulate(scenario, latencies.watch, may_fail="unfinished")
        return (
            latencies.percentile_ms(0.99, BEGIN_S, begin_s),
            latencies.percentile_ms(0.99, begin_s + SETTLED_S, end_s),
        )


STALLS = (Stall("wiki", 4), Stall("kafka-6794", 2))


def carry_out(quick: bool) -> Outcome:
    """Quick: a tenth of the batches, and a tolerance for that few."""
    length_s, tolerance = (120, within(0.2)) if quick else (2_000, within(0.05))
    findings: list[Finding] = []
    points: list[Point] = []
    for followers, published_ms in PUBLISHED_MS.items():
        found = p99_ms(followers, length_s)
        points.append((followers, found))
        what = f"p99 of acks=all, {followers} follower{'s' if followers > 1 else ''} in the ISR"
        findings.append(Finding(what=what, expected=published_ms, emulated=found, tolerance=tolerance, unit="ms"))
    findings += stalled(length_s, tolerance)
    chart = Chart(
        name="e12-isr",
        caption="99th percentile of acks=all against the followers in the ISR, each with a lognormal delay of its own",
        x="followers in the ISR",
        y="p99, ms",
        lines=(
            Line("largest of n delays", [(n, law_ms(n)) for n in range(1, 9)], "dashes", 0),
            Line("emulated", points, "dots", 0),
        ),
        y_range=(0, 35),
    )
    return Outcome(findings=tuple(findings), charts=(chart,))


def stalled(length_s: int, tolerance: Tolerance) -> Iterator[Finding]:
    for stall in STALLS:
        before, during = stall.percentiles_ms(length_s)
        for when, followers, found in (("before the move", 2, before), ("while it waits", stall.followers, during)):
            yield Finding(
                what=f"{stall.strategy}, {when} ({followers} followers)",
                expected=law_ms(followers),
                emulated=found,
                tolerance=tolerance,
                unit="ms",
            )


EXPERIMENT = Experiment(
    name="e12",
    title="acks=all and the size of the ISR",
    source="KIP-352, draft 6: replication must await all members of the ISR; the figures are those of the largest of n "
    "lognormal delays (median 5 ms, sigma 0.6)",
    carry_out=carry_out,
)
