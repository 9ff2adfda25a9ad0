"""Properties of answers: what a sentence says of a moment is so in the events, whenever it is asked for."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

import pytest

from emulator.protocol.events import Fault, Produced
from emulator.protocol.znodes import broker_path, topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.timeline.moment import at
from scenarios.observe.why.batches import batch
from scenarios.observe.why.leader_reasons import leader
from scenarios.observe.why.move_reasons import move
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.observe.why.replica_reasons import replica, what_keeps_it_out
from tests.scenarios.runs.building import EXECUTE, TP, play, scenario

END_S = 70


@cache
def cut_and_killed() -> tuple[Any, ...]:
    """The only replica's broker is down for 30 s, then it and the producer do not reach each other for 15 s."""
    return tuple(
        play(
            scenario(
                brokers=3, controller=2, assignment=[[0]], rate=0,
                workloads=[{
                    "topic": "orders", "producerRate": 100, "stop": "65s",
                    "config": {"delivery.timeout.ms": 10_000, "request.timeout.ms": 5_000},
                }],
                method=[
                    {"at": "5s", "action": "broker.crash", "target": 0, "duration": "30s"},
                    {"at": "45s", "action": "link.cut", "target": "clients", "peer": 0, "duration": "15s"},
                ],
                expect=[{"metric": "acked_batches", "within": "66s", "tolerance": [0, inf]}],
                horizon="75s",
            )
        ).events
    )  # fmt: skip


def past(events: tuple[Any, ...], at_us: int) -> PartitionPast:
    return PartitionPast(events, TP, at_us)


def test_what_is_said_of_a_batch_does_not_depend_on_when_it_is_asked() -> None:
    """The network is whole and all brokers run when the run is over."""
    events = cut_and_killed()
    given_up = [event for event in events if type(event) is Produced and event.error != "NONE"]
    assert len({event.t_us // 10_000_000 for event in given_up}) > 2
    seen = set()
    for event in given_up[:: max(1, len(given_up) // 12)]:
        at_once, later = (batch(past(events, t_us), event.id).sentence for t_us in (event.t_us, events[-1].t_us))
        assert at_once == later
        seen |= {why for why in ("down since 5.000 s", "been cut since 45.000 s") if why in later}
    assert len(seen) == 2


@cache
def without_zookeeper() -> tuple[Any, ...]:
    """All replicas live, are led by themselves, and do not reach ZooKeeper, where nothing but the controller is."""
    method = [{"at": "5s", "action": "network.partition", "groups": [["zookeeper", 3], [0, 1, 2]], "duration": "30s"}]
    return tuple(play(scenario(brokers=4, controller=3, method=method)).events)


@pytest.mark.parametrize("at_s", range(6, 35, 2))
def test_a_broker_whose_registration_is_gone_is_not_said_to_be_electable(at_s: int) -> None:
    events = without_zookeeper()
    sentence = leader(past(events, at_s * 1_000_000)).sentence
    if "has had no leader" not in sentence:
        return
    (last,) = past(events, at_s * 1_000_000).state.isr  # type: ignore[union-attr]
    writes = [e for e in events if type(e) is ZkWritten and e.path == broker_path(last) and e.t_us <= at_s * 1e6]
    assert writes[-1].op == "delete"
    assert f"of the ISR [{last}] no replica can lead" in sentence
    assert f"Broker {last}: its registration in ZooKeeper has been gone since {writes[-1].t_us / 1e6:.3f} s" in sentence
    assert "cut since 5.000 s" in sentence


@cache
def deleted_and_made_again(profile: str, strategy: str) -> tuple[Any, ...]:
    method = [
        EXECUTE,
        {"at": "4s", "action": "topic.delete", "topic": "orders"},
        {"at": "20s", "action": "topic.create", "topic": {"name": "orders", "assignment": [[2, 3, 4]]}},
        {"at": "40s", "action": "controller.resign"},
    ]
    wanted = scenario(
        plan={0: [1, 2, 3]}, method=method, size="20MiB", profile=profile, strategy=strategy, horizon="60s",
        cluster={"network": {"egress": "2MiB/s", "ingress": "2MiB/s"}},
    )  # fmt: skip
    return tuple(play(wanted).events)


@pytest.mark.parametrize(("profile", "strategy"), [("kafka-2.3", "wiki"), ("kafka-2.7", "kip-455")])
def test_a_move_is_left_over_from_the_deletion_of_its_topic_until_a_controller_goes_on_with_it(
    profile: str, strategy: str
) -> None:
    """Whatever a new topic of the name is like: its replicas were not in the ISR of the old one, nor did they leave."""
    events = deleted_and_made_again(profile, strategy)
    (deleted,) = (e for e in events if type(e) is ZkWritten and (e.path, e.op) == (topic_path("orders"), "delete"))
    steps = [e.t_us for e in events if type(e) is Step and e.topic == "orders" and e.step.startswith(strategy)]
    for t_us in (deleted.t_us, 10_000_000, 30_000_000):
        (found,) = at(events, t_us).moves
        assert found.deleted_us == deleted.t_us
        assert not found.left
        assert f"left over (its topic was deleted at {deleted.t_us / 1e6:.3f} s)" in found.place
    sentence = move(past(events, 30_000_000)).sentence
    goes_on = any(t_us > 30_000_000 for t_us in steps)
    assert goes_on == ("the next controller reads the request again, and moves" in sentence) == (strategy == "wiki")
    if goes_on:
        assert "left over" not in move(past(events, max(steps))).sentence
    for broker in (2, 3, 4):
        assert "since the partition was created" in replica(past(events, 30_000_000), broker).sentence


@pytest.mark.parametrize(("profile", "strategy"), [("kafka-1.1", "wiki"), ("kafka-2.4", "kip-455")])
def test_a_run_says_that_its_open_move_is_left_over_from_a_topic_that_is_gone(profile: str, strategy: str) -> None:
    delete = {"at": "4s", "action": "topic.delete", "topic": "orders"}
    wanted = scenario(
        plan={0: [1, 2, 3]}, method=[EXECUTE, delete], size="20MiB", profile=profile, strategy=strategy, horizon="20s",
        cluster={"network": {"egress": "2MiB/s", "ingress": "2MiB/s"}}, rate=0,
    )  # fmt: skip
    run = play(wanted).run
    assert run.reason == "unfinished"
    assert "orders-0: the move is left over (its topic was deleted at 4." in " ".join(run.explanation.split())


@pytest.mark.parametrize(
    ("action", "undo", "keys"),
    [
        ("disk.slow", "disk.heal", {"write": "100kB/s"}),
        ("broker.slow", "broker.fast", {"cpu": 0.1}),
        ("link.limit", "link.heal", {"peer": 0, "rate": "200kB/s"}),
    ],
)
def test_a_replica_that_is_slow_names_the_fault_while_it_lasts(action: str, undo: str, keys: dict[str, Any]) -> None:
    slow = {"at": "1s", "action": action, "target": 3, "duration": "10s", **keys}
    method = [slow, EXECUTE]
    cluster = {"network": {"egress": "2MiB/s", "ingress": "2MiB/s"}}
    events = tuple(play(scenario(plan={0: [0, 1, 3]}, method=method, size="32MiB", cluster=cluster)).events)
    ended = next(e.t_us for e in events if type(e) is Fault and e.action == undo)
    for t_us in (4_000_000, 9_000_000, ended - 1, ended, 13_000_000):
        clause = what_keeps_it_out(past(events, t_us), 3).clause
        assert "behind" in clause or "caught up" in clause
        assert (f"{action} 3 (" in clause and "has lasted since 1.000 s" in clause) == (t_us < ended)


def test_a_replica_that_is_not_assigned_is_not_said_to_be_electable() -> None:
    """``grow-then-shrink`` from one replica to two others drops the only copy, and no controller elects it again."""
    run = play(
        scenario(
            brokers=3, controller=1, assignment=[[0]], plan={0: [1, 2]}, strategy="grow-then-shrink", rate=100,
            method=[EXECUTE], horizon="30s",
        )
    )  # fmt: skip
    answer = leader(past(tuple(run.events), 20_000_000))
    assert "has not elected it yet" not in answer.sentence
    assert "Broker 0: it is none of the replicas" in answer.sentence
