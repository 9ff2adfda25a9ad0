"""A cell: a move, a gate of it, a broker and a fault. It is an ordinary scenario with one entry in its method.

Brokers are named by their ids, taken from the undisturbed run at that gate: up to there the two runs are equal. Where
an actor does not exist at a gate (no follower is kept, none is removed) there is no cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen

from scenarios.faults.target_roles import parts_of_move
from scenarios.language import Scenario
from scenarios.studies.atlas.move_recorder import GateVisit
from scenarios.studies.atlas.plans import AtlasPlan

Table = Mapping[str, Any]

ACTORS: Mapping[str, str] = {
    "controller": "the broker that performs the step",
    "leader": "the partition's leader in ZooKeeper",
    "kept": "a follower that stays",
    "adding": "a replica that the move adds, one that is not in sync yet where there is one",
    "removing": "a follower that the move removes",
}
RESTARTED_AFTER = "100ms"
"""The time after which a broker is restarted, before its ZooKeeper session expires (KIP-380's bounced broker)."""
HEALED_AFTER = "20s"
"""The duration of a pause and of a cut link, under which a cluster never settles: a request to a paused broker stays in
flight, and a controller retries over a cut link for ever. It is longer than a session (6 s) and than the time a leader
keeps a follower in the ISR that does not fetch (at most 15 s)."""

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
    "pause": "it does nothing for 20 s, so its session expires",
    "cut": "for 20 s no message passes between it and the controller (for the controller: any other broker)",
    "expire": "its ZooKeeper session is expired",
}
HEALING: tuple[Table, ...] = (
    {"action": "broker.start", "target": {"mode": "all", "state": "down"}},
    {"action": "broker.resume", "target": {"mode": "all", "state": "paused"}},
    {"action": "link.heal", "target": {"mode": "all"}},
)
"""The rollbacks, done when the cluster has settled under the fault."""
MARGIN_US = 7_000_000


@frozen(kw_only=True)
class Cell:
    """One cell. ``broker``: the one with the fault; ``controller``: the controller at that gate."""

    protocol: str
    plan: AtlasPlan
    step: str
    edge: str
    hop: int
    occurrence: int
    actor: str
    broker: int
    controller: int
    fault: str

    @property
    def gate(self) -> str:
        """The gate within its protocol: ``7.after``, ``hop2.5.before``, ``check.before.2`` (its second visit)."""
        hop = f"hop{self.hop}." if self.hop else ""
        again = f".{self.occurrence}" if self.occurrence > 1 else ""
        return f"{hop}{self.step.rpartition('.')[2]}.{self.edge}{again}"

    @property
    def id(self) -> str:
        """The name that ``--cell`` takes: ``wiki/0,1,2-1,3,4/7.after/leader/crash``."""
        return "/".join((self.protocol, self.plan.id, self.gate, self.actor, self.fault))

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
        table["description"] = f"{self.id} of the atlas: {self.plan.title} under {self.protocol}."
        table["method"] = [*table["method"], fault]
        table["rollbacks"] = [*HEALING, _patience(undisturbed)]
        return Scenario.from_table(table, source=undisturbed.source)


def _patience(undisturbed: Scenario) -> Table:
    """A last rollback that lets time pass: a leader drops a follower that does not fetch after at most one and a half
    times ``replica.lag.time.max.ms``, and until then the cluster seems settled."""
    lag_us = int(undisturbed.settings()["replica.lag.time.max.ms"]) * 1500
    return {**HEALING[-1], "after": f"{lag_us + MARGIN_US}us"}


def cells(protocol: str, plan: AtlasPlan, visits: Iterable[GateVisit]) -> Iterator[Cell]:
    """All cells of a move, in the order of its gates."""
    for visit in visits:
        for actor in ACTORS:
            broker = broker_of(actor, plan, visit)
            if broker is None:
                continue
            for fault in FAULTS:
                yield Cell(
                    protocol=protocol,
                    plan=plan,
                    step=visit.step,
                    edge=visit.edge,
                    hop=visit.hop,
                    occurrence=visit.occurrence,
                    actor=actor,
                    broker=broker,
                    controller=visit.controller,
                    fault=fault,
                )


def broker_of(actor: str, plan: AtlasPlan, visit: GateVisit) -> int | None:
    """The broker that an actor means at a gate. None where there is none, or where an earlier actor of the table means
    the same broker."""
    if actor == "controller":
        return visit.controller
    if actor == "leader":
        return visit.leader if visit.leader not in (-1, visit.controller) else None
    players = parts_of_move(plan.before, plan.after)[actor]
    found = [broker for broker in players if broker not in (visit.leader, visit.controller)]
    if actor == "adding":
        found.sort(key=lambda broker: broker in visit.isr)
    return found[0] if found else None
