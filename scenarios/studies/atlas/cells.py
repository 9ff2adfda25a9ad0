"""A cell: a move, a place in it, a broker, a fault. It is a scenario like any other, with one entry in its method.

The brokers are named by their ids, as the undisturbed run has them at that gate: up to there both runs are one. A cell
whose actor does not exist there (no follower is kept, none is removed) is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen

from scenarios.faults.roles import parts_of_move
from scenarios.language import Scenario
from scenarios.studies.atlas.courses import Course
from scenarios.studies.atlas.witness import Visit

Table = Mapping[str, Any]

ACTORS: Mapping[str, str] = {
    "controller": "the broker that performs the step",
    "leader": "the partition's leader in ZooKeeper",
    "kept": "a follower that stays",
    "adding": "a replica that the move adds, one that is not in sync yet where there is one",
    "removing": "a follower that the move removes",
}
RESTARTED_AFTER = "100ms"
"""Sooner than anybody notices by a session's end (KIP-380's bounced broker)."""
HEALED_AFTER = "20s"
"""Of a pause and a cut link, under which a cluster never settles: a request to a paused broker stays on its way, and
over a cut link a controller asks again for ever. Longer than a session lasts (6 s) and than a leader keeps a follower
that does not fetch (at most 15 s)."""

FAULTS: Mapping[str, Table] = {
    "crash": {"action": "broker.crash"},
    "crash-restart": {"action": "broker.crash", "duration": RESTARTED_AFTER},
    "pause": {"action": "broker.pause", "duration": HEALED_AFTER},
    "cut": {"action": "link.cut", "duration": HEALED_AFTER},
    "expire": {"action": "zk.expire"},
}
FAULT_HELP: Mapping[str, str] = {
    "crash": "its process is killed, and started again once the cluster has settled",
    "crash-restart": "its process is killed, and started again after a tenth of a second",
    "pause": "it stands still for 20 s, so its session ends",
    "cut": "for 20 s nothing passes between it and the controller (the controller: and any other broker)",
    "expire": "its ZooKeeper session is expired",
}
HEALING: tuple[Table, ...] = (
    {"action": "broker.start", "target": {"mode": "all", "state": "down"}},
    {"action": "broker.resume", "target": {"mode": "all", "state": "paused"}},
    {"action": "link.heal", "target": {"mode": "all"}},
)
"""What the rollbacks do when the cluster has settled under the fault."""
MARGIN_US = 7_000_000


@frozen(kw_only=True)
class Cell:
    """``broker``: who is hit; ``controller``: who is controller then."""

    protocol: str
    course: Course
    step: str
    edge: str
    hop: int
    occurrence: int
    actor: str
    broker: int
    controller: int
    fault: str

    @property
    def spot(self) -> str:
        """The gate within its protocol: ``7.after``, ``hop2.5.before``, ``check.before.2`` (its second visit)."""
        hop = f"hop{self.hop}." if self.hop else ""
        again = f".{self.occurrence}" if self.occurrence > 1 else ""
        return f"{hop}{self.step.rpartition('.')[2]}.{self.edge}{again}"

    @property
    def id(self) -> str:
        """``wiki/0,1,2-1,3,4/7.after/leader/crash``: how ``--cell`` names it."""
        return "/".join((self.protocol, self.course.id, self.spot, self.actor, self.fault))

    @property
    def words(self) -> str:
        hop = f" of hop {self.hop}" if self.hop else ""
        again = f" (visit {self.occurrence})" if self.occurrence > 1 else ""
        what = FAULTS[self.fault]["action"].partition(".")[2] if self.fault != "crash-restart" else self.fault
        return f"{what} of {self.actor} (broker {self.broker}) {self.edge} {self.step}{hop}{again}"

    def scenario(self, undisturbed: Scenario) -> Scenario:
        """The move with the fault and its healing."""
        when = {
            "step": self.step,
            "edge": self.edge,
            **({"hop": self.hop} if self.hop else {}),
            **({"occurrence": self.occurrence} if self.occurrence > 1 else {}),
        }
        fault = {**FAULTS[self.fault], "when": when, "target": self.broker}
        if self.fault == "cut" and self.broker != self.controller:
            fault["peer"] = self.controller
        table = undisturbed.to_table()
        table["title"] = f"Atlas: {self.words}"
        table["description"] = f"{self.id} of the atlas: {self.course.title} under {self.protocol}."
        table["method"] = [*table["method"], fault]
        table["rollbacks"] = [*HEALING, _patience(undisturbed)]
        return Scenario.from_table(table, source=undisturbed.source)


def _patience(undisturbed: Scenario) -> Table:
    """Time that passes after healing: a leader drops a follower that does not fetch after at most one and a half times
    replica.lag.time.max.ms, which a cluster that seems settled only waits for."""
    lag_us = int(undisturbed.settings()["replica.lag.time.max.ms"]) * 1500
    return {**HEALING[-1], "after": f"{lag_us + MARGIN_US}us"}


def cells(protocol: str, course: Course, visits: Iterable[Visit]) -> Iterator[Cell]:
    """All of a move, in the order of its gates."""
    for visit in visits:
        for actor in ACTORS:
            broker = who(actor, course, visit)
            if broker is None:
                continue
            for fault in FAULTS:
                yield Cell(
                    protocol=protocol,
                    course=course,
                    step=visit.step,
                    edge=visit.edge,
                    hop=visit.hop,
                    occurrence=visit.occurrence,
                    actor=actor,
                    broker=broker,
                    controller=visit.controller,
                    fault=fault,
                )


def who(actor: str, course: Course, visit: Visit) -> int | None:
    """The broker that plays a part at a gate, None where none does or it plays a part above it in the table too."""
    if actor == "controller":
        return visit.controller
    if actor == "leader":
        return visit.leader if visit.leader not in (-1, visit.controller) else None
    players = parts_of_move(course.before, course.after)[actor]
    found = [broker for broker in players if broker not in (visit.leader, visit.controller)]
    if actor == "adding":
        found.sort(key=lambda broker: broker in visit.isr)
    return found[0] if found else None
