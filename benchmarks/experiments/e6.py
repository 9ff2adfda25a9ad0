"""E6: one of the new replicas is slow, and the others wait for it in sync (KAFKA-6794, KIP-352's draft 6)."""

from benchmarks.experiments.catching_up import CatchingUp
from benchmarks.experiments.charts import Chart, Line
from benchmarks.experiments.emulate import Emulated, emulate
from benchmarks.experiments.experiment import Experiment, Finding, Outcome, Tolerance, about, within
from benchmarks.experiments.fluid import hops
from benchmarks.experiments.moves import MESSAGE_BYTES, REPLICAS, TARGETS, Move

SIZE_MB, WRITE_MB = 20_000, 10
EGRESS_MB, FAST_MB, SLOW_MB = 200, 60, 15
INGRESS = (FAST_MB, FAST_MB, FAST_MB, SLOW_MB)
WIDTHS = {"wiki": ("all at once", 4), "kafka-6794": ("one by one", 1)}


IN_LINE = (
    "The leader's card sends one answer after another. The slow replica's next 10 MiB, which take 700 ms, wait 41 ms "
    "behind the fast replicas' until these have caught up, and some ms behind the batches of those in sync afterwards: "
    "1.5 % of 15 MB/s, but 4.4 % of the 5 MB/s that are left when W is taken off."
)


def moved(size_mb: float, strategy: str, watch: CatchingUp) -> Emulated:
    *fast, slow = TARGETS
    cards = [{"brokers": fast, "ingress": f"{FAST_MB}MB/s"}, {"brokers": [slow], "ingress": f"{SLOW_MB}MB/s"}]
    network = {"egress": f"{EGRESS_MB}MB/s", "cards": cards}
    return emulate(Move.of_four(size_mb, WRITE_MB, strategy, network).scenario(), watch)


def carry_out(quick: bool) -> Outcome:
    """Both ways; quick: 0.5 GB, where each hop's second of protocol weighs 40 times as much."""
    size_mb, near = (SIZE_MB / 40, within(0.3)) if quick else (SIZE_MB, within(0.02))
    findings: list[Finding] = []
    lines: list[Line] = []
    times: list[float] = []
    predicted: list[float] = []

    def add(what: str, expected: float, emulated: float, tolerance: Tolerance, unit: str) -> None:
        findings.append(
            Finding(what=what, expected=expected, emulated=emulated, tolerance=tolerance, unit=unit, why=IN_LINE)
        )

    for colour, (strategy, (name, width)) in enumerate(WIDTHS.items()):
        watch = CatchingUp(0, TARGETS)
        run = moved(size_mb, strategy, watch)
        fluid = hops(size_mb, WRITE_MB, EGRESS_MB, REPLICAS, INGRESS, width)
        predicted.append(sum(hop.lasts for hop in fluid))
        times.append(run.seconds("time_to_complete_s"))
        extra, excess = width * predicted[-1], sum(hop.excess for hop in fluid)
        add(f"T, {name}", predicted[-1], times[-1], near, "s")
        add(f"extra replicas, {name}", extra, run.seconds("extra_replica_s"), near, "replica-s")
        add(f"in sync beyond 4, {name}", excess, run.seconds("excess_isr_s"), near if excess else about(1), "replica-s")
        for place, points in enumerate(watch.points.values()):
            behind = [(t, messages * MESSAGE_BYTES / 1e9) for t, messages in points]
            lines.append(Line("" if place else name, behind, "line", colour))
    add("one by one takes longer by", predicted[1] / predicted[0], times[1] / times[0], near, "times")
    chart = Chart(
        name="e6-slow-target",
        caption="How far the new replicas lag behind the leader: one card lets in 15 MB/s, the others' 60",
        x="virtual time, s",
        y="behind the leader, GB",
        lines=tuple(lines),
    )
    return Outcome(findings=tuple(findings), charts=(chart,))


EXPERIMENT = Experiment(
    name="e6",
    title="one slow target",
    source='KAFKA-6794 ("7 in sync while one catches up"), KIP-352\'s draft 6; by a fluid model: RF 4, S = 20 GB, '
    "W = 10 MB/s, egress 200 MB/s, ingress 60 MB/s and 15 MB/s",
    carry_out=carry_out,
)
