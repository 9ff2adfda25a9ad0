"""Random histories: a cluster, a plan and one fault, as Hypothesis draws them."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki
from scenarios.language import Scenario
from tests.scenarios.runs.building import EXECUTE, HEAL, Table, scenario

STEPS = {protocol.procedure.name: tuple(protocol.procedure.steps) for protocol in (Wiki, Kafka6794, Kip455)}
DURATIONS = ("50ms", "1s", "3s", "8s", "20s")
"""Shorter and longer than the session's timeout (6 s) and the lag time (10 s)."""


@st.composite
def _replicas(draw: st.DrawFn, brokers: int, count: int) -> tuple[int, ...]:
    return tuple(draw(st.permutations(range(brokers)))[:count])


@st.composite
def _target(draw: st.DrawFn, brokers: int, moved: str) -> Any:
    """Roles that no broker may have when the fault comes are here as well: such a run is "not exercised"."""
    roles = ("leader({})", "isr({})", "isr({})-leader", "adding({})", "removing({})")
    named = [role.format(moved) for role in roles]
    return draw(st.sampled_from(("controller", *named, *range(brokers))))


@st.composite
def _trigger(draw: st.DrawFn, strategy: str) -> Table:
    if draw(st.booleans()):
        return {"at": f"{draw(st.integers(1_900, 4_000))}ms"}
    step = draw(st.sampled_from(STEPS[strategy]))
    return {"when": {"step": step, "edge": draw(st.sampled_from(("before", "after")))}}


@st.composite
def _fault(draw: st.DrawFn, strategy: str, brokers: int, moved: str, hosts: bool) -> Table:
    """``hosts``: whether the loss of a machine is survivable: every replica list has two, min.insync.replicas is 2."""
    ends = ["crash", "stop", "shut-down", "controller"]
    kinds = [*ends, "pause", "cut", "cut-zookeeper", "delay", "expire", "fail", "elect"]
    kind = draw(st.sampled_from(kinds))
    duration = {"duration": draw(st.sampled_from(DURATIONS))}
    target = {"target": draw(_target(brokers, moved))}
    crash = {"kind": draw(st.sampled_from(("process", "host") if hosts else ("process",)))}
    direction = {"direction": draw(st.sampled_from(("both", "to", "from")))}
    delay = {"delay": {"latency": draw(st.sampled_from(("20ms", "700ms"))), "jitter": "10ms"}}
    cause = {"partition": moved, "cause": draw(st.sampled_from(("append", "truncate")))}
    faults: dict[str, Table] = {
        "crash": {"action": "broker.crash", **target, **duration, **crash},
        "stop": {"action": "broker.stop", **target, **duration},
        "shut-down": {"action": "broker.controlled_shutdown", **target, **duration},
        "elect": {"action": "election.preferred"},
        "pause": {"action": "broker.pause", **target, **duration},
        "cut": {"action": "link.cut", **target, **duration, **direction},
        "cut-zookeeper": {"action": "link.cut", **target, **duration, **direction, "peer": "zookeeper"},
        "delay": {"action": "link.delay", **target, **duration, **direction, **delay},
        "expire": {"action": "zk.expire", **target},
        "fail": {"action": "fetcher.fail_partition", **target, **cause},
        "controller": {"action": "controller.crash", **duration, **crash},
    }
    return {**draw(_trigger(strategy)), **faults[kind]}


@st.composite
def histories(draw: st.DrawFn, faults: int = 1) -> Scenario:
    """A move under load with ``faults`` faults, all healed in the end. acks=all; no unclean election."""
    brokers = draw(st.integers(3, 6))
    partitions = draw(st.integers(1, 4))
    factor = draw(st.integers(1, 3))
    strategy = draw(st.sampled_from(tuple(STEPS)))
    assignment = [draw(_replicas(brokers, factor)) for _ in range(partitions)]
    moved = draw(st.lists(st.integers(0, partitions - 1), min_size=1, unique=True))
    plan = {p: draw(_replicas(brokers, draw(st.integers(1, min(brokers, 4))))) for p in moved}
    assume(plan[moved[0]] != assignment[moved[0]])
    min_isr = draw(st.integers(1, min(2, factor)))
    two = faults == 1 and min_isr == 2 and all(len(replicas) >= 2 for replicas in plan.values())
    return scenario(
        brokers=brokers,
        controller=draw(st.sampled_from((None, *range(brokers)))),
        assignment=assignment,
        plan=plan,
        method=[EXECUTE, *(draw(_fault(strategy, brokers, f"orders-{moved[0]}", two)) for _ in range(faults))],
        rollbacks=HEAL,
        config={
            "min.insync.replicas": min_isr,
            "replica.lag.time.max.ms": draw(st.sampled_from((1_000, 10_000))),
            "num.replica.fetchers": draw(st.integers(1, 2)),
            "leader.imbalance.check.interval.seconds": draw(st.sampled_from((1, 300))),
        },
        rate=draw(st.sampled_from((20, 300))),
        size=draw(st.sampled_from(("0B", "64KiB", "8MiB"))),
        strategy=strategy,
        seed=draw(st.integers(0, 10_000)),
        horizon="4m",
    )
