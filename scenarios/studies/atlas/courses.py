"""The moves that the atlas breaks, and the cluster around them (readings §6).

A course is a move of one partition, ``orders-0``, and says where the controller stands: on a broker that has nothing to
do with the partition, so that the controller's faults are its own; or, in one pass, on the leader.
"""

from __future__ import annotations

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
"""The widest move touches six; the controller has the seventh."""

SEED = 1
HORIZON = "15m"
GIVES_UP = "14m"
"""How long a run waits for a move, counted from its start. Every fault is healed within four virtual minutes, so a run
that ends here has waited for ten after healing."""
LOAD_STOPS = "24s"
"""Later than every fault's healing, since what is acknowledged meanwhile can be lost; sooner than any run's end, since
the logs are compared there."""


@frozen
class Course:
    """``before`` and ``after``: the replicas, preferred leader first. ``controller_leads``: the leader is."""

    before: Replicas
    after: Replicas
    controller_leads: bool = False

    @property
    def id(self) -> str:
        """``0,1,2-1,3,4``, in cells' names."""
        return f"{_list(self.before)}-{_list(self.after)}" + "+controller-leads" * self.controller_leads

    @property
    def title(self) -> str:
        leads = ", controller and leader in one" if self.controller_leads else ""
        return f"[{_list(self.before)}] to [{_list(self.after)}]{leads}"

    @property
    def min_insync_replicas(self) -> int:
        """One less than the smallest replica list: a fault alone, at one replica, is never under-min-ISR."""
        return max(1, min(len(self.before), len(self.after)) - 1)


DEFAULT = Course((0, 1, 2), (1, 3, 4))
COURSES = (
    DEFAULT,
    Course((0, 1, 2), (0, 1, 3)),
    Course((0, 1, 2), (3, 4, 5)),
    Course((0, 1, 2), (2, 1, 0)),
    Course((0, 1), (0, 1, 2)),
    Course((0, 1, 2), (1, 2)),
    evolve(DEFAULT, controller_leads=True),
)
"""Those of ``--all-plans``. The replication factor is lowered by the leader: the harder case."""


def protocols() -> tuple[str, ...]:
    """Those of the atlas without ``--protocol``: the strategies that are a document's own."""
    return tuple(shape.name for shape in SHAPES.values() if shape.name == shape.protocol)


def profile_of(strategy: str) -> str:
    """The release that moves partitions this way by itself; the default profile where that does, or none."""
    protocol = parse_strategy(strategy).protocol
    homes = [name for name, profile in PROFILES.items() if profile.strategy == protocol]
    return DEFAULT_PROFILE if DEFAULT_PROFILE in homes or not homes else homes[0]


def own_courses(scenario: Scenario) -> tuple[Course, ...]:
    """The moves of a scenario file's plan, each once; they take the place of the built-in ones."""
    before = scenario.assignments()
    moves = scenario.plan.targets() if scenario.plan is not None else {}
    return tuple(dict.fromkeys(Course(before[name], after) for name, after in moves.items()))


def undisturbed(course: Course, strategy: str, seed: int = SEED, like: Scenario | None = None) -> Scenario:
    """The move without any fault. ``like``: a scenario whose cluster, settings, profile and load are taken.

    Raises: BadInput where that cluster has too few brokers for the move.
    """
    table = _table(course) if like is None else _table_like(course, like)
    table["profile"] = profile_of(strategy) if like is None else like.profile
    table["seed"], table["strategy"]["name"] = seed, strategy
    return Scenario.from_table(table, source="" if like is None else like.source)


def _table(course: Course) -> dict[str, Any]:
    load = {"topic": TOPIC, "messageSize": 100, "stop": LOAD_STOPS}
    return {
        "title": f"The move {course.title}, undisturbed",
        "horizon": HORIZON,
        "cluster": {
            "brokers": BROKERS,
            "controller": _controller(course, BROKERS),
            "config": _settings(course),
        },
        "topics": [{"name": TOPIC, "assignment": [list(course.before)], "size": "64KiB"}],
        "workloads": [
            {**load, "producerRate": 4, "acks": "all", "linger": "250ms"},
            {**load, "producerRate": 10, "acks": "1", "linger": "100ms"},
        ],
        "strategy": {},
        "plan": {
            "version": 1,
            "partitions": [{"topic": TOPIC, "partition": 0, "replicas": list(course.after)}],
        },
        "method": [{"at": "1s", "action": "reassign.execute"}],
        "expect": [
            {"isr": {PARTITION: list(course.after)}, "within": GIVES_UP},
            {"leader": {PARTITION: list(course.after)}},
        ],
    }


def _table_like(course: Course, like: Scenario) -> dict[str, Any]:
    table, theirs = _table(course), like.to_table()
    brokers = like.cluster.brokers
    lacking = [broker for broker in (*course.before, *course.after) if broker >= brokers]
    if lacking:
        raise BadInput(
            f"the move {course.title} needs broker {max(lacking)}; write at least {max(lacking) + 2}, or a [plan]",
            where="cluster.brokers",
            source=like.source,
        )
    controller = like.cluster.controller
    if course.controller_leads or controller is None or controller in (*course.before, *course.after):
        controller = _controller(course, brokers)
    settings = theirs["cluster"].get("config", {})
    table["cluster"] = {**theirs["cluster"], "controller": controller, "config": {**_settings(course), **settings}}
    for key in ("size", "config"):
        if theirs.get("topics") and key in theirs["topics"][0]:
            table["topics"][0][key] = theirs["topics"][0][key]
    if like.workloads:
        table["workloads"] = [{**load, "topic": TOPIC, "stop": LOAD_STOPS} for load in theirs["workloads"]]
    table["strategy"] = {key: value for key, value in theirs.get("strategy", {}).items() if key != "name"}
    return table


def _settings(course: Course) -> dict[str, Any]:
    """What a move leaves behind is to be seen, not what the next rebalance of leaders makes of it."""
    return {"min.insync.replicas": course.min_insync_replicas, "auto.leader.rebalance.enable": False}


def _controller(course: Course, brokers: int) -> int:
    """The leader, or the last broker that is no part of the move; where all are, the last one."""
    if course.controller_leads:
        return course.before[0]
    free = [broker for broker in range(brokers) if broker not in (*course.before, *course.after)]
    return free[-1] if free else brokers - 1


def _list(replicas: Replicas) -> str:
    return ",".join(map(str, replicas))
