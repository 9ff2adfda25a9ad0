"""Which releases a case is run under by default: the oldest and the newest that it names, and a sixth of the others,
each case another sixth. A case with other parameters has so many runs that its oldest and newest come in turn, too.
The rest has the mark ``slow``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path
from zlib import crc32

import pytest

HERE = Path(__file__).parent
EVERY = 6


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cases = defaultdict[str, list[pytest.Function]](list)
    for item in items:
        if isinstance(item, pytest.Function) and HERE in item.path.parents and "release" in of(item):
            cases[item.nodeid.partition("[")[0]].append(item)
    for name, runs in cases.items():
        chosen = by_default(name, runs)
        for item in runs:
            if item not in chosen:
                item.add_marker(pytest.mark.slow)


def of(item: pytest.Function) -> dict[str, object]:
    """The parameters of a test."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def by_default(name: str, runs: list[pytest.Function]) -> list[pytest.Function]:
    """The runs of a case that are not slow: some for each value of its other parameters."""
    alike = defaultdict[Hashable, list[pytest.Function]](list)
    for item in runs:
        alike[other_parameters(item)].append(item)
    chosen = list[pytest.Function]()
    for number, by_release in enumerate(alike.values()):
        first = (number + crc32(name.encode())) % min(EVERY, len(by_release))
        chosen += by_release[first::EVERY]
        if len(alike) == 1:
            chosen += [by_release[0], by_release[-1]]
    return chosen


def other_parameters(item: pytest.Function) -> Hashable:
    """The parameters that tell a run from the others of its case under the same release."""
    return tuple(str(value) for key, value in sorted(of(item).items()) if key != "release")
