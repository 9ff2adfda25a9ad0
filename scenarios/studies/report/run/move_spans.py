"""Moves as spans and their protocol's steps as marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, frozen

from controller.procedures import STEPS
from emulator.protocol.types import TopicPartition


@frozen
class Passed:
    """A step of a protocol that the controller came to.

    Attributes:
        end_us: end of the step; None: it did not end.
        seq: number of the last edge's event.
        meaning: the sentence about what happens in the step.
    """

    t_us: int
    end_us: int | None
    seq: int
    step: str
    meaning: str
    controller: int


@define
class _Open:
    t_us: int
    seq: int
    node: int


def steps(rows: Iterable[Mapping[str, Any]]) -> dict[TopicPartition, list[Passed]]:
    """Partition to its steps, in their order; other procedures than reassignments are left out. ``rows``: ``steps``."""
    found: dict[TopicPartition, list[Passed]] = {}
    entered: dict[tuple[TopicPartition, str], _Open] = {}
    for row in rows:
        name = row["step"]
        procedure = STEPS.get(name)
        if procedure is None or not procedure.reassignment or not row["topic"] or row["partition"] < 0:
            continue
        tp = TopicPartition.of(row["topic"], row["partition"])
        meaning = procedure.steps[name]
        before = entered.pop((tp, name), None)
        if row["edge"] == "before":
            if before is not None:
                found.setdefault(tp, []).append(Passed(before.t_us, None, before.seq, name, meaning, before.node))
            entered[tp, name] = _Open(row["t_us"], row["seq"], row["node"])
        else:
            since = row["t_us"] if before is None else before.t_us
            found.setdefault(tp, []).append(Passed(since, row["t_us"], row["seq"], name, meaning, row["node"]))
    for (tp, name), left in entered.items():
        found.setdefault(tp, []).append(Passed(left.t_us, None, left.seq, name, STEPS[name].steps[name], left.node))
    return {tp: sorted(passed, key=lambda one: one.seq) for tp, passed in found.items()}
