"""The manifest: one JSON file that describes a data set, and gives the version of its layout.

A sweep's (``Manifest``) grows as later sweeps add arms and seeds; that of ``run --trace`` is replaced by the next run
of the same file. An atlas's is its identity, which does not change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, field, frozen
from attrs.validators import deep_iterable, instance_of

from scenarios.errors import BadInput, join_path
from scenarios.language.schema.kinds import as_tuple
from scenarios.language.schema.toml_text import LONG
from scenarios.reading import parse_json, read_text
from scenarios.runs.dataset.arm import Arm, named
from scenarios.runs.dataset.table_schemas import VERSION, other_version
from scenarios.runs.dataset.writer import check_writable, put_text

NAME = "manifest.json"
SINGLE_RUN = "run"
"""The experiment's name in the data set of a single run."""
_MOST_CHANGES = 4
_NAME_ONE = "name the --trace folder of a run or the --out folder of a sweep"


def _arms(value: Iterable[Arm | Mapping[str, Any]]) -> tuple[Arm, ...]:
    arms = tuple(arm if isinstance(arm, Arm) else Arm(**arm) for arm in value)
    if len({arm.axes for arm in arms}) != 1:
        raise ValueError("no arms, or arms of different axes")
    return named(arms)


def _numbers(value: Iterable[int]) -> tuple[int, ...]:
    return tuple(value)


_TEXT: Any = instance_of(str)
_TEXTS: Any = deep_iterable(_TEXT)


@frozen(kw_only=True)
class Manifest:
    """The manifest of a sweep or a single run.

    Attributes:
        scenario: the digest of the scenario.
        file, document: the file that it was read from, and its content (``Scenario.to_table``).
        arms: the arms in the requested order, with their names: the others are compared with the first.
        compare, minimum: the metrics that the study is about, and the smallest differences that matter, from its file;
            empty where the file has none.
    """

    schema: int = VERSION
    experiment: str = field(validator=_TEXT)
    file: str = field(default="", validator=_TEXT)
    scenario: str = field(validator=_TEXT)
    document: Mapping[str, Any] = field(factory=dict, validator=instance_of(dict))
    title: str = field(validator=_TEXT)
    arms: tuple[Arm, ...] = field(converter=_arms)
    seeds: tuple[int, ...] = field(converter=_numbers, validator=deep_iterable(instance_of(int)))
    compare: tuple[str, ...] = field(default=(), converter=as_tuple, validator=_TEXTS)
    minimum: tuple[str, ...] = field(default=(), converter=as_tuple, validator=_TEXTS)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes: ``strategy``, ``profile`` and the keys of the grid."""
        return self.arms[0].axes

    def values(self, axis: str) -> tuple[str, ...]:
        """The values on an axis, in the requested order. Raises: BadInput for an axis that it does not have."""
        return tuple(dict.fromkeys(arm.value_of(axis) for arm in self.arms))

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return {**asdict(self, recurse=False), "arms": [arm.to_json() for arm in self.arms]}


def check_overwritable(root: Path, file: str) -> None:
    """Check that a folder can be overwritten. Raises: BadInput when it holds anything but a trace of the scenario in
    ``file``, or cannot be written."""
    if (root / NAME).exists():
        held = read_manifest(root)
        if held.experiment != SINGLE_RUN:
            what = f"the sweep {held.experiment!r} of {_named(held)}"
        elif Path(held.file).absolute() != Path(file).absolute():
            what = f"the trace of {_named(held)}"
        else:
            what = ""
        if what:
            raise BadInput(f"holds {what}, which is not overwritten; name another folder", source=str(root))
    check_writable(root)


def write_manifest(root: Path, manifest: Manifest, *, overwrite: bool = False) -> None:
    """Add this sweep to the data set's manifest: arms and seeds join those of earlier sweeps. With ``overwrite`` the
    manifest takes the place of an earlier one.

    Raises BadInput when the folder holds another scenario's or another experiment's runs, or cannot be written.
    """
    if (root / NAME).exists() and not overwrite:
        manifest = _joined(read_manifest(root), manifest, root)
    _write(root, NAME, manifest.to_json())


def claim(root: Path, name: str, identity: Mapping[str, object]) -> None:
    """Claim the folder for one study, such as an ``atlas``, which ``identity`` describes: its manifest is
    ``name``.json. The folder may hold that study already, which goes on.

    Raises: BadInput when it holds another one, or cannot be written.
    """
    path = root / f"{name}.json"
    if not path.exists():
        _write(root, path.name, identity)
        return
    try:
        found = parse_json(read_text(path, "a manifest"))
        different = [key for key, value in identity.items() if found.get(key) != value]
    except (BadInput, ValueError, AttributeError) as error:
        raise BadInput(f"is corrupt; make a new {name} in another folder", source=str(path)) from error
    for key in different:
        raise BadInput(
            f"holds an {name} with {key} {found.get(key)!r}, not {identity[key]!r}; name another folder",
            source=str(root),
        )


def _write(root: Path, name: str, content: Mapping[str, object]) -> None:
    put_text(root, root / name, json.dumps(dict(content), indent=1) + "\n")


def read_manifest(root: Path) -> Manifest:
    """The manifest of a folder. Raises BadInput, one line, for a folder that is missing or no data set, and for another
    version of the layout."""
    if not root.is_dir():
        what = "is no folder" if root.exists() else "there is no such folder"
        raise BadInput(f"{what}; {_NAME_ONE}", source=str(root))
    path = root / NAME
    if not path.is_file():
        raise BadInput(f"is no data set ({NAME} is missing); {_NAME_ONE}", source=str(root))
    try:
        content: dict[str, Any] = parse_json(read_text(path, "a manifest"), long=LONG)
        version = content["schema"]
        if version == VERSION:
            return Manifest(**content)
    except (BadInput, ValueError, KeyError, TypeError) as error:
        raise BadInput("is corrupt; run the sweep again into a new folder", source=str(path)) from error
    raise BadInput(other_version(version), source=str(path))


def _kind(manifest: Manifest) -> str:
    return "the trace of a run" if manifest.experiment == SINGLE_RUN else f"the sweep {manifest.experiment!r}"


def _joined(old: Manifest, new: Manifest, root: Path) -> Manifest:
    if old.experiment != new.experiment:
        raise BadInput(
            f"holds {_kind(old)}, not {_kind(new)}; name another folder",
            source=str(root),
        )
    if sorted(old.axes) != sorted(new.axes):
        raise BadInput(
            f"holds runs over {_grid(old)}, not over {_grid(new)}; name another folder, and compare both",
            source=str(root),
        )
    if old.scenario != new.scenario:
        raise BadInput(f"holds runs of {_named(old)}{_difference(old, new)}; name another folder", source=str(root))
    return Manifest(
        experiment=old.experiment,
        file=old.file,
        scenario=old.scenario,
        document=old.document,
        title=new.title,
        arms=tuple(dict.fromkeys((*old.arms, *(_ordered(arm, old.axes) for arm in new.arms)))),
        seeds=tuple(sorted({*old.seeds, *new.seeds})),
        compare=new.compare,
        minimum=new.minimum,
    )


def _ordered(arm: Arm, axes: Sequence[str]) -> Arm:
    """The arm with its grid in the order of these axes."""
    return evolve(arm, grid=sorted(arm.grid, key=lambda pair: axes.index(next(iter(pair)))))


def _grid(manifest: Manifest) -> str:
    keys = [key for key, _value in manifest.arms[0].grid]
    return f"the grid of {' and '.join(keys)}" if keys else "no grid"


def _named(manifest: Manifest) -> str:
    return manifest.file or f"the scenario {manifest.title!r}"


def _difference(old: Manifest, new: Manifest) -> str:
    """The differences between two scenarios, in words: the file, or the keys of the same file that were changed."""
    if old.file != new.file:
        return f", not of {_named(new)}"
    paths = list(_changes("", old.document, new.document))
    more = f" and {len(paths) - _MOST_CHANGES} more" if len(paths) > _MOST_CHANGES else ""
    changed = f" ({', '.join(paths[:_MOST_CHANGES])}{more})" if paths else ""
    return f" as it was before a change{changed}"


def _changes(path: str, old: object, new: object) -> Iterator[str]:
    """The key paths at which two documents differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in {**old, **new}:
            yield from _changes(join_path(path, str(name)), old.get(name), new.get(name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _changes(join_path(path, f"[{index}]"), before, after)
    elif old != new:
        yield path
