"""Why a broker remembers what ZooKeeper does not have is recognized by its marks in the trace."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from controller.operations.brokers import LOST_DIRS
from emulator.protocol import events as e
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import broker_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers import Violation
from scenarios.observe.findings.gauge_facts import CountWrong
from scenarios.observe.findings.memory_facts import (
    BrokerRemembers,
    ControllerRemembers,
    ResignedKeeps,
)
from scenarios.runs import Run, run_scenario
from scenarios.runs.findings import findings
from tests.scenarios.runs.building import TP, Table, scenario
from tests.scenarios.runs.stated import NOTHING_ASKED, stated
from tests.scenarios.runs.test_known_findings import assigned, elected, kept, quiet, tickets, told

__all__ = ["quiet"]

BOUNCED: tuple[Table, ...] = (
    {"at": "10s", "action": "broker.pause", "target": 3, "duration": "3s"},
    {"at": "10100ms", "action": "broker.crash", "target": 1, "duration": "500ms"},
    {"at": "10200ms", "action": "zk.expire", "target": 1},
)
"""Broker 1 is gone and back while the controller pauses."""


def remembers(memory: str, tp: TopicPartition | None = None) -> Violation:
    """Broker 2 remembers something else than there is."""
    facts = BrokerRemembers(2, memory, "", "…", "…")
    return evolve(stated("broker_remembers", "…", 9, 9, "…"), facts=facts, partition=tp, brokers=(2,))


ISR, LIVE = remembers("metadata", TP), remembers("live_brokers")


def explained(quiet: Run, profile: str, *events: Any) -> list[str | None]:
    """The tickets that explain another ISR and other live brokers; None: it is new."""
    return [ticket for found in (ISR, LIVE) for ticket in tickets(told(quiet, profile, list(events), found))]


def test_a_broker_that_has_refused_metadata_goes_on_with_earlier_isrs_and_brokers(quiet: Run) -> None:
    """wiki-text, seed 90 of the default swarm: the ISR had shrunk before it was registered again."""
    refuses = e.ControlResponse(4, 4, 3, "UpdateMetadata", 2, 0, 1, "UNKNOWN_SERVER_ERROR", (), ())
    takes = refuses._replace(seq=5, error="NONE")
    state = elected(2, 1)
    assert explained(quiet, "wiki-text", state, refuses) == ["KAFKA-9839"] * 2
    assert explained(quiet, "kafka-2.5", state, refuses) == [None] * 2
    assert explained(quiet, "wiki-text", state, refuses, takes) == ["KAFKA-9839", None]
    assert explained(quiet, "wiki-text", elected(5, 1), refuses) == [None, "KAFKA-9839"]
    for events in ([state], [state, takes], [state, refuses._replace(node=1)]):
        assert explained(quiet, "wiki-text", *events) == [None] * 2
    assert tickets(told(quiet, "wiki-text", [state, refuses], remembers("replicas", TP))) == [None]


def test_a_broker_that_has_refused_all_metadata_names_a_controller_from_before(quiet: Run) -> None:
    """kafka-2.4, seed 2133: it was the controller itself, until its session expired."""
    refuses = e.ControlResponse(4, 4, 3, "UpdateMetadata", 2, 0, 1, "UNKNOWN_SERVER_ERROR", (), ())
    takes, found = refuses._replace(seq=5, error="NONE"), remembers("controller")
    assert tickets(told(quiet, "kafka-2.4", [refuses], found)) == ["KAFKA-9839"]
    assert tickets(told(quiet, "kafka-2.5", [refuses], found)) == [None]
    assert tickets(told(quiet, "kafka-2.4", [refuses, takes], found)) == [None]


@pytest.mark.parametrize(("profile", "whole"), [("kafka-1.1", False), ("kafka-2.3", True)])
def test_kafka_1120_a_broker_that_is_back_too_soon_is_not_told_who_lives(profile: str, whole: bool) -> None:
    well: Table = {"converged": True, "within": "30s"}
    run = run_scenario(
        scenario(
            brokers=4, controller=3, assignment=[[0, 1]], method=BOUNCED, expect=[well], profile=profile, rate=5
        )
    )  # fmt: skip
    found = [] if whole else ["converged", "broker_remembers"]
    assert sorted(finding.checker for finding in findings(run)) == sorted(found)
    assert tickets(run) == ["KAFKA-1120"] * len(found)


def test_one_that_the_controller_has_seen_or_told_is_no_such_broker(quiet: Run) -> None:
    gone = ZkWritten(3, 3, 0, -1, "delete", broker_path(2), 0, 3, "")
    back = ZkWritten(4, 4, 0, 2, "create", broker_path(2), 0, 4, "{}")
    assert explained(quiet, "kafka-1.1", gone, back) == [None, "KAFKA-1120"]
    assert explained(quiet, "kafka-2.3", gone, back) == [None] * 2
    started = Step(5, 5, 0, "broker-startup.1", "before", "", -1, 2, 0, 2, "")
    takes = e.ControlResponse(5, 5, 1, "UpdateMetadata", 2, 0, 1, "NONE", (), ())
    for events in ([gone], [back], [gone, back, started], [gone, back, takes]):
        assert explained(quiet, "kafka-1.1", *events) == [None] * 2


def test_kafka_1120_so_has_one_its_failed_log_directories(quiet: Run) -> None:
    """kafka-1.1, seed 2326: the machine had a new disk as it came back."""
    memory = ControllerRemembers(0, "offline_dirs", "broker 1", f"{TP}", "nothing", failover=False)
    controller = evolve(stated("controller_remembers", "…", 9, 9, "…"), facts=memory, brokers=(1,))
    offline, new = (
        evolve(controller, facts=memory._replace(memory="replica_states", kept=state, wanted="online"))
        for state in ("offline", "new")
    )
    broker = evolve(ISR, facts=BrokerRemembers(2, "metadata", "", "…", "…", (1,)))
    misses = evolve(ISR, facts=BrokerRemembers(2, "metadata", "", "…", "…"))
    failed = e.LogDirFailed(2, 2, 0, 1, "/data/1", "injected by the scenario", 1, broker_halts=False)
    gone = ZkWritten(3, 3, 0, -1, "delete", broker_path(1), 0, 3, "")
    back = ZkWritten(4, 4, 0, 1, "create", broker_path(1), 0, 4, "{}")

    def of_each(profile: str, *events: Any) -> list[str | None]:
        found = (controller, offline, broker, new, misses)
        return [ticket for each in found for ticket in tickets(told(quiet, profile, list(events), each))]

    assert of_each("kafka-1.1", failed, gone, back) == ["KAFKA-1120"] * 3 + [None] * 2
    assert of_each("kafka-2.3", failed, gone, back) == [None] * 5
    started = Step(5, 5, 0, "broker-startup.1", "before", "", -1, 1, 0, 2, "")
    late = failed._replace(t_us=5, seq=5)
    for events in ([gone, back], [failed, gone], [failed, gone, back, started], [gone, back, late]):
        assert of_each("kafka-1.1", *events) == [None] * 5


def test_kafka_1120_so_waits_a_deletion_for_the_failed_log_directories(quiet: Run) -> None:
    """kafka-1.1, seed 15039: the answer that reported them was handled once the broker was away."""
    wanted = ZkWritten(1, 1, 0, -1, "create", "/admin/delete_topics/orders", 0, 1, "")
    failed = e.LogDirFailed(2, 2, 0, 1, "/data/1", "injected by the scenario", 1, broker_halts=False)
    gone = ZkWritten(3, 3, 0, -1, "delete", broker_path(1), 0, 3, "")
    back = ZkWritten(4, 4, 0, 1, "create", broker_path(1), 0, 4, "{}")
    late = Step(5, 5, 0, "broker-failure.1", "before", "", -1, 1, 0, 2, LOST_DIRS)
    found = stated("converged", NOTHING_ASKED, 9, 9, "/admin/delete_topics/orders is still there")
    explains: list[Any] = [assigned(0, 0, 1), wanted, failed, gone, back]
    assert tickets(told(quiet, "kafka-1.1", [*explains, late], found)) == ["KAFKA-1120"]
    lacks = [[*explains[:i], *explains[i + 1 :]] for i in range(len(explains))]
    for events in (*lacks, [*explains, late._replace(detail="")]):
        assert tickets(told(quiet, "kafka-1.1", events, found)) == [None]


def test_kafka_1120_so_are_the_replicas_offline_that_a_shutdown_took(quiet: Run) -> None:
    """kafka-1.1, seed 3010 (KafkaController.doControlledShutdown, 1.1.1): it takes what the broker follows offline."""
    memory = ControllerRemembers(0, "replica_states", "broker 1", "offline", "online", failover=False)
    found = evolve(stated("controller_remembers", "…", 9, 9, "…"), facts=memory, brokers=(1,))
    leaves = Step(2, 2, 0, "shutdown.3", "before", "", -1, 1, 0, 0, "")
    gone = ZkWritten(3, 3, 0, -1, "delete", broker_path(1), 0, 3, "")
    back = ZkWritten(4, 4, 0, 1, "create", broker_path(1), 0, 4, "{}")
    assert tickets(told(quiet, "kafka-1.1", [leaves, gone, back], found)) == ["KAFKA-1120"]
    assert tickets(told(quiet, "kafka-2.3", [leaves, gone, back], found)) == [None]
    started = Step(5, 5, 0, "broker-startup.1", "before", "", -1, 1, 0, 0, "")
    for events in (
        [gone, back],
        [leaves, gone],
        [leaves._replace(broker=2), gone, back],
        [leaves, gone, back, started],
    ):
        assert tickets(told(quiet, "kafka-1.1", events, found)) == [None]
    new = evolve(found, facts=memory._replace(kept="new"))
    assert tickets(told(quiet, "kafka-1.1", [leaves, gone, back], new)) == [None]


def test_metadata_that_was_overtaken_takes_back_isrs_and_live_brokers(quiet: Run) -> None:
    ticket = "MetadataCache.updateMetadata (0.8.0 to 2.7.2)"
    state = elected(3, 1)
    takes = e.ControlResponse(6, 6, 4, "UpdateMetadata", 2, 0, 1, "NONE", (), ())
    late = takes._replace(seq=7, cause=1)
    for profile in ("kafka-0.8", "kafka-2.7"):
        assert explained(quiet, profile, state, takes, late) == [ticket] * 2
    assert explained(quiet, "kafka-2.4", state, takes, late, takes._replace(seq=8, cause=8)) == [ticket, None]
    assert explained(quiet, "kafka-2.4", elected(8, 1), takes, late) == [None, ticket]
    assert tickets(told(quiet, "kafka-2.4", [state, takes, late], remembers("replicas", TP))) == [None]
    for events in (
        [state, takes],
        [state, late],
        [state, takes._replace(node=1), late],
        [state, takes, late._replace(cause=5)],
        [state, takes, late._replace(error="STALE_CONTROLLER_EPOCH")],
    ):
        assert explained(quiet, "kafka-2.4", *events) == [None] * 2


def test_a_controller_that_fails_once_it_is_replaced_keeps_its_term(quiet: Run) -> None:
    """kafka-3.9, seed 607 of the default swarm: it cannot raise a leader epoch that its successor has raised."""
    ticket = "KafkaController.triggerControllerMove (2.1.0 to 3.9)"
    keeps = evolve(remembers("watches"), invariant="resigned_forgets", facts=ResignedKeeps(2, "epoch", 3, False))
    fails = Deviated(5, 5, 0, 2, "KafkaController.triggerControllerMove", "", -1, 2)
    elected_again, resigns = e.ControllerElected(6, 6, 0, 2, 5), e.ControllerResigned(7, 7, 0, 2, 5)
    crash = e.NodeCrashed(7, 7, 0, 2, 1, "process")
    counts, of_broker = (  # kafka-2.6, seed 28039
        evolve(keeps, invariant="counts_true", facts=CountWrong(2, gauge, 1, 0))
        for gauge in ("TopicsToDeleteCount", "PartitionCount")
    )

    def reasons(profile: str, *events: Any) -> list[str | None]:
        found = (keeps, remembers("watches"), counts, remembers("replicas", TP), of_broker)
        return [one for each in found for one in tickets(told(quiet, profile, list(events), each))]

    assert reasons("kafka-3.9", fails) == reasons("kafka-2.3", fails, elected_again) == [ticket] * 3 + [None] * 2
    assert reasons("kafka-1.1", fails) == [None] * 5
    for events in ([], [fails, elected_again, resigns], [fails, crash], [fails._replace(replica=1)]):
        assert reasons("kafka-3.9", *events) == [None] * 5


def test_a_high_watermark_from_before_the_start_of_a_log_stays_until_a_start(quiet: Run) -> None:
    """2.3, seed 2311 of the default swarm: the leader gave it to a follower that had deleted more."""
    facts = BrokerRemembers(2, "logs", "high watermark", "10508", "10525")
    found = evolve(stated("logs_reload", "…", 9, 9, "…"), facts=facts, partition=TP, brokers=(2,))
    takes = Deviated(3, 3, 0, 2, "Log.updateHighWatermark", *TP, 2)
    role = e.BecameFollower(5, 5, 0, 2, *TP, 1, 0, 10600, 10508)
    ends = e.NodeCrashed(5, 5, 0, 2, 1, "process")
    assert tickets(told(quiet, "kafka-2.3", [takes, role], found)) == ["Log.updateHighWatermark (2.4)"]
    assert tickets(told(quiet, "kafka-2.4", [takes, role], found)) == [None]
    assert tickets(told(quiet, "kafka-2.3", [takes, ends], found)) == [None]
    assert tickets(told(quiet, "kafka-2.3", [role], found)) == [None]
    for other in (
        facts._replace(of="log start offset"),
        facts._replace(kept="10530"),
        facts._replace(memory="producers"),
    ):
        assert tickets(told(quiet, "kafka-2.3", [takes], evolve(found, facts=other))) == [None]


MOVED_AT_FAILOVER: tuple[Table, ...] = (
    {"at": "5s", "action": "controller.resign"},
    {"when": {"step": "failover.F1", "edge": "before"}, "action": "reassign.execute"},
    {"at": "40s", "action": "config.set", "topic": "orders", "config": {"retention.ms": 7_200_000}},
)


@pytest.mark.parametrize("profile", ["kafka-1.1", "kafka-2.3"])
def test_a_move_that_is_begun_twice_leaves_what_it_adds_new(profile: str) -> None:
    """kafka-2.3, seed 2304 of the default swarm: asked for between the watch and the read of a controller."""
    written = scenario(
        brokers=4, controller=3, assignment=[[0]], plan={0: (0, 1)}, method=MOVED_AT_FAILOVER, rate=0,
        profile=profile, strategy="wiki", horizon="60s",
    )  # fmt: skip
    run = run_scenario(written)
    ticket = "KafkaController.maybeTriggerPartitionReassignment (1.1.1 to 2.3.1)"
    assert [finding.checker for finding in findings(run)] == ["controller_remembers"]
    assert tickets(run) == [ticket]
    again = [one for one in kept(run) if not (isinstance(one, Step) and one.step == "failover.F3")]
    assert tickets(told(run, profile, again, *run.violations)) == [None]
