"""E19: the last replica standing (KIP-966's motivation): one unclean shutdown of the last replica in sync takes
committed records from all replicas.

The KIP's moments T0 to T3: two of three replicas leave the ISR, one after the other; the third, which leads alone,
loses power with what it had not flushed; it comes back as leader, for it is the only one in the ISR, and the others
truncate to its log.
"""

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import EXACT, Experiment, Finding, Outcome, at_least, within
from scenarios.language import Scenario

RATE = 100
"""Records a second, in ten batches."""
BEGIN_S, T0_S, T1_S, T2_S, T3_S, END_S = 1, 60, 80, 120, 130, 200
LAG_S = 10
"""replica.lag.time.max.ms: a follower that is cut off leaves the ISR after once to one and a half times as long."""
PROFILES = ("kafka-1.1", "kafka-2.6")
SINCE_2_7 = (
    "2.7 is left out: a leader that removes a follower by AlterIsr does not move its high watermark (KAFKA-13091, "
    "corrected in 3.0), so no record is acknowledged between T0 and T1, and fewer are committed that could be lost."
)


@frozen
class Variant:
    """One variant of the KIP's scenario.

    Attributes:
        kind: what fails at T2, the leader's "host" or its "process".
        flushed: each message is flushed to the disk before it is acknowledged (log.flush.interval.messages).
        alone: the second follower leaves the ISR, too.
    """

    name: str
    kind: str
    flushed: bool = False
    alone: bool = True

    @property
    def loses(self) -> bool:
        return self.kind == "host" and self.alone and not self.flushed


VARIANTS = (
    Variant("the machine of the last replica fails", "host"),
    Variant("its process fails", "process"),
    Variant("its machine fails, each message is flushed", "host", flushed=True),
    Variant("its machine fails, a follower is in sync", "host", alone=False),
)


def scenario(profile: str, variant: Variant) -> Scenario:
    cut = [(T0_S, 0)] + ([(T1_S, 1)] if variant.alone else [])
    method: list[dict[str, Any]] = [
        {"at": f"{at_s}s", "action": "link.cut", "target": broker, "peer": "all"} for at_s, broker in cut
    ]
    method += [
        {"at": f"{T2_S}s", "action": "broker.crash", "target": 2, "kind": variant.kind, "duration": f"{T3_S - T2_S}s"},
        *({"at": f"{at_s}s", "action": "link.heal", "target": {"mode": "all"}} for at_s in (T3_S, END_S - 1)),
    ]
    config: dict[str, Any] = {"min.insync.replicas": 2, "replica.lag.time.max.ms": LAG_S * 1_000}
    if variant.flushed:
        config["log.flush.interval.messages"] = 1
    return Scenario.from_table(
        {
            "title": f"{profile}: {variant.name}",
            "profile": profile,
            "horizon": f"{END_S}s",
            "cluster": {"brokers": 5, "controller": 4, "config": config},
            "topics": [{"name": "orders", "assignment": [[2, 0, 1]]}],
            "workloads": [{"topic": "orders", "producerRate": RATE, "acks": "all", "start": f"{BEGIN_S}s"}],
            "method": method,
        }
    )


def findings(profiles: tuple[str, ...]) -> Iterator[Finding]:
    for profile in profiles:
        for variant in VARIANTS:
            run = emulate(scenario(profile, variant))
            committed = RATE * (T1_S - BEGIN_S)
            yield Finding(
                what=f"{profile}: acknowledged records that are lost, {variant.name}",
                expected=committed if variant.loses else 0,
                emulated=run.seconds("lost_acks_all_records"),
                tolerance=within(0.02) if variant.loses else EXACT,
                unit="records",
            )
            if variant.loses:
                yield Finding(
                    what=f"{profile}: time with one replica in sync",
                    expected=T2_S - T1_S - 1.5 * LAG_S,
                    emulated=run.seconds("last_replica_s"),
                    tolerance=at_least(),
                )


def carry_out(quick: bool) -> Outcome:
    """All variants under each of ``PROFILES``; quick: under one."""
    return Outcome(findings=tuple(findings(PROFILES[:1] if quick else PROFILES)), remarks=(SINCE_2_7,))


EXPERIMENT = Experiment(
    name="e19",
    title="the last replica standing",
    source="KIP-966, T0 to T3 of its motivation: committed records are lost without an unclean election",
    carry_out=carry_out,
)
