"""One cell's result: a row of the data set, and an object of ``--format json``."""

from __future__ import annotations

from typing import Any, NamedTuple


class CellRow(NamedTuple):
    """A cell and what became of it.

    Attributes:
        cell: its name, as ``--cell`` takes it; ``plan``, ``spot`` and so on: its parts.
        hop: 0 for protocols without hops. ``occurrence``: the how manieth visit of the gate, from 1.
        broker: who was hit.
        outcome: finished, harmed, stuck or unsafe. ``harm``: the worst; ``harms``: all, worst first.
        why: one line. ``known``: the reading or ticket that explains it, empty where none is known.
        healed_us, virtual_us: when the last thing was done to the cluster, and when the run ended.
        command: what shows it again. ``digest``: of the run's events.
        timeline: of the partition, from the request for the move on.
    """

    cell: str
    protocol: str
    profile: str
    plan: str
    step: str
    edge: str
    hop: int
    occurrence: int
    actor: str
    broker: int
    fault: str
    outcome: str
    harm: str
    harms: tuple[str, ...]
    why: str
    known: str
    seed: int
    healed_us: int
    virtual_us: int
    command: str
    digest: str
    timeline: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """What ``--format json`` lists."""
        fields = self._asdict()
        del fields["timeline"]
        return fields
