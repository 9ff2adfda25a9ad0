"""Controlled shutdown: which requests the broker sends, how often, and what happens to its partitions (kafka-behaviour
§4)."""

from typing import Any

import pytest

from emulator.protocol.events import (
    ControlledShutdownAnswered,
    ControlResponse,
    IsrChanged,
    LeaderElected,
    NodeCrashed,
    NodeStarted,
    Produced,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from scenarios.errors import BadInput
from scenarios.language import Scenario
from tests.scenarios.runs.building import HEAL, Played, Table, at_step, play, scenario

SHUT_DOWN: Table = {"at": "10s", "action": "broker.controlled_shutdown", "target": 0}
TWO_PHASES_US = 420_000
"""For how long a broker goes on when its controlled shutdown is over: it handles requests, then only fetches."""
QUIET = {"auto.leader.rebalance.enable": False}


def asked(played: Played) -> list[tuple[int, int, str, int]]:
    """Each attempt: which, of which controller, the answer, what was left."""
    return [(e.attempt, e.controller, e.error, e.remaining) for e in played.of(ControlledShutdownAnswered)]


def ended_us(played: Played, broker: int = 0) -> int:
    """When the broker's process ended, by itself."""
    [end] = played.of(NodeCrashed, lambda e: e.node == broker)
    assert end.kind == "stop"
    return end.t_us


def test_leadership_is_gone_before_the_broker_is() -> None:
    played = play(scenario(method=[SHUT_DOWN], config=QUIET))
    assert played.run.passed
    assert asked(played) == [(1, 6, "NONE", 0)]
    [elected] = played.of(LeaderElected, lambda e: e.selector != "new")
    assert (elected.selector, elected.leader, elected.isr) == ("controlled-shutdown", 1, (1, 2))
    assert elected.t_us < ended_us(played) < 10_500_000
    assert played.run.metrics["offline_s"] == 0
    assert played.state().isr == (1, 2)
    assert [e for e in played.of(Produced) if e.error != "NONE"] == []


def test_a_broker_that_follows_leaves_the_isr() -> None:
    played = play(scenario(method=[{**SHUT_DOWN, "target": 1}], config=QUIET))
    assert played.run.passed
    assert (played.state().leader, played.state().isr) == (0, (0, 2))
    assert played.of(IsrChanged) == []


def test_how_much_a_broker_answers_in_its_last_milliseconds_is_drawn() -> None:
    """Kafka 1.1.1 to 3.9.1, recorded: the first ones of what it is sent, none of it or all."""
    sent, counts = ["StopReplica", "UpdateMetadata", "StopReplica"], set()
    for seed in range(16):
        played = play(scenario(method=[{**SHUT_DOWN, "target": 1}], config=QUIET, seed=seed, rate=0))
        last = [e.api for e in played.of(ControlResponse, lambda e: e.node == 1 and e.t_us > 10_000_000)]
        assert last == sent[: len(last)]
        counts.add(len(last))
    assert counts == {0, 1, 2, 3}


def test_a_broker_handles_no_request_between_its_last_ones_and_its_end() -> None:
    """KafkaServer.shutdown (1.1.1 to 3.9): the socket server stops before the fetchers, and these before the session
    ends. A topic that is created meanwhile is not made known to the broker, which is still registered."""
    create: Table = {"at": "10100ms", "action": "topic.create", "topic": {"name": "late", "assignment": [[1]]}}
    played = play(scenario(controller=2, method=[SHUT_DOWN, create], config=QUIET))
    [asked_us] = [e.t_us for e in played.of(ControlledShutdownAnswered)]
    assert 420_000 <= ended_us(played) - asked_us < 425_000
    answers = played.of(ControlResponse, lambda e: asked_us + 25_000 < e.t_us < ended_us(played))
    assert 1 in {e.node for e in answers}
    assert 0 not in {e.node for e in answers}


@pytest.mark.parametrize(("profile", "may_rejoin"), [("kafka-2.3", True), ("kafka-2.8", False)])
def test_a_controller_that_shuts_itself_down_may_rejoin_what_it_follows(profile: str, may_rejoin: bool) -> None:
    """KAFKA-14140, recorded in 5 of 6 runs of 2.3.1 and 2.4.1: where it does not handle its own StopReplica in time,
    and its session with the leader is not held against the new leader epoch. In 2.8.2 it is, and it does not rejoin."""
    both, found = [[0, 1, 2], [1, 2, 0]], set()
    for seed in range(8):
        played = play(
            scenario(
                controller=0, assignment=both, rate=0, method=[SHUT_DOWN], config=QUIET, profile=profile, seed=seed
            )
        )
        changes = [e for e in played.of(IsrChanged) if e.t_us < ended_us(played)]
        assert all((e.partition, e.kind, sorted(e.isr)) == (1, "expand", [0, 1, 2]) for e in changes)
        followed = played.state(TopicPartition("orders", 1))
        assert sorted(followed.isr) == [1, 2]
        assert followed.leader_epoch == 1 + len(changes)
        found.add(len(changes))
    assert found == ({0, 1} if may_rejoin else {0})


def test_what_a_controller_handles_late_of_its_own_is_caused_by_what_it_sent() -> None:
    """What the broker that hosts it stops is stopped because of a request, not because time has passed."""
    played = play(
        scenario(controller=0, assignment=[[1, 2, 0]], rate=0, method=[SHUT_DOWN], config=QUIET, profile="kafka-3.9")
    )
    stopped = played.of(ReplicaStopped, lambda e: e.node == 0)
    assert stopped
    assert all(e.cause > 0 for e in stopped)


def test_the_controller_shuts_itself_down() -> None:
    played = play(scenario(controller=0, method=[SHUT_DOWN], config=QUIET))
    assert played.run.passed
    assert asked(played) == [(1, 0, "NONE", 0)]
    assert played.state().leader == 1


def test_partitions_that_no_other_broker_can_lead_are_retried_and_then_go_offline() -> None:
    """Three times, five seconds apart, and that pause once more."""
    alone = {"at": "5s", "action": "broker.crash", "target": 1}
    played = play(scenario(assignment=[[0, 1]], rate=0, method=[alone, {**SHUT_DOWN, "at": "30s"}], config=QUIET))
    assert asked(played) == [(attempt, 6, "NONE", 1) for attempt in (1, 2, 3)]
    assert 45_420_000 < ended_us(played) < 45_500_000
    assert played.state().leader == -1


def test_a_follower_that_comes_back_in_between_takes_over() -> None:
    alone = {"at": "5s", "action": "broker.crash", "target": 1, "duration": "27s"}
    played = play(scenario(assignment=[[0, 1]], method=[alone, {**SHUT_DOWN, "at": "30s"}], config=QUIET))
    assert asked(played) == [(1, 6, "NONE", 1), (2, 6, "NONE", 0)]
    assert (played.state().leader, played.state().isr) == (1, (1,))


def test_one_replica_is_nothing_to_wait_for() -> None:
    played = play(scenario(assignment=[[0]], rate=0, method=[SHUT_DOWN], config=QUIET))
    assert asked(played) == [(1, 6, "NONE", 0)]
    assert played.state().leader == -1


@pytest.mark.parametrize(
    ("settings", "attempts", "at_us"),
    [
        ({"controlled.shutdown.enable": False}, 0, 10_000_000),
        ({"controlled.shutdown.max.retries": 1}, 1, 15_000_000),
        ({"controlled.shutdown.retry.backoff.ms": 100}, 3, 10_300_000),
    ],
)
def test_settings(settings: dict[str, object], attempts: int, at_us: int) -> None:
    """Where no other broker can take over, since they have an effect then."""
    alone = {"at": "1s", "action": "zk.expire", "target": 1}
    cut = {"at": "500ms", "action": "link.cut", "target": 1}
    wanted = scenario(
        assignment=[[0, 1]], rate=0, method=[cut, alone, SHUT_DOWN], config={**QUIET, **settings}, horizon="1m"
    )
    played = play(wanted)
    assert len(asked(played)) == attempts
    assert at_us + TWO_PHASES_US <= ended_us(played) < at_us + TWO_PHASES_US + 50_000


def test_without_a_controller_it_asks_the_last_known_or_none() -> None:
    """The controller is dead and its session has not expired; the connection to it is refused. The broker finds the
    next one in time."""
    crash = {"at": "9s", "action": "broker.crash", "target": 6}
    played = play(scenario(method=[crash, SHUT_DOWN], config=QUIET))
    attempts = asked(played)
    assert attempts[0] == (1, 6, "DISCONNECTED", -1)
    assert attempts[-1][1] != 6
    assert attempts[-1][2:] == ("NONE", 0)
    assert played.state().leader == 1


STEPS = [(step, edge) for step in ("shutdown.1", "shutdown.2", "shutdown.3") for edge in ("before", "after")]


@pytest.mark.parametrize(("step", "edge"), STEPS)
def test_the_controller_dies_in_the_middle(step: str, edge: str) -> None:
    """The broker asks the next one, and nothing is lost."""
    played = play(scenario(method=[SHUT_DOWN, at_step(step, edge, "controller.crash")], config=QUIET))
    assert played.run.passed
    attempts = asked(played)
    assert attempts[0][2] == "DISCONNECTED"
    assert attempts[-1][2:] == ("NONE", 0)
    assert ended_us(played) > 15_000_000
    assert 0 not in played.state().isr
    assert played.run.metrics["offline_s"] == 0


def test_a_broker_killed_on_its_way_down_is_just_dead() -> None:
    kill = at_step("shutdown.1", "after", "broker.crash", target=0)
    played = play(scenario(method=[SHUT_DOWN, kill], rollbacks=HEAL, config=QUIET))
    assert played.run.passed
    assert asked(played) == []
    assert sorted(played.state().isr) == [0, 1, 2]


def test_it_starts_again_once_it_is_down() -> None:
    """A start that comes while the broker still shuts down waits for that."""
    alone = {"at": "5s", "action": "broker.crash", "target": 1}
    again = {**SHUT_DOWN, "at": "30s", "duration": "2s"}
    played = play(scenario(assignment=[[0, 1]], rate=0, method=[alone, again], config=QUIET))
    [_, restarted] = played.of(NodeStarted, lambda e: e.node == 0)
    assert restarted.t_us == ended_us(played) > 45_000_000
    assert played.state().leader == 0


def test_stopping_without_asking_leaves_the_partition_to_be_found_leaderless() -> None:
    played = play(scenario(method=[{**SHUT_DOWN, "action": "broker.stop"}], config=QUIET))
    assert asked(played) == []
    [elected] = played.of(LeaderElected, lambda e: e.selector != "new")
    assert (elected.selector, elected.t_us > ended_us(played)) == ("offline", True)


def test_a_rolling_restart_never_leaves_a_partition_without_leader() -> None:
    tps = [TopicPartition("orders", number) for number in range(4)]
    restarts: list[Table] = [
        {**SHUT_DOWN, "at": f"{10 + 30 * broker}s", "target": broker, "duration": "10s"} for broker in range(4)
    ]
    wanted = scenario(
        brokers=4, controller=3, assignment=[[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]], method=restarts,
        config={"min.insync.replicas": 2, "leader.imbalance.check.interval.seconds": 30},
    )  # fmt: skip
    played = play(wanted)
    assert played.run.passed
    assert played.run.metrics["offline_s"] == 0
    assert played.run.metrics["under_min_isr_s"] == 0
    assert played.run.metrics["failed_batches"] == 0
    assert [len(played.state(tp).isr) for tp in tps] == [3, 3, 3, 3]


@pytest.mark.parametrize("step", ["shutdown.1", "shutdown.3"])
def test_a_step_that_nothing_brings_about_is_refused(step: str) -> None:
    entry: dict[str, Any] = at_step(step, "after", "controller.crash")
    with pytest.raises(BadInput, match="no broker asks for its shutdown"):
        scenario(method=[entry])
    assert isinstance(scenario(method=[SHUT_DOWN, entry]), Scenario)


def test_leaderships_that_were_moved_away_do_not_come_back_as_followers() -> None:
    """Recorded from Kafka 2.3.1 and 2.4.1: of twelve partitions the broker leads two and follows four. It costs six
    leader epochs, and six ISRs expand after the restart. A broker that fetched what it had just given up would rejoin
    those two ISRs and leave them again: eight each."""
    assignment = [[p % 6, (p + 1) % 6, (p + 2) % 6] for p in range(12)]
    again = {**SHUT_DOWN, "duration": "20s"}
    played = play(scenario(assignment=assignment, rate=0, method=[again], config=QUIET))
    assert played.run.passed
    states = [played.state(TopicPartition("orders", p)) for p in range(12)]
    assert sum(state.leader_epoch for state in states) == 6
    assert sum(e.kind == "expand" for e in played.of(IsrChanged)) == 6
    assert all(sorted(state.isr) == sorted(assignment[p]) for p, state in enumerate(states))


@pytest.mark.parametrize(("profile", "answered"), [("kafka-2.8", False), ("kafka-3.0", True)])
def test_without_zookeeper_the_controller_is_asked_since_kafka_9189(profile: str, answered: bool) -> None:
    """KafkaServer.controlledShutdown: in 2.8 the broker waits for ZooKeeper to say who the controller is."""
    stop: Table = {"at": "9s", "action": "zookeeper.stop", "duration": "60s"}
    played = play(scenario(method=[stop, SHUT_DOWN], config=QUIET, profile=profile, strategy="kip-455"))
    [begun] = asked(play(scenario(method=[SHUT_DOWN], config=QUIET, profile=profile, strategy="kip-455")))
    assert begun == (1, 6, "NONE", 0)
    meanwhile = [e for e in played.of(ControlledShutdownAnswered) if e.t_us < 69_000_000]
    assert bool(meanwhile) is answered
    assert all(e.error == "DISCONNECTED" for e in meanwhile), "the controller cannot do it without ZooKeeper"


def test_a_broker_that_is_killed_in_the_instant_in_which_it_would_end_is_started_once() -> None:
    """kafka-0.8, seed 9015: its last phase is over while it pauses, in which it has lost its only log directory."""
    method: list[Table] = [
        {**SHUT_DOWN, "duration": "200ms"},
        {"at": "10100ms", "action": "broker.pause", "target": 0},
        {"at": "12s", "action": "log_dir.offline", "target": 0},
        {"at": "12500ms", "action": "disk.heal", "target": 0, "restart": False},
        {"at": "13s", "action": "broker.resume", "target": 0},
    ]
    played = play(scenario(method=method, config=QUIET))
    [end] = played.of(NodeCrashed, lambda event: event.node == 0)
    assert (end.t_us, end.kind) == (13_000_000, "process")
    assert [event.incarnation for event in played.of(NodeStarted, lambda event: event.node == 0)] == [1, 2]
