"""The tried candidates of a shrinking, in a file, so that an interrupted one goes on where it was."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

from attrs import define, field

from scenarios.errors import BadInput
from scenarios.language.schema.toml_text import LONG
from scenarios.reading import parse_json, read_text
from scenarios.studies.shrink.measure import Size
from scenarios.studies.shrink.references import Table
from scenarios.whole_files import save

SAVED_EACH_S = 2.0


def digest(table: Table) -> str:
    """Identifies a table."""
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:16]


@define(eq=False)
class State:
    """The state of one shrinking.

    Attributes:
        path: file of the state; None: it is not kept.
        identity: the scenario, the finding and the program that the file has to be about.
        current: the smallest scenario so far; None: none yet.
        before: the size from which the shrinking began.
        runs: the number of candidates that were run.
        by_itself: whether no known behaviour explains the finding, nor may one explain that of a candidate.
    """

    path: Path | None = None
    identity: str = ""
    current: Table | None = None
    before: Size | None = None
    runs: int = 0
    by_itself: bool = True
    _tried: dict[str, None] = field(factory=dict)
    _saved: float = 0.0

    @classmethod
    def at(cls, path: Path, identity: str) -> State:
        """The state in the file, where there is one. Raises: BadInput for one of another identity."""
        state = cls(path, identity)
        try:
            found = parse_json(read_text(path, "the state of a shrinking"), long=LONG)
            is_this = found["identity"] == identity
            state.current, state.runs, state.by_itself = found["current"], found["runs"], found["by_itself"]
            state.before = None if found["before"] is None else Size(*found["before"])
            state._tried = dict.fromkeys(found["tried"])
        except (BadInput, ValueError, KeyError, TypeError):  # there is none, or a killed process has left it
            return cls(path, identity)
        if not is_this:
            raise BadInput(
                "holds another shrinking (of another scenario or finding, or by another version of the program); "
                "delete it, or name another file with --out",
                source=str(path),
            )
        return state

    def was_tried(self, table: Table) -> bool:
        return digest(table) in self._tried

    def tried(self, table: Table) -> None:
        """Note a candidate that was run."""
        self.runs += 1
        self._tried[digest(table)] = None
        if time.monotonic() - self._saved > SAVED_EACH_S:
            self._save()

    def keep(self, table: Table) -> None:
        """Note a scenario that is smaller and gives the finding."""
        self.current = table
        self._save()

    def close(self, *, finished: bool) -> None:
        """End the shrinking; a finished one needs no file any more."""
        if finished and self.path is not None:
            self.path.unlink(missing_ok=True)
        else:
            self._save()

    def _save(self) -> None:
        if self.path is None:
            return
        self._saved = time.monotonic()
        content = {
            "identity": self.identity, "current": self.current, "before": self.before, "runs": self.runs,
            "by_itself": self.by_itself, "tried": list(self._tried),
        }  # fmt: skip
        save(self.path, json.dumps(content))
