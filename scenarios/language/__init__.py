"""The scenario model: the file format as frozen attrs classes, and the registries of the names it may use."""

from controller.procedures import ALIASES, PROCEDURES, STEPS
from controller.steps import PHASES
from scenarios.language.actions import Action, DelaySpec, all_actions, find_action
from scenarios.language.cluster_spec import CardSpec, ClusterSpec, DiskSpec, NetworkSpec, ZooKeeperSpec
from scenarios.language.entries import MethodEntry
from scenarios.language.expect import Expect, SteadyState, Tolerance
from scenarios.language.known_names import hops
from scenarios.language.limited_metrics import METRICS, Metric
from scenarios.language.messages import fits
from scenarios.language.plan import GeneratedPlan, Move, Plan
from scenarios.language.scenario import Scenario, scenario_json_schema
from scenarios.language.step_names import Gate, gate_of, resolve
from scenarios.language.strategies.strategy import StrategySpec
from scenarios.language.study_spec import StudySpec
from scenarios.language.targets import Target, TargetRole, parse_role
from scenarios.language.topic_spec import TopicSpec, join_partition, split_partition
from scenarios.language.triggers import (
    After,
    At,
    Since,
    Trigger,
    Until,
    When,
    WhenFault,
    WhenMessage,
    WhenMetric,
    WhenZk,
)
from scenarios.language.turns import NextSpec
from scenarios.language.workloads import ConsumerSpec, WorkloadSpec
from scenarios.observe.invariants import INVARIANTS
from scenarios.profiles import DEFAULT_PROFILE, PROFILES

__all__ = [
    "ALIASES",
    "DEFAULT_PROFILE",
    "INVARIANTS",
    "METRICS",
    "PHASES",
    "PROCEDURES",
    "PROFILES",
    "STEPS",
    "Action",
    "After",
    "At",
    "CardSpec",
    "ClusterSpec",
    "ConsumerSpec",
    "DelaySpec",
    "DiskSpec",
    "Expect",
    "Gate",
    "GeneratedPlan",
    "MethodEntry",
    "Metric",
    "Move",
    "NetworkSpec",
    "NextSpec",
    "Plan",
    "Scenario",
    "Since",
    "SteadyState",
    "StrategySpec",
    "StudySpec",
    "Target",
    "TargetRole",
    "Tolerance",
    "TopicSpec",
    "Trigger",
    "Until",
    "When",
    "WhenFault",
    "WhenMessage",
    "WhenMetric",
    "WhenZk",
    "WorkloadSpec",
    "ZooKeeperSpec",
    "all_actions",
    "find_action",
    "fits",
    "gate_of",
    "hops",
    "join_partition",
    "parse_role",
    "resolve",
    "scenario_json_schema",
    "split_partition",
]
