"""Scenarios drawn by Hypothesis: small clusters with load, a move, and something that goes wrong."""

from typing import Any

from hypothesis import strategies as st

from scenarios.language import Scenario

FAULTS: list[dict[str, Any]] = [
    {"action": "controller.crash"},
    {"action": "broker.crash", "target": "leader(orders-0)", "duration": "12s"},
    {"action": "broker.crash", "target": "adding(orders-0)", "duration": "9s", "kind": "host"},
    {"action": "broker.pause", "target": "isr(orders-0)-leader", "duration": "14s"},
    {"action": "link.cut", "target": "isr(orders-0)-leader", "duration": "17s"},
    {"action": "zk.expire", "target": "leader(orders-0)"},
    {"action": "fetcher.fail_partition", "target": "isr(orders-0)-leader", "partition": "orders-0"},
]

LOST: list[dict[str, Any]] = [
    {"at": "1s", "action": "gate.hold", "gate": {"step": "failover.F8", "edge": "before"}, "duration": "20s"},
    {"at": "2s", "action": "controller.crash"},
    {"at": "15s", "action": "reassign.execute"},
    {"at": "26s", "action": "controller.crash"},
]
"""The controller deletes the moves unread, and is replaced."""

STRATEGIES = ["wiki", "kafka-6794", "wiki+serial+random", "kafka-6794+window-2+leader-last+poll-300ms"]


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A cluster of 4 to 6 brokers with ``orders`` on three of them; ``orders-0`` moves while one fault happens."""
    brokers = draw(st.integers(4, 6))
    partitions = draw(st.integers(1, 3))
    ids = list(range(brokers))
    target = draw(st.permutations(ids).map(lambda order: order[:3]).filter(lambda order: order != [0, 1, 2]))
    lost = draw(st.integers(0, 4)) == 0
    fault = dict(draw(st.sampled_from(FAULTS)))
    if fault.get("target") == "adding(orders-0)" and set(target) == {0, 1, 2}:
        fault = {"action": "controller.crash"}
    when = draw(st.sampled_from(["move.listen", "move.start", "move.leader", "move.record"]))
    table = {
        "schema": "scenario/1",
        "title": "drawn",
        "seed": draw(st.integers(0, 1000)),
        "horizon": "40s",
        "cluster": {
            "brokers": brokers,
            "config": {"min.insync.replicas": draw(st.integers(1, 3)), "replica.lag.time.max.ms": 4000},
            "network": {"latency": "500us", "jitter": "200us", "egress": "20MiB/s"},
        },
        "topics": [
            {
                "name": "orders",
                "assignment": [[(p + k) % 3 for k in range(3)] for p in range(partitions)],
                "size": draw(st.sampled_from(["1MiB", "20MiB"])),
            }
        ],
        "workloads": [
            {
                "topic": "orders",
                "producerRate": draw(st.sampled_from([7, 100, 2000])),
                "acks": draw(st.sampled_from(["1", "all"])),
                "stop": "30s",
            }
        ],
        "plan": {
            "version": 1,
            "partitions": [
                {"topic": "orders", "partition": p, "replicas": target[p:] + target[:p]}
                for p in range(draw(st.integers(1, partitions)))
            ],
        },
        "method": LOST
        if lost
        else [
            {"at": "3s", "action": "reassign.execute"},
            {"when": {"step": when, "edge": draw(st.sampled_from(["before", "after"]))}, **fault},
        ],
        "strategy": {"name": draw(st.sampled_from(STRATEGIES))},
    }
    return Scenario.from_table(table)
