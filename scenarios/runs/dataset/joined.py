"""Several folders read as one data set: the runs of the seeds that all of them have.

If folders differ in the scenario or in the program's code, arms have one axis more, the folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from scenarios.errors import BadInput
from scenarios.runs.dataset.arm import FOLDER, UNSTATED, Arm
from scenarios.runs.dataset.manifest import Manifest
from scenarios.runs.dataset.reader import DataSet, Folder, RunRead, open_data_set, read_specs


def open_data_sets(roots: Sequence[str | Path]) -> DataSet:
    """Check the folders and open them as one data set.

    Raises: BadInput, also where two folders share no seed.
    """
    data_sets = [open_data_set(Path(root)) for root in roots]
    if not data_sets:
        raise BadInput("no folder is named; name the --out folder of a sweep")
    return data_sets[0] if len(data_sets) == 1 else _joined([_Opened.of(data_set) for data_set in data_sets])


@frozen
class _Opened:
    """A folder with its runs."""

    folder: Folder
    manifest: Manifest
    runs: tuple[RunRead, ...]

    @classmethod
    def of(cls, data_set: DataSet) -> _Opened:
        (folder,) = data_set.folders
        return cls(folder, data_set.manifest, tuple(read_specs(data_set)))

    @property
    def seeds(self) -> dict[int, None]:
        return dict.fromkeys(sorted(run.row["seed"] for run in self.runs))

    @property
    def origin(self) -> tuple[str, ...]:
        """The origin of its runs: the scenario and the program's code, or several codes."""
        codes = dict.fromkeys(sorted(run.row["code"] for run in self.runs))
        return self.manifest.scenario, *codes


def _joined(opened: Sequence[_Opened]) -> DataSet:
    seeds = _shared_seeds(opened)
    keys = list(dict.fromkeys(key for one in opened for arm in one.manifest.arms for key, _value in arm.grid))
    apart = len({one.origin for one in opened}) > 1
    folders: list[Folder] = []
    arms: list[Arm] = []
    seen: dict[str, None] = {}
    for one in opened:
        own = {FOLDER: str(one.folder.root)} if apart else {}
        grid = {**{key: _value_at(one.manifest.document, key) for key in keys if key not in one.manifest.axes}, **own}
        hidden = [run.row["run_id"] for run in one.runs if run.row["seed"] not in seeds or run.row["run_id"] in seen]
        folders.append(evolve(one.folder, hidden=frozenset(hidden), grid=grid))
        arms += [_arm(arm, keys, grid) for arm in one.manifest.arms]
        seen |= dict.fromkeys(run.row["run_id"] for run in one.runs if run.row["seed"] in seeds)
    titles = dict.fromkeys(one.manifest.title for one in opened)
    manifest = evolve(
        opened[0].manifest, title="; ".join(titles), arms=tuple(dict.fromkeys(arms)), seeds=tuple(sorted(seeds))
    )
    return DataSet(tuple(folders), manifest, tuple(seen))


def _arm(arm: Arm, keys: Sequence[str], more: Mapping[str, str]) -> Arm:
    """An arm with a value on every axis of the joined data set."""
    grid = {**dict(arm.grid), **more}
    return Arm(arm.strategy, arm.profile, [(key, grid[key]) for key in (*keys, FOLDER) if key in grid])


def _shared_seeds(opened: Sequence[_Opened]) -> dict[int, None]:
    shared = opened[0].seeds
    for one in opened[1:]:
        left = {seed: None for seed in shared if seed in one.seeds}
        if not left:
            others = ", ".join(str(other.folder.root) for other in opened[: opened.index(one)])
            raise BadInput(
                f"has the seeds {_span(one.seeds)}, and shares none with {others} ({_span(shared)}); "
                "runs are compared seed by seed: sweep both over the same seeds",
                source=str(one.folder.root),
            )
        shared = left
    return shared


def _span(seeds: Mapping[int, None]) -> str:
    """The seeds in short: ``0:20``, or the first and the last of them."""
    found = list(seeds)
    whole = found[-1] - found[0] + 1 == len(found)
    return f"{found[0]}:{found[-1] + 1}" if whole else f"{found[0]} to {found[-1]}"


def _value_at(document: Mapping[str, Any], path: str) -> str:
    """The value at a path of ``--set`` in a scenario's document, as text."""
    found: Any = document
    for name in _names(path):
        try:
            found = found[name]
        except (LookupError, TypeError):
            return UNSTATED
    return str(found)


def _names(path: str) -> Iterator[str | int]:
    """The parts of a path: ``topics[0].size`` is ``topics``, 0, ``size``; the text after ``config`` is one name."""
    head, config, setting = path.partition("config.")
    for part in head.rstrip(".").split("."):
        name, _bracket, index = part.partition("[")
        yield name
        if index:
            yield int(index.rstrip("]"))
    if config:
        yield from ("config", setting.strip('"'))
