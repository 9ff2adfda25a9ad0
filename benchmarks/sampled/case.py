"""One run in a process of its own: ``python -m benchmarks.sampled.case NUMBER SEED FIDELITY``, or ``big``."""

import json
import resource
import sys
import time

from benchmarks.sampled.drawn_cases import big, drawn
from scenarios.runs import run_scenario

FIGURES = (
    "time_to_complete_s", "extra_replica_s", "under_replicated_s", "bytes_moved", "excess_isr_s", "produce_p50_ms",
    "produce_p99_ms", "lag_p99", "peak_broker_egress", "acked_batches",
)  # fmt: skip
COUNTS = ("leader_elections", "isr_expands", "isr_shrinks", "leader_and_isr_requests", "stop_replica_requests")


def main() -> None:
    number, seed, fidelity = sys.argv[1:4]
    scenario = big(fidelity, sys.argv[4]) if number == "big" else drawn(int(number))
    if fidelity == "sampled":
        scenario = scenario.with_overrides({"fidelity": fidelity})
    began = time.process_time()
    run = run_scenario(scenario, seed=int(seed))
    found = {
        "cpu_s": time.process_time() - began,
        "virtual_s": run.virtual_s,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "verdict": run.verdict,
        "reason": run.reason,
        "sampled": None if run.leaping is None else run.leaping.to_json(),
        "figures": {name: run.metrics.get(name) for name in (*FIGURES, *COUNTS)},
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
