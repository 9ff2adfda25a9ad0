"""Edges of steps become steps with a beginning and an end."""

from __future__ import annotations

from typing import Any

from scenarios.studies.report.run.move_spans import steps


def edge(t_us: int, step: str, edge: str, partition: int = 0) -> dict[str, Any]:
    return {"t_us": t_us, "seq": t_us, "step": step, "edge": edge, "topic": "orders", "partition": partition, "node": 3}


def test_a_step_lasts_from_its_first_edge_to_its_second() -> None:
    [passed] = steps(
        [edge(1, "wiki.4", "before"), edge(9, "wiki.4", "after"), edge(2, "delete.partitions", "after")]
    ).values()
    assert [(one.t_us, one.end_us, one.step, one.controller) for one in passed] == [(1, 9, "wiki.4", 3)]
    assert passed[0].meaning


def test_a_step_that_another_controller_begins_again_was_not_done_before() -> None:
    [passed] = steps([edge(1, "wiki.4", "before"), edge(5, "wiki.4", "before"), edge(7, "wiki.4", "after")]).values()
    assert [(one.t_us, one.end_us) for one in passed] == [(1, None), (5, 7)]


def test_a_step_that_is_never_done_is_open() -> None:
    [passed] = steps([edge(1, "wiki.4", "before")]).values()
    assert passed[0].end_us is None
