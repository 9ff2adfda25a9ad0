"""E4: all replicas of a partition at once, or one after the other (KAFKA-6794, KIP-435)."""

from collections.abc import Mapping, Sequence

from benchmarks.experiments.catching_up import CatchingUp
from benchmarks.experiments.charts import Chart, Line
from benchmarks.experiments.emulate import Emulated, emulate
from benchmarks.experiments.experiment import EXACT, Experiment, Finding, Outcome, within
from benchmarks.experiments.fluid import hops
from benchmarks.experiments.moves import MANY, MESSAGE_BYTES, REPLICAS, TARGETS, Move

SIZE_MB, WRITE_MB = 20_000, 10
EGRESS_MB, INGRESS_MB = 200, 40
UNLIMITED = float("inf")
NAMES = {"wiki": "all at once", "kafka-6794": "one by one", "width-2": "two by two", "width-3": "three by three"}
ROUND_TRIP = (
    "One new replica has one fetch under way at a time: after each 1 MiB, which takes 5.2 ms, the leader's card idles "
    "for the round trip of 1 ms. Four new replicas keep it busy."
)

Network = Mapping[str, object]
OUT: Network = {"egress": f"{EGRESS_MB}MB/s"}
IN: Network = {"cards": [{"brokers": list(TARGETS), "ingress": f"{INGRESS_MB}MB/s"}]}


def expected(size_mb: float, width: int, egress: float, ingress: float) -> float:
    return sum(hop.lasts for hop in hops(size_mb, WRITE_MB, egress, REPLICAS, [ingress] * REPLICAS, width))


def moved(
    size_mb: float, strategy: str, network: Network, *watches: CatchingUp, config: Mapping[str, object] = MANY
) -> Emulated:
    return emulate(Move.of_four(size_mb, WRITE_MB, strategy, network, config=config).scenario(), *watches)


def carry_out(quick: bool) -> Outcome:
    """Both regimes; quick: 1 GB, where each hop's second of protocol weighs 20 times as much."""
    size_mb, near = (SIZE_MB / 20, within(0.3)) if quick else (SIZE_MB, within(0.02))
    findings: list[Finding] = []
    lines: list[Line] = []

    def compare(regime: str, strategy: str, width: int, network: Network, out: float, into: float) -> None:
        watch = CatchingUp(0, TARGETS)
        run = moved(size_mb, strategy, network, watch)
        findings.append(
            Finding(
                what=f"{regime}: T, {NAMES[strategy]}",
                expected=expected(size_mb, width, out, into),
                emulated=run.seconds("time_to_complete_s"),
                tolerance=near,
            )
        )
        if network is OUT:
            peak = run.seconds("peak_replicas")
            findings.append(
                Finding(
                    what=f"{regime}: most replicas, {NAMES[strategy]}",
                    expected=REPLICAS + width, emulated=peak, tolerance=EXACT, unit="",
                )
            )  # fmt: skip
            lines.extend(_lines(watch, NAMES[strategy], len(lines) > 0))

    for strategy, width in (("wiki", 4), ("kafka-6794", 1)):
        compare("egress 200 MB/s", strategy, width, OUT, EGRESS_MB, UNLIMITED)
    widths = (("kafka-6794", 1), ("width-2", 2), ("width-3", 3), ("wiki", 4))
    for strategy, width in widths[2:] if quick else widths:
        compare("ingress 40 MB/s", strategy, width, IN, UNLIMITED, INGRESS_MB)
    for strategy, width in (("wiki", 4), ("kafka-6794", 1)):
        findings.append(
            Finding(
                what=f"egress 200 MB/s, fetches of 1 MiB (the default): T, {NAMES[strategy]}",
                expected=expected(size_mb, width, EGRESS_MB, UNLIMITED),
                emulated=moved(size_mb, strategy, OUT, config={}).seconds("time_to_complete_s"),
                tolerance=near,
                why=ROUND_TRIP,
            )
        )
    chart = Chart(
        name="e4-catching-up",
        caption="How far the new replicas lag behind the leader, whose card carries 200 MB/s: four at once, or in turn",
        x="virtual time, s", y="behind the leader, GB", lines=tuple(lines),
    )  # fmt: skip
    return Outcome(findings=tuple(findings), charts=(chart,))


def _lines(watch: CatchingUp, name: str, second: bool) -> Sequence[Line]:
    gigabytes = {
        broker: [(t, behind * MESSAGE_BYTES / 1e9) for t, behind in points] for broker, points in watch.points.items()
    }
    return [
        Line(f"{name}, each of four" if place == 0 else "", points, "line", int(second))
        for place, points in enumerate(gigabytes.values())
    ]


EXPERIMENT = Experiment(
    name="e4",
    title="all replicas at once, or one after the other",
    source="KAFKA-6794 and KIP-435 (8 replicas against 5); times by a fluid model: RF 4, S = 20 GB, W = 10 MB/s",
    carry_out=carry_out,
)
