"""Outcomes that are understood: which reading, document or ticket explains what a cell shows."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from scenarios.atlas.cells import Cell
from scenarios.atlas.outcome import Finding


@frozen
class Known:
    """``applies`` to a cell's finding; ``text``: the reason and its source, one line."""

    applies: Callable[[Cell, Finding], bool]
    text: str


KNOWN: tuple[Known, ...] = ()


def explained(cell: Cell, finding: Finding) -> str:
    """The reasons that are known, empty where none is."""
    return "; ".join(known.text for known in KNOWN if known.applies(cell, finding))
