"""One run of a drawn case."""

import time
from typing import Any

from benchmarks.sampled.drawn_cases import drawn
from scenarios.language import Scenario
from scenarios.observe.measures.figure import Compared
from scenarios.observe.measures.figures import declared
from scenarios.runs import run_scenario

COUNTS = ("leader_elections", "isr_expands", "isr_shrinks", "leader_and_isr_requests", "stop_replica_requests")


def names() -> list[str]:
    """The metrics that are looked at: those of which a comparison has rows, and the counts of the control plane."""
    metrics = [figure.metric for figure in declared().values() if figure.compared is Compared.YES]
    return list(dict.fromkeys((*metrics, *COUNTS)))


def one(number: int, seed: int, fidelity: str) -> dict[str, Any]:
    """The run of a case."""
    return run_of(drawn(number), seed, fidelity)


def run_of(scenario: Scenario, seed: int, fidelity: str) -> dict[str, Any]:
    """The figures and the cost of one run."""
    if fidelity == "sampled":
        scenario = scenario.with_overrides({"fidelity": fidelity})
    began = time.process_time()
    run = run_scenario(scenario, seed=seed)
    return {
        "cpu_s": round(time.process_time() - began, 3),
        "virtual_s": run.virtual_s,
        "verdict": run.verdict,
        "reason": run.reason,
        "sampled": None if run.leaping is None else run.leaping.to_json(),
        "figures": {name: run.metrics.get(name) for name in names()},
    }
