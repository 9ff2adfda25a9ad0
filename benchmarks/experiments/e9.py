"""E9: how long a controller's failover takes, by the number of partitions (KAFKA-5642).

Before the asynchronous ZooKeeper client a controller waited for each answer before it sent the next request; since then
it has several under way. The published runs: 100,000 topics of one partition with one replica, on five brokers and five
ZooKeeper servers, from the creation of /controller to the start of the controller's scheduler, when the partitions
are loaded. Their round trip and their servers' speed are not published: ``RTT_US`` and ``READ_US`` are what the two
published means say, so that the laws can be tested: linear in the partitions, and the wait that is saved.
"""

from collections.abc import Iterator

from attrs import frozen

from benchmarks.experiments.charts import Chart, Line, Point
from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import Experiment, Finding, Outcome, within
from emulator.trace.events import Step
from scenarios.language import Scenario
from scenarios.runs.runner import Stage

PUBLISHED_TOPICS = 100_000
BEFORE_S, SINCE_S = 60.0, 17.0
"""The published times: 58 to 61 s before, 17 s in the later runs since."""
READS = 2
"""Reads of ZooKeeper for each topic of one partition: its assignment, and the partition's leader and ISR."""
READ_US = round(SINCE_S / PUBLISHED_TOPICS / READS * 1e6)
RTT_US = round(BEFORE_S / PUBLISHED_TOPICS / READS * 1e6) - READ_US
IN_FLIGHT = 10
BROKERS = 5
EXPIRE_S, END_S = 20, 60
SIZES = (500, 1_000, 2_000, 4_000)
NEAR = within(0.05)


@frozen
class Failover:
    """The emulated failovers of one kind.

    Attributes:
        in_flight: requests to ZooKeeper under way at most: 1 before KAFKA-5642.
    """

    name: str
    in_flight: int

    def predicted_s(self, topics: int) -> float:
        return topics * READS * max(READ_US, (RTT_US + READ_US) / self.in_flight) / 1e6


KINDS = (
    Failover("each answer is awaited", 1),
    Failover("ten requests under way", IN_FLIGHT),
)


def took_s(kind: Failover, topics: int) -> float:
    """The time of the failover in seconds, from its first step to its last."""
    scenario = Scenario.from_table(
        {
            "title": f"the controller of {topics} topics fails over: {kind.name}",
            "profile": "kafka-1.1",
            "horizon": f"{END_S + 60}s",
            "cluster": {
                "brokers": BROKERS,
                "controller": 0,
                "zk": {"rtt": f"{RTT_US}us", "max_in_flight": kind.in_flight},
            },
            "topics": [{"name": f"t{n}", "assignment": [[1 + n % (BROKERS - 1)]]} for n in range(topics)],
            "method": [
                {"at": f"{EXPIRE_S - 1}s", "action": "zookeeper.slow", "read": f"{READ_US}us"},
                {"at": f"{EXPIRE_S}s", "action": "zk.expire", "target": 0},
                {"at": f"{END_S - 1}s", "action": "link.heal", "target": {"mode": "all"}},
            ],
        }
    )
    moments: list[int] = []

    def note(event: Step) -> None:
        if event.t_us > EXPIRE_S * 1_000_000 and (event.step, event.edge) in (
            ("failover.F1", "before"),
            ("failover.F9", "after"),
        ):
            moments.append(event.t_us)

    def watch(stage: Stage) -> None:
        stage.cluster.trace.fold(Step, note)

    emulate(scenario, watch)
    first, last = moments
    return (last - first) / 1e6


def findings(sizes: tuple[int, ...], points: dict[str, list[Point]]) -> Iterator[Finding]:
    for kind in KINDS:
        for topics in sizes:
            took = took_s(kind, topics)
            points.setdefault(kind.name, []).append((topics, took))
            yield Finding(
                what=f"{topics:,} topics, {kind.name}", expected=kind.predicted_s(topics), emulated=took, tolerance=NEAR
            )
    for kind, published in zip(KINDS, (BEFORE_S, SINCE_S), strict=True):
        (few, short), (many, long) = points[kind.name][0], points[kind.name][-1]
        slope = (long - short) / (many - few)
        yield Finding(
            what=f"100,000 topics by that slope, {kind.name}",
            expected=published,
            emulated=slope * PUBLISHED_TOPICS,
            tolerance=NEAR,
        )


def carry_out(quick: bool) -> Outcome:
    """All sizes; quick: the two smallest."""
    points: dict[str, list[Point]] = {}
    found = tuple(findings(SIZES[:2] if quick else SIZES, points))
    chart = Chart(
        name="e9-failover",
        caption="How long a failover takes: each answer awaited, and ten requests under way",
        x="topics of one partition",
        y="failover, s",
        lines=tuple(Line(name, its, "line", colour) for colour, (name, its) in enumerate(points.items())),
    )
    return Outcome(findings=found, charts=(chart,))


EXPERIMENT = Experiment(
    name="e9",
    title="a failover is linear in the partitions",
    source="KAFKA-5642, pull request 3765: 58 to 61 s before, 17 s in the later runs since",
    carry_out=carry_out,
)
