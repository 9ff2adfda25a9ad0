"""Control characters never reach a terminal: titles, keys and paths are other people's."""

from __future__ import annotations

import ast
import json
import re
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.cli import output
from scenarios.observe.invariants import find, names
from tests.limited import call
from tests.scenarios.language.builders import SMALL

ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b1m\u202e\x7f\r"


@given(st.text(st.sampled_from("a\n\t\x00\x07\x08\x0d\x1b\x7f\x9b\u2028\u202e\u2066é")))
def test_characters_that_a_terminal_obeys_are_escaped_as_in_json(text: str) -> None:
    shown = output.visible(text)
    assert all(letter.isprintable() or letter in "\n\t" for letter in shown)
    assert json.loads(f'"{shown}"', strict=False) == text


def test_the_colour_of_the_program_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert output.visible(f"{output.red('FAILED')} \x1b[2J") == "\x1b[31mFAILED\x1b[0m \\u001b[2J"


def test_titles_keys_and_paths_are_shown_with_escapes(tmp_path: Path) -> None:
    title = json.dumps(f"the title {ESCAPES}")
    (tmp_path / "good.toml").write_text(SMALL.replace('"small"', title))
    (tmp_path / f"{ESCAPES}.toml").write_text(f"{json.dumps(ESCAPES)} = 1\n{SMALL}")
    for words in (["run", "good.toml"], ["validate", f"{ESCAPES}.toml"], ["validate", f"{ESCAPES}.tml"]):
        called = call(*words, cwd=tmp_path)
        assert "\\u001b]0;owned" in called.out + called.err
        assert all(letter.isprintable() or letter == "\n" for letter in called.out + called.err)


def test_commands_print_in_one_place() -> None:
    folder = Path(output.__file__).parent
    printing = {
        path.name
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "sys.stdout.write", "sys.stderr.write"))
    }
    assert printing == {"output.py", "recording.py"}, "recording.py prints a digest for run --check"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_no_character_of_a_sentence_reads_as_digits_where_a_terminal_cannot_show_it(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(shown, encoding=encoding))
    output.prepare()
    for statement in (*(find(name).statement for name in names()), "≥595", "cut …"):
        output.say(statement)
    sys.stdout.flush()
    text = shown.getvalue().decode(encoding)
    assert ">=595" in text
    assert not re.search(r"\\u[0-9a-f]{4}\d", text)
