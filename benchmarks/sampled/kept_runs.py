"""The runs of a campaign in a file, a line of JSON each: slices in several processes add up, and a slice that was
interrupted goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from scenarios.runs.dataset.identity import PACKAGES, code_digest, package_folder

LEAPS = "scenarios/runs/leaping/"
"""The code of leaps, of which exact runs run nothing."""
Key = tuple[int, str, int]
"""Number of the case, fidelity, seed."""
Found = Mapping[str, Any]


@define(eq=False)
class KeptRuns:
    """The runs that a file has of the code as it is; those of other code do not count. An exact run counts
    where nothing but the code of leaps has changed.

    Attributes:
        runs: the runs.
    """

    path: Path
    runs: dict[Key, Found] = field(factory=dict)
    _code: Mapping[str, str] = field(factory=lambda: {"sampled": code_digest(), "exact": code_without_leaps()})

    def read(self) -> KeptRuns:
        """Read the file, which need not be there. A line that was cut off is passed over."""
        self.runs.clear()
        lines = self.path.read_text(encoding="utf-8").split("\n")[:-1] if self.path.exists() else []
        for line in lines:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if found["code"] == self._code[found["fidelity"]]:
                self.runs[found["case"], found["fidelity"], found["seed"]] = found
        return self

    def add(self, key: Key, run: Found) -> None:
        """Keep one more run, in one write: other processes may append, too."""
        case, fidelity, seed = key
        kept = {"case": case, "fidelity": fidelity, "seed": seed, "code": self._code[fidelity], **run}
        self.runs[key] = kept
        place = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(place, (json.dumps(kept) + "\n").encode())
        finally:
            os.close(place)


def code_without_leaps() -> str:
    """The digest of the code of exact runs."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        folder = package_folder(package)
        for path in sorted(folder.rglob("*.py")):
            place = f"{package}/{path.relative_to(folder).as_posix()}"
            if not place.startswith(LEAPS):
                digest.update(f"{place}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
