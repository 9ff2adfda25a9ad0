"""Brokers with other ids than 0 to n-1: what a file may state, and that nothing takes ids for places."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scenarios.chaos.kinds.shape import ClusterShape
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.files import load
from scenarios.runs.runner import Stage, conclude, prepare
from scenarios.studies.shrink.passes import brokers, replicas, targets
from scenarios.studies.shrink.references import with_brokers

ROOT = Path(__file__).parents[3]
OTHERS = (3, 7, 1001, 1002, 1003, 80_000)
COUNTED = re.compile(r"range\([\w.]*\b(?:cluster|setup)\.brokers\)|\bcluster\.brokers - 1")
"""Text that takes the number of brokers for their ids."""


def scenario(**cluster: Any) -> Scenario:
    topics = [{"name": "orders", "partitions": 2}]
    return Scenario.from_table({"title": "ids", "cluster": cluster, "topics": topics})


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ({}, "the key 'brokers' is missing; add it, or broker_ids"),
        ({"broker_ids": []}, "the key 'brokers' is missing; add it, or broker_ids"),
        ({"broker_ids": [1, 2, 3], "brokers": 2}, "cluster.brokers: 2 brokers, but 3 ids; leave 'brokers' out or"),
        ({"broker_ids": [2, 1, 3]}, "cluster.broker_ids: the ids do not ascend; write [1, 2, 3]"),
        ({"broker_ids": [1, 1, 2]}, "cluster.broker_ids"),
        ({"broker_ids": [1, 2, 1 << 31]}, "cluster.broker_ids[2]"),
        ({"broker_ids": [1, 2, 3], "controller": 0}, "cluster.controller: broker 0 does not exist; write one of 1, 2"),
        ({"broker_ids": [1, 2], "brokers": 2}, "topics[0]"),
    ],
)
def test_ids_that_do_not_fit_are_refused(cluster: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as refused:
        scenario(**cluster)
    assert words in str(refused.value)


def test_replicas_and_racks_go_by_the_order_of_the_ids() -> None:
    found = scenario(broker_ids=[1, 2, 1001], racks=2)
    assert found.assignments() == {"orders-0": (1, 2, 1001), "orders-1": (2, 1001, 1)}
    assert list(found.cluster.rack_of) == [1, 2, 1001]
    assert found.cluster.rack_of[1] == found.cluster.rack_of[1001] != found.cluster.rack_of[2]
    assert Scenario.from_table(found.to_table()) == found


@pytest.mark.parametrize("name", ["quick-move", "kip-461-one-partition-fails", "follower-cut-off"])
def test_a_run_ends_alike_under_other_ids(name: str) -> None:
    table = load(name).to_table()
    count = table["cluster"].pop("brokers")
    table["cluster"]["broker_ids"] = list(range(count))
    renamed = with_brokers(table, OTHERS.__getitem__)
    own, others = _ended(load(name)), _ended(Scenario.from_table(renamed))
    assert own == others
    assert renamed["cluster"]["broker_ids"] == list(OTHERS[:count])


def _ended(one: Scenario) -> tuple[object, ...]:
    stage = Stage(prepare(one))
    stage.play()
    run, _ = conclude(stage, one, 0.0)
    return run.verdict, run.reason, run.metrics["leader_elections"], run.metrics["isr_shrinks"]


def test_shrinking_numbers_brokers_from_0_and_takes_some_away() -> None:
    table = scenario(broker_ids=[1, 2, 1001]).to_table()
    table["topics"][0] = {"name": "orders", "assignment": [[1, 2, 1001], [2, 1, 1001]]}
    table["method"] = [{"at": "1s", "action": "broker.crash", "target": "controller"}]
    first, *rest = brokers(table)
    assert (first["cluster"], first["topics"][0]["assignment"]) == ({"brokers": 3}, [[0, 1, 2], [1, 0, 2]])
    assert rest[0]["cluster"]["broker_ids"] == [1, 2]
    assert [one["method"][0]["target"] for one in targets(table)] == [1, 2, 1001]
    assert all(Scenario.from_table(one) for one in rest)
    assert all(one["cluster"] == table["cluster"] for one in replicas(table))


def test_chaos_does_not_draw_brokers_where_their_ids_are_stated() -> None:
    table = {**scenario(broker_ids=[1, 2, 3]).to_table(), "chaos": [{"kind": ClusterShape.kind}]}
    with pytest.raises(BadInput, match="it draws brokers with ids from 0 on"):
        Scenario.from_table(table)


def test_no_code_takes_the_number_of_brokers_for_their_ids() -> None:
    places = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for floor in ("emulator", "brokers", "controller", "fetchers", "scenarios")
        for path in sorted((ROOT / floor).rglob("*.py"))
        for found in COUNTED.finditer(path.read_text(encoding="utf-8"))
    ]
    assert places == []
    assert COUNTED.search("for broker in range(scenario.cluster.brokers):")
