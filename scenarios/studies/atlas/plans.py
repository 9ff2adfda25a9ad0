"""The moves of the atlas, and the cluster around them (readings §6).

A plan is a move of one partition, ``orders-0``, and the place of the controller. That is a broker without a part in the
move, so that a fault of the controller concerns nothing else; in one plan it is the leader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen

from emulator.protocol.assignments import Replicas
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.strategies import SHAPES, parse_strategy
from scenarios.profiles import DEFAULT_PROFILE, PROFILES

TOPIC = "orders"
PARTITION = "orders-0"
BROKERS = 7
"""The number of brokers: the widest move needs six; the seventh has the controller."""

SEED = 1
HORIZON = "15m"
GIVES_UP = "14m"
"""The longest wait for a move, from the start of the run. Every fault is healed within four virtual minutes, so a run
that ends here has waited for ten minutes after healing."""
LOAD_STOPS = "24s"
"""The end of the load. It is after every fault has been healed, since records that are acknowledged until then can be
lost; and before any run ends, since the logs are compared then."""


@frozen
class AtlasPlan:
    """A move. ``before`` and ``after``: the replicas, preferred leader first. ``controller_leads``: whether the leader
    is the controller."""

    before: Replicas
    after: Replicas
    controller_leads: bool = False

    @property
    def id(self) -> str:
        """The plan in the names of cells: ``0,1,2-1,3,4``."""
        return f"{_list(self.before)}-{_list(self.after)}" + "+controller-leads" * self.controller_leads

    @property
    def title(self) -> str:
        leads = ", controller and leader in one" if self.controller_leads else ""
        return f"[{_list(self.before)}] to [{_list(self.after)}]{leads}"

    @property
    def min_insync_replicas(self) -> int:
        """The min.insync.replicas: one less than the shorter replica list, so a fault of one replica alone never makes
        the partition under-min-ISR."""
        return max(1, min(len(self.before), len(self.after)) - 1)


DEFAULT = AtlasPlan((0, 1, 2), (1, 3, 4))
PLANS = (
    DEFAULT,
    AtlasPlan((0, 1, 2), (0, 1, 3)),
    AtlasPlan((0, 1, 2), (3, 4, 5)),
    AtlasPlan((0, 1, 2), (2, 1, 0)),
    AtlasPlan((0, 1), (0, 1, 2)),
    AtlasPlan((0, 1, 2), (1, 2)),
    evolve(DEFAULT, controller_leads=True),
)
"""The plans of ``--all-plans``. Where the replication factor is lowered the leader is removed: the harder case."""


def protocols() -> tuple[str, ...]:
    """The default strategies of the atlas: one for each document's protocol, without changes."""
    return tuple(shape.name for shape in SHAPES.values() if shape.name == shape.protocol)


def profile_of(strategy: str) -> str:
    """The profile whose own protocol this is; the default profile where there are several or none."""
    protocol = parse_strategy(strategy).protocol
    homes = [name for name, profile in PROFILES.items() if profile.strategy == protocol]
    return DEFAULT_PROFILE if DEFAULT_PROFILE in homes or not homes else homes[0]


def own_plans(scenario: Scenario) -> tuple[AtlasPlan, ...]:
    """The moves of a scenario file's plan, each once; they replace the built-in ones."""
    before = scenario.assignments()
    moves = scenario.plan.targets() if scenario.plan is not None else {}
    return tuple(dict.fromkeys(AtlasPlan(before[name], after) for name, after in moves.items()))


def undisturbed(plan: AtlasPlan, strategy: str, seed: int = SEED, like: Scenario | None = None) -> Scenario:
    """The move without any fault. ``like``: a scenario whose cluster, settings, profile and load are used.

    Raises: BadInput where that cluster has too few brokers for the move.
    """
    table = _table(plan) if like is None else _table_like(plan, like)
    table["profile"] = profile_of(strategy) if like is None else like.profile
    table["seed"], table["strategy"]["name"] = seed, strategy
    return Scenario.from_table(table, source="" if like is None else like.source)


def _table(plan: AtlasPlan) -> dict[str, Any]:
    load = {"topic": TOPIC, "messageSize": 100, "stop": LOAD_STOPS}
    return {
        "title": f"The move {plan.title}, undisturbed",
        "horizon": HORIZON,
        "cluster": {
            "brokers": BROKERS,
            "controller": _controller(plan, range(BROKERS)),
            "config": _settings(plan),
        },
        "topics": [{"name": TOPIC, "assignment": [list(plan.before)], "size": "64KiB"}],
        "workloads": [
            {**load, "producerRate": 4, "acks": "all", "linger": "250ms"},
            {**load, "producerRate": 10, "acks": "1", "linger": "100ms"},
        ],
        "strategy": {},
        "plan": {
            "version": 1,
            "partitions": [{"topic": TOPIC, "partition": 0, "replicas": list(plan.after)}],
        },
        "method": [{"at": "1s", "action": "reassign.execute"}],
        "expect": [
            {"isr": {PARTITION: list(plan.after)}, "within": GIVES_UP},
            {"leader": {PARTITION: list(plan.after)}},
        ],
    }


def _table_like(plan: AtlasPlan, like: Scenario) -> dict[str, Any]:
    table, theirs = _table(plan), like.to_table()
    brokers = like.cluster.ids
    if like.cluster.broker_ids:
        what = "the moves of an atlas name brokers from 0 on; leave it out, or write a [plan]"
        raise BadInput(what, where="cluster.broker_ids", source=like.source)
    lacking = [broker for broker in (*plan.before, *plan.after) if broker not in brokers]
    if lacking:
        raise BadInput(
            f"the move {plan.title} needs broker {max(lacking)}; write at least {max(lacking) + 2}, or a [plan]",
            where="cluster.brokers",
            source=like.source,
        )
    controller = like.cluster.controller
    if plan.controller_leads or controller is None or controller in (*plan.before, *plan.after):
        controller = _controller(plan, brokers)
    settings = theirs["cluster"].get("config", {})
    table["cluster"] = {**theirs["cluster"], "controller": controller, "config": {**_settings(plan), **settings}}
    for key in ("size", "config"):
        if theirs.get("topics") and key in theirs["topics"][0]:
            table["topics"][0][key] = theirs["topics"][0][key]
    if like.workloads:
        table["workloads"] = [{**load, "topic": TOPIC, "stop": LOAD_STOPS} for load in theirs["workloads"]]
    table["strategy"] = {key: value for key, value in theirs.get("strategy", {}).items() if key != "name"}
    return table


def _settings(plan: AtlasPlan) -> dict[str, Any]:
    """The settings of the cluster: no automatic rebalance of leaders, which would change the result of a move."""
    return {"min.insync.replicas": plan.min_insync_replicas, "auto.leader.rebalance.enable": False}


def _controller(plan: AtlasPlan, brokers: Sequence[int]) -> int:
    """The broker with the controller: the leader, or the last broker without a part in the move; if every broker has
    one, the last broker."""
    if plan.controller_leads:
        return plan.before[0]
    free = [broker for broker in brokers if broker not in (*plan.before, *plan.after)]
    return free[-1] if free else brokers[-1]


def _list(replicas: Replicas) -> str:
    return ",".join(map(str, replicas))
