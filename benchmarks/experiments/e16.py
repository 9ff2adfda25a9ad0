"""E16: one of twenty partitions on a fetcher thread fails, before KIP-461 and since.

Broker 1 follows twenty partitions that broker 0 leads. The library has the same as scenarios to run
(kip-461-thread-dies.toml, kip-461-one-of-twenty.toml); here are its figures and pictures.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import frozen

from benchmarks.experiments.charts import Chart, Line, Look
from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import EXACT, Experiment, Finding, Outcome, Tolerance, at_most
from benchmarks.experiments.steps import Shown, Steps, count, value_at
from emulator.protocol.events import FetcherStopped, PartitionFailed, PartitionFailureCleared
from scenarios.language import Scenario
from scenarios.observe.mbeans import FAILED_PARTITIONS
from scenarios.observe.measures.replica_lag import LagRow
from scenarios.runs.runner import Stage

PARTITIONS = 20
LEADER, FOLLOWER, ADDED, CONTROLLER = 0, 1, 2, 3
FAIL_S = 10.0
OUT_S = 28.0
"""The time by which every follower that has not fetched since has left its ISR: after at most one and a half times 10
s."""
EPOCH_S = 30.0
END_S = 45.0


class Happening(NamedTuple):
    """An event of the follower's fetchers; ``what``: the event's name."""

    at_s: float
    what: str
    reason: str


@frozen(eq=False)
class Story:
    """One run.

    Attributes:
        missing: the number of partitions that lack a replica in their ISR.
        failed: the brokers' FailedPartitionsCount.
        lag: partition -> the follower's distance from its leader, in records.
    """

    missing: Steps
    failed: Steps
    lag: Mapping[int, Steps]
    happenings: Sequence[Happening]

    def first(self, what: str) -> Happening | None:
        return next((happening for happening in self.happenings if happening.what == what), None)


def tell(profile: str, *, fail: Sequence[int] = (0,), then: dict[str, Any] | None = None, threads: int = 1,
         replicas: Sequence[int] = (LEADER, FOLLOWER, ADDED)) -> Story:  # fmt: skip
    """At ``FAIL_S`` the follower's appends to ``fail`` go wrong; at ``EPOCH_S`` the operator does ``then``, or moves
    orders-0 to ``replicas``."""
    act = then or {"action": "reassign.execute"}
    scenario = Scenario.from_table(
        {
            "title": f"fetchers of {profile} fail",
            "profile": profile,
            "horizon": f"{END_S:g}s",
            "cluster": {
                "brokers": 4,
                "controller": CONTROLLER,
                "config": {"replica.lag.time.max.ms": 10_000, "num.replica.fetchers": threads},
            },
            "topics": [{"name": "orders", "assignment": [[LEADER, FOLLOWER]] * PARTITIONS}],
            "workloads": [{"topic": "orders", "producerRate": 100 * PARTITIONS, "messageSize": 1_024, "acks": "1",
                           "linger": "500ms"}],
            "plan": {"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": list(replicas)}]},
            "method": [
                *({"at": f"{FAIL_S:g}s", "action": "fetcher.fail_partition", "target": FOLLOWER,
                   "partition": f"orders-{number}", "cause": "unexpected"} for number in fail),
                {"at": f"{EPOCH_S:g}s", **act},
                {"at": f"{END_S - 1:g}s", "action": "link.heal", "target": {"mode": "all"}},
            ],
        }
    )  # fmt: skip
    happenings: list[Happening] = []

    def note(event: FetcherStopped | PartitionFailed | PartitionFailureCleared) -> None:
        if event.node == FOLLOWER:
            happenings.append(Happening(event.t_us / 1_000_000, type(event).__name__, event.reason))

    def watch(stage: Stage) -> None:
        stage.cluster.trace.fold(FetcherStopped, note)
        stage.cluster.trace.fold(PartitionFailed, note)
        stage.cluster.trace.fold(PartitionFailureCleared, note)

    failed = Shown(FAILED_PARTITIONS)
    tables = emulate(scenario, watch, failed.watch, may_fail="unfinished", keep_rows=True).stage.measures.tables()
    return Story(
        count((row.t_us, row.w_us) for row in tables["isr_events"] if row.under_replicated_assigned),
        failed.steps,
        lags(tables["replica_lag"]),
        happenings,
    )


def lags(rows: Sequence[LagRow]) -> dict[int, Steps]:
    found: dict[int, Steps] = {number: [] for number in range(PARTITIONS)}
    for row in sorted(rows):
        if row.node == FOLLOWER:
            found[row.partition].append((row.t_us / 1_000_000, row.true_lag))
    return found


def finding(what: str, expected: float, found: float, tolerance: Tolerance = EXACT, unit: str = "") -> Finding:
    return Finding(what=what, expected=expected, emulated=found, tolerance=tolerance, unit=unit)


def of_one_failure(early: Story, threads: Story, late: Story) -> Iterator[Finding]:
    yield finding("kafka-1.1: under-replicated", PARTITIONS, value_at(early.missing, OUT_S))
    yield finding("kafka-1.1, 4 fetcher threads: under-replicated", PARTITIONS / 4, value_at(threads.missing, OUT_S))
    yield finding("kafka-2.3: under-replicated", 1, value_at(late.missing, OUT_S))
    yield finding("kafka-2.3: FailedPartitionsCount", 1, value_at(late.failed, OUT_S))
    yield finding("kafka-1.1: under-replicated 10 s after a new leader epoch", PARTITIONS, after_epoch(early.missing))
    yield finding("kafka-2.3: the same", 0, after_epoch(late.missing))
    yield finding("kafka-2.3: FailedPartitionsCount then", 0, after_epoch(late.failed))


def after_epoch(steps: Steps) -> float:
    return value_at(steps, EPOCH_S + 10)


def of_the_end(swept: Story, at_once: Story, stopped: Story) -> Iterator[Finding]:
    for name, story, expected_s in (("kip-461", at_once, FAIL_S), ("kafka-2.3", swept, EPOCH_S)):
        ended = story.first("FetcherStopped")
        yield finding(f"{name}: FailedPartitionsCount when all fail", PARTITIONS, value_at(story.failed, OUT_S))
        yield finding(
            f"{name}: the thread ends, after the {'failures' if story is at_once else 'next LeaderAndIsr'}",
            0.2,
            float("inf") if ended is None else ended.at_s - expected_s,
            at_most(),
            "s",
        )
    cleared = stopped.first("PartitionFailureCleared")
    by_request = cleared is not None and cleared.reason == "stop-replica"
    yield finding("kafka-2.3: taken out of the set by StopReplica", 1, float(by_request))


def chart(name: str, caption: str, story: Story) -> Chart:
    """The lag of the partition that failed, and of the nineteen others."""

    def line(label: str, steps: Steps, look: Look, colour: int) -> Line:
        return Line(label, [(0, 0), *steps, (END_S, value_at(steps, END_S))], look, colour)

    worst = max(range(1, PARTITIONS), key=lambda number: max((lag for _, lag in story.lag[number]), default=0))
    return Chart(
        name=name,
        caption=caption,
        x="s",
        y="records behind the leader",
        lines=(
            line("orders-0", story.lag[0], "steps", 3),
            line("the most of orders-1 to -19", story.lag[worst], "dashed steps", 0),
        ),
        y_range=(-100, 3_600),
        moments=((FAIL_S, "append fails"), (EPOCH_S, "next epoch")),
    )


def carry_out(_quick: bool) -> Outcome:
    """Carry the experiment out. It takes a second or two: there is no smaller version."""
    early, late, threads = tell("kafka-1.1"), tell("kafka-2.3"), tell("kafka-1.1", threads=4)
    everything = range(PARTITIONS)
    news = {"action": "topic.create", "topic": {"name": "other", "assignment": [[FOLLOWER, ADDED]]}}
    swept, at_once = tell("kafka-2.3", fail=everything, then=news), tell("kip-461", fail=everything, then=news)
    stopped = tell("kafka-2.3", then={"action": "topic.delete", "topic": "orders"})
    return Outcome(
        findings=(*of_one_failure(early, threads, late), *of_the_end(swept, at_once, stopped)),
        charts=(
            chart("e16-before", "Kafka 1.1: the thread dies, all twenty fall behind, a new epoch heals none", early),
            chart("e16-since", "Kafka 2.3: one partition fails, the others go on, its next epoch heals it", late),
        ),
    )


EXPERIMENT = Experiment(
    name="e16",
    title="one of twenty partitions on a fetcher thread fails",
    source="KIP-461 (KAFKA-8346): the failure of one partition took all of its thread's with it",
    carry_out=carry_out,
)
