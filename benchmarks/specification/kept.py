"""The results so far, in a file: one JSON object a line."""

import hashlib
import json
from pathlib import Path

from benchmarks.specification.checker import SPECIFICATION, Checked
from benchmarks.specification.configurations import Configuration


class Kept:
    """The finds of earlier runs of TLC. Without a file nothing is kept."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
        self._found = {one["key"]: one for one in map(json.loads, lines)}

    def found(self, configuration: Configuration) -> Checked | None:
        """The result with the same modules and the same configuration, if it ended."""
        one = self._found.get(_key(configuration))
        if one is None or not one["finished"]:
            return None
        return Checked(**{name: one[name] for name in Checked._fields} | {"steps": tuple(one["steps"])})

    def keep(self, configuration: Configuration, checked: Checked) -> Checked:
        """``checked``, once it is in the file."""
        if self._file is not None:
            line = {"key": _key(configuration), "name": configuration.name, **checked._asdict()}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        return checked


def _key(configuration: Configuration) -> str:
    """The digest of all that TLC reads; the comments of a configuration are none of it."""
    asked = [line for line in configuration.text.splitlines() if not line.startswith("\\*")]
    modules = [path.read_text(encoding="utf-8") for path in sorted(SPECIFICATION.glob("*.tla"))]
    return hashlib.sha256("\n".join((*asked, *modules)).encode()).hexdigest()[:16]
