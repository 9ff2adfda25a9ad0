"""Moves of hours: what they cost sampled, and what exact, from their first ten minutes.

A run in a process of its own: ``python -m benchmarks.sampled.long_moves NAME sampled|exact``.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.program import alone
from benchmarks.tables import table
from scenarios.language import Scenario
from scenarios.language.files import load
from scenarios.runs import run_scenario

EXACT_S = 600
"""The virtual seconds of a move that its exact run is carried out for."""


def _terabyte(size: str = "5GB") -> Scenario:
    """The move of 200 partitions of ``size`` from three brokers to three others, under 40 MB/s of new data."""
    replicas = [[(n + k) % 3 for k in range(3)] for n in range(200)]
    table = {
        "title": "A terabyte moves",
        "fidelity": "sampled",
        "horizon": "20h",
        "cluster": {"brokers": 6, "network": {"egress": "1250MB/s", "ingress": "1250MB/s"}},
        "topics": [{"name": "orders", "assignment": replicas, "size": size}],
        "workloads": [{"topic": "orders", "producerRate": 40_000, "messageSize": 1000, "linger": "100ms"}],
        "strategy": {"name": "wiki+throttle-100MB"},
        "plan": {
            "version": 1,
            "partitions": [
                {"topic": "orders", "partition": n, "replicas": [3 + each for each in of]}
                for n, of in enumerate(replicas)
            ],
        },
        "method": [{"at": "5s", "action": "reassign.execute"}],
    }
    return Scenario.from_table(table, source="one of a terabyte")


def _study(study: str, **changes: str) -> Callable[[], Scenario]:
    return lambda: load(study, [(f"strategy.{key}", value) for key, value in changes.items()])


LONG_MOVES: Mapping[str, Callable[[], Scenario]] = {
    "throttles, 45 MB/s": _study("throttles-at-size", throttle="45MB/s"),
    "throttles, 20 MB/s": _study("throttles-at-size", throttle="20MB/s"),
    "many small moves": _study("many-small-moves-at-size"),
    "sizes that differ": _study("waves-or-a-window-at-size"),
    "in waves of 20": _study("waves-or-a-window-at-size", name="kip-455+waves-20"),
    "a window of 20": _study("waves-or-a-window-at-size", name="kip-455+window-20"),
    "one terabyte": _study("one-terabyte"),
    "big": _terabyte,
    "a tenth of big": lambda: _terabyte("500MB"),
}


def costs() -> list[str]:
    """The lines of the table: a sampled run of each move, and its exact run, by the seconds that were carried out."""
    rows = []
    for name in LONG_MOVES:
        sampled, exact = (alone(__name__, name, fidelity) for fidelity in ("sampled", "exact"))
        cpu_s, virtual_s = sampled["cpu_s"], sampled["virtual_s"]
        whole_s = exact["cpu_s"] / exact["virtual_s"] * virtual_s
        leapt = sampled["leaping"]
        rows.append((
            name, f"{virtual_s:,.0f}", f"{cpu_s:.0f}", f"{sampled['mib']:.0f}", f"{leapt['leaps']:,}",
            f"{leapt['leapt_s'] / virtual_s:.0%}", sampled["verdict"],
            f"{exact['cpu_s']:.0f} of {exact['virtual_s']:.0f} s", f"{whole_s:,.0f}", f"{whole_s / cpu_s:.0f}",
        ))  # fmt: skip
        print(f"{name} done", file=sys.stderr, flush=True)
    heads = (
        "move", "virtual s", "CPU s", "MiB", "leaps", "of the time", "verdict", "exact, CPU s", "exact to the end",
        "times faster",
    )  # fmt: skip
    return table(heads, rows)


def main() -> None:
    name, fidelity = sys.argv[1:]
    scenario = LONG_MOVES[name]()
    if fidelity == "exact":
        scenario = scenario.with_overrides({"fidelity": fidelity, "horizon": f"{EXACT_S}s"})
    began = time.process_time()
    run = run_scenario(scenario, seed=0)
    found: dict[str, Any] = {
        "cpu_s": time.process_time() - began,
        "virtual_s": run.virtual_s,
        "verdict": run.verdict,
        "leaping": None if run.leaping is None else run.leaping.to_json(),
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
