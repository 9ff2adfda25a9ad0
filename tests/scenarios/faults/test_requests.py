"""Faults on requests of clients, as entries of a method: when they stand, and what is said of those that hit nothing.

``tests/scenarios/wire/gateway/test_request_faults.py`` has them under real clients.
"""

from typing import Any

import pytest

from emulator.protocol.errors import Errors
from scenarios.errors import BadInput
from scenarios.faults.request_faults import ClientRequest, RequestFaults
from scenarios.language import Scenario
from scenarios.runs.runner import Stage
from tests.scenarios.runs.building import Table, play, scenario

FAIL: Table = {"action": "request.fail", "api": "Produce", "error": "NOT_LEADER_OR_FOLLOWER"}
OTHERS: list[Table] = [
    {"action": "request.drop", "api": "any", "client": "billing"},
    {"action": "request.delay", "api": "Fetch", "latency": "2s"},
    {"action": "request.silence", "api": "Heartbeat", "group": "shop"},
]
PRODUCE = {"topic_data": [{"name": "orders", "partition_data": [{"index": 0}, {"index": 1}]}]}


def asked(api: str = "Produce", client: str = "billing", broker: int = 0, **body: Any) -> ClientRequest:
    return ClientRequest(api, client, broker, body or PRODUCE)


def faults(*entries: Table) -> RequestFaults:
    """The faults that the entries make."""
    table = {"title": "t", "cluster": {"brokers": 3}, "topics": [{"name": "orders", "partitions": 2}]}
    stage = Stage(Scenario.from_table({**table, "method": [{"at": "1s", **entry} for entry in entries]}))
    for entry in stage.scenario.method:
        stage.performer.perform(entry)
    return stage.performer.memory(RequestFaults)


def hits(found: RequestFaults, *requests: ClientRequest) -> list[str]:
    return [fault.effect.kind if fault else "" for fault in map(found.of, requests)]


def test_the_first_that_fits_hits() -> None:
    found = faults(FAIL, *OTHERS)
    heartbeat = asked("Heartbeat", "other", group_id="shop")
    assert hits(found, asked(), asked(), asked(), heartbeat, asked("Fetch", "other", topics=[])) == [
        "fail", "drop", "", "silence", "delay",
    ]  # fmt: skip
    assert not found.standing
    assert [fault.fired for fault in found.known] == [1, 1, 1, 1]
    assert found.known[0].effect.error is Errors.NOT_LEADER_FOR_PARTITION


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, ["fail", "", "", ""]),
        ({"count": 0}, ["fail"] * 4),
        ({"occurrence": 2, "count": 2}, ["", "fail", "fail", ""]),
        ({"client": "other"}, [""] * 4),
        ({"broker": 1}, [""] * 4),
        ({"broker": 0}, ["fail", "", "", ""]),
        ({"partition": "orders-1"}, ["fail", "", "", ""]),
        ({"group": "shop"}, [""] * 4),
        ({"probability": 0, "count": 0}, [""] * 4),
    ],
)
def test_keys_choose_the_requests(keys: Table, expected: list[str]) -> None:
    assert hits(faults({**FAIL, **keys}), *[asked()] * 4) == expected


def test_a_probability_is_drawn_in_the_same_way_again() -> None:
    often = [hits(faults({**FAIL, "probability": 0.5, "count": 0}), *[asked()] * 200) for _ in range(2)]
    assert often[0] == often[1]
    assert 60 < often[0].count("fail") < 140


def test_partitions_and_groups_are_found_in_every_kind_of_request() -> None:
    fetch = asked("Fetch", topics=[{"topic": "orders", "partitions": [{"partition": 1}]}])
    offsets = asked("OffsetFetch", group_id="shop", topics=[{"name": "orders", "partition_indexes": [1]}])
    assert (list(fetch.partitions), list(offsets.partitions), list(offsets.groups)) == (
        ["orders-1"],
        ["orders-1"],
        ["shop"],
    )
    assert list(asked("FindCoordinator", coordinator_keys=["shop"]).groups) == ["shop"]
    assert list(asked("Metadata", topics=None).partitions) == []


def test_one_that_hits_nothing_is_said_and_one_that_was_ended_is_not() -> None:
    played = play(scenario(method=[{"at": "2s", **FAIL}, {"at": "3s", "duration": "1s", **OTHERS[0]}], rate=10))
    assert "request.fail: no request that it was for came (Produce)" in str(played.run.explanation)
    assert "request.drop" not in str(played.run.explanation)


def test_heal_and_clear_end_them() -> None:
    healed = faults(FAIL, {**OTHERS[0], "count": 0})
    assert hits(healed, asked(client="x"), asked("Fetch")) == ["fail", "drop"]
    healed.end_all()
    assert (hits(healed, asked(), asked("Fetch")), healed.known) == (["", ""], [])
    named = faults({**FAIL, "fault": "mine"}, {"action": "request.clear", "fault": "mine"})
    assert named.known == []
    unmet = faults(FAIL)
    unmet.end_all()
    assert (hits(unmet, asked()), len(unmet.not_exercised())) == ([""], 1)


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"api": "Prodce"}, "did you mean 'Produce'"),
        ({"error": "NOT_LEADR"}, "no error is called"),
        ({"api": "any"}, "an error is the answer of one API"),
        ({"broker": 3}, "broker 3 does not exist; write an id from 0 to 2"),
        ({"partition": "order-0"}, "order-0"),
        ({"api": "AlterConfigs"}, "add performed = true"),
    ],
)
def test_what_cannot_be_is_refused(keys: Table, error: str) -> None:
    with pytest.raises(BadInput, match=error):
        faults({**FAIL, **keys})
