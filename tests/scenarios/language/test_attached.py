"""Scenarios to which real clients attach: what these may bring about is not refused."""

from typing import Any

import pytest

from scenarios.errors import BadInput
from scenarios.language import Scenario


def scenario(method: dict[str, Any], **more: Any) -> Scenario:
    table = {"title": "t", "cluster": {"brokers": 3}, "topics": [{"name": "orders"}], "method": [method], **more}
    return Scenario.from_table(table)


BY_CLIENTS: list[dict[str, Any]] = [
    {"at": "1s", "action": "client.crash", "target": "client(billing)"},
    {"at": "1s", "action": "link.cut", "target": 0, "peer": "clients"},
    {"at": "1s", "action": "broker.crash", "target": "leader(__consumer_offsets-7)"},
    {"when": {"message": "ApiVersions"}, "action": "broker.crash", "target": 0},
    {"when": {"message": "Produce"}, "action": "broker.crash", "target": 0},
    {"when": {"step": "move.start"}, "action": "broker.crash", "target": 0},
]


@pytest.mark.parametrize("entry", BY_CLIENTS)
def test_what_clients_bring_about_needs_attached_clients(entry: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        scenario(entry)
    found = scenario(entry, attached=["billing"])
    assert Scenario.loads(found.to_toml()) == found


def test_the_refusals_name_the_key() -> None:
    with pytest.raises(BadInput, match=r"only real clients send ApiVersions; list the client\.id of one in 'attached'"):
        scenario(BY_CLIENTS[3])
    with pytest.raises(BadInput, match="or list it in 'attached' where it is a real client's"):
        scenario(BY_CLIENTS[0])
