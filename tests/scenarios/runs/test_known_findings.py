"""Known findings of a release are distinguished from new ones, and only where the trace has their marks."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from brokers.log.log import UnexpectedAppendOffset
from emulator.protocol import events as e
from emulator.protocol.shown import Deviated
from emulator.protocol.znodes import LeaderAndIsr, encode_topic, state_path
from emulator.trace import as_bytes
from emulator.trace.events import Step, ZkWritten
from scenarios.cli.report import report
from scenarios.language.expect import Expect
from scenarios.museum.exhibits import exhibit
from scenarios.observe.checkers import Violation
from scenarios.observe.findings.log_facts import BatchRefused, BatchTwice
from scenarios.profiles import PROFILES
from scenarios.runs import Run, run_scenario
from scenarios.runs.control_plane_log import ControlPlaneLog
from scenarios.runs.finding import EXPECTATION, UNFINISHED, Finding
from scenarios.runs.findings import findings
from scenarios.runs.known_findings import KNOWN, explained_findings, fails, known
from scenarios.runs.run import Expectation
from tests.scenarios.runs.building import TP, Table, scenario
from tests.scenarios.runs.stated import (
    COMMITTED,
    FETCHED,
    IN_SYNC,
    NOTHING_ASKED,
    restated,
    stated,
)

AHEAD = UnexpectedAppendOffset.__name__
"""The error of a follower that is given a batch which begins before the end of its log."""
CRASHES: tuple[Table, ...] = (
    {"at": "2s", "action": "broker.crash", "target": 0, "kind": "host", "duration": "1s"},
    {"at": "5s", "action": "controller.crash"},
)
"""The machine of broker 0, which leads, crashes, and then the controller: when the next one is elected broker 0 is
back, with what it had flushed."""


@pytest.fixture(scope="module")
def bounced() -> Run:
    return run_scenario(scenario(brokers=4, controller=3, method=CRASHES, horizon="40s"))


@pytest.fixture(scope="module")
def away(bounced: Run) -> Run:
    """The run ``bounced``, but broker 0's session ends a little earlier: there is room for what happens meanwhile."""
    gone = seq_of(bounced, "delete")
    events = [event._replace(seq=gone - 1) if event.seq == gone else event for event in kept(bounced)]
    return told(bounced, bounced.profile, events, *bounced.violations)


@pytest.fixture(scope="module")
def quiet() -> Run:
    return run_scenario(scenario(brokers=3, controller=2, assignment=[[0, 1]], rate=0))


def told(run: Run, profile: str, events: list[Any], *violations: Violation, **changes: Any) -> Run:
    """``run`` as if it had seen these events, the witnesses among them, and violations under ``profile``."""
    recorded = [event for event in events if type(event) is not Deviated]
    log = ControlPlaneLog({type(event).__name__: type(event) for event in recorded})
    log.take(recorded, as_bytes(recorded))
    log.witnesses.extend(event for event in events if type(event) is Deviated)
    return evolve(run, profile=profile, verdict="failed", reason="violated", violations=violations, log=log, **changes)


def kept(run: Run) -> list[Any]:
    """The events of ``run``, without the many that predicates do not look at."""
    return [event for event in run.control_plane if type(event) not in (e.Produced, e.Appended, e.HighWatermark)]


def assigned(seq: int, *replicas: int) -> ZkWritten:
    """The topic's znode gets these replicas."""
    return ZkWritten(seq, seq, 0, 2, "setData", "/brokers/topics/orders", seq, seq, encode_topic({0: replicas}))


def elected(seq: int, leader: int, *isr: int) -> ZkWritten:
    """The state znode gets this leader, in epoch 3."""
    data = LeaderAndIsr(leader, 3, (leader, *isr), 1).encode()
    return ZkWritten(seq, seq, 0, 2, "setData", state_path(TP), seq, seq, data)


def unled(seq: int, *isr: int) -> ZkWritten:
    """The state znode gets no leader, in epoch 4."""
    return ZkWritten(seq, seq, 0, 2, "setData", state_path(TP), seq, seq, LeaderAndIsr(-1, 4, isr, 1).encode())


def tickets(run: Run) -> list[str | None]:
    """The ticket of each finding, or the tickets that explain it together; None: it is new."""
    reasons = [known(run, finding) for finding in findings(run)]
    return [" and ".join(dict.fromkeys(reason.ticket for reason in of_it)) or None for of_it in reasons]


def test_a_leader_that_is_back_before_any_controller_knew_is_the_gap_of_kip_966(bounced: Run) -> None:
    run = bounced
    assert dict.fromkeys(tickets(run)) == {"KIP-966": None}
    found = {finding.checker: None for finding in findings(run)}
    assert "isr_complete" in found
    assert "no_acked_record_lost" in found
    [(reason, of_it)] = explained_findings(run).known
    assert len(of_it) == len(findings(run))
    [line] = [line for line in report(run) if line.startswith("  known: ")]
    assert line.startswith(f"  known: KIP-966: {reason.text} (no_acked_record_lost, ")
    assert [(one["ticket"], one["checkers"][0]) for one in run.to_json()["known"]] == [
        ("KIP-966", "no_acked_record_lost")
    ]


def test_a_process_that_only_restarted_lost_nothing_and_excuses_nothing(bounced: Run) -> None:
    run = bounced
    killed: list[Any] = [event for event in kept(run) if type(event) is not e.LogRecovered]
    killed = [event._replace(kind="process") if type(event) is e.NodeCrashed else event for event in killed]
    assert set(tickets(told(run, run.profile, killed, *run.violations))) == {None}


def test_what_a_recovery_cuts_is_lost_like_what_was_not_flushed(bounced: Run) -> None:
    crash = next(event for event in bounced.control_plane if type(event) is e.NodeCrashed)
    cut = e.LogRecovered(crash.t_us, crash.seq + 1, 0, 0, *TP, 64, 1, "corrupt")
    events: list[Any] = [event for event in kept(bounced) if type(event) is not e.LogRecovered]
    events = [event._replace(kind="process") if type(event) is e.NodeCrashed else event for event in events]
    events = sorted([*events, cut], key=lambda event: event.seq)
    assert set(tickets(told(bounced, bounced.profile, events, *bounced.violations))) == {"KIP-966"}


LOADS = ("failover.F3", "before"), ("failover.F3", "after")
SHRINKS = ("failover.F6", "before"), ("failover.F6", "after")


def failing_over(run: Run, steps: tuple[tuple[str, str], ...], *at: int) -> list[Any]:
    """The events of ``run``, and these steps of a failover on broker 3, each right after the event of that number."""
    added: list[Any] = [
        Step(0, seq, 0, step, edge, "", -1, -1, 0, 3, "")
        for (step, edge), seq in zip(steps, (*at, *(at[-1:] * len(steps))), strict=False)
    ]
    return sorted([*kept(run), *added], key=lambda event: event.seq)


def seq_of(run: Run, op: str) -> int:
    """The deletion, or the second creation, of the znode of broker 0."""
    written = [event for event in kept(run) if type(event) is ZkWritten and event.path == "/brokers/ids/0"]
    return next(event.seq for event in reversed(written) if event.op == op)


def test_a_controller_that_died_before_it_came_to_the_isrs_removed_none(away: Run) -> None:
    """The next one is elected once the replica is back."""
    gone = seq_of(away, "delete")
    cut_short = failing_over(away, LOADS, gone + 1)
    assert set(tickets(told(away, away.profile, cut_short, *away.violations))) == {"KIP-966"}
    whole = failing_over(away, LOADS + SHRINKS, gone + 1)
    assert set(tickets(told(away, away.profile, whole, *away.violations))) == {None}


def test_a_controller_that_finds_the_znode_of_a_dead_broker_takes_it_for_live(away: Run) -> None:
    """Its session has not expired yet."""
    crash = next(event for event in away.control_plane if type(event) is e.NodeCrashed)
    early = failing_over(away, LOADS + SHRINKS, crash.seq + 1)
    assert set(tickets(told(away, away.profile, early, *away.violations))) == {"KIP-966"}


def test_requests_show_whether_a_controller_that_loads_as_the_znode_comes_has_found_it(away: Run) -> None:
    gone, back = seq_of(away, "delete"), seq_of(away, "create")
    across = failing_over(away, LOADS + SHRINKS, gone + 1, back + 1)
    assert set(tickets(told(away, away.profile, across, *away.violations))) == {None}
    sends = e.ControlRequest(0, back + 2, 0, "UpdateMetadata", 3, 0, 2, 1, 0, "")
    sent = sorted([*across, sends], key=lambda event: event.seq)
    assert set(tickets(told(away, away.profile, sent, *away.violations))) == {"KIP-966"}
    starts = Step(0, back + 1, 0, "broker-startup.1", "before", "", -1, 0, -1, 3, "")
    started = sorted([*across, starts, sends], key=lambda event: event.seq)
    assert set(tickets(told(away, away.profile, started, *away.violations))) == {None}


@pytest.mark.parametrize("edge", ["before", "after"])
def test_so_has_one_that_died_while_it_handled_the_failure(bounced: Run, edge: str) -> None:
    crash = next(event for event in bounced.control_plane if type(event) is e.NodeCrashed)
    step = Step(0, crash.seq + 1, 0, "broker-failure.3", edge, "", -1, 0, -1, 3, "")
    events = sorted([*kept(bounced), step], key=lambda event: event.seq)
    found = tickets(told(bounced, bounced.profile, events, *bounced.violations))
    assert (None in found) == (edge == "after")


def test_a_broker_is_back_once_its_znode_is_there_though_it_has_no_answer_yet(bounced: Run) -> None:
    """A controller that loads the brokers meanwhile finds it."""
    crash = next(event for event in bounced.control_plane if type(event) is e.NodeCrashed)
    events = kept(bounced)
    created, registered = (
        next(event for event in events if type(event) is kind and event.seq > crash.seq and shows(event))
        for kind, shows in (
            (ZkWritten, lambda event: (event.path, event.op) == ("/brokers/ids/0", "create")),
            (e.BrokerRegistered, lambda event: event.node == 0),
        )
    )
    assert created.seq < registered.seq
    late = failing_over(bounced, LOADS + SHRINKS, created.seq + 1)
    assert set(tickets(told(bounced, bounced.profile, late, *bounced.violations))) == {"KIP-966"}


def without_broker_0(run: Run, leader_epoch: int) -> Run:
    """The run with an ISR without broker 0 as soon as that has crashed."""
    crash = next(event for event in run.control_plane if type(event) is e.NodeCrashed)
    state = LeaderAndIsr(1, leader_epoch, (1, 2), 1).encode()
    shrunk = ZkWritten(crash.t_us, crash.seq + 1, 0, 3, "setData", state_path(TP), 1, 1, state)
    events = sorted([*kept(run), shrunk], key=lambda event: event.seq)
    return told(run, run.profile, events, *run.violations)


def test_a_replica_that_was_out_of_the_isr_meanwhile_is_not_excused(bounced: Run) -> None:
    assert set(tickets(without_broker_0(bounced, 0))) == {None}


def test_a_leader_of_an_epoch_that_is_over_was_in_its_isr_until_then(bounced: Run) -> None:
    late = without_broker_0(bounced, 1)
    found = dict(zip([finding.checker for finding in findings(late)], tickets(late), strict=True))
    assert (found["isr_complete"], found["leader_completeness"]) == (None, "KIP-966")


def test_a_batch_that_its_leader_has_is_not_lost(bounced: Run) -> None:
    crash = next(event for event in bounced.control_plane if type(event) is e.NodeCrashed)
    end_us, end = crash.t_us + 60_000_000, crash.seq + 1_000_000
    for facts, ticket in ((BatchTwice(5, 0, 1, 1, 9, 90), "KIP-966"), (BatchRefused(5, 0), None)):
        found = Violation("no_batch_twice", end_us, end, facts, None, TP, (0,))
        assert tickets(told(bounced, bounced.profile, kept(bounced), found)) == [ticket]


def test_what_a_release_does_is_no_excuse_for_the_bug_that_a_file_switches_on() -> None:
    case = exhibit("KAFKA-1028").scenario
    switched, old = run_scenario(case), run_scenario(evolve(case, bugs=(), profile="kafka-0.8"))
    assert "leader_in_isr" in [finding.checker for finding in findings(switched)]
    assert set(tickets(switched)) == {None}
    assert dict(zip([finding.checker for finding in findings(old)], tickets(old), strict=True))["leader_in_isr"] == (
        "KAFKA-1028"
    )


def dropped(*, seq: int, node: int = 0) -> Deviated:
    """An answer takes along what the leader has wished for since."""
    return Deviated(seq, seq, 0, node, "KAFKA-12686", *TP, node)


def leads(epoch: int, *, seq: int) -> e.BecameLeader:
    return e.BecameLeader(seq, seq, 0, 0, *TP, epoch, 0, 0, (0,), (0, 1), (), ())


STUCK = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0], assignment [0, 1], leader 0", brokers=(1,))
DROPPED: list[Any] = [elected(1, 0), leads(3, seq=2), dropped(seq=3)]


def test_a_wish_that_a_late_answer_has_dropped_leaves_the_isr_as_it_is(quiet: Run) -> None:
    assert tickets(told(quiet, "kafka-2.7", DROPPED, STUCK)) == ["KAFKA-12686"]


def test_the_high_watermark_waits_for_whom_a_dropped_wish_would_add(quiet: Run) -> None:
    """2.7, seed 52112: its leader counts with the largest ISR that it may get (Partition.maybeIncrementLeaderHW)."""
    behind = "orders-0: the high watermark of broker 0 is 396, its log ends at 451; leader 0, isr [0]"
    waits = stated("converged", COMMITTED, 9, 9, behind)
    assert tickets(told(quiet, "kafka-2.7", DROPPED, waits)) == ["KAFKA-12686"]
    assert tickets(told(quiet, "kafka-2.7", DROPPED[:2], waits)) == [None]


def test_a_dropped_wish_has_no_outcome_until_the_next_leader_epoch(quiet: Run) -> None:
    """2.7, seed 12: what comes after the finding does not count."""
    waits = stated("isr_changes_end", "", 9, 9, "orders-0: leader 0 has proposed to expand the ISR to [0, 1]")
    assert tickets(told(quiet, "kafka-2.7", [*DROPPED, leads(4, seq=12)], waits)) == ["KAFKA-12686"]
    assert tickets(told(quiet, "kafka-2.7", [*DROPPED[:2], dropped(seq=12)], waits)) == [None]
    assert tickets(told(quiet, "kafka-2.4", DROPPED, waits)) == [None]


def test_another_leader_in_between_does_not_count(quiet: Run) -> None:
    """2.7, seed 3 with transactions in every seed: the request of a leader that was cut off was answered when it led
    again, two leader epochs later."""
    between = elected(1, 1, 0)
    assert tickets(told(quiet, "kafka-2.7", [between, *DROPPED], STUCK)) == ["KAFKA-12686"]
    assert tickets(told(quiet, "kafka-2.7", [*DROPPED, elected(4, 1, 0)], STUCK)) == [None]


def test_a_move_that_waits_for_it_does_not_end(quiet: Run) -> None:
    stays = stated("converged", NOTHING_ASKED, 9, 9, "/admin/reassign_partitions is still there")
    asks = e.MoveStarted(1, 1, 0, *TP, (0, 1))
    assert tickets(told(quiet, "kafka-2.7", [asks, *DROPPED], stays)) == ["KAFKA-12686"]
    for events in (DROPPED, [asks, *DROPPED, leads(4, seq=4)], [asks, asks._replace(partition=1), *DROPPED]):
        assert tickets(told(quiet, "kafka-2.7", events, stays)) == [None]
    deletes = stated("converged", NOTHING_ASKED, 9, 9, "/admin/delete_topics/orders is still there")
    assert tickets(told(quiet, "kafka-2.7", [asks, *DROPPED], deletes)) == [None]


def test_so_is_an_expected_isr(quiet: Run) -> None:
    unmet = Expectation("…", False, "found orders-0 [0]", declared=Expect(isr={"orders-0": (0, 1)}))
    assert tickets(told(quiet, "kafka-2.7", DROPPED, expectations=(unmet,))) == ["KAFKA-12686"]
    other = Expectation("…", False, "found orders-0 [0]", declared=Expect(leader={"orders-0": (1,)}))
    assert tickets(told(quiet, "kafka-2.7", DROPPED, expectations=(other,))) == [None]


@pytest.mark.parametrize(
    ("profile", "events"),
    [
        ("kafka-2.6", DROPPED),
        ("kafka-2.7", [*DROPPED, leads(4, seq=4)]),
        ("kafka-2.7", [*DROPPED, e.BecameFollower(4, 4, 0, 0, *TP, 4, 1, 14, 13)]),
        ("kafka-2.7", [*DROPPED[:2], dropped(seq=3, node=1)]),
        ("kafka-2.7", DROPPED[::2]),
    ],
)
def test_without_its_marks_an_isr_that_stays_is_new(quiet: Run, profile: str, events: list[Any]) -> None:
    assert tickets(told(quiet, profile, events, STUCK)) == [None]


def test_every_violation_behind_a_finding_has_a_reason(quiet: Run) -> None:
    other = restated(STUCK, "orders-1: isr [0], assignment [0, 1], leader 0")
    assert tickets(told(quiet, "kafka-2.7", DROPPED, STUCK, other)) == [None]


def test_a_replaced_controller_writes(quiet: Run) -> None:
    elected = [e.ControllerElected(1, 1, 0, 1, 1), e.ControllerElected(2, 2, 0, 2, 2)]
    late, own = (ZkWritten(9, 9, 0, broker, "setData", "/brokers/topics/orders", 1, 1, "") for broker in (1, 2))
    found = stated("controller_fence", "…", 9, 9, "…")
    assert tickets(told(quiet, "kafka-1.1", [*elected, late], found)) == ["KAFKA-6082"]
    assert tickets(told(quiet, "kafka-1.1", [*elected, own], found)) == [None]
    assert tickets(told(quiet, "kafka-2.3", [*elected, late], found)) == [None]


def test_a_follower_of_0_8_cuts_its_log_at_its_high_watermark(quiet: Run) -> None:
    cut, other = (e.Truncated(9, 9, 0, 1, *TP, 1, 10, high_watermark) for high_watermark in (10, 5))
    found = stated("truncate_safety", "…", 9, 9, "orders-0: broker 1, in the ISR [0, 1], truncates to 10", brokers=(1,))
    regressed = stated(
        "append_shape", "…", 9, 9, "broker 1, orders-0: batch 3 of epoch 0 follows a batch of epoch 1", brokers=(1,)
    )
    assert tickets(told(quiet, "kafka-0.8", [cut], found, regressed)) == ["KIP-101"] * 2
    assert tickets(told(quiet, "kafka-0.8", [other], found)) == [None]
    assert tickets(told(quiet, "kafka-1.1", [cut], found)) == [None]


def test_an_old_release_stops_replicas_that_were_started_again() -> None:
    late = evolve(exhibit("KAFKA-9539").scenario, bugs=(), profile="kafka-2.5")
    assert tickets(run_scenario(late))[0] == "KAFKA-9539"


def test_an_old_release_does_not_notify_a_broker_that_shuts_down() -> None:
    shut = {"at": "3s", "action": "broker.controlled_shutdown", "target": 0}
    run = run_scenario(scenario(brokers=4, controller=3, method=[shut], horizon="40s", profile="kafka-1.1"))
    assert [finding.checker for finding in findings(run)] == ["replicas_notified"]
    assert tickets(run) == ["KAFKA-7482"]


def test_what_is_known_fails_no_test_and_hides_nothing_else_that_does() -> None:
    """Beside the known finding of a shutdown: an expectation that is not met, a trigger that never fires, a bug that is
    switched on. What chance has drawn may leave a trigger waiting, as in a campaign."""
    shut: Table = {"at": "3s", "action": "broker.controlled_shutdown", "target": 0}

    def ran(profile: str = "kafka-1.1", **more: Any) -> Run:
        table: Table = {"brokers": 4, "controller": 3, "method": [shut], "horizon": "40s", **more}
        run = run_scenario(scenario(profile=profile, **table))
        assert (run.verdict, run.reason) == ("failed", "violated")
        return run

    assert not fails(ran())
    assert ran().known == explained_findings(ran()).known
    unmet = ran(expect=[{"within": "1s", "assignment": {"orders-0": [1, 2]}}])
    assert fails(unmet)
    never = {"when": {"step": "failover.F4"}, "action": "broker.crash", "target": 1}
    unreached = ran(method=[shut, never])
    assert fails(unreached)
    assert not fails(unreached, drawn=True)
    by_a_bug = ran(profile="kafka-2.3", bugs=["KAFKA-7482"])
    assert fails(by_a_bug)
    assert fails(by_a_bug, drawn=True)


def test_a_leader_that_crashed_appends_again_in_the_leader_epoch_that_it_had(quiet: Run) -> None:
    led, again = (e.BecameLeader(seq, seq, 0, 0, *TP, 4, 10, 10, (0,), (0, 1), (), ()) for seq in (1, 3))
    crash = e.NodeCrashed(2, 2, 0, 0, 1, "host")
    state = ZkWritten(0, 0, 0, 2, "create", state_path(TP), 0, 1, LeaderAndIsr(0, 4, (0,), 1).encode())
    reason = f"append: {TP}: batch at 7, log ends at 10"
    fails = e.PartitionFailed(4, 4, 0, 1, "ReplicaFetcherThread-0-0", *TP, 4, reason, AHEAD)
    differs = stated(
        "log_matching", "…", 5, 5, "orders-0, broker 1, epoch 4: below its high watermark 12 …", brokers=(1,)
    )
    gives_up = stated("converged", FETCHED, 6, 6, "orders-0: failed on broker 1 (KIP-461)", brokers=(1,))
    stays = stated("converged", IN_SYNC, 6, 6, "orders-0: isr [0], assignment [0, 1], leader 0", brokers=(1,))
    found = (differs, gives_up, stays)
    assert tickets(told(quiet, "kafka-2.6", [state, led, crash, again, fails], *found)) == ["KIP-966"] * 3
    assert tickets(told(quiet, "kafka-2.6", [state, led, crash, again], *found)) == ["KIP-966", None, None]
    for error in ("OffsetMismatch", "DiskError"):  # a batch that begins beyond the end is no batch of such a leader
        gap = [state, led, crash, again, fails._replace(error=error)]
        assert tickets(told(quiet, "kafka-2.6", gap, *found)) == ["KIP-966", None, None]
    late = state._replace(t_us=3, seq=3, data=LeaderAndIsr(2, 5, (2,), 1).encode())  # it learns of that epoch too late
    zombie = [state, led, crash, late, again._replace(seq=4)]
    assert tickets(told(quiet, "kafka-2.6", zombie, differs)) == ["KIP-966"]
    waits = stated("converged", NOTHING_ASKED, 6, 6, "/admin/reassign_partitions is still there")
    asked, moved = e.MoveStarted(3, 3, 0, *TP, (0, 2)), [assigned(0, 0, 1), state, led, crash, again, fails]
    in_sync = Step(5, 5, 0, "kafka-6794.1", "before", *TP, -1, 0, 2, "")  # which waits for the current replicas
    elects = in_sync._replace(seq=6, step="preferred.1")
    assert tickets(told(quiet, "kafka-2.6", [*moved, asked, in_sync, elects], waits)) == ["KIP-966"]
    for marks in ([*moved, asked], [*moved, in_sync], [*moved[:-1], asked, in_sync]):
        assert tickets(told(quiet, "kafka-2.6", marks, waits)) == [None]
    for marks in (
        [led, again, fails],
        [led, crash._replace(kind="process"), again, fails],
        [led, crash, again._replace(leader_epoch=5), fails],
        [led._replace(node=1), crash, again, fails],
    ):
        assert tickets(told(quiet, "kafka-2.6", [state, *marks], *found)) == [None] * 3


@pytest.mark.parametrize(("leader_epoch", "ticket"), [(0, "KAFKA-14140"), (1, None)])
def test_a_leader_adds_a_replica_that_has_died_since(quiet: Run, leader_epoch: int, ticket: str | None) -> None:
    writes = [(0, (0,)), (leader_epoch, (0, 1))]
    events = [
        ZkWritten(0, seq, 0, 2, "setData", state_path(TP), seq, seq, LeaderAndIsr(0, epoch, isr, 1).encode())
        for seq, (epoch, isr) in enumerate(writes, 2)
    ]
    state = f"{TP}: ISR [0, 1] under leader 0, while controller 2 has known for 12.0 s that broker 1 is dead"
    violation = stated("dead_leave_isr", "", 0, 5, state, brokers=(1,))
    crash = e.NodeCrashed(0, 0, 0, 1, 1, "process")
    assert tickets(told(quiet, "kafka-2.3", [crash, *events], violation)) == [ticket]
    for lived in ([], [crash, e.NodeStarted(1, 1, 0, 1, 2)], [crash._replace(node=2)]):
        assert tickets(told(quiet, "kafka-2.3", [*lived, *events], violation)) == [None]
    assert tickets(told(quiet, "kafka-2.3", [*events, crash._replace(seq=4)], violation)) == [None]
    gone = ZkWritten(0, 0, 0, -1, "delete", "/brokers/ids/1", 0, 0, "")  # kafka-2.7, seed 44144: its process lives
    assert tickets(told(quiet, "kafka-2.3", [gone, *events], violation)) == [ticket]
    back = gone._replace(seq=1, op="create")
    for others in ([gone, back], [gone._replace(path="/brokers/ids/2")]):
        assert tickets(told(quiet, "kafka-2.3", [*others, *events], violation)) == [None]


def test_a_broker_that_refused_metadata_does_not_follow_a_leader_that_it_knows_as_dead(quiet: Run) -> None:
    refuses = e.ControlResponse(5, 5, 0, "UpdateMetadata", 1, 2, 4, "UNKNOWN_SERVER_ERROR", (), ())
    leads_on = "orders-0: leader 0 of epoch 1 in ZooKeeper, and broker 1 leads, for 35.5 s"
    fenced = stated("converged", FETCHED, 9, 9, "orders-0: failed on broker 1 (KIP-461)", brokers=(1,))
    found = (stated("roles_adopted", "…", 9, 9, leads_on, brokers=(1,)), STUCK, fenced)
    assert tickets(told(quiet, "kafka-2.3", [refuses], *found)) == ["KAFKA-9839"] * 3
    takes, follows = refuses._replace(seq=6, error="NONE"), e.BecameFollower(7, 7, 0, 1, *TP, 0, 2, 0, 0)
    assert tickets(told(quiet, "kafka-2.3", [refuses, takes], *found)) == ["KAFKA-9839"] * 3
    assert tickets(told(quiet, "kafka-2.3", [refuses, takes._replace(seq=8), follows], *found)) == ["KAFKA-9839"] * 3
    assert tickets(told(quiet, "kafka-2.3", [refuses, takes, follows], *found)) == [None] * 3
    for marks in (
        [],
        [refuses._replace(node=0)],
        [refuses._replace(error="STALE_BROKER_EPOCH")],
        [refuses, e.NodeCrashed(6, 6, 0, 1, 1, "process")],
    ):
        assert tickets(told(quiet, "kafka-2.3", marks, *found)) == [None] * 3
    assert tickets(told(quiet, "kafka-2.6", [refuses], *found)) == [None] * 3


def test_before_kip_461_an_error_ends_the_thread(quiet: Run) -> None:
    dies = e.FetcherStopped(4, 4, 0, 1, "ReplicaFetcherThread-0-0", 0, "died", *TP, AHEAD)
    found = (stated("converged", FETCHED, 9, 9, "broker 1: ReplicaFetcherThread-0-0 has died"), STUCK)
    leads = elected(3, 0)
    for profile, ticket in (("kafka-0.8", "KIP-461"), ("kafka-1.1", "KIP-461"), ("kafka-2.3", None)):
        assert tickets(told(quiet, profile, [leads, dies], *found)) == [ticket] * 2
    injected = [leads, dies._replace(error="UnexpectedError")]
    assert tickets(told(quiet, "kafka-1.1", injected, *found)) == ["KIP-461"] * 2
    for marks in ([], [leads, dies._replace(reason="idle", error="")], [leads, dies._replace(node=0)]):
        assert tickets(told(quiet, "kafka-0.8", marks, *found)) == [None] * 2
    for error in ("OffsetMismatch", "KeyError", "IllegalStateException"):  # a mistake of this program
        assert tickets(told(quiet, "kafka-1.1", [leads, dies._replace(error=error)], *found)) == [None] * 2
    other = dies._replace(fetcher="ReplicaFetcherThread-0-2", leader=2)
    assert tickets(told(quiet, "kafka-0.8", [leads, other], *found)) == [None] * 2
    again = [leads, dies, e.NodeCrashed(5, 5, 0, 1, 1, "process"), e.NodeStarted(6, 6, 0, 1, 2)]
    assert tickets(told(quiet, "kafka-0.8", again, STUCK)) == [None]


def test_kip_461_a_move_may_wait_for_a_replica_that_it_drops(quiet: Run) -> None:
    """kafka-0.8, seed 549: the document's first step waits for the current replicas."""
    waits = stated("converged", NOTHING_ASKED, 9, 9, "/admin/reassign_partitions is still there")
    dies = e.FetcherStopped(4, 4, 0, 1, "ReplicaFetcherThread-0-0", 0, "died", *TP, AHEAD)
    in_sync = Step(5, 5, 0, "kafka-6794.1", "before", *TP, -1, 0, 2, "")
    marks = [assigned(0, 0, 1), elected(2, 0), e.MoveStarted(3, 3, 0, *TP, (0, 2)), dies, in_sync]
    assert tickets(told(quiet, "kafka-0.8", marks, waits)) == ["KIP-461"]
    for others in ([*marks[:-1], in_sync._replace(step="kafka-6794.3")], marks[:-1], [*marks[:3], in_sync]):
        assert tickets(told(quiet, "kafka-0.8", others, waits)) == [None]


def test_every_reason_applies_to_some_profile_and_names_checkers() -> None:
    from scenarios.observe.checkers.checkers import REGISTRY

    for reason in KNOWN:
        assert any(reason.applies(profile) for profile in PROFILES.values()), reason
        assert all(checker in (*REGISTRY, EXPECTATION, UNFINISHED) for checker in reason.checkers), reason


def test_a_finding_of_a_checker_that_no_reason_names_is_new(quiet: Run) -> None:
    assert not known(quiet, Finding("polls_go_on"))
    assert quiet.known == ()
