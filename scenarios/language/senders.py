"""Does anybody send a message in a scenario at all? One that nobody sends would make the run `failed: not exercised`
for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from scenarios.errors import BadInput
from scenarios.language.method import MethodEntry
from scenarios.language.profile_names import PROFILES

if TYPE_CHECKING:
    from scenarios.language.scenario import Scenario

API = "api"


def check_sent(scenario: Scenario, message: str) -> None:
    """Refuse a message that neither a load nor an entry of the scenario brings about; the others are always sent."""
    if message not in _SENDERS:
        return
    is_sent, hint = _SENDERS[message]
    if not is_sent(scenario):
        raise BadInput(f"nobody sends {message} here; {hint}", where="message")


def _entries(scenario: Scenario, action: str) -> list[MethodEntry]:
    return [entry for entry in (*scenario.method, *scenario.rollbacks) if entry.action == action]


def _has_load(scenario: Scenario) -> bool:
    return bool(scenario.workloads)


def _is_idempotent(scenario: Scenario) -> bool:
    return any(load.setting("enable.idempotence") for load in scenario.workloads)


def _shuts_down(scenario: Scenario) -> bool:
    return bool(_entries(scenario, "broker.controlled_shutdown")) and bool(
        scenario.settings()["controlled.shutdown.enable"]
    )


def _executes_by_api(scenario: Scenario) -> bool:
    return any((e.param("via") or scenario.reassigns_by) == API for e in _entries(scenario, "reassign.execute"))


def _alters(scenario: Scenario) -> bool:
    return _executes_by_api(scenario) or bool(_entries(scenario, "reassign.cancel"))


def _lists(scenario: Scenario) -> bool:
    looks = _executes_by_api(scenario) and not scenario.strategy.parsed.execution.at_once
    cancels_all = any(entry.param("partitions") is None for entry in _entries(scenario, "reassign.cancel"))
    return looks or cancels_all or bool(_entries(scenario, "reassign.list"))


def _executed(scenario: Scenario, action: str) -> bool:
    """Whether an entry hands such a plan with log directories over."""
    plans = (entry.param("plan") or scenario.plan for entry in _entries(scenario, action))
    return any(plan is not None and plan.directories() for plan in plans)


def _describes(scenario: Scenario) -> bool:
    by_itself = scenario.strategy.limit is not None and _executed(scenario, "reassign.execute")
    return by_itself or _executed(scenario, "reassign.verify")


def _elects_by_api(scenario: Scenario) -> bool:
    tool = PROFILES[scenario.profile].election_tool
    return any((entry.param("via") or tool) == API for entry in _entries(scenario, "election.preferred"))


def _asks(scenario: Scenario) -> bool:
    """Who asks for metadata: producers, consumers, and an AdminClient that looks for the controller."""
    asking = (_has_load, _alters, _lists, _elects_by_api)
    return bool(scenario.consumers) or any(asks(scenario) for asks in asking)


def _asks_for_isrs(scenario: Scenario) -> bool:
    return PROFILES[scenario.profile].alters_isr


_BY_API = 'via = "api" under kip-455'
_SENDERS: Mapping[str, tuple[Callable[[Scenario], bool], str]] = {
    "Produce": (_has_load, "add [[workloads]]"),
    "InitProducerId": (_is_idempotent, 'add [[workloads]] with config = { "enable.idempotence" = true }'),
    "Metadata": (_asks, "add [[workloads]]"),
    "AlterIsr": (_asks_for_isrs, "write a profile whose leaders ask the controller, such as 'kafka-2.7'"),
    "ControlledShutdown": (_shuts_down, 'add an entry with action = "broker.controlled_shutdown"'),
    "AlterPartitionReassignments": (_alters, f'add action = "reassign.execute" with {_BY_API}, or "reassign.cancel"'),
    "ListPartitionReassignments": (_lists, 'add an entry with action = "reassign.list"'),
    "AlterReplicaLogDirs": (
        lambda scenario: _executed(scenario, "reassign.execute"),
        'add an entry with action = "reassign.execute" and a plan with log_dirs',
    ),
    "DescribeLogDirs": (_describes, 'add an entry with action = "reassign.verify" and a plan with log_dirs'),
    "ElectLeaders": (_elects_by_api, 'add action = "election.preferred" with via = "api"'),
}
