"""Scenarios by file name, or by their name in the library, or among the studies, that come with the tool."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.errors import BadInput, did_you_mean, nearest
from scenarios.language import Scenario

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SUFFIX = ".toml"
_LIBRARY, _STUDIES = "library", "studies/library"


def library() -> tuple[str, ...]:
    """The names of the library's scenarios."""
    return _names(_LIBRARY)


def studies() -> tuple[str, ...]:
    """The names of the studies: scenarios with a ``[study]`` table, for ``sweep``."""
    return _names(_STUDIES)


def load(name: str, changes: Iterable[tuple[str, object]] = (), profile: str | None = None) -> Scenario:
    """The scenario in the file ``name``, else the library's scenario or the study of that name, with the changes of
    ``--set``. ``profile``: that of a file which names none.

    Raises BadInput, with a suggestion, when there is neither.
    """
    scenario, changed = _find(name, profile), dict(changes)
    return scenario.with_overrides(changed) if changed else scenario


def _folder(path: str) -> Traversable:
    from importlib.resources import files

    return files(__package__.rpartition(".")[0]).joinpath(*path.split("/"))


def _names(folder: str) -> tuple[str, ...]:
    names = (entry.name for entry in _folder(folder).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def _find(name: str, profile: str | None) -> Scenario:
    if os.path.lexists(name):
        return Scenario.load(name, profile=profile)
    plain = name.removesuffix(_SUFFIX)
    for folder in (_LIBRARY, _STUDIES):
        if plain in _names(folder):
            resource = _folder(folder).joinpath(plain + _SUFFIX)
            return Scenario.loads(resource.read_text(encoding="utf-8"), source=plain, profile=profile)
    near = nearest(name, _beside(name))
    hint = f"did you mean {near!r}?" if near else did_you_mean(plain, (*library(), *studies()))
    hint = hint.replace("known:", "the library has", 1)
    raise BadInput(f"there is no such scenario file; {hint}", source=name)


def _beside(name: str) -> list[str]:
    """Scenario files in the folder that ``name`` points to, as the user would write them."""
    folder = Path(name).parent
    try:
        return sorted(str(path) for path in folder.iterdir() if path.suffix in {_SUFFIX, ".json"})
    except (OSError, ValueError):  # there is none, or it can have no such name
        return []
