"""Scenarios by file name, or by their name in the library that comes with the tool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.errors import BadInput, did_you_mean, nearest
from scenarios.language import Scenario

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SUFFIX = ".toml"


def library() -> tuple[str, ...]:
    """The names of the library's scenarios."""
    names = (entry.name for entry in _library().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def load(name: str, changes: Sequence[tuple[str, str]] = ()) -> Scenario:
    """The scenario in the file ``name``, else the library's scenario of that name, with the changes of ``--set``.

    Raises BadInput, with a suggestion, when there is neither.
    """
    scenario = _find(name)
    return scenario.with_overrides(dict(changes)) if changes else scenario


def _library() -> Traversable:
    from importlib.resources import files

    return files(__package__.rpartition(".")[0]).joinpath("library")


def _find(name: str) -> Scenario:
    if Path(name).exists():
        return Scenario.load(name)
    if name.removesuffix(_SUFFIX) in library():
        plain = name.removesuffix(_SUFFIX)
        resource = _library().joinpath(plain + _SUFFIX)
        return Scenario.loads(resource.read_text(encoding="utf-8"), source=plain)
    near = nearest(name, _beside(name))
    hint = f"did you mean {near!r}?" if near else did_you_mean(name.removesuffix(_SUFFIX), library())
    hint = hint.replace("known:", "the library has", 1)
    raise BadInput(f"there is no such scenario file; {hint}", source=name)


def _beside(name: str) -> list[str]:
    """Scenario files in the folder that ``name`` points to, as the user would write them."""
    folder = Path(name).parent
    try:
        return sorted(str(path) for path in folder.iterdir() if path.suffix in {_SUFFIX, ".json"})
    except OSError:
        return []
