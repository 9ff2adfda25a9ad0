"""Every citation of a document leads somewhere: docs/extend/sources/README.md says what is cited and how."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

SOURCES = DOCS / "extend" / "sources"
FOLDERS = ("emulator", "fetchers", "brokers", "controller", "scenarios", "tests", "benchmarks", "docs")
NUMBERED = ("kafka-behaviour", "readings")
LISTED = {"invariants": r"[A-Z]\d+", "conformance": r"C\d+"}
CHECKERS = "scenarios/observe/checkers/"
"""Where a bare ``S14`` is a line of the invariants."""


def files() -> Iterator[tuple[str, str]]:
    """Path and text of every file that may cite: code, scenario files, pages; not the sources themselves."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".toml", ".md") and SOURCES not in path.parents and path != Path(__file__):
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


@cache
def sections(page: str) -> set[str]:
    """The numbers of a page's headings."""
    text = (SOURCES / f"{page}.md").read_text(encoding="utf-8")
    return set(re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", text, re.MULTILINE))


@cache
def lines(page: str) -> set[str]:
    """The names of a page's lines or rows."""
    text = (SOURCES / f"{page}.md").read_text(encoding="utf-8")
    names = "|".join(LISTED.values())
    return set(re.findall(rf"(?:^|[;.|·] |\| )({names})(?=[ *|])", text, re.MULTILINE))


def unresolved(text: str) -> Iterator[str]:
    """The citations in ``text`` that lead nowhere, as written."""
    for page in NUMBERED:
        known = sections(page)
        for cited in re.finditer(rf"\b{page}\b(?!\.md)[\s,.]*((?:[,;]?\s*(?:and |to )?§[\d.]+\d|§\d)*)", text):
            numbers = re.findall(r"§(\d+(?:\.\d+)?)", cited.group(1))
            if page == "readings" and not numbers and not cited.group(0).startswith("readings,"):
                continue  # the plain word
            if not numbers or not known.issuperset(numbers):
                yield cited.group(0).strip()
    for page, names in LISTED.items():
        known = lines(page)
        for cited in re.finditer(rf"\b{page} ({names}(?:(?:, | and | to ){names})*)", text):
            if not known.issuperset(re.findall(names, cited.group(1))):
                yield cited.group(0)
    yield from re.findall(r"\bseeds? 0\d\d\b|house\.md|errata\.md|DESIGN\.md", text)


def test_every_citation_resolves() -> None:
    assert [f"{path}: {cited}" for path, text in files() for cited in unresolved(text)] == []


def test_the_invariants_that_checkers_name_exist() -> None:
    known = lines("invariants")
    unknown = [
        f"{path}: {name}"
        for path, text in files()
        if path.startswith(CHECKERS)
        for name in re.findall(r"\b([SEIMRTFJV]\d{1,2})\b", text)
        if name not in known
    ]
    assert unknown == []


@pytest.mark.parametrize(
    "text",
    [
        "kafka-behaviour §99",
        "(kafka-behaviour, 8.3)",
        "readings §2 and §77",
        "invariants S99",
        "conformance C02",
        "conformance C105 to C118",
        "the page (seed 003)",
    ],
)
def test_a_citation_that_leads_nowhere_is_found(text: str) -> None:
    assert list(unresolved(text))


@pytest.mark.parametrize(
    "text",
    [
        "kafka-behaviour §8.3",
        "(kafka-behaviour §5.1 and §5.2)",
        "readings §1; KIP-461",
        "conformance C105 to C113",
        "invariants S7",
    ],
)
def test_a_citation_that_leads_somewhere_is_not(text: str) -> None:
    assert list(unresolved(text)) == []
