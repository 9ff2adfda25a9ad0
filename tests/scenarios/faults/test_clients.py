"""Clients that are killed and start again; unclean elections that an operator asks for."""

from itertools import pairwise
from typing import Any

import pytest

from emulator.protocol.events import (
    Consumed,
    ElectionAnswered,
    Fault,
    LeaderElected,
    Produced,
    ProducerIdentified,
    Unfinished,
)
from scenarios.errors import BadInput
from tests.scenarios.runs.building import Played, Table, play, scenario

CRASH: Table = {"at": "5s", "action": "client.crash", "target": "clients", "duration": "5s"}


def run(*method: Table, **more: Any) -> Played:
    standard: Table = {"brokers": 4, "controller": 3, "rate": 100, "size": "0B", "horizon": "4m"}
    return play(scenario(**{**standard, **more}, method=method))


def test_a_producer_that_is_killed_sends_nothing_and_goes_on_afterwards() -> None:
    played = run(
        {"at": "4s", "action": "broker.pause", "target": 0, "duration": "3s"}, CRASH, {"at": "15s", "action": "heal"}
    )
    acked = [event.t_us / 1e6 for event in played.of(Produced) if event.outcome == "acked"]
    assert not [t for t in acked if 5 < t < 10]
    assert [t for t in acked if 10 < t < 15]
    assert played.of(Unfinished), "what waited in the killed producer has no outcome"
    ids = [event.id for event in played.of(Produced)]
    assert len(set(ids)) == len(ids)
    assert not played.run.violations


def test_an_idempotent_producer_comes_back_with_another_id() -> None:
    load: Table = {"topic": "orders", "producerRate": 100, "config": {"enable.idempotence": True}}
    played = run(CRASH, {"at": "15s", "action": "heal"}, workloads=[load], rate=0)
    first, again = played.of(ProducerIdentified)
    assert first.producer_id != again.producer_id
    assert first.first_id < again.first_id < again.last_id == first.last_id, (
        "the ids of the next producer are not its own"
    )
    assert not played.run.violations


def test_a_consumer_goes_on_where_its_application_was() -> None:
    played = run(
        {**CRASH, "target": "client(reader)"}, {"at": "15s", "action": "heal"},
        consumers=[{"topic": "orders", "name": "reader"}],
    )  # fmt: skip
    polls = played.of(Consumed)
    assert not [poll for poll in polls if 5.1 < poll.t_us / 1e6 < 10]
    assert all(later.offset == earlier.next_offset for earlier, later in pairwise(polls))
    assert not played.run.violations


def test_any_client_is_drawn() -> None:
    loads = [{"topic": "orders", "producerRate": 10, "acks": "all", "producersPerTopic": 5}]
    entry: Table = {**CRASH, "target": "any client"}
    killed = [run(entry, workloads=loads, rate=0, seed=seed).of(Fault)[0].target for seed in range(4)]
    assert len(set(killed)) > 1


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (0, "client.crash acts on clients"),
        ("client(readr)", "did you mean"),
        ("any leader", "client.crash acts on clients"),
    ],
)
def test_targets_that_are_no_clients(target: object, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        run({**CRASH, "target": target}, consumers=[{"topic": "orders", "name": "reader"}])
    assert said in str(refused.value)


DOWN: tuple[Table, ...] = (
    {"at": "5s", "action": "broker.crash", "target": 1, "duration": "35s"},
    {"at": "30s", "action": "broker.crash", "target": 0},
)
"""RF 2: the follower is down while records are written, the leader goes down, the follower comes up."""


@pytest.mark.parametrize(("profile", "via"), [("kafka-2.4", None), ("kafka-2.3", None), ("kafka-2.4", "config")])
def test_an_unclean_election_that_is_asked_for(profile: str, via: str | None) -> None:
    """By ElectLeaders with type UNCLEAN (KIP-460), or by the topic's setting, which is as before afterwards."""
    ask: Table = {
        "at": "60s",
        "action": "election.unclean",
        "partitions": ["orders-0"],
        **({"via": via} if via else {}),
    }
    played = run(*DOWN, ask, profile=profile, assignment=[[0, 1]])
    [elected] = played.of(LeaderElected, lambda e: e.t_us > 60_000_000)
    assert (elected.leader, elected.unclean) == (1, True)
    assert [(e.partition, e.error) for e in played.of(ElectionAnswered)] == [(0, "NONE")]
    assert played.lost_batches("all") > 0
    assert not played.run.violations
    config = played.stage.cluster.zookeeper.tree.get("/config/topics/orders") or ""
    assert "unclean" not in config


def test_nothing_is_elected_where_a_leader_lives() -> None:
    ask: Table = {"at": "10s", "action": "election.unclean"}
    played = run(ask, profile="kafka-2.4")
    assert played.run.passed
    assert not played.of(LeaderElected, lambda e: e.t_us > 10_000_000)


def test_without_a_live_replica_the_answer_says_so() -> None:
    ask: Table = {"at": "40s", "action": "election.unclean", "partitions": ["orders-0"]}
    for via in ("api", "config"):
        played = run(
            DOWN[0] | {"duration": "200s"}, DOWN[1], {**ask, "via": via}, profile="kafka-2.4", assignment=[[0, 1]]
        )
        assert [e.error for e in played.of(ElectionAnswered)] == ["ELIGIBLE_LEADERS_NOT_AVAILABLE"]
        assert played.run.reason == "not exercised"
