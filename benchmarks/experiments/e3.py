"""E3: how long a throttled move takes while the partition is written to, and when it never ends.

A replica that catches up at R while W is written needs T = S / (R - W): with R at or below W it never arrives.
"""

from collections.abc import Callable, Iterator

from attrs import frozen

from benchmarks.experiments.charts import Chart, Line
from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import EXACT, NEVER, Experiment, Finding, Outcome, Tolerance, within
from benchmarks.experiments.moves import Move

WRITE_MB = 10
BATCH_MB = 1
SAMPLES = 11
"""replication.quota.window.num"""

WINDOW = (
    "The follower looks once a second, and a window of 11 samples of a second then holds 11 bursts that have to fit "
    "into the 10 s between the first and the last: 10/11 of R passes, and the answer that crosses the bound."
)
COUNTED = (
    "The leader's throttle counts what it sends to followers in sync too, here 2 x 10 MB/s, and stops the new one only."
)

Law = Callable[[float], float]
"""The throttle, MB/s -> what is left of it for catching up, MB/s."""


def plain(rate_mb: float) -> float:
    return rate_mb - WRITE_MB


def windowed(rate_mb: float) -> float:
    return ((SAMPLES - 1) * rate_mb + BATCH_MB) / SAMPLES - WRITE_MB


def counted(rate_mb: float) -> float:
    return rate_mb - 3 * WRITE_MB


@frozen
class Sweep:
    """Moves under one set-up. ``laws``: each with its name and, where it is known to fail, why."""

    name: str
    replicas: int
    rates: tuple[float, ...]
    laws: tuple[tuple[str, Law, str], ...]
    backoff_ms: int = 1_000

    def time(self, size_mb: float, rate_mb: float) -> float:
        """Seconds until the last of the replicas has moved to another broker."""
        slowest = min(law(rate_mb) for _, law, _ in self.laws)
        move = Move(
            brokers=self.replicas + 2,
            before=range(self.replicas),
            target=[*range(self.replicas - 1), self.replicas],
            size_mb=size_mb,
            write_mb=WRITE_MB,
            strategy=f"wiki+throttle-{rate_mb}MB",
            horizon_s=1.2 * size_mb / slowest if slowest > 0 else size_mb / 4,
            config={"replica.fetch.backoff.ms": self.backoff_ms},
        )
        return emulate(move.scenario(), may_fail="unfinished").seconds("time_to_complete_s")

    def findings(self, size_mb: float, times: dict[float, float]) -> Iterator[Finding]:
        for name, law, why in self.laws:
            for rate_mb, found in times.items():
                left = law(rate_mb)
                expected = size_mb / left if left > 0 else NEVER
                yield Finding(
                    what=f"{self.name}, R = {rate_mb:g} MB/s, by {name}",
                    expected=expected,
                    emulated=found,
                    tolerance=_tolerance(law, size_mb, rate_mb, expected),
                    why=why,
                )


def _tolerance(law: Law, size_mb: float, rate_mb: float, expected: float) -> Tolerance:
    """2 % of the published law's time; of the laws that explain what it misses, 2 % of the rate."""
    if expected == NEVER:
        return EXACT
    if law is plain:
        return within(0.02)
    return Tolerance("R ± 2 %", lambda _, found: abs(size_mb / found - law(rate_mb)) <= 0.02 * rate_mb)


SWEEPS = (
    Sweep(
        "1 replica",
        1,
        (10, 12, 15, 20, 40),
        (("S / (R - W)", plain, WINDOW), ("S / ((10 R + 1 MB/s) / 11 - W)", windowed, "")),
    ),
    Sweep("1 replica, looked at each 10 ms", 1, (10, 12, 15, 20, 40), (("S / (R - W)", plain, ""),), backoff_ms=10),
    Sweep("3 replicas", 3, (30, 35, 40, 60), (("S / (R - W)", plain, COUNTED), ("S / (R - 3 W)", counted, ""))),
)


def carry_out(quick: bool) -> Outcome:
    """The sweeps; quick: two rates of each and 1 GB in place of 20."""
    size_mb = 1_000 if quick else 20_000
    findings: list[Finding] = []
    lines: list[Line] = []
    for colour, sweep in enumerate(SWEEPS):
        rates = sweep.rates[-2:] if quick else sweep.rates
        times = {rate_mb: sweep.time(size_mb, rate_mb) for rate_mb in rates}
        findings += sweep.findings(size_mb, times)
        name, law, _ = sweep.laws[-1]
        grid = (10 ** (1 + step / 100) for step in range(81))
        curve = [(rate, size_mb / law(rate)) for rate in grid if law(rate) > size_mb / 30_000]
        ended = [(rate, time) for rate, time in times.items() if time < NEVER]
        lines.append(Line(name, curve, "dashes", colour))
        lines.append(Line(sweep.name, ended, "dots", colour))
    chart = Chart(
        name="e3-throttle",
        caption="Time to move 20 GB under a throttle: without bound as the rate comes down to what passes besides",
        x="throttle R, MB/s",
        y="time to complete, s",
        lines=tuple(lines),
        log="y",
        moments=((10, "W"), (30, "3 W")),
    )
    return Outcome(findings=tuple(findings), charts=(chart,))


EXPERIMENT = Experiment(
    name="e3",
    title="a throttle, and what is written meanwhile",
    source='Kafka\'s operations page, "Ensuring progress"; by a fluid model T = S / (R - W), S = 20 GB, W = 10 MB/s',
    carry_out=carry_out,
)
