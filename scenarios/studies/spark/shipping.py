"""Sending the program to executors that do not have it: its packages and the plug-ins in one file."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from pyspark.sql import SparkSession

from scenarios import plugins
from scenarios.runs.dataset.identity import PACKAGES, code_digest, package_folder

FACE = "understudy"
"""The package that plug-ins import: in a checkout a package of its own, from a wheel the one that holds the others."""
_FLOORS = tuple(package.partition(".")[0] for package in PACKAGES)
PROGRAM = tuple(dict.fromkeys((*_FLOORS, FACE) if find_spec(FACE) else _FLOORS))
"""The program's top-level packages."""

_SHIPPED = (".py", ".toml", ".json")
_SENT: set[tuple[str, str]] = set()


def is_local(master: str) -> bool:
    """Whether the tasks run on this machine, in processes that have this process's import path."""
    return master == "local" or master.startswith("local[")


def ship(spark: SparkSession, packages: Sequence[str] = PROGRAM) -> None:
    """Send ``packages`` and the loaded plug-ins once to the executors of this session, including those that start
    later. Executors of this process's machine that share its import path need nothing."""
    context = spark.sparkContext
    name = f"understudy-{code_digest()}-{'-'.join(packages)}.zip"
    sent = (context.applicationId, name)
    if is_local(str(context.master)) or sent in _SENT:
        return
    # Kept until this process ends: executors that start later fetch it from here.
    folder = tempfile.mkdtemp(prefix="understudy-code-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    context.addPyFile(str(archive(Path(folder, name), packages)))
    _SENT.add(sent)


def archive(path: Path, packages: Sequence[str]) -> Path:
    """Write the packages and the plug-ins to ``path``."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for package in map(package_folder, packages):
            _add_package(file, package)
        for plugin in plugins.loaded():
            if plugin.source.is_dir():
                _add_package(file, plugin.source)
            else:
                file.write(plugin.source, f"{plugin.module}.py")
    return path


def _add_package(file: zipfile.ZipFile, package: Path) -> None:
    for path in sorted(package.rglob("*")):
        if path.suffix in _SHIPPED and "__pycache__" not in path.parts:
            file.write(path, path.relative_to(package.parent))
