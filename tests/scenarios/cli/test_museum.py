"""``museum``: bugs by their tickets, guards by the names of their checkers."""

from __future__ import annotations

import json

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
