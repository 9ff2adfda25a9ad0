"""The clients of the cases whose tags ask for some. Each asks by itself, beside the others."""

from collections.abc import Callable, Mapping, Sequence

from benchmarks.calibration.clients import counted, deletion, group, leadership, log_dirs, transactions
from benchmarks.calibration.clients.base import Client, Scripted, Step
from benchmarks.calibration.clients.partition import PartitionClient, rounds
from scenarios.language import Scenario

Script = tuple[type[Scripted], Mapping[str, Sequence[Step]]]

SCRIPTS: Mapping[str, Script] = {
    "asked-by-group": (group.GroupMember, group.STEPS),
    "asked-by-transactions": (transactions.TransactionalProducer, transactions.STEPS),
    "asked-by-producer": (counted.CountedProducer, counted.STEPS),
    "asked-by-deletion": (deletion.DeletingClient, deletion.STEPS),
    "asked-by-log-dirs": (log_dirs.Administrator, log_dirs.STEPS),
    "asked-by-moves": (leadership.LeadershipClient, leadership.MOVES),
    "asked-by-unclean": (leadership.LeadershipClient, leadership.UNCLEAN),
    "asked-by-pauses": (leadership.LeadershipClient, leadership.PAUSES),
}
"""By the tag of a case: the kind of its clients, and what each of them asks."""


def clients(scenario: Scenario, now_ms: Callable[[], int], release: str) -> list[Client]:
    """The clients of a case, for brokers of a release; none for most."""
    found: list[Client] = [PartitionClient(scenario, now_ms, release)] if rounds(scenario) else []
    for tag in SCRIPTS.keys() & scenario.tags:
        kind, scripts = SCRIPTS[tag]
        found += [kind(scenario, now_ms, release, who=who, steps=steps) for who, steps in scripts.items()]
    return found
