"""The mutations that are tried, of all possible ones: so many of each rule, drawn by their hashes, and reviewed by
hand.

``reviewed.toml`` holds them, with the reason where a mutation turned out to change nothing that Kafka promises.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import asdict, frozen

from benchmarks.mutations.rules import Mutation, mutations

ROOMS = ("brokers", "controller", "fetchers")
DECLARATIONS = ("policies.py", "config.py", "steps.py", "procedures.py", "request_schemas.py", "metrics.py")
"""Modules that declare policies, settings, names and gauges: a line changed there is another policy, not a mistake."""
PER_RULE = {
    "left out": 34, "comparison": 28, "condition": 22, "and, or": 14, "not": 12, "plus, minus": 10, "truth": 10,
    "min, max": 8,
}  # fmt: skip
REVIEWED = Path(__file__).with_name("reviewed.toml")


@frozen
class Reviewed:
    """A mutation that was drawn. ``equivalent``: why it changes nothing that could be seen; "" where it does."""

    mutation: Mutation
    equivalent: str = ""

    @property
    def room(self) -> str:
        return self.mutation.file.partition("/")[0]


def possible(root: Path) -> Iterator[Mutation]:
    """All mutations of the rooms in the checkout ``root``."""
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            if path.name not in DECLARATIONS and "metrics" not in path.parts:
                yield from mutations(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))


def draw(candidates: Iterable[Mutation]) -> list[Mutation]:
    """So many of each rule as ``PER_RULE`` says, at most one for a line: those whose hashes are lowest."""
    ordered = sorted(candidates, key=_hash)
    left, lines, drawn = dict(PER_RULE), set(), []
    for mutation in ordered:
        line = (mutation.file, mutation.before, mutation.occurrence)
        if left[mutation.rule] and line not in lines:
            left[mutation.rule] -= 1
            lines.add(line)
            drawn.append(mutation)
    return sorted(drawn, key=lambda mutation: (mutation.file, mutation.before))


def _hash(mutation: Mutation) -> bytes:
    return hashlib.sha256(json.dumps(asdict(mutation)).encode()).digest()


def reviewed() -> list[Reviewed]:
    """The mutations in ``reviewed.toml``."""
    entries = tomllib.loads(REVIEWED.read_text(encoding="utf-8"))["mutation"]
    reasons = [entry.pop("equivalent", "") for entry in entries]
    return [Reviewed(Mutation(**entry), reason) for entry, reason in zip(entries, reasons, strict=True)]


def stale(mutants: Iterable[Reviewed], root: Path) -> list[str]:
    """A line for each entry that names a line which the checkout ``root`` does not have any more, and what to do."""
    entries = {one.mutation: number for number, one in enumerate(reviewed(), 1)}
    lines = []
    for one in mutants:
        try:
            one.mutation.number((root / one.mutation.file).read_text(encoding="utf-8"))
        except (LookupError, FileNotFoundError) as error:
            what = error if isinstance(error, LookupError) else f"there is no {one.mutation.file} any more"
            lines.append(f"{REVIEWED.name}, entry {entries[one.mutation]}: {what}; correct the entry, or --draw again")
    return lines


def write(mutants: Iterable[Reviewed]) -> None:
    """Write ``reviewed.toml``."""
    blocks = []
    for one in mutants:
        keys = {**asdict(one.mutation), **({"equivalent": one.equivalent} if one.equivalent else {})}
        blocks.append("[[mutation]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in keys.items()))
    REVIEWED.write_text("\n".join(blocks), encoding="utf-8")
