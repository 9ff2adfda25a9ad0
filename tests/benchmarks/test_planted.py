"""The injected bugs fit the code as it is, can be switched on and off, and are separated by halving."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.planted.__main__ import in_order, report
from benchmarks.planted.bugs import Bug, fit_together, read_bugs
from benchmarks.planted.hunting import Sight, Trial, groups, hunt
from benchmarks.planted.switch import Edit, Stale, Switch, changed_functions, function, patched
from emulator.protocol.types import TopicPartition
from fetchers.failed_partitions import FailedPartitions

ROOT = Path(__file__).parents[2]
BUGS = read_bugs()
LEAST, OF_KAFKA = 120, 60


def files(bug: Bug) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = {}
    for edit in bug.edits:
        found.setdefault(edit.file, []).append(edit)
    return found


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_each_bug_changes_functions_that_a_running_program_can_exchange(bug: Bug) -> None:
    for file, edits in files(bug).items():
        changed = changed_functions(file, (ROOT / file).read_text(encoding="utf-8"), edits)
        assert changed, f"{bug.name} changes nothing in {file}"
        for name in changed:
            assert function(file, name)


def test_there_are_enough_of_all_rooms_and_of_tickets_that_the_museum_has_not() -> None:
    real = [bug for bug in BUGS if not bug.equivalent]
    museum = (ROOT / "docs/reference/bugs-and-guards.md").read_text(encoding="utf-8")
    assert len(real) >= LEAST
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    assert sum(bug.of_kafka for bug in real) >= OF_KAFKA
    assert [bug.name for bug in real if bug.of_kafka and f"[{bug.after}]" in museum] == []
    assert [bug.name for bug in BUGS if not (bug.title and bug.after and bug.harm and bug.profile)] == []


def test_an_edit_that_does_not_fit_is_refused() -> None:
    text = "def f(a):\n    return a\n\n\ndef g(a):\n    return a\n"
    assert patched(text, [Edit("a.py", "f(a)", "f(a, b)")]).startswith("def f(a, b):")
    with pytest.raises(Stale, match="no text 'h'"):
        patched(text, [Edit("a.py", "h", "i")])
    with pytest.raises(Stale, match="2 text 'return a'"):
        patched(text, [Edit("a.py", "return a", "return b")])
    with pytest.raises(Stale, match="overlap"):
        patched(text, [Edit("a.py", "def f", "def h"), Edit("a.py", "f(a)", "f(b)")])
    with pytest.raises(Stale, match="inside of functions"):
        changed_functions("a.py", "A = 1\n", [Edit("a.py", "1", "2")])


def test_a_bug_is_on_until_it_is_switched_off() -> None:
    edit = Edit("fetchers/failed_partitions.py", "return tp in self._failed", "return tp not in self._failed")
    switch = Switch(ROOT, {"inverted": [edit]})
    failed, tp = FailedPartitions.__new__(FailedPartitions), TopicPartition("t", 0)
    failed._failed = {}
    found = []
    for on in ([], ["inverted"], []):
        switch.set(on)
        found.append(tp in failed)
    assert found == [False, True, False]


class Scripted:
    """Runs whose outcomes are stated: what a seed shows, by the bugs that have to be on."""

    def __init__(self, shown: Mapping[int, Mapping[str, str]]) -> None:
        self.shown = shown

    def run(self, bugs: Sequence[str], profile: str, seed: int) -> Sight:
        return Sight(next((text for bug, text in self.shown.get(seed, {}).items() if bug in (*bugs, "")), ""), 2.0)


def test_bugs_are_separated_and_seeds_with_a_finding_of_their_own_are_left_out() -> None:
    runs = Scripted({0: {"": "noise: of the release"}, 1: {"a": "late: 2", "c": "lost: 1"}, 3: {"b": "late: 3"}})
    found = list(hunt(["a", "b", "c", "d"], "kafka-2.4", 9, runs))
    assert found == [
        Trial("a", "late: 2", 1, 4.0), Trial("c", "lost: 1", 1, 4.0), Trial("b", "late: 3", 3, 8.0),
        Trial("d", "", -1, 10.0),
    ]  # fmt: skip


def test_bugs_of_one_group_have_one_profile_and_fit_together() -> None:
    some = in_order(BUGS)
    for group in groups(some, ROOT, 5):
        assert len(group) <= 5
        assert len({bug.profile for bug in group}) == 1
        assert fit_together(group, ROOT)


def test_what_was_found_after_the_budget_does_not_count() -> None:
    some = in_order(BUGS)[:3]
    found = [
        Trial(some[0].name, "lost: x", 3, 20.0),
        Trial(some[1].name, "lost: x", 90, 61.0),
        Trial(some[2].name, "", -1, 60.0),
    ]
    lines, problems = report(some, found, 60)
    assert any(line.startswith("| all | 3 | 1 (33%; 26 a CPU hour) |") for line in lines)
    assert problems == ["33% are found within 60 CPU s, less than 75%"]
