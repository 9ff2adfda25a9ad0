"""The pages for those who change the code lead to code that exists: each hop of the walks, each path."""

import re

import pytest

from tests.docs.pages import ROOT, fenced, text_of

PAGES = ("architecture.md", "contributing.md", "glossary.md")
_HOP = re.compile(r"^(\S+\.py) +(\w+(?:, \w+)*)$", re.MULTILINE)
_PATH = re.compile(r"`((?:emulator|fetchers|brokers|controller|scenarios|tests|benchmarks|docs)/[\w/.]*[\w/])`")


def hops() -> list[tuple[str, str]]:
    """Every (file, name) of the walks."""
    found = [match for walk in fenced("architecture.md", "walk") for match in _HOP.finditer(walk.text)]
    return [(match[1], name) for match in found for name in match[2].split(", ")]


def has(path: str, name: str) -> bool:
    """Is ``name`` defined in the file (or, for an event that is handed on, imported by it)?"""
    file = ROOT / path
    return (
        file.is_file()
        and re.search(rf"^\s*(?:(?:async )?def|class) {name}\b|^    {name},$", file.read_text(), re.M) is not None
    )


def test_each_walk_has_its_hops() -> None:
    walks = fenced("architecture.md", "walk")
    assert [len({match[1] for match in _HOP.finditer(walk.text)}) >= 15 for walk in walks] == [True] * 6


def test_each_hop_of_a_walk_exists() -> None:
    assert [f"{path}: {name}" for path, name in hops() if not has(path, name)] == []


def test_a_hop_that_does_not_exist_is_found() -> None:
    assert not has("controller/controller.py", "no_such_function")
    assert not has("controller/no_such_file.py", "advance")


@pytest.mark.parametrize("page", PAGES)
def test_each_path_of_a_page_exists(page: str) -> None:
    assert [path for path in _PATH.findall(text_of(page)) if not (ROOT / path).exists()] == []
