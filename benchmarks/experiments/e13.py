"""E13: moves without a throttle starve the followers in sync, and acks=all with them; a throttle below the headroom
does so in its bursts only.

One broker leads a busy partition with two followers in sync and six idle ones that all move away, one to each of six
new brokers. Its NIC carries B; the followers in sync take 2 W of it; the headroom B - 2 W is what is left for moves.
"""

from collections.abc import Iterator

from attrs import frozen

from benchmarks.experiments.charts import Chart, Line
from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import Experiment, Finding, Outcome, Tolerance, at_least, at_most, within
from benchmarks.experiments.latencies import Latencies
from scenarios.language import Scenario

CARD_MB = 100
WRITE_MB = 25
FOLLOWERS = 2
HEADROOM_MB = CARD_MB - FOLLOWERS * WRITE_MB
MOVES = 6
FIRST_NEW = FOLLOWERS + 1
LINGER_MS = 20
BATCH_MB = WRITE_MB * LINGER_MS / 1_000
SIZE_MB = 500
"""The size of each partition that moves: without a throttle all six are moved in about half a minute."""
BEGIN_S = 10
PUBLISHED_MS = 15_000
LINK_MS = 0.5
THROUGH_CARD_MS = FOLLOWERS * BATCH_MB / CARD_MB * 1_000
GOOD_MS = 1_000
"""The largest latency that does not count as a cliff."""
RATES_MB = (20, 30, 40, 45, 50, 55, 60, 70, 80)

BACKLOG = (
    "A broker answers one request of a connection after the other, so acks=all slows the producer down to what its "
    "followers manage: the backlog waits in the producer, the followers keep up with the little that is written, and "
    "the ISR does not shrink"
)

BURSTS = (
    "The leader's quota is a mean over eleven seconds in which nothing was copied before the move, so eleven seconds "
    "of the rate pass at once, as fast as the card carries them (real 2.3.1 bursts in the same way: E3, "
    "docs/understand/calibration.md); while a burst lasts the card is full, and between two bursts the producer "
    "notices nothing"
)


@frozen(eq=False)
class Trial:
    """The producer's view of one run. ``rate_mb``: the throttle, None without one."""

    rate_mb: float | None
    latencies: Latencies
    took_s: float
    isr_shrinks: float

    @property
    def before_ms(self) -> float:
        return self.latencies.percentile_ms(0.95, 1, BEGIN_S)

    @property
    def during_ms(self) -> float:
        return self.latencies.percentile_ms(0.95, BEGIN_S, BEGIN_S + self.took_s)


def trial(rate_mb: float | None, size_mb: float, moves: int = MOVES) -> Trial:
    scenario = Scenario.from_table(
        {
            "title": f"{moves} moves beside a busy partition, throttle {rate_mb}",
            "horizon": "20m",
            "cluster": {
                "brokers": FIRST_NEW + moves + 1,
                "controller": FIRST_NEW + moves,
                "config": {"min.insync.replicas": 2, "auto.leader.rebalance.enable": False},
                "network": {"egress": f"{CARD_MB}MB/s"},
            },
            "topics": [
                {"name": "busy", "assignment": [list(range(FIRST_NEW))]},
                {"name": "idle", "assignment": [[0]] * moves, "size": f"{size_mb}MB"},
            ],
            "workloads": [
                {"topic": "busy", "producerRate": WRITE_MB * 1_000, "messageSize": 1_000, "linger": f"{LINGER_MS}ms"}
            ],
            "strategy": {"name": "wiki" if rate_mb is None else f"wiki+throttle-{rate_mb}MB"},
            "plan": {
                "version": 1,
                "partitions": [{"topic": "idle", "partition": p, "replicas": [FIRST_NEW + p]} for p in range(moves)],
            },
            "method": [{"at": f"{BEGIN_S}s", "action": "reassign.execute"}],
        }
    )
    latencies = Latencies()
    emulated = emulate(scenario, latencies.watch)
    return Trial(rate_mb, latencies, emulated.seconds("time_to_complete_s"), emulated.seconds("isr_shrinks"))


def findings(free: Trial, throttled: list[Trial], size_mb: float) -> Iterator[Finding]:
    """``size_mb``: the backlog, and with it the latency, grows for as long as the moves last."""
    yield p95("before the moves", THROUGH_CARD_MS + 4 * LINK_MS, free.before_ms, within(0.1))
    yield p95("moves without a throttle", PUBLISHED_MS * size_mb / SIZE_MB, free.during_ms, at_least())
    for one in throttled:
        assert one.rate_mb is not None
        if one.rate_mb != HEADROOM_MB:
            bound = at_most() if one.rate_mb < HEADROOM_MB else at_least()
            why = BURSTS if one.rate_mb < HEADROOM_MB else ""
            yield p95(f"throttle {one.rate_mb:g} MB/s", GOOD_MS, one.during_ms, bound, why)


def p95(what: str, expected: float, found: float, tolerance: Tolerance, why: str = "") -> Finding:
    name = f"p95 of acks=all, {what}"
    return Finding(what=name, expected=expected, emulated=found, tolerance=tolerance, unit="ms", why=why)


def cliff(free: Trial, throttled: list[Trial]) -> Chart:
    return Chart(
        name="e13-cliff",
        caption="Produce latency during the moves, and how long they take: with a throttle below the headroom the "
        "producer notices its bursts only",
        x="throttle, MB/s",
        y="s",
        lines=(
            Line("p95 of acks=all", [(one.rate_mb or 0, one.during_ms / 1_000) for one in throttled], "line", 3),
            Line("all moved after", [(one.rate_mb or 0, one.took_s) for one in throttled], "line", 0),
            Line("p95 without a throttle", [(rate_mb, free.during_ms / 1_000) for rate_mb in RATES_MB], "dashes", 3),
        ),
        log="y",
        moments=((HEADROOM_MB, "headroom B - 2 W"),),
    )


def course(trials: list[Trial]) -> Chart:
    """The wait of each batch, by the time at which it was sent."""
    end_s = BEGIN_S + 2 * min(one.took_s for one in trials)
    lines = (
        Line(
            "no throttle" if one.rate_mb is None else f"throttle {one.rate_mb:g} MB/s",
            [(sent / 1_000_000, latency / 1_000_000) for sent, latency, _ in one.latencies.between(5, end_s)],
        )
        for one in trials
    )
    return Chart(
        name="e13-latency",
        caption="What each batch waited for its acknowledgement: without a throttle ever longer, while moves last",
        x="sent at, s",
        y="latency, s",
        lines=tuple(lines),
        log="y",
        moments=((BEGIN_S, "moves begin"),),
    )


def carry_out(quick: bool) -> Outcome:
    """Quick: a fifth of the data, and one throttle on either side of the headroom."""
    size_mb, rates = (SIZE_MB / 5, (30, 80)) if quick else (SIZE_MB, RATES_MB)
    free = trial(None, size_mb)
    throttled = [trial(rate_mb, size_mb) for rate_mb in rates]
    fewer = {moves: trial(None, size_mb, moves) for moves in ((1, 2) if quick else (1, 2, 3, 4, 5))}
    shrinks = sum(one.isr_shrinks for one in (free, *throttled, *fewer.values()))
    p95s = ", ".join(f"{moves}: {one.during_ms / 1_000:.2g} s" for moves, one in fewer.items())
    best = max((one for one in throttled if (one.rate_mb or 0) < HEADROOM_MB), key=lambda one: one.rate_mb or 0)
    return Outcome(
        findings=tuple(findings(free, throttled, size_mb)),
        charts=(cliff(free, throttled), course([free, best])),
        remarks=(
            f"p95 with fewer moves at a time, without a throttle: {p95s}.",
            f"ISR shrinks in all of these runs: {shrinks:g}. {BACKLOG}.",
        ),
    )


EXPERIMENT = Experiment(
    name="e13",
    title="moves without a throttle, and acks=all beside them",
    source="Cruise Control issue 150: unthrottled moves, one per broker: p95 of acks=all at 15 s and more; that a "
    "throttle below the headroom removes it is the reading of that thread",
    carry_out=carry_out,
)
