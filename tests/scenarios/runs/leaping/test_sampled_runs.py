"""Sampled runs against exact ones, and what refuses them."""

import json
from itertools import pairwise
from typing import Any

import pytest

from brokers.partition.remote import UNKNOWN_OFFSET
from emulator.protocol.events import IsrChanged, LeapBegan, Leapt, StretchBegan, StretchEnded
from emulator.protocol.shown import QuotaCounted
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs import Run, run_scenario
from scenarios.runs.leaping import gain, leaper
from scenarios.runs.leaping.cards import cards as cards_of
from scenarios.runs.leaping.followed import followed, leaders
from scenarios.runs.leaping.quiet import QuietCluster
from scenarios.runs.runner import Stage, conclude, prepare
from tests.scenarios.runs.building import EXECUTE, scenario

EQUAL = ("leader_elections", "isr_expands", "isr_shrinks", "leader_and_isr_requests", "stop_replica_requests")
CLOSE = ("time_to_complete_s", "extra_replica_s", "bytes_moved")
LONG = "200MiB"
"""The size of a topic whose move is long enough to compare times."""


def throttled(
    size: str = "100MiB", moves: int = 1, throttle: str = "2MB", fidelity: str = "sampled", **more: Any
) -> Scenario:
    """Some of three partitions go from brokers 0 to 2 to brokers 3 to 5, which takes a minute or so."""
    load = {"topic": "orders", "producerRate": 300, "linger": "500ms"}
    more = {
        "assignment": [[n, (n + 1) % 3] for n in range(3)],
        "plan": {n: [3 + n, 3 + (n + 1) % 3] for n in range(moves)},
        "strategy": f"wiki+throttle-{throttle}", "workloads": [load], "method": [EXECUTE], **more,
    }  # fmt: skip
    return scenario(size=size, horizon="1h", fidelity=fidelity, rate=0, **more)


def leaps(wanted: Scenario) -> Run:
    run: Run = run_scenario(wanted)
    assert run.passed, run.explanation
    assert run.leaping is not None
    return run


def test_a_sampled_run_leaps_and_comes_close_to_the_exact_one() -> None:
    exact, sampled = run_scenario(throttled(LONG, fidelity="exact")), leaps(throttled(LONG))
    assert sampled.leaping is not None
    assert sampled.leaping.leaps
    assert sampled.leaping.leapt_us > 0.4 * sampled.leaping.run_us
    assert sampled.events < 0.7 * exact.events
    for name in EQUAL:
        assert sampled.metrics[name] == exact.metrics[name], name
    for name in CLOSE:
        assert sampled.metrics[name] == pytest.approx(exact.metrics[name], rel=0.05), name


@pytest.mark.parametrize("load", [{}, {"partitioner": "sticky"}, {"keys": 7}, {"acks": "0"}])
def test_a_sampled_run_is_as_long_and_counts_as_much_as_the_exact_one(load: dict[str, Any]) -> None:
    """In leaps nothing is in flight: a run that took this for rest would end early, and count less."""
    more = {"topic": "orders", "producerRate": 300, "linger": "500ms", **load}
    moving = throttled(workloads=[more], profile="kafka-2.4", consumers=[{"topic": "orders"}])
    exact, sampled = run_scenario(moving.with_overrides({"fidelity": "exact"})), leaps(moving)
    assert sampled.leaping is not None
    assert sampled.leaping.leaps
    rests = [run.virtual_s - (run.metrics["time_to_complete_s"] or 0) for run in (exact, sampled)]
    assert rests[1] == pytest.approx(rests[0], abs=1.0)
    for name in ("acked_batches", "consumed_messages"):
        counted = {run.virtual_s: run.metrics[name] or 0 for run in (exact, sampled)}
        per_s = [count / virtual_s for virtual_s, count in counted.items()]
        assert min(per_s) == pytest.approx(max(per_s), rel=0.005), name


def test_records_are_deleted_between_leaps() -> None:
    """In the middle of a move: half of what is copied is gone then, and the copy goes on behind it. No leap begins
    while a deletion waits for a replica."""
    delete = {"at": "30s", "action": "records.delete", "topic": "orders", "before": 100_000}
    moving = throttled(LONG, profile="kafka-2.4", method=[EXECUTE, delete])
    stage = Stage(prepare(moving), keep_rows=False)
    waiting: list[int] = []

    def look(event: LeapBegan) -> None:
        deletions = [broker.replicas.deletion for broker in stage.cluster.brokers.values()]
        waiting.extend(event.t_us for one in deletions if one is not None and one.waiting)

    stage.cluster.trace.fold(LeapBegan, look)
    stage.play()
    assert not waiting
    exact = run_scenario(moving.with_overrides({"fidelity": "exact"}))
    sampled, _ = conclude(stage, moving, 0.0)
    assert sampled.passed, sampled.explanation
    assert sampled.leaping is not None
    assert sampled.leaping.leaps
    for name in EQUAL:
        assert sampled.metrics[name] == exact.metrics[name], name
    for name in CLOSE:
        assert sampled.metrics[name] == pytest.approx(exact.metrics[name], rel=0.05), name


def test_a_leap_begins_once_each_replica_in_sync_has_fetched_from_its_leader() -> None:
    """Else it cannot fetch before the leap is over, and its leader removes it from the ISR."""
    # All move to the same brokers: a follower waits in a fetch of the partitions that came before.
    plan = {n: [3, 4, 5] for n in range(5)}
    moving = throttled(assignment=[[0, 1, 2]] * 5, plan=plan, throttle="4MB")
    stage = Stage(prepare(moving), keep_rows=False)
    lacking: list[str] = []

    def look(event: LeapBegan) -> None:
        for tp, led in leaders(stage.cluster).items():
            here, end = led.process.node.id, led.log.end_offset
            lacking.extend(
                f"{event.t_us}: {tp} at {broker}"
                for broker in led.isr_state.isr
                if broker != here and led.remotes[broker].log_end_offset != end
            )

    stage.cluster.trace.fold(LeapBegan, look)
    stage.play()
    assert stage.leaper is not None
    assert stage.leaper.account().leaps
    assert lacking == []
    assert stage.measures.finish(stage.world.now)["isr_shrinks"] == 0


def test_a_replica_that_has_not_fetched_from_a_new_leader_is_behind() -> None:
    stage = Stage(prepare(throttled(size="1MiB")), keep_rows=False)
    stage.play()
    quiet = QuietCluster(stage.cluster, 0)
    assert quiet._unacknowledged() == ""
    led = next(iter(leaders(stage.cluster).values()))
    follower = next(broker for broker in led.isr_state.isr if broker != led.process.node.id)
    led.remotes[follower].log_end_offset = UNKNOWN_OFFSET
    assert quiet._unacknowledged() == "a follower in sync is behind"


def test_cards_that_are_not_saturated_bound_no_copy() -> None:
    """They lend bursts of a quota their speed, and are not what holds copies back."""
    cards = {"egress": "30MB/s", "ingress": "30MB/s"}
    stage = Stage(prepare(throttled(moves=3, cluster={"network": cards})), keep_rows=False)
    places: set[str] = set()
    cards_there: set[str] = set()

    def look(_event: LeapBegan) -> None:
        assert stage.leaper is not None
        fetched = followed(stage.cluster)
        copies = [each for each in fetched if not each.in_sync]
        places.update(bound.place[0] for bound in stage.leaper.sharing._bounds(copies, fetched))
        cards_there.update(bound.place[0] for bound in cards_of(stage.cluster, copies, fetched, {}))

    stage.cluster.trace.fold(LeapBegan, look)
    stage.play()
    assert cards_there == {"egress", "ingress"}
    assert places == {"leader", "follower"}


def test_a_leap_stays_open_at_the_end_of_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaper, "FEW", 0)
    monkeypatch.setattr(gain, "CYCLES_LEFT", 0)
    stage = Stage(prepare(throttled(moves=3)), keep_rows=False)
    opened, expanded = list[bool](), list[bool]()
    stage.cluster.trace.fold(LeapBegan, lambda _event: opened.append(True))
    stage.cluster.trace.fold(Leapt, lambda _event: opened.append(False))

    def look(event: IsrChanged) -> None:
        expanded.append(bool(opened) and opened[-1])
        quotas = [broker.quotas.leader.listed for broker in stage.cluster.brokers.values()]
        assert all(
            quota.is_quota_exceeded(event.t_us) for quota in quotas if quota.held_us is not None and quota.limited
        )

    stage.cluster.trace.fold(IsrChanged, look)
    stage.play()
    assert stage.leaper is not None
    account = stage.leaper.account()
    assert account.pieces
    assert any(expanded)
    assert opened[-1] is False
    assert all(producer.kept() == {} for producer in stage.cluster.producers)
    assert stage.measures.finish(stage.world.now)["isr_shrinks"] == 0


def test_a_leap_keeps_the_distance_of_quotas_samples_to_the_batches_of_producers() -> None:
    """Where that distance changes, another batch is the last that lets something pass in a sample, and every stretch
    after the leap shows another rate."""
    stage = Stage(prepare(throttled(LONG)), keep_rows=False)
    phases, missed = list[list[int]](), list[int]()

    def look(_event: LeapBegan | Leapt) -> None:
        quotas = [broker.quotas.leader.listed for broker in stage.cluster.brokers.values()]
        phases.append([begin % quota.window_us for quota in quotas if quota.limited for begin, _ in quota._samples])

    stage.cluster.trace.fold(LeapBegan, look)
    stage.cluster.trace.fold(Leapt, look)
    stage.cluster.trace.fold(QuotaCounted, lambda event: missed.append(event.size))
    stage.play()
    assert stage.leaper is not None
    assert stage.leaper.leaps > 1
    assert all(before == after for before, after in zip(phases[::2], phases[1::2], strict=True))
    (load,) = stage.cluster.setup.workloads
    batch = load.rate * load.tick_us // 1_000_000 // len(load.partitions) * load.message_size
    assert missed
    assert all(size % batch == 0 for size in missed), "whole batches"


def test_stretches_are_one_cycle_and_rarer_where_they_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaper, "AGREED", 0.2)
    stage = Stage(prepare(throttled("400MiB")), keep_rows=False)
    begun, spans = list[int](), list[tuple[int, int]]()
    stage.cluster.trace.fold(StretchBegan, lambda event: begun.append(event.t_us))
    stage.cluster.trace.fold(StretchEnded, lambda event: spans.append((begun[-1], event.t_us)))
    stage.play()
    assert {until - since for since, until in spans} == {11_000_000}
    between = [after - before for (_, before), (after, _) in pairwise(spans)]
    assert between[1] > 1.5 * between[0], "the second one was as expected"


def test_one_seed_has_one_digest() -> None:
    first, second = leaps(throttled(moves=2)), leaps(throttled(moves=2))
    assert first.digest == second.digest
    assert first.run_id == second.run_id


def test_fidelity_is_part_of_the_identity_only_when_it_is_sampled() -> None:
    stated, unstated = throttled(fidelity="exact"), throttled(fidelity="exact").with_overrides({"fidelity": "exact"})
    assert stated.digest() == unstated.digest()
    assert "fidelity" not in stated.to_table()
    assert throttled().digest() != stated.digest()


def test_leaps_are_events_and_rows_and_told() -> None:
    stage = Stage(prepare(throttled()), keep_rows=True)
    began, ended = list[LeapBegan](), list[Leapt]()
    stage.cluster.trace.fold(LeapBegan, began.append)
    stage.cluster.trace.fold(Leapt, ended.append)
    stage.play()
    figures = stage.measures.finish(stage.world.now)
    assert [event.t_us for event in began] == [event.since_us for event in ended]
    rows = stage.measures.tables()["leaps"]
    assert [(row.t_us, row.t_us + row.w_us) for row in rows] == [(event.since_us, event.t_us) for event in ended]
    assert stage.leaper is not None
    account = stage.leaper.account()
    assert account.leapt_us == sum(row.w_us for row in rows)
    assert json.dumps(account.to_json())
    assert f"{account.leaps} leaps" in str(account)
    assert figures["produce_max_us"] is None
    assert figures["burrow_stall_us"] is None
    # Every batch that producers would have closed is counted: one for each partition and half of a second.
    acked = figures["acked_batches"]
    assert acked == pytest.approx(6 * stage.world.now / 1e6, rel=0.05)


def test_a_leap_ends_before_an_entry_of_the_method() -> None:
    crash = {"at": "50s", "action": "broker.crash", "target": 4}
    start = {"after": "3s", "action": "broker.start", "target": 4}
    stage = Stage(prepare(throttled(method=[EXECUTE, crash, start])))
    ended = list[Leapt]()
    stage.cluster.trace.fold(Leapt, ended.append)
    stage.play()
    assert ended
    for event in ended:
        assert not event.since_us < 50_000_000 <= event.t_us
        assert not event.since_us < 53_000_000 <= event.t_us
    assert any(event.reason == "entry" for event in ended)


def test_no_leap_while_a_trigger_is_armed() -> None:
    armed = {"when": {"message": "StopReplica"}, "action": "broker.pause", "duration": "1s", "target": "controller"}
    run = leaps(throttled(method=[EXECUTE, armed]))
    assert run.leaping is not None
    assert run.leaping.leaps == 0


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"cluster": {"disk": {"write": "100MB/s"}}}, "disks take time"),
        ({"topic_config": {"retention.bytes": 10**9}}, "for its size"),
        ({"schedule": "random"}, "schedule"),
    ],
)
def test_what_leaps_cannot_do_runs_exactly_and_says_so(more: dict[str, Any], why: str) -> None:
    run = leaps(throttled(size="1MiB", **more))
    assert run.leaping is not None
    assert run.leaping.leaps == 0
    assert why in run.leaping.refused
    assert why in str(run.leaping)


def test_chaos_is_refused() -> None:
    with pytest.raises(BadInput, match="needs every message"):
        throttled(chaos=[{"kind": "attrition"}])


@pytest.mark.parametrize("profile", ["kafka-0.8", "kafka-1.1", "kafka-2.4", "kafka-2.7"])
def test_every_profile_leaps_or_says_why_not(profile: str) -> None:
    run = run_scenario(throttled(profile=profile))
    assert run.leaping is not None
    assert run.leaping.leaps or run.leaping.refused
    # What a release breaks by messages in flight at the end of a copy, a sampled run need not break: load is held then.
    if run.violations:
        exact = run_scenario(throttled(profile=profile, fidelity="exact"))
        assert {one.invariant for one in run.violations} <= {one.invariant for one in exact.violations}


def test_consumers_and_numbered_batches_go_on() -> None:
    load = {"topic": "orders", "producerRate": 300, "linger": "500ms", "config": {"enable.idempotence": True}}
    run = leaps(throttled(workloads=[load], consumers=[{"topic": "orders"}]))
    assert run.leaping is not None
    assert run.leaping.leaps
    assert run.metrics["consumed_messages"] == pytest.approx(300 * run.virtual_s, rel=0.05)
    assert run.metrics["failed_batches"] == 0
