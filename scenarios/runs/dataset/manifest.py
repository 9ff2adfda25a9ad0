"""The manifest: one JSON file that says what a data set holds, and in which version of the layout.

A sweep's (``Manifest``) grows as later sweeps add strategies and seeds. An atlas's is its identity,
which does not change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from scenarios.errors import BadInput
from scenarios.runs.dataset.schema import VERSION, other_version
from scenarios.runs.dataset.writer import put_text

NAME = "manifest.json"


def _texts(value: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value)


def _numbers(value: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(value)


@frozen(kw_only=True)
class Manifest:
    """The manifest of a sweep or a single run. ``strategies`` are in the order asked: the others are compared with the
    first."""

    schema: int = VERSION
    experiment: str
    scenario: str
    title: str
    profile: str
    strategies: tuple[str, ...] = field(converter=_texts)
    seeds: tuple[int, ...] = field(converter=_numbers)


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Add this sweep to what the data set's manifest says: strategies and seeds join those of earlier sweeps.

    Raises BadInput when the folder holds another scenario's or another experiment's runs, or cannot be
    written.
    """
    if (root / NAME).exists():
        manifest = _joined(read_manifest(root), manifest, root)
    _write(root, NAME, asdict(manifest))


def claim(root: Path, name: str, identity: Mapping[str, object], *, resume: bool) -> None:
    """Make the folder that of one study, an ``atlas``, which ``identity`` describes: its manifest is ``name``.json.

    With ``resume`` the folder may hold the same study already.
    Raises: BadInput when it holds one without ``resume``, or another one, or cannot be written.
    """
    path = root / f"{name}.json"
    if not path.exists():
        _write(root, path.name, identity)
        return
    if not resume:
        raise BadInput(f"holds an {name} already; add --resume, or name another folder", source=str(root))
    try:
        found = json.loads(path.read_text())
        different = [key for key, value in identity.items() if found.get(key) != value]
    except (OSError, ValueError, AttributeError) as error:
        raise BadInput(f"is corrupt; make a new {name} in another folder", source=str(path)) from error
    for key in different:
        raise BadInput(
            f"holds an {name} with {key} {found.get(key)!r}, not {identity[key]!r}; name another folder",
            source=str(root),
        )


def _write(root: Path, name: str, content: Mapping[str, object]) -> None:
    put_text(root, root / name, json.dumps(dict(content), indent=1) + "\n")


def read_manifest(root: Path) -> Manifest:
    """Raises BadInput, one line, for a folder that is missing or no data set, and for another version of the
    layout."""
    if not root.is_dir():
        raise BadInput("there is no such folder; name the --out folder of a sweep", source=str(root))
    path = root / NAME
    if not path.is_file():
        raise BadInput(f"is no data set ({NAME} is missing); name the --out folder of a sweep", source=str(root))
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        version = content["schema"]
        if version == VERSION:
            return Manifest(**content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput("is corrupt; run the sweep again into a new folder", source=str(path)) from error
    raise BadInput(other_version(version), source=str(path))


def _joined(old: Manifest, new: Manifest, root: Path) -> Manifest:
    for name in ("experiment", "scenario", "profile"):
        if getattr(old, name) != getattr(new, name):
            raise BadInput(
                f"holds runs of {name} {getattr(old, name)!r}, not {getattr(new, name)!r}; name another folder",
                source=str(root),
            )
    strategies = (*old.strategies, *(name for name in new.strategies if name not in old.strategies))
    return Manifest(
        experiment=old.experiment,
        scenario=old.scenario,
        title=new.title,
        profile=old.profile,
        strategies=strategies,
        seeds=tuple(sorted({*old.seeds, *new.seeds})),
    )
