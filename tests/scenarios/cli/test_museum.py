"""``museum``: bugs by their tickets, guards by the names of their checkers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.scenarios.cli import tool
from tests.scenarios.cli.conftest import Call


def test_a_bug_is_shown_with_its_story(call: Call) -> None:
    called = call("museum", "KAFKA-9946")
    assert called.code == 0
    assert called.out.startswith("KAFKA-9946: a topic counts as deleted before its replicas are (2.6 during")
    assert "without the bug: passed\nthe case: ./understudy museum KAFKA-9946 --file" in called.out


def test_a_guard_is_marked_as_none_of_kafkas_bugs(call: Call) -> None:
    called = call("museum", "legal_transitions")
    assert called.code == 0
    assert "(a guard that is taken out, no bug that Kafka had)" in called.out
    assert "with the guard: passed" in called.out
    assert "replay it" not in called.out  # a run by itself has the guard


def test_a_guard_as_json(call: Call) -> None:
    [one] = json.loads(call("museum", "fetch_fence", "--format", "json").out)
    assert one == {
        "bug": "fetch_fence",
        "kind": "guard",
        "switch": ["brokers.partition.partition.Partition.check_current_leader_epoch"],
        "checker": "fetch_fence",
        "caught": True,
        "clean": True,
        "density": None,
        "seen_by": ["fetch_fence"],
    }


def test_the_case_is_a_file_that_can_be_run(call: Call) -> None:
    said = call("museum", "KIP-98").out
    assert "replay it" not in said
    assert (
        said.splitlines()[-1]
        == "the case: ./understudy museum KIP-98 --file > KIP-98.toml && ./understudy run KIP-98.toml"
    )


def test_a_checker_stands_for_all_that_it_sees(call: Call) -> None:
    called = call("museum", "no_batch_twice")
    assert called.code == 0
    assert called.out.splitlines()[0].startswith("KIP-98")
    assert called.out.splitlines()[-1].endswith("are caught by their checker and clean otherwise")


def test_neither_a_bug_nor_a_guard(call: Call) -> None:
    called = call("museum", "KAFKA-99466")
    assert called.code == 2
    assert "'KAFKA-99466'; did you mean 'KAFKA-9946'" in called.line


BROUGHT = """
from understudy.plugins import *
register_ticket(
    Ticket(
        key="ACME-TICKET",
        title="leaders take what followers of any epoch fetch",
        affected="Acme's builds",
        happened="It was so.",
        here="It is so.",
        checker="fetch_fence",
        policies={},
        source="Acme's tracker",
        case="CASE",
    )
)
"""


def brought(folder: Path, ticket: str, case: str) -> tuple[str, str, str]:
    """The words that ask the museum for a plug-in's bug."""
    file = folder / f"{ticket}.py"
    file.write_text(BROUGHT.replace("TICKET", ticket).replace("CASE", case))
    return (f"ACME-{ticket}", "--plugin", str(file))


def test_a_plug_ins_bug_without_a_case_says_whose_it_is_and_how_to_add_one(tmp_path: Path) -> None:
    called = tool.call("museum", *brought(tmp_path, "7", ""))
    assert called.returncode == 2
    assert called.stderr.count("\n") == 1
    assert f"bug 'ACME-7' of plug-in {tmp_path / '7.py'} has no case here" in called.stderr
    assert "run FILE --bug ACME-7, and name the file of its case in Ticket(case=...)" in called.stderr


def test_a_plug_ins_bug_with_a_case_is_shown(tmp_path: Path) -> None:
    case = tmp_path / "case.toml"
    words = brought(tmp_path, "8", str(case))
    missing = f"the case of bug 'ACME-8' of plug-in {tmp_path / '8.py'} is not there: {case}"
    assert missing in tool.call("museum", *words).stderr
    case.write_text('title = "quiet"\nbugs = ["ACME-8"]\n[cluster]\nbrokers = 1\n')
    called = tool.call("museum", *words)
    assert called.returncode == 1, "its checker does not see it"
    assert called.stdout.startswith("ACME-8: leaders take what followers of any epoch fetch (Acme's builds)")
    assert "without the bug: passed" in called.stdout


def test_of_many_names_the_first_are_shown(call: Call) -> None:
    called = call("museum", "nothing-like-it")
    assert called.code == 2
    assert re.search(r"unknown bug 'nothing-like-it'; known: (\S+, ){11}\S+ and \d+ more$", called.line)
