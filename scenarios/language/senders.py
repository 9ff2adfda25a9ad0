"""Is a message sent in a scenario at all? A trigger on one that is never sent would make the run ``failed: not
exercised`` for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scenarios.errors import BadInput
from scenarios.language.known import Known
from scenarios.language.profile_names import PROFILES

_BY_API = 'via = "api" under kip-455'
_SENT_ON_DEMAND: Mapping[str, str] = {
    "Produce": "add [[workloads]]",
    "InitProducerId": 'add [[workloads]] with config = { "enable.idempotence" = true }',
    "Metadata": "add [[workloads]]",
    "AlterIsr": "write a profile whose leaders ask the controller, such as 'kafka-2.7'",
    "ControlledShutdown": 'add an entry with action = "broker.controlled_shutdown"',
    "AlterPartitionReassignments": f'add action = "reassign.execute" with {_BY_API}, or "reassign.cancel"',
    "ListPartitionReassignments": 'add an entry with action = "reassign.list"',
    "AlterReplicaLogDirs": 'add an entry with action = "reassign.execute" and a plan with log_dirs',
    "DescribeLogDirs": 'add an entry with action = "reassign.verify" and a plan with log_dirs',
    "ElectLeaders": 'add action = "election.preferred" with via = "api"',
}
"""The messages that not every scenario sends, each with what to write so that it is sent."""


def check_sent(known: Known, message: str) -> None:
    """Refuse a message that neither a load, nor a consumer, nor an entry, nor the profile causes."""
    if message in _SENT_ON_DEMAND and message not in _sent(known):
        raise BadInput(f"nobody sends {message} here; {_SENT_ON_DEMAND[message]}", where="message")


def _sent(known: Known) -> Iterator[str]:
    scenario = known.scenario
    for load in scenario.workloads:
        yield from ("Produce", "Metadata")
        if load.setting("enable.idempotence"):
            yield "InitProducerId"
    if scenario.consumers:
        yield "Metadata"
    if PROFILES[scenario.profile].alters_isr:
        yield "AlterIsr"
    for entry in (*scenario.method, *scenario.rollbacks):
        yield from entry.action.sends(known)
