"""Facts decide known or new: no sentence is read, taken apart or compared there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from scenarios.runs.finding import Finding

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "scenarios" / "runs"
FINDINGS = ROOT / "scenarios" / "observe" / "findings"
CHECKERS = ROOT / "scenarios" / "observe" / "checkers"
DECIDE = (RUNS / "known_findings.py", RUNS / "past.py", *sorted((RUNS / "known").glob("*.py")))
WORDS = ("state", "statement", "words", "in_words", "found")


def reads_of_sentences(code: str) -> Iterator[str]:
    """Where code looks at a sentence: a regular expression, a text of a violation, a comparison with several words."""
    tree = ast.parse(code)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names) if any(alias.name == "re" for alias in names):
                yield "re"
            case ast.ImportFrom(module="re"):
                yield "re"
            case ast.Attribute(value=ast.Attribute(attr="part"), attr="statement"):
                pass  # which of its keys an expectation states: data
            case ast.Attribute(attr=attr) if attr in WORDS and (id(node) not in called or attr == "in_words"):
                yield f".{attr} in line {node.lineno}"
            case ast.Compare(left, comparators=others):
                texts = [one.value for one in (left, *others) if isinstance(one, ast.Constant)]
                if any(isinstance(text, str) and " " in text for text in texts):
                    yield f"a comparison of words in line {node.lineno}"
            case _:
                pass


@pytest.mark.parametrize("path", DECIDE, ids=lambda path: path.name)
def test_what_decides_known_or_new_reads_no_sentence(path: Path) -> None:
    assert list(reads_of_sentences(path.read_text())) == []


@pytest.mark.parametrize(
    "code",
    [
        "import re",
        "from re import search",
        "broken = 'has died' in line",
        "line = violation.state",
        "same = violation.statement == finding.statement",
        "line = violation.facts.in_words(tp)",
    ],
)
def test_a_read_of_a_sentence_is_found(code: str) -> None:
    assert list(reads_of_sentences(code))


def test_the_identity_of_a_finding_is_no_text() -> None:
    assert [field.name for field in attrs.fields(Finding) if field.eq] == ["checker", "part"]


def kinds() -> dict[str, ast.ClassDef]:
    """The kinds of facts, by name: the records that have a sentence."""
    return {
        node.name: node
        for path in sorted(FINDINGS.glob("*_facts.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(one, ast.FunctionDef) and one.name == "in_words" for one in node.body)
    }


def unused_fields(kind: ast.ClassDef) -> list[str]:
    """The fields of which the sentence says nothing."""
    fields = [one.target.id for one in kind.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
    said = {node.attr for node in ast.walk(kind) if isinstance(node, ast.Attribute)}
    return [field for field in fields if field not in said]


def test_each_fact_has_words_that_say_all_of_it() -> None:
    assert {name: unused_fields(kind) for name, kind in kinds().items() if unused_fields(kind)} == {}
    silent = ast.parse("class Silent:\n    said: int\n    unsaid: int\n    def in_words(self): return self.said").body[
        0
    ]
    assert isinstance(silent, ast.ClassDef)
    assert unused_fields(silent) == ["unsaid"]


def test_each_kind_of_facts_is_found_by_a_checker() -> None:
    sources = [*CHECKERS.glob("*.py"), RUNS / "convergence.py", RUNS / "runner.py"]
    made = {
        node.func.id
        for path in sources
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert set(kinds()) - made == set()
