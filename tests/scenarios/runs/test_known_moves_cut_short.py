"""Moves that are cut short, as a topic is deleted, gets more partitions, or has no leader yet, are recognized by their
marks in the trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from emulator.protocol import events as e
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, decode_reassigning, decode_topic, state_path, topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.findings.isr_facts import LedElsewhere
from scenarios.runs import Run, run_scenario
from scenarios.runs.finding import UNFINISHED, Finding
from scenarios.runs.findings import findings
from scenarios.runs.known.moves_cut_short import DELETED, LEFT_OVER, NEVER_LED, OVERWRITTEN, REFUSED, WAITS
from scenarios.runs.known_findings import explained_findings, known
from tests.scenarios.runs.building import Table, scenario
from tests.scenarios.runs.test_known_findings import kept, tickets, told

LATE = TopicPartition("late", 0)
AT_LAST: Table = {"converged": True, "within": "30s"}
RELEASES = ("kafka-2.4", "kafka-2.7", "kafka-3.0")


def unled(profile: str, assignment: list[int], target: list[int], *method: Table) -> Run:
    """A topic is created while brokers 0 and 1 are away, which have all of its replicas, and is moved to brokers that
    are there before broker 1 comes back."""
    plan = {"version": 1, "partitions": [{"topic": "late", "partition": 0, "replicas": target}]}
    away: tuple[Table, ...] = (
        {"at": "1s", "action": "broker.crash", "target": [0, 1]},
        {"at": "25s", "action": "topic.create", "topic": {"name": "late", "assignment": [assignment]}},
        {"at": "26s", "action": "reassign.execute", "plan": plan},
        {"at": "30s", "action": "broker.start", "target": 1},
        {"at": "40s", "action": "broker.start", "target": 0},
    )
    return run_scenario(
        scenario(
            brokers=5, controller=4, assignment=[[2, 3]], method=(*away, *method), expect=[AT_LAST], profile=profile,
            strategy="kip-455", rate=0, horizon="3m",
        )
    )  # fmt: skip


def dies(broker: int) -> Table:
    return {"at": "50s", "action": "broker.crash", "target": broker, "duration": "20s"}


def deleted(profile: str) -> Run:
    """A replica of the target is away as the topic is deleted; once it is back, the move goes on first."""
    method: tuple[Table, ...] = (
        {"at": "1s", "action": "link.cut", "target": 2, "peer": 0},
        {"at": "2s", "action": "reassign.execute", "via": "api"},
        {"at": "4s", "action": "broker.crash", "target": 2},
        {"at": "30s", "action": "topic.delete", "topic": "orders"},
        {"at": "40s", "action": "heal"},
    )
    return run_scenario(
        scenario(
            brokers=4, controller=3, assignment=[[0, 1]], plan={0: (0, 2)}, method=method, expect=[AT_LAST],
            profile=profile, strategy="kip-455", rate=0, horizon="3m",
        )
    )  # fmt: skip


def overwritten(profile: str, after: str, *more: Table) -> Run:
    """Partitions are added to a topic, whose move is asked for ``after`` some time; what the tool writes takes a while
    to get to ZooKeeper. Then ``more`` is done."""
    path = {"zk": "setData", "path": "/brokers/topics/orders", "edge": "before"}
    method: tuple[Table, ...] = (
        {"at": "2s", "action": "topic.expand", "topic": "orders", "partitions": 3},
        {"when": path, "action": "message.hold", "duration": "200ms"},
        {"at": after, "action": "reassign.execute", "via": "api"},
        *more,
    )
    return run_scenario(
        scenario(
            brokers=4, controller=3, assignment=[[0, 1]], plan={0: (0, 2)}, method=method, expect=[AT_LAST],
            profile=profile, strategy="kip-455", rate=0, horizon="3m",
        )
    )  # fmt: skip


def explained(run: Run) -> set[tuple[str, int]]:
    """The tickets and effects by which all findings of a run are known."""
    found = explained_findings(run)
    assert not found.new
    return {(reason.ticket, reason.effect) for reason, _ in found.known}


def changed(run: Run, change: Callable[[Any], Any]) -> list[str | None]:
    """The tickets of the findings if events had been others; None: it was not there."""
    events = [new for event in kept(run) if (new := change(event)) is not None]
    return tickets(told(run, run.profile, events, *run.violations))


@pytest.mark.parametrize("profile", RELEASES)
def test_a_move_to_all_of_the_first_isr_stays(profile: str) -> None:
    """kafka-2.7, seed 14 of the default swarm."""
    run = unled(profile, [1], [2])
    unwatched = ["broker_remembers"] if profile == "kafka-2.4" else []
    assert sorted(finding.checker for finding in findings(run)) == [*unwatched, "converged"]
    assert explained(run) == {(NEVER_LED, 1), *((NEVER_LED, 3) for _ in unwatched)}


@pytest.mark.parametrize("profile", RELEASES[1:])
def test_a_replica_of_such_a_move_gets_no_role_once_its_broker_has_restarted(profile: str) -> None:
    """kafka-2.8, seed 14 of the default swarm."""
    run = unled(profile, [0, 1], [2, 3], dies(3))
    assert {finding.checker for finding in findings(run)} == {"roles_adopted", "converged"}
    assert explained(run) == {(NEVER_LED, 0)}


def test_a_replica_that_the_cancellation_of_such_a_move_drops_stays() -> None:
    """kafka-2.7, seed 712 with transactions and compaction: its controller knows of no replica."""
    run = unled("kafka-2.7", [1], [2], {"at": "45s", "action": "reassign.cancel"})
    assert {finding.checker for finding in findings(run)} == {"converged", "drops_stopped", "replicas_notified"}
    assert explained(run) == {(NEVER_LED, 4)}

    def marks_as_new(event: Any) -> Any:
        if type(event) is Step and event.step == "kip-455.A1" and event.edge == "before":
            return event._replace(step="kip-455.A2")
        return event

    def stops(event: Any) -> Any:
        if type(event) is e.BecameLeader and (event.topic, event.node, event.leader_epoch) == ("late", 1, 1):
            return e.ReplicaStopped(event.t_us, event.seq, event.cause, 2, *LATE, True)
        return event

    assert set(changed(run, marks_as_new)) == {None}
    assert None in changed(run, stops)


def test_a_replica_of_such_a_move_that_dies_stays_in_the_isr() -> None:
    run = unled("kafka-2.4", [0, 1], [2, 3], dies(3))
    assert sorted(finding.checker for finding in findings(run)) == ["broker_remembers", "dead_leave_isr"]
    assert explained(run) == {(NEVER_LED, 2), (NEVER_LED, 3)}


@pytest.mark.parametrize("profile", RELEASES)
def test_a_topic_that_is_deleted_while_it_is_moved_leaves_the_move_and_replicas(profile: str) -> None:
    """kafka-2.6, seed 11 of the default swarm."""
    run = deleted(profile)
    assert {finding.checker for finding in findings(run)} == {
        "controller_remembers", "gone_topics_forgotten", "converged",
    }  # fmt: skip
    assert explained(run) == {(DELETED, 0), (DELETED, 1)}


@pytest.mark.parametrize(
    ("profile", "strategy"), [("kafka-1.1", "wiki"), ("kafka-2.3", "wiki"), ("kafka-2.4", "kip-455")]
)
def test_the_request_for_a_move_stays_whose_topic_is_deleted_until_another_controller_is_elected(
    profile: str, strategy: str
) -> None:
    method: tuple[Table, ...] = (
        {"at": "2s", "action": "reassign.execute", "via": "zk"},
        {"at": "4s", "action": "topic.delete", "topic": "orders"},
        {"at": "20s", "action": "topic.create", "topic": {"name": "orders", "assignment": [[2, 3, 4]]}},
    )
    run = run_scenario(
        scenario(
            plan={0: [1, 2, 3]}, method=method, expect=[AT_LAST], profile=profile, strategy=strategy, size="20MiB",
            horizon="90s", cluster={"network": {"egress": "2MiB/s", "ingress": "2MiB/s"}},
        )
    )  # fmt: skip
    assert {finding.checker for finding in findings(run)} == {"broker_remembers", "converged"}
    assert explained(run) == {(LEFT_OVER, 0), (LEFT_OVER, 1)}

    def unasked(event: Any) -> Any:
        is_request = type(event) is ZkWritten and event.path == REASSIGN_PARTITIONS
        return event._replace(path="/admin/other") if is_request else event

    assert set(changed(run, unasked)) == {None}
    gone = next(w for w in kept(run) if type(w) is ZkWritten and (w.op, w.path) == ("delete", topic_path("orders")))
    events = [*kept(run), e.ControllerElected(gone.t_us, gone.seq + 1, 0, 1, 2)]
    assert set(tickets(told(run, run.profile, sorted(events, key=_seq), *run.violations))) == {None}


@pytest.mark.parametrize(
    ("profile", "assignment", "target", "method"),
    [
        ("kafka-2.4", [1], [2], ()),
        ("kafka-2.8", [0, 1], [2, 3], (dies(3),)),
        ("kafka-2.4", [0, 1], [2, 3], (dies(3),)),
    ],
    ids=["stays", "no role", "dead"],
)
def test_not_where_there_was_a_leader_or_the_replicas_were_made_new_or_another_controller(
    profile: str, assignment: list[int], target: list[int], method: tuple[Table, ...]
) -> None:
    run = unled(profile, assignment, target, *method)
    writes = [event for event in kept(run) if type(event) is ZkWritten and event.path == topic_path("late")]
    asked = next(event for event in writes if event.op == "setData")
    first = next(event for event in kept(run) if type(event) is ZkWritten and event.path == state_path(LATE))

    def led(event: Any) -> Any:
        return event._replace(seq=asked.seq - 1) if event.seq == first.seq else event

    def marked(event: Any) -> Any:
        checked = type(event) is Step and (event.step, event.topic) == ("kip-455.check", "late")
        return event._replace(step="kip-455.A2") if checked and event.edge == "after" else event

    assert None not in changed(run, lambda event: event)
    assert set(changed(run, marked)) == {None}
    assert set(tickets(told(run, run.profile, sorted(map(led, kept(run)), key=_seq), *run.violations))) == {None}
    elected = e.ControllerElected(first.t_us, first.seq, 0, 4, 2)
    assert set(tickets(told(run, run.profile, [*kept(run), elected], *run.violations))) == {None}


def _seq(event: Any) -> int:
    return int(event.seq)


def test_not_where_no_move_was_under_way_or_nothing_was_announced_or_another_controller() -> None:
    run = deleted("kafka-2.6")

    def unmoved(event: Any) -> Any:
        of_topic = type(event) is ZkWritten and event.path == topic_path("orders") and event.op == "setData"
        return None if of_topic else event

    def silent(event: Any) -> Any:
        return None if type(event) is Step and event.step == "kip-455.A1" else event

    assert None not in changed(run, lambda event: event)
    assert set(changed(run, unmoved)) == {None}
    assert set(changed(run, silent)) == {None, DELETED}, "the move stays in the controller's memory"
    last = kept(run)[-1]
    elected = e.ControllerElected(last.t_us, min(v.seq for v in run.violations) - 1, 0, 1, 2)
    assert set(tickets(told(run, run.profile, [*kept(run), elected], *run.violations))) == {None, DELETED}


def test_a_deletion_that_waits_in_its_queue_was_asked_for_before_the_move_went_on() -> None:
    """kafka-2.4, seed 410 of the default swarm."""
    run = deleted("kafka-2.4")
    announced = max(
        event.seq for event in kept(run) if type(event) is Step and (event.step, event.edge) == ("kip-455.A1", "after")
    )

    def waits(event: Any) -> Any:
        return event._replace(seq=announced) if type(event) is e.ReplicaStopped and event.deleted else event

    def later(event: Any) -> Any:
        asks = type(event) is e.ControlRequest and event.api == "StopReplica"
        return event._replace(cause=announced) if asks else waits(event)

    def explaining(change: Any) -> set[str | None]:
        return set(tickets(told(run, run.profile, sorted(map(change, kept(run)), key=_seq), *run.violations)))

    assert explaining(waits) == {DELETED}
    assert explaining(later) == {None, DELETED}


@pytest.mark.parametrize("profile", ["kafka-2.4", "kafka-3.9"])
def test_a_move_that_begins_while_partitions_are_added_is_overwritten(profile: str) -> None:
    """kafka-3.3, seed 113 of the default swarm."""
    run = overwritten(profile, "2050ms")
    assert "moves_recoverable" in {finding.checker for finding in findings(run)}
    assert explained(run) == {(OVERWRITTEN, 0)}

    def kept_in_zookeeper(event: Any) -> Any:
        added = type(event) is ZkWritten and event.path == topic_path("orders") and len(decode_topic(event.data)) == 3
        return event._replace(data=moving.data) if added else event

    moving = next(
        event
        for event in kept(run)
        if type(event) is ZkWritten and event.path == topic_path("orders") and decode_reassigning(event.data)
    )
    assert set(changed(run, kept_in_zookeeper)) == {None}
    assert overwritten(profile, "2300ms").passed


def test_such_a_move_is_lost_with_the_controller_that_remembers_it() -> None:
    """kafka-3.0, seed 3083."""
    cut: Table = {"at": "1s", "action": "link.cut", "target": 2, "peer": 0}
    run = overwritten("kafka-3.0", "2050ms", cut, {"at": "5s", "action": "controller.resign"})

    def reasons(change: Callable[[Any], Any]) -> list[tuple[str, int]]:
        events = [new for event in kept(run) if (new := change(event)) is not None]
        found = known(told(run, run.profile, events), Finding(UNFINISHED))
        return [(reason.ticket, reason.effect) for reason in found]

    assert reasons(lambda event: event) == [(OVERWRITTEN, 1)]
    assert (
        reasons(lambda event: None if type(event) is e.ControllerElected and event.controller_epoch > 1 else event)
        == []
    )
    assert reasons(lambda event: None if type(event) is e.MoveStarted else event) == []
    assert (
        reasons(lambda event: event._replace(seq=event.seq + 10_000) if type(event) is e.MoveStarted else event) == []
    )


def test_no_leadership_is_given_back_while_a_move_of_a_topic_that_is_gone_is_remembered() -> None:
    """kafka-2.4, seed 38 of an earlier default swarm."""
    run = deleted("kafka-2.4")
    last = max(event.seq for event in kept(run)) + 1
    facts = LedElsewhere(2, 0, (0, 2), 1, 1, 10)
    elsewhere = evolve(run.violations[0], invariant="elects_in_order", t_us=last, seq=last, facts=facts, part=None)
    assert tickets(told(run, run.profile, kept(run), elsewhere))[0] == DELETED
    elected = e.ControllerElected(last, last - 1, 0, 4, 9)
    assert tickets(told(run, run.profile, [*kept(run), elected], elsewhere))[0] is None


@pytest.mark.parametrize("profile", ["kafka-2.4", "kafka-3.9"])
def test_no_controller_goes_on_with_the_move_of_a_deleted_topic_without_a_first_leader(profile: str) -> None:
    """kafka-3.3, seed 2070 of an earlier default swarm: 44 elections a second."""
    plan = {"version": 1, "partitions": [{"topic": "late", "partition": 0, "replicas": [2]}]}
    method: tuple[Table, ...] = (
        {"at": "1s", "action": "broker.crash", "target": 1},
        {"at": "25s", "action": "topic.create", "topic": {"name": "late", "assignment": [[1]]}},
        {"at": "26s", "action": "reassign.execute", "plan": plan},
        {"at": "27s", "action": "topic.delete", "topic": "late"},
        {"at": "28s", "action": "broker.start", "target": 1},
        {"at": "30s", "action": "controller.resign"},
    )
    run = run_scenario(
        scenario(
            brokers=4, controller=3, assignment=[[2, 3]], method=method, expect=[{"converged": True, "within": "1s"}],
            profile=profile, strategy="kip-455", rate=0, horizon="31s",
        )
    )  # fmt: skip
    assert explained(run) == {(NEVER_LED, 5)}
    elections = sum(isinstance(event, e.ControllerElected) for event in kept(run))
    assert elections > 20
    last = run.violations[-1].seq
    resumed = Step(last, last - 1, 0, "failover.F8", "after", "", -1, -1, 0, 3, "")
    works = told(run, profile, [*(event for event in kept(run) if event.seq < last - 1), resumed], *run.violations)
    assert tickets(works)[0] is None

    def goes_on(event: Any) -> Any:
        resumes = isinstance(event, Step) and event.step == "failover.F8"
        return event._replace(edge="after") if resumes else event

    assert set(changed(run, goes_on)) == {None}


@pytest.mark.parametrize("profile", ["kafka-2.4", "kafka-3.9"])
def test_a_move_and_a_deletion_wait_for_each_other(profile: str) -> None:
    """kafka-2.5, seed 21007: a controller is elected, and sends the partition without a leader."""
    method: tuple[Table, ...] = (
        {"at": "1s", "action": "link.cut", "target": 2, "peer": 0},
        {"at": "2s", "action": "reassign.execute", "via": "api"},
        {"at": "4s", "action": "controller.crash"},
        {"at": "5s", "action": "topic.delete", "topic": "orders"},
        {"at": "40s", "action": "heal"},
    )
    run = run_scenario(
        scenario(
            brokers=4, controller=3, assignment=[[0, 1]], plan={0: (0, 2)}, method=method, expect=[AT_LAST],
            profile=profile, strategy="kip-455", rate=0, horizon="3m",
        )
    )  # fmt: skip
    assert explained(run) == {(REFUSED, 0)}
    gone = changed(run, lambda event: None if getattr(event, "path", "").startswith("/admin/delete") else event)
    assert REFUSED not in gone


@pytest.mark.parametrize("profile", ["kafka-1.1", "kafka-2.3", "kafka-3.6"])
def test_a_deletion_waits_for_a_move_that_is_refused(profile: str) -> None:
    """kafka-3.3, seed 21014: both are asked for while there is no controller."""
    method: tuple[Table, ...] = (
        {"at": "4s", "action": "controller.crash"},
        {"at": "5s", "action": "topic.delete", "topic": "orders"},
        {"at": "5100ms", "action": "reassign.execute"},
        {"at": "5200ms", "action": "broker.start", "target": 3},
    )
    run = run_scenario(
        scenario(
            brokers=4, controller=3, assignment=[[0, 1]], plan={0: (0, 2)}, method=method, expect=[AT_LAST],
            profile=profile, strategy="wiki", rate=0, horizon="3m",
        )
    )  # fmt: skip
    assert explained(run) == {(WAITS, 0)}
    unasked = changed(run, lambda event: None if getattr(event, "path", "") == REASSIGN_PARTITIONS else event)
    assert WAITS not in unasked
