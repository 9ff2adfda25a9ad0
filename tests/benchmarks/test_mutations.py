"""The mutations of ``benchmarks.mutations`` are made by rule, apply to the code as it is, and are what they say."""

import ast
from pathlib import Path

import pytest

from benchmarks.mutations.__main__ import key, report
from benchmarks.mutations.drawn import PER_RULE, ROOMS, reviewed, stale
from benchmarks.mutations.executed import SEEN, watched
from benchmarks.mutations.rules import Mutation, mutations
from benchmarks.mutations.trial import Survey

ROOT = Path(__file__).parents[2]

MODULE = """
class Partition:
    size: int = 3

    def grow(self, by: int) -> bool:
        if by < 1 and not self.closed:
            raise ValueError(f"{by < 1}")
        self.size = max(self.size, by + 1)
        self.tell(by, wait=True)
        return True
"""


def made(rule: str) -> list[tuple[str, str]]:
    return [(one.before, one.after) for one in mutations("a.py", MODULE) if one.rule == rule]


def test_each_rule_changes_what_it_says() -> None:
    condition = "if by < 1 and not self.closed:"
    assert made("comparison") == [(condition, "if by <= 1 and not self.closed:")]
    assert made("and, or") == [(condition, "if (by < 1 or not self.closed):")]
    assert made("not") == [(condition, "if by < 1 and self.closed:")]
    assert made("condition") == [(condition, "if False:"), (condition, "if True:")]
    assert made("plus, minus") == [("self.size = max(self.size, by + 1)", "self.size = max(self.size, by - 1)")]
    assert made("min, max") == [("self.size = max(self.size, by + 1)", "self.size = min(self.size, by + 1)")]
    assert [before for before, after in made("left out") if after == "pass"] == [
        "self.size = max(self.size, by + 1)",
        "self.tell(by, wait=True)",
    ]
    assert made("truth") == [("self.tell(by, wait=True)", "self.tell(by, wait=False)"), ("return True", "return False")]


def test_one_line_is_changed_and_the_right_one_of_equal_lines() -> None:
    text = "def f(a):\n    g(a)\n    h(a)\n    g(a)\n"
    [_, _, second] = mutations("a.py", text)
    assert second.occurrence == 2
    assert second.applied(text) == "def f(a):\n    g(a)\n    h(a)\n    pass\n"
    with pytest.raises(LookupError, match="has no line"):
        second.applied("def f(a):\n    g(a)\n")


def test_the_reviewed_ones_are_enough_and_of_all_rules_and_rooms() -> None:
    drawn = reviewed()
    assert len([one for one in drawn if not one.equivalent]) >= 100
    assert {one.mutation.rule for one in drawn} == set(PER_RULE)
    assert {one.room for one in drawn} == set(ROOMS)


def applies(mutation: Mutation) -> bool:
    text = (ROOT / mutation.file).read_text()
    try:
        changed = mutation.applied(text)
    except LookupError:
        return False
    ast.parse(changed)
    return changed != text


def test_enough_apply_to_the_code_as_it_is() -> None:
    stale = [one.mutation for one in reviewed() if not applies(one.mutation)]
    assert len(reviewed()) - len(stale) >= 110, f"run: python -m benchmarks.mutations --draw; gone: {stale}"


def test_tests_that_were_not_run_are_no_tests_that_saw_nothing() -> None:
    mutants = reviewed()[:4]
    sights = [("converged: t0-0", None), ("", "tests/brokers/test_a.py"), ("", "")]
    lines = [
        {"key": key(one), "chaos": {"seen": chaos}, "tests": tests}
        for one, (chaos, tests) in zip(mutants, sights, strict=False)
    ]
    text, problems = report(mutants, lines, 5)
    assert "; 3 were tried:" in text[2]
    assert any(row.split("|")[1:4] == [" chaos ", " 1 ", " 33% "] for row in text)
    assert any("run only for the 2 that chaos did not see | 1 | 50% of these" in row for row in text)
    assert problems[-1] == "1 mutations are seen by neither"


WATCHED = """
\'\'\'A module.\'\'\'
from __future__ import annotations

def f(a):
    if a:
        return (1,
                2)
    elif a is None:
        return [each
                for each in "ab"]
    for each in "ab":
        a = each
    return a
"""


@pytest.mark.parametrize(
    ("argument", "executed"),
    [(1, [6, 7, 8]), (None, [6, 9, 10, 11]), (0, [6, 9, 12, 13, 14]), (False, [6, 9, 12, 13, 14])],
)
def test_the_lines_that_are_executed_are_noticed(argument: object, executed: list[int]) -> None:
    module: dict[str, object] = {}
    exec(watched("a.py", WATCHED, range(1, 20)), module)
    SEEN.clear()
    function = module["f"]
    assert callable(function)
    function(argument)
    assert sorted(int(line.removeprefix("a.py:")) for line in SEEN) == executed


def test_runs_that_do_not_execute_the_line_are_left_out_and_count() -> None:
    mutation = Mutation("a.py", "left out", "g(a)", "pass")
    found = [
        {"place": ("p", 0), "cpu_s": 1.0, "noisy": False, "executed": []},
        {"place": ("p", 1), "cpu_s": 2.0, "noisy": False, "executed": ["a.py:2"]},
        {"place": ("p", 2), "cpu_s": 4.0, "noisy": True, "executed": ["a.py:2"]},
        {"place": ("p", 3), "cpu_s": 8.0, "noisy": False, "executed": []},
        {"place": ("p", 4), "cpu_s": 16.0, "noisy": False, "executed": ["a.py:2"]},
    ]
    text = "def f(a):\n    g(a)\n"
    assert Survey({"a.py:2"}, found).runs(mutation, text) == [("p", 1, 1.0), ("p", 4, 9.0)]
    assert [run[1] for run in Survey((), found).runs(mutation, text)] == [0, 1, 3, 4]


def test_an_entry_whose_line_has_gone_is_named_before_anything_runs(tmp_path: Path) -> None:
    first, second = reviewed()[:2]
    for one in (first, second):
        module = tmp_path / one.mutation.file
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text((ROOT / one.mutation.file).read_text())
    assert stale([first, second], tmp_path) == []
    (tmp_path / second.mutation.file).write_text("def f(): ...\n")
    line = stale([second], tmp_path)[0]
    assert line.startswith(f"reviewed.toml, entry 2: {second.mutation.file} has no line ")
    assert line.endswith("; correct the entry, or --draw again")
    (tmp_path / second.mutation.file).unlink()
    assert f"there is no {second.mutation.file} any more" in stale([second], tmp_path)[0]
