"""E5: the rate of writes above which a move cannot end. A phase boundary, derived from E4.

The leader's NIC (B) carries RF - 1 followers in sync and the new replicas, each of which needs more than W to catch up:
all at once that is W < B / (2 RF - 1), one by one W < B / RF.
"""

from benchmarks.experiments.charts import Chart, Line
from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import EXACT, NEVER, Experiment, Finding, Outcome, within
from benchmarks.experiments.fluid import hops
from benchmarks.experiments.moves import REPLICAS, Move

SIZE_MB, EGRESS_MB = 5_000, 200
WIDTHS = {"wiki": ("all at once", 4), "kafka-6794": ("one by one", 1)}
WRITES = {"wiki": (10, 20, 24, 26, 28, 30, 32), "kafka-6794": (10, 20, 28, 30, 40, 52)}
NEAR_BOUNDARY = 26
"""From here on, all at once, batches of 0.25 MB: of larger ones an answer holds too few to be filled, and a receiver
that gets less than its share of an almost full NIC falls behind."""
ROUND_TRIP = (
    "Each hop takes about 1.4 s of protocol and back-off besides the copy, and one new replica has one fetch under way "
    "at a time: 1 ms of round trip after the 52 ms that 10 MiB take. The log grows meanwhile, for all hops to come."
)


def predicted(size_mb: float, write_mb: float, strategy: str) -> float:
    width = WIDTHS[strategy][1]
    return sum(hop.lasts for hop in hops(size_mb, write_mb, EGRESS_MB, REPLICAS, [NEVER] * REPLICAS, width))


def emulated(size_mb: float, write_mb: float, strategy: str) -> float:
    """Seconds; a move that cannot end is given a fifth of the time that the slowest of the others takes."""
    expected = predicted(size_mb, write_mb, strategy)
    move = Move.of_four(
        size_mb, write_mb, strategy, {"egress": f"{EGRESS_MB}MB/s"},
        horizon_s=size_mb / 5 if expected == NEVER else 1.5 * expected + 10,
        batch_mb=0.25 if strategy == "wiki" and write_mb >= NEAR_BOUNDARY else 1,
    )  # fmt: skip
    return emulate(move.scenario(), may_fail="unfinished").seconds("time_to_complete_s")


def carry_out(quick: bool) -> Outcome:
    """The sweep; quick: two rates of each, and 0.5 GB, where each hop's second of protocol weighs ten times as much."""
    size_mb, near = (SIZE_MB / 10, within(0.3)) if quick else (SIZE_MB, within(0.02))
    findings: list[Finding] = []
    lines: list[Line] = []
    for colour, (strategy, (name, width)) in enumerate(WIDTHS.items()):
        writes = (20, 32) if quick else WRITES[strategy]
        times = {write_mb: emulated(size_mb, write_mb, strategy) for write_mb in writes}
        for write_mb, found in times.items():
            expected = predicted(size_mb, write_mb, strategy)
            findings.append(
                Finding(
                    what=f"T at W = {write_mb} MB/s, {name}",
                    expected=expected,
                    emulated=found,
                    tolerance=EXACT if expected == NEVER else near,
                    why=ROUND_TRIP if width == 1 else "",
                )
            )
        grid = [(step / 4, predicted(size_mb, step / 4, strategy)) for step in range(32, 200)]
        lines.append(Line(f"fluid, {name}", [point for point in grid if point[1] < 2 * size_mb], "dashes", colour))
        ended = [point for point in times.items() if point[1] < NEVER]
        lines.append(Line(f"emulated, {name}", ended, "dots", colour))
    chart = Chart(
        name="e5-boundary",
        caption="Time to move four replicas of 5 GB against what is written: each way has a rate where it never ends",
        x="written, MB/s",
        y="time to complete, s",
        lines=tuple(lines),
        log="y",
        moments=((EGRESS_MB / (2 * REPLICAS - 1), "B / (2 RF - 1)"), (EGRESS_MB / REPLICAS, "B / RF")),
    )
    return Outcome(findings=tuple(findings), charts=(chart,))


EXPERIMENT = Experiment(
    name="e5",
    title="how much may be written before a move cannot end",
    source="derived from E4 by a fluid model: RF 4, S = 5 GB, B = 200 MB/s out of the leader",
    carry_out=carry_out,
)
