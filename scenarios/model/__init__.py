"""The scenario model: the file format as frozen attrs classes, and the registries of the names it may use."""

from scenarios.model.actions import ACTIONS, Action, DelaySpec, find_action
from scenarios.model.cluster import CardSpec, ClusterSpec, DiskSpec, NetworkSpec, ZooKeeperSpec
from scenarios.model.consumers import ConsumerSpec
from scenarios.model.expect import Expect
from scenarios.model.invariants import INVARIANTS
from scenarios.model.messages import MESSAGES, fits
from scenarios.model.method import MethodEntry
from scenarios.model.metrics import METRICS, Metric
from scenarios.model.names import join_partition, split_partition
from scenarios.model.phases import PHASES, Gate, resolve
from scenarios.model.plan import Move, Plan
from scenarios.model.profile_names import DEFAULT_PROFILE, PROFILES
from scenarios.model.reach import gate_of, hops
from scenarios.model.scenario import Scenario
from scenarios.model.schema import scenario_json_schema
from scenarios.model.steady_state import SteadyState
from scenarios.model.steps import ALIASES, PROTOCOLS, STEPS, WAITED_FOR
from scenarios.model.strategy import StrategySpec
from scenarios.model.targets import Role, Target, parse_role
from scenarios.model.tolerance import Tolerance
from scenarios.model.topics import TopicSpec
from scenarios.model.triggers import After, At, Trigger
from scenarios.model.when import When
from scenarios.model.wire import Since, WhenMessage, WhenZk
from scenarios.model.workloads import WorkloadSpec

__all__ = [
    "ACTIONS",
    "ALIASES",
    "DEFAULT_PROFILE",
    "INVARIANTS",
    "MESSAGES",
    "METRICS",
    "PHASES",
    "PROFILES",
    "PROTOCOLS",
    "STEPS",
    "WAITED_FOR",
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
    "MethodEntry",
    "Metric",
    "Move",
    "NetworkSpec",
    "Plan",
    "Role",
    "Scenario",
    "Since",
    "SteadyState",
    "StrategySpec",
    "Target",
    "Tolerance",
    "TopicSpec",
    "Trigger",
    "When",
    "WhenMessage",
    "WhenZk",
    "WorkloadSpec",
    "ZooKeeperSpec",
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
