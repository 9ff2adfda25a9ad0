"""A run's identity changes with everything that its events depend on, and with nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scenarios.runs.dataset.identity import IMPORT_ROOT, PACKAGES, code_digest, own_digest, run_id

BASE: dict[str, Any] = {
    "scenario": "abc", "profile": "kafka-2.3", "strategy": "wiki", "seed": 3,
    "grid": {"a": 1, "b": 2}, "code": "c0de",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scenario", "abd"),
        ("profile", "kafka-2.4"),
        ("strategy", "kafka-6794"),
        ("seed", 4),
        ("grid", {}),
        ("code", "c0df"),
    ],
)
def test_everything_that_matters_changes_it(name: str, value: object) -> None:
    assert run_id(**{**BASE, name: value}) != run_id(**BASE)


def test_the_order_of_the_grid_does_not_matter() -> None:
    assert run_id(**{**BASE, "grid": {"b": 2, "a": 1}}) == run_id(**BASE)


def test_the_code_has_one_digest() -> None:
    assert len(code_digest()) == 16
    own_digest.cache_clear()
    assert len(code_digest()) == 16


def test_the_code_in_a_zip_file_has_the_same_digest(tmp_path: Path) -> None:
    packed = tmp_path / "code.zip"
    with ZipFile(packed, "w") as file:
        for package in PACKAGES:
            for path in (IMPORT_ROOT / package).rglob("*.py"):
                file.write(path, path.relative_to(IMPORT_ROOT))
    program = "import scenarios.runs.dataset.identity as i; print(i.__file__, i.code_digest())"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(packed)!r}); {program}"]
    found = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": ":".join(sys.path[1:])}, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == [str(packed / "scenarios/runs/dataset/identity.py"), code_digest()]
