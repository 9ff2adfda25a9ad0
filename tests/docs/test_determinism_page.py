"""docs/understand/determinism.md: the tests that it names exist, and its output of ``--check`` is the real one."""

from __future__ import annotations

import ast
import re

import pytest

from scenarios.cli.check import HASH_SEEDS, check
from scenarios.language.files import load
from tests.docs.pages import ROOT, fenced, text_of
from tests.scenarios.determinism.test_determinism import five_partitions

PAGE = "determinism.md"
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text_of(PAGE))


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_every_test_that_the_page_names_is_there(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    assert name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_it_names_some() -> None:
    assert len(NAMED) >= 12


def test_what_check_says_of_an_honest_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(load("quick-move")) == 0
    said = capsys.readouterr().out.splitlines()
    shown = fenced(PAGE, "text")[0].text.splitlines()
    assert shown[1] == said[0]
    assert all(seed in shown[1] for seed in HASH_SEEDS)


def test_what_check_says_of_another(capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers move with every change of the emulator; what is said, and which fields are marked, does not."""
    assert check(five_partitions(), recorder="tests.scenarios.determinism.hash_dependent:record") == 3
    said = capsys.readouterr().out.splitlines()
    shown = fenced(PAGE, "text")[1].text.splitlines()
    assert re.sub(r"\d+", "N", shown[0]) == re.sub(r"\d+", "N", said[0])
    assert [words[:2] for words in map(str.split, shown) if words[0] == "*"] == [
        words[:2] for words in map(str.split, said) if words[0] == "*"
    ]
    assert shown[1].split() == said[1].split()
