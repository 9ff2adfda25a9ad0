"""Runs a scenario: sets the cluster up, carries out the method, judges what came of it."""

from scenarios.runs.record import record_events, run_record
from scenarios.runs.run import Expectation, Run
from scenarios.runs.runner import run_scenario

__all__ = ["Expectation", "Run", "record_events", "run_record", "run_scenario"]
