"""Calling ``understudy`` as a process, as a user's shell does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
TIMEOUT_S = 300.0


def environment(**extra: str) -> dict[str, str]:
    """This one's, with the project on the import path from whatever folder."""
    rest = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), *rest]), **extra}


def start(
    *words: str, cwd: Path | None = None, module: str = "scenarios.cli", env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        cwd=cwd or PROJECT,
        env=environment(**(env or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def call(
    *words: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    process = start(*words, cwd=cwd, env=env)
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
    return subprocess.CompletedProcess(words, process.returncode, out, err)
