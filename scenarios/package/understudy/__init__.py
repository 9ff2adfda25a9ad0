"""An emulated Kafka cluster in virtual time: script failures, replay them bit for bit, compare strategies.

This module is what other projects import. A scenario file and its parts, and running one::

    from understudy import Scenario

    run = Scenario.load("mine.toml").run(seed=7)
    run.assert_expectations()

``understudy.testing``: a cluster in a test. ``understudy.events``: what a trace holds. ``understudy.spark``: sweeps and
comparisons, which need Java.
"""

from scenarios.errors import BadInput
from scenarios.language import (
    Action,
    After,
    At,
    CardSpec,
    ClusterSpec,
    ConsumerSpec,
    DelaySpec,
    DiskSpec,
    Expect,
    MethodEntry,
    Move,
    NetworkSpec,
    Plan,
    Scenario,
    Since,
    SteadyState,
    StrategySpec,
    Target,
    Tolerance,
    TopicSpec,
    When,
    WhenMessage,
    WhenZk,
    WorkloadSpec,
    ZooKeeperSpec,
)
from scenarios.observe.checkers.checker import Violation
from scenarios.runs.run import Expectation, Run

__all__ = [
    "Action",
    "After",
    "At",
    "BadInput",
    "CardSpec",
    "ClusterSpec",
    "ConsumerSpec",
    "DelaySpec",
    "DiskSpec",
    "Expect",
    "Expectation",
    "MethodEntry",
    "Move",
    "NetworkSpec",
    "Plan",
    "Run",
    "Scenario",
    "Since",
    "SteadyState",
    "StrategySpec",
    "Target",
    "Tolerance",
    "TopicSpec",
    "Violation",
    "When",
    "WhenMessage",
    "WhenZk",
    "WorkloadSpec",
    "ZooKeeperSpec",
]
