"""Whether a cluster gets well after its last fault: each condition, and the verdict."""

from typing import Any

import pytest

from brokers.partition.partition import Partition
from brokers.purgatory import DelayedProduce
from emulator.protocol.events import LeaderElected, Produced
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.observe.findings.convergence_facts import Broken, Condition, GaugeNotAtRest, NotAccepted
from scenarios.observe.findings.facts import Part
from scenarios.observe.history.shown_values import AT_REST
from scenarios.runs.convergence import LOOKED_AT
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.runs.known_findings import known
from tests.scenarios.runs.building import EXECUTE, TP, Played, Table, play, scenario

CRASH: Table = {"at": "3s", "action": "broker.crash", "target": 1}
HEALED: Table = {"at": "20s", "action": "heal"}
WELL: Table = {"converged": True, "within": "30s"}


def played(*method: Table, **more: Any) -> Played:
    wanted: dict[str, Any] = {"brokers": 4, "controller": 3, "horizon": "2m", "expect": [WELL], **more}
    return play(scenario(method=method, **wanted))


def broken(run: Played) -> dict[Part | None, str]:
    """The report of ``converged``: condition -> the first case of it."""
    found = [violation for violation in run.run.violations if violation.invariant == "converged"]
    return {violation.part: violation.state for violation in reversed(found)}


@pytest.mark.parametrize("profile", ["kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7"])
def test_a_cluster_gets_well_after_heal(profile: str) -> None:
    run = played(CRASH, HEALED, profile=profile, **({"strategy": "kafka-42"} if profile == "kafka-0.8" else {})).run
    assert run.passed, run.explanation
    found = run.convergence
    assert (found.since_us, found.broken) == (20_000_000, ())
    assert found.after_s is not None
    assert 0 < found.after_s < 1
    assert run.to_json()["convergence"] == {"converged": True, "after_s": found.after_s, "broken": []}


def test_each_partition_is_probed_with_a_record() -> None:
    run = played(CRASH, HEALED, assignment=[(0, 1, 2), (1, 2, 0)], rate=0)
    assert [(event.partition, event.outcome) for event in run.of(Produced)] == [(0, "acked"), (1, "acked")]


def test_without_the_expectation_nothing_is_written_and_the_report_knows_all_the_same() -> None:
    run = played(CRASH, HEALED, rate=0, expect=[])
    assert run.of(Produced) == []
    assert run.run.convergence.after_s is not None


def test_a_load_that_never_rests_is_no_reason() -> None:
    run = played(CRASH, HEALED, workloads=[{"topic": "orders", "producerRate": 2000, "linger": "1ms"}], horizon="40s")
    assert run.run.passed, run.run.explanation


def test_a_load_that_never_rests_is_no_reason_in_a_large_cluster_that_is_judged_at_its_end_alone() -> None:
    assignment = [(n % 3, (n + 1) % 3) for n in range(LOOKED_AT + 1)]
    loads = [{"topic": "orders", "producerRate": 4000, "linger": "20ms"}]
    run = played(EXECUTE, assignment=assignment, plan={0: (0, 2)}, workloads=loads, size="1KiB", expect=[])
    assert (run.run.passed, run.run.convergence.broken) == (True, ())


def test_a_core_that_is_well_is_enough() -> None:
    core = {**HEALED, "brokers": [0, 2, 3], "others": "stopped"}
    run = played({**CRASH, "action": "broker.pause"}, core)
    assert run.run.passed, run.run.explanation
    assert run.state().isr == (0, 2)


def test_too_few_replicas_in_the_core_for_acks_all_are_not_probed() -> None:
    core = {**HEALED, "brokers": [0, 2, 3], "others": "stopped"}
    run = played(core, topic_config={"min.insync.replicas": 3}, rate=0)
    assert run.run.passed, run.run.explanation
    assert run.of(Produced) == []


# -- what does not hold -----------------------------------------------------------------------------------------------


def test_a_broker_that_stays_down() -> None:
    run = played(CRASH, horizon="1m")
    assert broken(run) == {
        Condition.REGISTERED: "broker 1 does not run",
        Condition.IN_SYNC: "orders-0: isr [0, 2], assignment [0, 1, 2], leader 0",
    }
    assert run.run.reason == "violated"
    (unmet,) = (expectation for expectation in run.run.expectations if not expectation.ok)
    assert unmet.detail == "broker 1 does not run"
    assert [found.checker for found in findings(run.run)] == ["converged", "converged"], "the expectation adds nothing"


def test_an_isr_that_is_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Partition, "maybe_expand_isr", lambda *_: None)
    run = played(CRASH, HEALED)
    assert list(broken(run)) == [Condition.IN_SYNC]
    assert findings(run.run) == (Finding("converged", Condition.IN_SYNC),)


def test_a_leader_that_does_not_know_that_it_leads() -> None:
    ignore = {"at": "2s", "action": "broker.ignore_become_leader", "target": 1, "partition": "orders-0", "times": 9}
    crash = {"at": "3s", "action": "broker.crash", "target": 0, "duration": "20s"}
    found = broken(played(ignore, crash))
    assert found[Condition.LED] == "orders-0: broker 1 does not lead in epoch 1"


def test_a_partition_that_a_fetcher_gave_up() -> None:
    fail = {"at": "3s", "action": "fetcher.fail_partition", "target": 1, "partition": "orders-0"}
    assert broken(played(fail))[Condition.FETCHED] == "orders-0: failed on broker 1 (KIP-461)"


@pytest.mark.parametrize("profile", ["kafka-3.6", "kafka-3.9"])
def test_what_is_acknowledged_alone_below_min_isr_need_not_be_committed(profile: str) -> None:
    """From 3.7 on a leader commits nothing while its ISR is too small (kafka-3.9, seed 325 of the default swarm)."""
    core = {"at": "20s", "action": "heal", "brokers": [0, 2, 3], "others": "stopped"}
    config = {"min.insync.replicas": 2}
    more: dict[str, Any] = {"assignment": [(0, 1)], "topic_config": config, "acks": 1, "strategy": "kip-455"}
    assert played(core, profile=profile, **more).run.passed


def test_a_fetcher_that_has_died() -> None:
    fail = {"at": "3s", "action": "fetcher.fail_partition", "target": 1, "partition": "orders-0", "cause": "unexpected"}
    assert "has died" in broken(played(fail, profile="kafka-1.1"))[Condition.FETCHED]


def test_a_move_that_waits() -> None:
    crash = {"at": "1s", "action": "broker.crash", "target": 2}
    run = played(crash, EXECUTE, assignment=[(0, 1)], plan={0: (1, 2)}, horizon="1m")
    assert broken(run)[Condition.NOTHING_ASKED] == "/admin/reassign_partitions is still there"


@pytest.mark.parametrize(
    ("strategy", "profile"), [("wiki", "kafka-1.1"), ("wiki", "kafka-2.3"), ("kip-455", "kafka-2.4")]
)
@pytest.mark.parametrize("partitions", [1, 2])
def test_a_move_of_what_no_replica_may_lead_need_not_end(strategy: str, profile: str, partitions: int) -> None:
    """Its only in-sync replica is gone for good. One of another partition, which waits for a dead broker, has to."""
    crash = {"at": "1s", "action": "broker.crash", "target": 0}
    core = {"at": "20s", "action": "heal", "brokers": [1, 2, 3], "others": "stopped"}
    assignment, plan = [(0,), (1,)], {0: (1, 2), 1: (1, 0)}
    run = played(
        crash, EXECUTE, core, assignment=assignment[:partitions], plan=dict(list(plan.items())[:partitions]), rate=0,
        strategy=strategy, profile=profile, horizon="1m",
    ).run  # fmt: skip
    assert run.passed == (partitions == 1), run.explanation


def test_a_move_that_is_forgotten_has_not_ended_though_the_cluster_is_well() -> None:
    """The next controller deletes the request unread (removePartitionsFromReassignedPartitions, 2.3.1)."""
    hold = {"step": "failover.F8", "edge": "before"}
    run = played(
        {"at": "1s", "action": "gate.hold", "gate": hold, "duration": "20s"},
        {"at": "2s", "action": "controller.crash"},
        {"at": "15s", "action": "reassign.execute"},
        {"at": "25s", "action": "heal"},
        plan={0: (2, 1, 0)}, rate=0, horizon="1m",
    ).run  # fmt: skip
    assert (run.convergence.broken, run.reason, run.besides) == ((), "violated", "unfinished")
    assert [violation.invariant for violation in run.violations] == ["moves_recoverable"]


def test_an_election_of_the_controllers_own_as_a_run_ends_is_waited_for() -> None:
    """kafka-2.6, seed 44064: leader.imbalance.check.interval.seconds is over at the end of the idle stretch."""
    run = played(
        {"at": "2s", "action": "broker.crash", "target": 0, "duration": "8s"}, {"at": "12700ms", "action": "heal"},
        brokers=3, controller=2, assignment=[[0, 1]], rate=0, horizon="3m", expect=[{**WELL, "within": "1m"}],
        cluster={"config": {"leader.imbalance.check.interval.seconds": 32}, "network": {"latency": "150ms"}},
    ).run  # fmt: skip
    assert not findings(run)
    assert [event.t_us // 1_000_000 for event in run.control_plane if type(event) is LeaderElected] == [0, 7, 37]
    assert run.virtual_s > 37.2


def test_kafka_13972_a_cancelled_move_leaves_a_stray_replica() -> None:
    """Since KIP-570 (2.6) a StopReplica in the replica's own leader epoch is refused."""
    table = Scenario.load("scenarios/library/reassign-cancel.toml").to_table()
    table["expect"] = [WELL]
    run = play(Scenario.from_table(table)).run
    (found,) = findings(run)
    assert (found.checker, found.part) == ("converged", Condition.NO_STRAYS)
    assert found.state == "orders-0: broker 3 still has a replica, assigned to [1, 2, 0]"
    [reason] = known(run, found)
    assert reason.ticket == "KAFKA-13972"


@pytest.mark.parametrize(
    ("profile", "strategy", "well"),
    [("kafka-2.3", "wiki", False), ("kafka-2.5", "kip-455", False), ("kafka-2.7", "kip-455", True)],
)
def test_a_session_does_not_repeat_the_high_watermark_of_an_answer_that_was_ignored(
    profile: str, strategy: str, well: bool
) -> None:
    """Broker 1 gets a new leader epoch while the answer is under way to it, and asks where to truncate to. Its next
    fetch finds nothing that the session does not know. Where followers truncate on fetch the answer is still good."""
    run = played(
        {"at": "1s", "action": "link.delay", "target": 1, "peer": 0, "direction": "to", "delay": {"latency": "100ms"}},
        {"at": "4660ms", "action": "reassign.execute"},
        {"at": "6s", "action": "heal"},
        profile=profile, strategy=strategy, plan={0: (0, 2, 1)}, size="0B", rate=0, expect=[{**WELL, "within": "5s"}],
        workloads=[{"topic": "orders", "producerRate": 1, "linger": "1s", "start": "3500ms", "stop": "5500ms"}],
        config={"replica.fetch.wait.max.ms": 50},
    ).run  # fmt: skip
    found = [(one.part, known(run, one)) for one in findings(run)]
    assert well == (not found)
    assert all(
        (statement, [reason.ticket for reason in reasons])
        == (Condition.COMMITTED, ["FetchSessionHandler.build (1.1.0 to 2.7.2)"])
        for statement, reasons in found
    )


@pytest.mark.parametrize(("profile", "tickets"), [("kafka-1.1", ["KAFKA-6650"] * 2), ("kafka-2.3", [])])
def test_kafka_6650_a_topic_that_never_had_a_leader_is_not_deleted(profile: str, tickets: list[str]) -> None:
    pause = {"at": "2s", "action": "broker.pause", "target": 3}
    create = {"at": "3s", "action": "topic.create", "topic": {"name": "late", "assignment": [[1]]}}
    delete = {"at": "4s", "action": "topic.delete", "topic": "late"}
    run = played(pause, create, delete, HEALED, profile=profile, rate=0).run
    found = findings(run)
    assert all(one.checker == "converged" for one in found)
    assert [[reason.ticket for reason in known(run, one)] for one in found] == [[ticket] for ticket in tickets]


@pytest.mark.parametrize(("profile", "ticket"), [("kafka-2.3", "KAFKA-9212"), ("kafka-2.4", None)])
def test_kafka_9212_a_consumer_is_refused_after_a_move_that_only_changes_the_order(
    profile: str, ticket: str | None
) -> None:
    consumer = {"topic": "orders", "offset_reset": "earliest", "start": "4s"}
    run = played(EXECUTE, plan={0: (0, 2, 1)}, consumers=[consumer], profile=profile, rate=20, horizon="1m").run
    reasons = [known(run, found) for found in findings(run)]
    assert [[reason.ticket for reason in of_it] for of_it in reasons] == [[ticket]] * bool(ticket)


def test_replicas_of_a_broker_that_was_away_are_not_held_against_the_release() -> None:
    """The StopReplica cannot reach it, and Kafka forgets the replica."""
    crash = {"when": {"step": "wiki.10"}, "action": "broker.crash", "target": 0, "duration": "20s"}
    run = played(EXECUTE, crash, assignment=[(0, 1)], plan={0: (1, 2)}, rate=0)
    assert run.run.passed, run.run.explanation


def test_a_gauge_that_is_not_at_rest() -> None:
    run = played(CRASH, HEALED)
    gauges = run.stage.checkers.history.shown.gauges
    name = next(iter(AT_REST))
    gauges[0][name] = 3
    left = list(run.stage.convergence._checker.broken(run.stage.world.now))
    assert left == [Broken(Condition.GAUGES, GaugeNotAtRest(0, "UnderReplicatedPartitions", 3), brokers=(0,))]


def test_a_consumer_that_has_not_read_everything() -> None:
    cut = {"at": "3s", "action": "host.isolate", "target": "clients"}
    run = played(cut, consumers=[{"topic": "orders", "offset_reset": "earliest"}], horizon="1m", size="0B")
    assert list(broken(run)) == [Condition.READ]


def test_a_consumer_of_what_no_replica_may_lead_begins_nowhere() -> None:
    crash = {"at": "1s", "action": "broker.crash", "target": 0}
    core = {"at": "20s", "action": "heal", "brokers": [1, 2, 3], "others": "stopped"}
    consumer = {"topic": "orders", "offset_reset": "earliest", "start": "4s"}
    run = played(crash, core, assignment=[(0,), (1,)], consumers=[consumer], rate=0, horizon="1m").run
    assert run.passed, run.explanation


def test_a_consumer_that_is_closed_need_not_read_more() -> None:
    run = played(CRASH, HEALED, consumers=[{"topic": "orders", "offset_reset": "earliest", "stop": "4s"}])
    assert run.run.passed, run.run.explanation


def test_a_consumer_at_a_leader_that_kafka_has_forgotten_is_not_held_against_the_release() -> None:
    """Its partition is moved away while its session is gone, no StopReplica reaches it, and its answers stay empty. A
    consumer of Kafka asks for metadata after metadata.max.age.ms."""
    cut = {"at": "3s", "action": "host.isolate", "target": 0, "duration": "500ms"}
    expire = {"at": "3s", "action": "zk.expire", "target": 0}
    move = {"at": "3010ms", "action": "reassign.execute"}
    consumer = {"topic": "orders", "offset_reset": "earliest"}
    run = played(
        cut, expire, move, HEALED, assignment=[(0, 1)], plan={0: (1, 2)}, consumers=[consumer], rate=20,
        profile="kafka-1.1",
    )  # fmt: skip
    shown, cluster = run.stage.checkers.history.shown, run.stage.checkers.history.cluster
    leader = cluster.state(TP)
    log = None if leader is None else run.stage.checkers.history.logs.get(leader.leader, TP)
    assert log is not None
    assert next(iter(shown.positions.values()))[TP] < log.end_offset
    assert run.run.passed, run.run.explanation


def test_a_write_that_is_not_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicas follow, and the leader never answers."""
    monkeypatch.setattr(DelayedProduce, "finish", lambda *_: None)
    found = broken(played(CRASH, HEALED, rate=0, horizon="1m"))
    assert found == {Condition.ACCEPTED: "orders-0: no answer yet"}


# -- the file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [{"converged": False}, {"converged": True, "after": "heal"}])
def test_what_makes_no_sense_is_refused(wrong: Table) -> None:
    with pytest.raises(BadInput, match="leave"):
        played(HEALED, expect=[wrong])


def test_two_minutes_are_allowed_where_the_file_says_nothing() -> None:
    (said,) = played(HEALED, expect=[{"converged": True}]).run.expectations
    assert said.statement == "converged within 120 s of the last action"


def test_a_consumer_that_waits_for_a_dead_machine_has_time_to_notice() -> None:
    """Its fetch is not answered, and it waits for request.timeout.ms (30 s in 2.3). Meanwhile nothing can be
    written for a while, so that it seems to be at the end."""
    run = played(
        {"at": "3s", "action": "broker.crash", "target": 0, "kind": "host", "duration": "50ms"},
        {"at": "4s", "action": "heal"},
        assignment=[(0,)],
        workloads=[{"topic": "orders", "producerRate": 20, "stop": "15s"}],
        consumers=[{"topic": "orders", "offset_reset": "earliest"}],
        expect=[{"converged": True, "within": "60s"}],
    )
    assert run.run.passed, run.run.explanation
    assert run.run.virtual_s > 30


def test_a_broker_that_missed_the_end_of_a_move_leads_for_itself_for_ever() -> None:
    """Its session expired while the partition was moved away: Kafka up to 2.7 sends it no StopReplica when it is back.
    It fails to shrink the ISR again and again, and shows the partition as under-replicated."""
    run = played(
        {"at": "3s", "action": "host.isolate", "target": 0, "duration": "20s"},
        {"at": "14s", "action": "reassign.execute"},
        {"at": "25s", "action": "heal"},
        assignment=[(0, 1, 2)], plan={0: (1, 2)}, horizon="3m", rate=20,
        expect=[{"converged": True, "within": "60s"}],
    )  # fmt: skip
    assert run.run.passed, run.run.explanation
    assert [event for event in run.events if type(event).__name__ == "IsrUpdateFailed"]


def test_a_partition_that_loses_a_replica_after_it_was_probed_need_not_accept_a_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A move that was requested before ends with fewer replicas than min.insync.replicas."""
    judge = played(horizon="5s").stage.convergence
    judge._unaccepted = {TP: NotAccepted("", "")}
    assert list(judge._probed()) == [(TP, NotAccepted("", ""))]
    monkeypatch.setattr(type(judge), "_min_isr", lambda *_: 4)
    assert list(judge._probed()) == []
