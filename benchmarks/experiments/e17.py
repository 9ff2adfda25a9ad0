"""E17: under-replication of healthy partitions that move, by each definition (KIP-352).

Twenty partitions move from brokers 0, 1, 2 to 3, 4, 5. Counting all assigned replicas, every one of them is
under-replicated until its move ends, and an old replica that dies meanwhile does not change the count.
"""

from collections.abc import Iterator

from attrs import frozen

from benchmarks.experiments.charts import Chart, Line
from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import EXACT, Experiment, Finding, Outcome, within
from benchmarks.experiments.steps import Shown, Steps, area, between, count, value_at
from scenarios.language import Scenario
from scenarios.observe.mbeans import REASSIGNING, UNDER_REPLICATED

MOVING = 20
OLD, NEW = (0, 1, 2), (3, 4, 5)
SIZE_MB = 200
CARD_MB = 100
BEGIN_S = 10.0
KILL_S = 20.0
SESSION_S = 6
"""The session timeout of the earlier release, for both: the later one's 18 s are most of a move."""
KNOWN_S = 32.0
"""The time by which the dead broker's session has expired and the controller has removed it from every ISR."""


@frozen(eq=False)
class Seen:
    """One run: the true values (``old``, ``new``, ``draft``: partitions under-replicated by each definition;
    ``moving``: partitions whose move is open), and what the brokers showed."""

    profile: str
    old: Steps
    new: Steps
    draft: Steps
    moving: Steps
    shown: Steps
    shown_moving: Steps
    end_s: float


def run(profile: str, strategy: str, *, kill: bool) -> Seen:
    lists = [[OLD[(number + k) % 3] for k in range(3)] for number in range(MOVING)]
    targets = [[NEW[(number + k) % 3] for k in range(3)] for number in range(MOVING)]
    kills = [{"at": f"{KILL_S:g}s", "action": "broker.crash", "target": OLD[1]}] if kill else []
    scenario = Scenario.from_table(
        {
            "title": f"twenty healthy partitions move{', an old replica dies' if kill else ''}",
            "profile": profile,
            "horizon": "10m",
            "cluster": {
                "brokers": 7,
                "controller": 6,
                "config": {"auto.leader.rebalance.enable": False},
                "network": {"egress": f"{CARD_MB}MB/s"},
                "zk": {"session_timeout": f"{SESSION_S}s"},
            },
            "topics": [{"name": "orders", "assignment": lists, "size": f"{SIZE_MB}MB"}],
            "strategy": {"name": strategy},
            "plan": {
                "version": 1,
                "partitions": [
                    {"topic": "orders", "partition": number, "replicas": replicas}
                    for number, replicas in enumerate(targets)
                ],
            },
            "method": [{"at": f"{BEGIN_S:g}s", "action": "reassign.execute"}, *kills],
        }
    )
    shown, shown_moving = Shown(UNDER_REPLICATED), Shown(REASSIGNING)
    emulated = emulate(scenario, shown.watch, shown_moving.watch, keep_rows=True)
    rows = emulated.stage.measures.tables()["isr_events"]

    def counted(flag: str) -> Steps:
        return count((row.t_us, row.w_us) for row in rows if getattr(row, flag))

    return Seen(
        profile,
        counted("under_replicated_assigned"),
        counted("under_replicated_final"),
        counted("under_replicated_draft"),
        counted("target"),
        shown.steps,
        shown_moving.steps,
        BEGIN_S + emulated.seconds("time_to_complete_s"),
    )


def finding(what: str, expected: float, found: float) -> Finding:
    return Finding(what=what, expected=expected, emulated=found, tolerance=EXACT, unit="partitions")


def of_a_healthy_move(early: Seen, late: Seen) -> Iterator[Finding]:
    yield Finding(
        what="healthy moves: share of their time under-replicated, all assigned",
        expected=1,
        emulated=area(early.old, BEGIN_S, early.end_s) / area(early.moving, BEGIN_S, early.end_s),
        tolerance=within(0.02),
        unit="",
    )
    for seen in (early, late):
        yield finding(f"{seen.profile}: most under-replicated, all assigned", MOVING, most(seen.old, seen))
        yield finding(f"{seen.profile}: most under-replicated, as adopted", 0, most(seen.new, seen))
    yield finding(f"{early.profile}: most that its brokers show", MOVING, most(early.shown, early))
    yield finding(f"{late.profile}: most that its brokers show", 0, most(late.shown, late))
    yield finding("ReassigningPartitions, most", MOVING, most(late.shown_moving, late))
    yield finding("ReassigningPartitions, in the end", 0, late.shown_moving[-1][1])


def most(steps: Steps, seen: Seen) -> float:
    """While the moves last."""
    return max(between(steps, BEGIN_S, seen.end_s))


def of_a_death(early: Seen, late: Seen) -> Iterator[Finding]:
    def rise(steps: Steps) -> float:
        return value_at(steps, KNOWN_S) - value_at(steps, KILL_S - 1)

    yield finding("an old replica dies: rise, all assigned", 0, rise(early.old))
    yield finding("an old replica dies: rise, as adopted", MOVING, rise(late.new))
    yield finding(f"an old replica dies: rise of what {early.profile}'s brokers show", 0, rise(early.shown))
    yield finding(f"an old replica dies: rise of what {late.profile}'s brokers show", MOVING, rise(late.shown))


def chart(name: str, caption: str, seen: Seen, *moments: tuple[float, str]) -> Chart:
    def line(label: str, steps: Steps) -> Line:
        return Line(label, [(0, 0), *steps, (seen.end_s + 5, steps[-1][1] if steps else 0)], "steps")

    return Chart(
        name=name,
        caption=caption,
        x="s",
        y="partitions",
        lines=(
            line("all assigned (up to 2.4)", seen.old),
            line("as adopted (2.5)", seen.new),
            line("ReassigningPartitions", seen.shown_moving),
        ),
        moments=moments,
    )


def hidden_again(late: Seen) -> str:
    """The time for which the adopted definition does not show what the draft's shows."""
    missed_s = (area(late.draft, KILL_S, late.end_s) - area(late.new, KILL_S, late.end_s)) / MOVING
    return (
        "The adopted definition counts replicas and does not name them: a new replica in the ISR makes up for the dead "
        "one, and the partition no longer shows. The new ones come almost together here, so that this hides only "
        f"{missed_s:.2g} s of each partition's time."
    )


def carry_out(_quick: bool) -> Outcome:
    """Carry the experiment out. It takes a second or two: there is no smaller version."""
    early, late = run("kafka-2.3", "wiki", kill=False), run("kafka-2.5", "kip-455", kill=False)
    killed = run("kafka-2.3", "wiki", kill=True), run("kafka-2.5", "kip-455", kill=True)
    began, died = (BEGIN_S, "begin"), (KILL_S, "death")
    return Outcome(
        findings=(*of_a_healthy_move(early, late), *of_a_death(*killed)),
        charts=(
            chart("e17-healthy", "Twenty healthy partitions move: under-replicated by two definitions", late, began),
            chart("e17-death", "The same, and an old broker dies meanwhile", killed[1], began, died),
        ),
        remarks=(hidden_again(killed[1]),),
    )


EXPERIMENT = Experiment(
    name="e17",
    title="under-replication during moves",
    source="KIP-352: moves raise false alarms of under-replication; ReassigningPartitions says what moves",
    carry_out=carry_out,
)
