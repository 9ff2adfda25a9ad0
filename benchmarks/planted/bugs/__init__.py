"""The bugs as data: one file for each room."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from benchmarks.planted.switch import Edit, Stale, spans


@frozen(kw_only=True)
class Bug:
    """One bug.

    Attributes:
        name: in a word or four, once.
        room: the file that declares it.
        title: what goes wrong, for a reader of the table.
        after: the ticket of Kafka that it is made after, as KAFKA-NUMBER; else the rule by which a developer errs.
        harm: what a user of the cluster would see.
        profile: the release whose runs have the path.
        edits: the changes of the code.
        equivalent: why no user is harmed; such a bug is not counted.
    """

    name: str
    room: str
    title: str
    after: str
    harm: str
    profile: str
    edits: Sequence[Edit] = field(repr=False)
    equivalent: str = ""

    @property
    def of_kafka(self) -> bool:
        return self.after.startswith("KAFKA-")


def read_bugs() -> list[Bug]:
    """All bugs, by room and in the order of their files."""
    return [
        _bug(path.stem, entry)
        for path in sorted(Path(__file__).parent.glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["bug"]
    ]


def _bug(room: str, entry: dict[str, Any]) -> Bug:
    first = {key: entry.pop(key) for key in ("file", "old", "new")}
    edits = [Edit(**edit) for edit in (first, *entry.pop("also", ()))]
    return Bug(room=room, edits=edits, **entry)


def fit_together(bugs: Sequence[Bug], root: Path) -> bool:
    """Whether all can be on at once. Raises: Stale where one does not fit the checkout ``root`` at all."""
    edits = [edit for bug in bugs for edit in bug.edits]
    try:
        for file in dict.fromkeys(edit.file for edit in edits):
            spans((root / file).read_text(encoding="utf-8"), [edit for edit in edits if edit.file == file])
    except Stale:
        for bug in bugs if len(bugs) > 1 else ():
            fit_together([bug], root)
        if len(bugs) == 1:
            raise
        return False
    return True
