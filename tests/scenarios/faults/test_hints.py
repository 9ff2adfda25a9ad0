"""Hints of ``validate`` about a cut: what is still reached, and what follows."""

from typing import Any

import pytest

from scenarios.cli.commands.validate import hints
from scenarios.language import Scenario

SURVIVES = "its ZooKeeper session survives: 4s are shorter than the session timeout (6s)"
EXPIRES = "its ZooKeeper session expires after the session timeout (6s) and up to 2s more, and others are elected"
STAYS = (
    "its ZooKeeper session lives, so it stays a broker, and leader of what it leads; a follower that is cut from its"
)
ONE_WAY = "what it is sent does; it still reaches the other brokers and the clients"
TWO_CUT = "brokers 1, 2 are cut from brokers 0, 3, 4"
UNNOTICED = "the cluster itself does not notice: no session expires, and no ISR changes"


def said(entry: dict[str, Any], **more: Any) -> list[str]:
    scenario = Scenario.from_table(
        {
            "title": "hints",
            "cluster": {"brokers": 5},
            "topics": [{"name": "orders"}],
            "workloads": [{"topic": "orders", "producerRate": 10, "name": "checkout"}],
            "method": [{"at": "1s", **entry}],
            **more,
        }
    )
    return list(hints(scenario))


@pytest.mark.parametrize(
    ("entry", "stays"),
    [
        ({"action": "disk.fail", "target": 1, "duration": "5s"}, True),
        ({"action": "disk.full", "target": 1, "duration": "5s"}, True),
        ({"action": "log_dir.offline", "target": 1, "duration": "5s", "restart": False}, True),
        ({"action": "log_dir.offline", "target": 1, "duration": "5s", "restart": True}, False),
        ({"action": "disk.full", "target": 1}, False),
        ({"action": "disk.slow", "target": 1, "write": "1MB/s", "duration": "5s"}, False),
    ],
)
def test_a_log_directory_does_not_return_with_its_disk(entry: dict[str, Any], stays: bool) -> None:
    assert any("stays so until its broker restarts" in line for line in said(entry)) == stays


@pytest.mark.parametrize(
    ("entry", "what", "then"),
    [
        (
            {"action": "host.isolate", "target": 0, "duration": "30s"},
            "broker 0 is cut from all other brokers, ZooKeeper and the clients; it reaches no other machine",
            EXPIRES,
        ),
        (
            {"action": "link.cut", "target": 2, "peer": [0, 1], "duration": "30s"},
            "broker 2 is cut from brokers 0, 1; it still reaches brokers 3, 4, ZooKeeper and the clients",
            STAYS,
        ),
        (
            {"action": "link.cut", "target": 2, "duration": "10s"},
            "broker 2 is cut from all other brokers; it still reaches ZooKeeper and the clients",
            "its ZooKeeper session lives, so it stays a broker, and no ISR shrinks: 10s are not longer than replica",
        ),
        (
            {"action": "link.cut", "target": "leader(orders-0)", "peer": "zookeeper", "direction": "from",
             "duration": "4s"},
            f"what leader(orders-0) sends to ZooKeeper does not arrive, {ONE_WAY}",
            SURVIVES,
        ),
        (
            {"action": "link.cut", "target": 1, "peer": ["clients", "zookeeper"], "duration": "7s"},
            "broker 1 is cut from ZooKeeper and the clients; it still reaches all other brokers",
            "its ZooKeeper session may expire: 7s are close to the session timeout (6s)",
        ),
        (
            {"action": "link.cut", "target": "controller", "peer": "zookeeper", "duration": "30s"},
            "controller is cut from ZooKeeper; it still reaches the other brokers and the clients",
            "its ZooKeeper session expires after the session timeout (6s) and up to 2s more, and another controller is",
        ),
        (
            {"action": "link.cut", "target": 1, "peer": "clients", "duration": "7s"},
            "broker 1 is cut from the clients; it still reaches all other brokers and ZooKeeper",
            UNNOTICED,
        ),
        (
            {"action": "link.cut", "target": "client(checkout)", "peer": "leader(orders-0)", "duration": "7s"},
            "client(checkout) is cut from leader(orders-0); it still reaches the other brokers",
            "the requests of client(checkout) to what is cut fail after request.timeout.ms; no broker notices",
        ),
        (
            {"action": "host.isolate", "for_each": [3, 4], "next": "5s", "from": "brokers", "duration": "1s"},
            "broker 3 is cut from all other brokers; it still reaches ZooKeeper and the clients",
            "its ZooKeeper session lives, so it stays a broker, and no ISR shrinks: 1s are not longer than",
        ),
        (
            {"action": "link.cut", "target": [1, 2], "peer": "brokers", "duration": "30s"},
            f"{TWO_CUT}, and from each other; they still reach ZooKeeper and the clients",
            f"each of them: {STAYS}",
        ),
        (
            {"action": "link.cut", "target": [1, 2], "peer": [0, 3, 4], "duration": "30s"},
            f"{TWO_CUT}; they still reach each other, ZooKeeper and the clients",
            f"each of them: {STAYS}",
        ),
        (
            {"action": "host.isolate", "target": [1, 2], "duration": "30s"},
            f"{TWO_CUT}, ZooKeeper and the clients, and from each other; they reach no other machine",
            f"each of them: {EXPIRES}",
        ),
        (
            {"action": "zookeeper.stop", "duration": "20s"},
            "brokers and clients reach each other; changes of ISRs, elections and moves wait until ZooKeeper is back",
            "no session expires meanwhile; that of a dead broker expires a session timeout after the return",
        ),
    ],
)  # fmt: skip
def test_what_is_reached_and_what_follows(entry: dict[str, Any], what: str, then: str) -> None:
    first, second = said(entry)
    assert first == f"  method[0] {entry['action']}: {what}"
    assert second.startswith(f"    {then}")


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        (
            {"groups": [[0, 1, "zookeeper"], [2, 3]], "duration": "30s"},
            [
                "brokers 0, 1 are cut from brokers 2, 3; they still reach each other, broker 4, ZooKeeper and the",
                f"each of them: {STAYS}",
                "brokers 2, 3 are cut from brokers 0, 1 and ZooKeeper; they still reach each other, broker 4 and the",
                f"each of them: {EXPIRES}",
            ],
        ),
        (
            {"groups": [[2], ["zookeeper"]], "one_way": True, "duration": "4s"},
            [
                "what broker 2 sends to ZooKeeper does not arrive, what it is sent does; it still reaches all other",
                SURVIVES,
            ],
        ),
        (
            {"groups": [[0], [1], [2, "zookeeper"]], "one_way": True, "duration": "30s"},
            [
                "what broker 0 sends to brokers 1, 2 and ZooKeeper does not arrive, what it is sent does; it still",
                EXPIRES,
                "what broker 1 sends to broker 2 and ZooKeeper does not arrive, what it is sent does; it still reaches",
                EXPIRES,
                "nothing from brokers 0, 1 arrives at broker 2, what it sends does; it still reaches brokers 3, 4,",
                STAYS,
            ],
        ),
        (
            {"groups": [["brokers"], ["zookeeper"]], "duration": "30s"},
            [
                "brokers 0, 1, 2, 3, 4 are cut from ZooKeeper; they still reach each other and the clients",
                f"each of them: {EXPIRES.replace('others are elected', 'no broker is left that could be elected')}",
            ],
        ),
        (
            {"into": 2, "zookeeper": True, "duration": "30s"},
            [
                "the brokers are divided into 2 groups that do not reach each other; ZooKeeper is in one of them",
                f"a broker of a group without it: {EXPIRES}",
            ],
        ),
        (
            {"into": 2, "duration": "30s"},
            [
                "the brokers are divided into 2 groups that do not reach each other; all reach ZooKeeper",
                f"each broker: {STAYS}",
            ],
        ),
    ],
)
def test_what_follows_for_each_group_of_a_divided_network(keys: dict[str, Any], lines: list[str]) -> None:
    found = [line.strip() for line in said({"action": "network.partition", **keys})]
    found[0] = found[0].removeprefix("method[0] network.partition: ")
    assert [line.startswith(expected) for line, expected in zip(found, lines, strict=True)] == [True] * len(lines)


def test_the_session_timeout_of_the_profile_counts() -> None:
    cut = {"action": "link.cut", "target": 1, "peer": "zookeeper", "duration": "12s"}
    assert "12s are shorter than the session timeout (18s)" in said(cut, profile="kafka-2.5")[1]


def test_an_effect_that_nothing_ends() -> None:
    cut = {"action": "link.cut", "target": 1, "peer": "clients"}
    ending = 'nothing ends it; add duration = "30s", or an entry with action = "link.heal"'
    assert said(cut)[-1] == f"    {ending}"
    assert len(said(cut, rollbacks=[{"action": "link.heal", "target": 1, "peer": "clients"}])) == 2


def test_other_actions_need_no_hint() -> None:
    assert said({"action": "broker.crash", "target": 0}) == []
