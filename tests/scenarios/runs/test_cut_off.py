"""Machines that are cut off: from some peers, from clients, from everything; and ZooKeeper gone as a whole."""

from typing import Any

import pytest

from emulator.protocol.events import BrokerRegistered, Fault, IsrChanged, LeaderElected, Produced
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.errors import BadInput
from scenarios.observe.timeline.words import words
from tests.scenarios.runs.building import Played, Table, play, scenario

CHECKOUT: Table = {"topic": "orders", "producerRate": 200, "name": "checkout"}
OTHER: Table = {"topic": "orders", "producerRate": 200}


def story(*method: Table, **more: Any) -> Played:
    """Brokers 0, 1 and 2 have orders-0, led by 0; broker 3 is controller. Two producers, one named checkout."""
    more = {"rate": 0, "workloads": [CHECKOUT, OTHER], **more}
    played = play(scenario(brokers=4, controller=3, assignment=[[0, 1, 2]], method=method, **more))
    assert played.run.violations == (), played.run.explanation
    return played


def faults(played: Played) -> list[str]:
    return [words(event) for event in played.of(Fault)]


def expired(played: Played) -> list[int]:
    return [event.client for event in played.of(ZkSession, lambda event: event.state == "expired")]


def acked(played: Played, producer: int, since_s: float, until_s: float) -> int:
    """How many batches of a producer were acknowledged between two virtual times."""
    return len(
        played.of(
            Produced,
            lambda e: e.node == producer and e.outcome == "acked" and since_s * 1e6 < e.t_us < until_s * 1e6,
        )
    )


def test_host_isolate_and_host_reconnect() -> None:
    """Its process lives; ZooKeeper hears nothing of it, so its session expires and another leads."""
    played = story({"at": "3s", "action": "host.isolate", "target": 0, "duration": "30s"})
    assert faults(played) == [
        "FAULT host.isolate 0 (broker 0 <-> all other brokers, ZooKeeper, operator, checkout, producer-1, for 30s)",
        "FAULT host.reconnect 0 (broker 0 <-> all other brokers, ZooKeeper, operator, checkout, producer-1)",
    ]
    assert expired(played) == [0]
    assert [event.leader for event in played.of(LeaderElected)] == [0, 1]
    assert [event.node for event in played.of(BrokerRegistered) if event.t_us > 3_000_000] == [0]
    assert sorted(played.state().isr) == [0, 1, 2]


def test_host_isolate_from_brokers_alone() -> None:
    """The leader keeps its session, so it stays leader, and takes the others out of the ISR."""
    played = story({"at": "3s", "action": "host.isolate", "target": 0, "from": "brokers", "duration": "20s"})
    assert expired(played) == []
    assert [event.leader for event in played.of(LeaderElected)] == [0]
    assert played.of(IsrChanged)[0].isr == (0,)
    assert 13_000_000 < played.of(IsrChanged)[0].t_us < 19_000_000, "replica.lag.time.max.ms, and half of it at most"


def test_host_isolate_from_brokers_and_clients() -> None:
    """Nothing is written to the leader, so its followers lack nothing and stay in the ISR (Partition, 2.3)."""
    played = story(
        {"at": "3s", "action": "host.isolate", "target": 0, "from": ["brokers", "clients"], "duration": "20s"}
    )
    assert expired(played) == []
    assert played.of(IsrChanged) == []
    assert [acked(played, producer, 4, 23) for producer in (-10, -11)] == [0, 0]


def test_one_client_cannot_reach_the_leader() -> None:
    """The other can; nothing else changes."""
    played = story(
        {"at": "3s", "action": "link.cut", "target": "client(checkout)", "peer": "leader(orders-0)", "duration": "5s"}
    )
    assert faults(played)[0] == "FAULT link.cut checkout (checkout <-> broker 0, for 5s)"
    assert acked(played, -10, 3.1, 8) == 0
    assert acked(played, -11, 3.1, 8) > 20
    assert acked(played, -10, 8, 12) > 20
    assert played.of(IsrChanged) == []


def test_a_link_to_several_peers() -> None:
    played = story(
        {"at": "3s", "action": "link.cut", "target": 2, "peer": [0, "zookeeper", "clients"], "direction": "from",
         "duration": "30s"},
    )  # fmt: skip
    assert faults(played)[0] == ("FAULT link.cut 2 (broker 2 -> broker 0, ZooKeeper, checkout, producer-1, for 30s)")
    assert expired(played) == [2]


def test_a_link_of_clients_that_are_not_there_is_refused() -> None:
    cut: Table = {"at": "3s", "action": "link.cut", "target": 0, "peer": ["client(chekout)"]}
    with pytest.raises(BadInput, match=r"method\[0\].peer: no producer or consumer has the name 'chekout'; did"):
        story(cut)
    with pytest.raises(BadInput, match="there are no clients"):
        story({**cut, "peer": "clients"}, workloads=[])


@pytest.mark.parametrize(
    "entry",
    [
        {"action": "broker.crash", "target": "client(checkout)"},
        {"action": "config.set", "brokers": "clients", "config": {"min.insync.replicas": 2}},
    ],
)
def test_clients_are_no_brokers(entry: Table) -> None:
    with pytest.raises(BadInput, match="names clients"):
        story({"at": "3s", **entry})


# -- ZooKeeper --------------------------------------------------------------------------------------------------


def writes(played: Played, since_s: float, until_s: float) -> int:
    return len(played.of(ZkWritten, lambda e: since_s * 1e6 < e.t_us < until_s * 1e6))


def test_zookeeper_stop_and_zookeeper_start() -> None:
    """Gone for three session timeouts: no session expires, no leader is elected, producers go on; a shrink of the ISR
    waits for its return."""
    played = story(
        {"at": "3s", "action": "zookeeper.stop", "duration": "20s"},
        {"at": "4s", "action": "broker.crash", "target": 2, "duration": "60s"},
    )
    assert faults(played)[:3] == [
        "FAULT zookeeper.stop (sessions survive, for 20s)",
        "FAULT broker.crash 2 (process, for 1m)",
        "FAULT zookeeper.start (sessions survive)",
    ]
    assert writes(played, 3, 23) == 0
    assert 23_000_000 < played.of(IsrChanged)[0].t_us < 24_100_000, "brokers try again within a second"
    [session] = played.of(ZkSession, lambda event: event.state == "expired")
    assert session.client == 2, "that of the dead broker, a whole timeout after the return"
    assert 29_000_000 <= session.t_us <= 32_000_000
    assert played.run.metrics["leader_elections"] == 0


def test_sessions_that_expire_when_zookeeper_is_back() -> None:
    """Every broker registers again, and one of them is elected controller."""
    played = story({"at": "3s", "action": "zookeeper.stop", "duration": "20s", "sessions": "expire"})
    assert sorted(expired(played)) == [0, 1, 2, 3]
    registered = [event.node for event in played.of(BrokerRegistered) if event.t_us > 23_000_000]
    assert sorted(registered) == [0, 1, 2, 3]
    assert played.state().leader in (0, 1, 2)
    assert acked(played, -10, 26, 30) > 0


def test_zookeeper_that_never_returns_lets_the_run_end() -> None:
    played = story({"at": "3s", "action": "zookeeper.stop"})
    assert (played.run.verdict, played.run.virtual_s < 10) == ("passed", True)


def test_zookeeper_cannot_be_stopped_twice() -> None:
    stop: Table = {"at": "3s", "action": "zookeeper.stop"}
    assert "ZooKeeper is stopped already" in story(stop, {**stop, "at": "4s"}).run.explanation
    start: Table = {"at": "3s", "action": "zookeeper.start"}
    assert "ZooKeeper is not stopped" in story(start).run.explanation
