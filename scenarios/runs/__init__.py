"""Runs a scenario: sets up the cluster, carries out the method, judges the outcome."""

from scenarios.runs.beside_loops import beside_loops
from scenarios.runs.record import record_events, run_record, run_scenario
from scenarios.runs.run import Expectation, Run

__all__ = ["Expectation", "Run", "beside_loops", "record_events", "run_record", "run_scenario"]
