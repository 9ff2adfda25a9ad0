"""A run's identity: a digest over everything that its events depend on.

Two runs with one ``run_id`` are the same run, wherever and however often they were executed, so a retried or
speculative task can neither lose nor duplicate one (readings §10).
"""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from operator import attrgetter
from os import scandir
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios import plugins

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

VERSION = "0.2.0"
"""The program's version; pyproject.toml takes it from here."""

_OWN = __name__.split(".")
_PARENTS = _OWN[:-4]
"""The packages above ``scenarios``: none in a checkout; the build puts the five packages under one of its own."""

COMMAND = "understudy" if _PARENTS else "./understudy"
"""The command that starts the program: its name where it is installed, in a checkout the script in its root."""

IMPORT_ROOT = Path(__file__).parents[len(_OWN) - 1]
"""The folder on the import path from which the program was loaded."""

PACKAGES = tuple(".".join((*_PARENTS, name)) for name in ("emulator", "fetchers", "brokers", "controller", "scenarios"))
"""The packages of the program, as they are imported; the tests are no part of it."""


def command_line(*words: str) -> str:
    """A command of the program for a shell, with the files of the plug-ins that this process has loaded."""
    return shlex.join((COMMAND, *words, *plugins.options()))


def run_id(*, scenario: str, profile: str, strategy: str, seed: int, grid: Mapping[str, object], code: str) -> str:
    """The id of a run, 16 hex digits. ``scenario``: the digest of the scenario; ``code``: ``code_digest()`` where the
    run is planned."""
    parts = [scenario, profile, strategy, seed, VERSION, code, dict(grid)]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def code_digest() -> str:
    """The digest of the code: 16 hex digits over the packages' Python files, in the order of their names, and over the
    plug-ins'."""
    loaded = plugins.loaded()
    if not loaded:
        return own_digest()
    digest = hashlib.sha256(own_digest().encode())
    for plugin in loaded:
        for place, content in _plugin_files(plugin):
            digest.update(f"{place}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


@cache
def own_digest() -> str:
    digest = hashlib.sha256()
    for package in PACKAGES:
        folder = package_folder(package)
        for place, content in _files(package, str(folder)) if folder.is_dir() else _packed_files(package):
            digest.update(f"{place}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def package_folder(package: str) -> Path:
    """The folder of a package, which is not imported."""
    spec = find_spec(package)
    assert spec is not None, f"{package} is not installed"
    assert spec.submodule_search_locations, f"{package} is no package"
    return Path(spec.submodule_search_locations[0])


def _plugin_files(plugin: plugins.Plugin) -> Iterator[tuple[str, bytes]]:
    """A plug-in's Python files: from its own place, or from the zip file that Spark's executors got."""
    if plugin.source.is_dir():
        yield from _files(plugin.module, str(plugin.source))
    elif "." in plugin.module or hasattr(sys.modules[plugin.module], "__path__"):
        for place, content in _packed_files(plugin.module.partition(".")[0]):
            yield plugin.module + place.removeprefix(plugin.module.partition(".")[0]), content
    else:
        module = sys.modules[plugin.module]
        yield plugin.module, module.__loader__.get_data(module.__file__)  # type: ignore[union-attr]


# Without pathlib, which took half of the time: every run from the command line reads all files once.
def _files(place: str, folder: str) -> Iterator[tuple[str, bytes]]:
    """The Python files below ``folder``, each with its place below ``place``."""
    with scandir(folder) as found:
        children = sorted(found, key=attrgetter("name"))
    for child in children:
        if child.is_dir():
            if child.name != "__pycache__":
                yield from _files(f"{place}/{child.name}", child.path)
        elif child.name.endswith(".py"):
            with open(child.path, "rb", buffering=0) as file:
                yield f"{place}/{child.name}", file.read()


def _packed_files(package: str) -> Iterator[tuple[str, bytes]]:
    """The Python files of a package inside a zip file (the form in which Spark ships code to executors), each with its
    place."""
    from importlib.resources import files  # 20 ms that a run from the command line does without

    def below(place: str, node: Traversable) -> Iterator[tuple[str, bytes]]:
        if node.is_dir():
            for child in sorted(node.iterdir(), key=attrgetter("name")):
                yield from below(f"{place}/{child.name}", child)
        elif place.endswith(".py"):
            yield place, node.read_bytes()

    return below(package, files(package))
