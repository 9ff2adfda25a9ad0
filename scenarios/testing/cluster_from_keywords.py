"""The cluster of a test, from keyword arguments, which are checked as a scenario file is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from scenarios.language import Scenario
from scenarios.testing.instance import Assignment, ClusterInstance

Topics = Mapping[str, Assignment | Mapping[str, object]]


def cluster(
    brokers: int | Sequence[int] = 3,
    topics: Topics | None = None,
    *,
    profile: str | None = None,
    config: Mapping[str, object] | None = None,
    strategy: str | None = None,
    controller: int | None = None,
    workloads: Sequence[Mapping[str, object]] = (),
    checkers: bool | Collection[str] = True,
    **more: object,
) -> ClusterInstance:
    """A cluster for ``async with``. It runs in the virtual time of the test (``in_virtual_time``).

    Args:
        brokers: how many, whose ids are then 0 to n-1; or their ids, such as ``[1, 2, 3]``.
        topics: name -> the replicas of each partition, or a table as in a scenario file (``assignment``,
            ``partitions``, ``replication_factor``, ``size``, ``config``).
        profile: the release whose behaviour it has; ``understudy list profiles`` names them.
        config: broker settings by Kafka's names.
        strategy: how reassignments are carried out; by default as the release does it.
        controller: the broker that is controller at first; by default the one that wins the election.
        workloads: producers with a steady load, as in a scenario file.
        checkers: whether every invariant is checked, or the names of those that are.
        more: other keys of a scenario file's ``[cluster]``: ``racks``, ``log_dirs``, ``network``, ``zk``, ``disk``.

    Raises: BadInput, one line that says what is wrong and what would be right.
    """
    given = scenario_of(
        brokers, topics, profile=profile, config=config, strategy=strategy, controller=controller, workloads=workloads,
        **more,
    )  # fmt: skip
    return ClusterInstance(given, checkers)


def scenario_of(
    brokers: int | Sequence[int] = 3,
    topics: Topics | None = None,
    *,
    profile: str | None = None,
    config: Mapping[str, object] | None = None,
    strategy: str | None = None,
    controller: int | None = None,
    workloads: Sequence[Mapping[str, object]] = (),
    **more: object,
) -> Scenario:
    """The scenario of a cluster without any action; arguments as for ``cluster``. Raises: BadInput."""
    which = "brokers" if isinstance(brokers, int) else "broker_ids"
    table: dict[str, Any] = {
        "title": "a test",
        "cluster": {which: brokers, "config": dict(config or {}), **more},
        "topics": [
            {"name": name, **(dict(topic) if isinstance(topic, Mapping) else {"assignment": topic})}
            for name, topic in (topics or {}).items()
        ],
        "workloads": list(workloads),
    }
    if profile is not None:
        table["profile"] = profile
    if strategy is not None:
        table["strategy"] = {"name": strategy}
    if controller is not None:
        table["cluster"]["controller"] = controller
    return Scenario.from_table(table)
