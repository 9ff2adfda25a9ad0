"""Runs a scenario: sets the cluster up, carries out the method, judges what came of it."""

from scenarios.runner.record import record_events, run_record
from scenarios.runner.run import Expectation, Run
from scenarios.runner.runner import run_scenario

__all__ = ["Expectation", "Run", "record_events", "run_record", "run_scenario"]
