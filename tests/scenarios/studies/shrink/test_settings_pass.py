"""Settings that change nothing go together: the first proposal is the table without any."""

from __future__ import annotations

from typing import Any

from scenarios.language import Scenario
from scenarios.studies.shrink.passes import settings

TABLE: dict[str, Any] = {
    "title": "many settings",
    "cluster": {"brokers": 3, "config": {"num.replica.fetchers": 2}, "racks": 3},
    "topics": [{"name": "orders", "assignment": [[0, 1]], "size": "64KiB"}],
    "workloads": [{"topic": "orders", "producerRate": 10, "messageSize": 200}],
    "consumers": [{"topic": "orders", "poll": "5ms"}],
    "method": [],
}


def kept(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name in ("cluster", "topics", "workloads", "consumers")}


def test_all_settings_go_first_and_what_has_no_default_stays() -> None:
    found = list(settings(Scenario.from_table(TABLE).to_table()))
    assert kept(found[0]) == {
        "cluster": {"brokers": 3},
        "topics": [{"name": "orders", "assignment": [[0, 1]]}],
        "workloads": [{"topic": "orders", "producerRate": 10}],
        "consumers": [{"topic": "orders"}],
    }
    assert all(Scenario.from_table(table) for table in found)


def test_then_half_of_them_and_at_last_single_ones() -> None:
    table = Scenario.from_table(TABLE).to_table()
    found = list(settings(table))
    assert len(found) > 3
    assert sum(one.get("cluster") != table["cluster"] for one in found) < len(found)
    assert not list(settings(found[0]))
