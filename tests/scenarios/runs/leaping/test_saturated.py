"""Runs whose cards are saturated: producers never empty their queues, and copies share cards in their own rhythm."""

from functools import cache

import pytest

from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.producing.accumulator import Accumulator, Queue
from scenarios.cluster.clients.producing.backlog import Backlog
from scenarios.language import Scenario
from scenarios.runs import Run, run_scenario
from scenarios.runs.leaping.cards import cards
from scenarios.runs.leaping.followed import followed
from scenarios.runs.leaping.leaper import FULL_CARDS, Leaper
from scenarios.runs.runner import Stage, prepare

TP = TopicPartition("orders", 0)


def saturated(fidelity: str, partitions: int = 6, strategy: str = "wiki", size: str = "300MB") -> Scenario:
    """All replicas move to other brokers, with no throttle, over slow cards."""
    replicas = [[(n + k) % 3 for k in range(3)] for n in range(partitions)]
    card = "20MB/s"
    table = {
        "title": "slow cards",
        "horizon": "1h",
        "fidelity": fidelity,
        "cluster": {
            "brokers": 7, "controller": 6, "network": {"jitter": "200us", "egress": card, "ingress": card},
        },
        "topics": [{"name": "orders", "assignment": replicas, "size": size}],
        "workloads": [{"topic": "orders", "producerRate": 1300, "messageSize": 1000}],
        "strategy": {"name": strategy},
        "plan": {
            "version": 1,
            "partitions": [
                {"topic": "orders", "partition": n, "replicas": [3 + each for each in of]}
                for n, of in enumerate(replicas)
            ],
        },
        "method": [{"at": "5s", "action": "reassign.execute"}],
    }  # fmt: skip
    return Scenario.from_table(table, source="saturated")


@cache
def run_sampled() -> Run:
    return run_scenario(saturated("sampled"))


def test_it_leaps_with_what_waits_and_comes_close() -> None:
    exact, sampled = run_scenario(saturated("exact")), run_sampled()
    assert sampled.leaping is not None
    assert sampled.passed, sampled.explanation
    assert sampled.leaping.leapt_us > 10_000_000
    assert sampled.metrics["time_to_complete_s"] == pytest.approx(exact.metrics["time_to_complete_s"], rel=0.03)
    for name in ("isr_expands", "isr_shrinks", "leader_elections", "stop_replica_requests"):
        assert sampled.metrics[name] == exact.metrics[name], name


def test_no_leap_before_two_stretches_in_a_row_have_shown_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_sampled()
    assert run.leaping is not None
    assert run.leaping.failed["what copies get of a saturated card changes"]
    monkeypatch.setattr(Leaper, "_steady", True)
    unchecked = run_scenario(saturated("sampled"))
    assert unchecked.leaping is not None
    assert "what copies get of a saturated card changes" not in unchecked.leaping.failed


@pytest.mark.slow
def test_no_producer_is_held_where_the_bursts_of_a_throttle_fill_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(fidelity: str) -> Run:
        return run_scenario(saturated(fidelity, strategy="wiki+throttle-17MB", size="350MB"))

    exact, sampled = run("exact"), run("sampled")
    assert sampled.leaping is not None
    assert sampled.leaping.failed[FULL_CARDS]
    assert sampled.metrics["produce_p50_ms"] == exact.metrics["produce_p50_ms"]
    monkeypatch.setattr(Leaper, "_cards_bind", lambda *_args: False)
    held = run("sampled")
    assert held.metrics["produce_p50_ms"] != exact.metrics["produce_p50_ms"]


def test_cards_leave_to_copies_what_others_do_not_take() -> None:
    stage = Stage(prepare(saturated("sampled").with_overrides({"horizon": "21s"})), keep_rows=False)
    seen = []

    def look(_: object) -> None:
        fetched = followed(stage.cluster)
        copies = [each for each in fetched if not each.in_sync]
        seen.append((cards(stage.cluster, copies, fetched, {each.state.tp: 1e-4 for each in fetched}), len(copies)))

    stage.world.call_later(20_000_000, look, None, True)
    stage.play()
    [(found, copies)] = seen
    assert copies == 18
    by_place = {bound.place: bound for bound in found}
    out, into = by_place["egress", 0], by_place["ingress", 3]
    assert out.rate == into.rate == 20.0
    assert len(out.members) == len(into.members) == 6
    assert out.used == pytest.approx(4 * 1e-4 * 1000)  # two partitions that it leads, to two followers each
    assert into.used == 0


def test_a_backlog_is_sent_in_order_up_to_the_rate_and_the_rest_stays() -> None:
    queue = Queue(TP)
    accumulator = Accumulator([queue], {queue: None})
    for id in range(10):
        batch = ProducedBatch(TP, 100, 1000, id)
        queue.waiting.append(batch)
        accumulator.unfinished[batch] = id
    backlog = Backlog.of(accumulator)
    sent = [batch.id for _ in range(4) for batch in backlog.sent(1_000_000, {TP: 150e-6}, -1)]
    assert sent == [0, 1, 2, 3, 4, 5]
    assert [batch.id for batch in queue.waiting] == [6, 7, 8, 9]
    assert list(accumulator.unfinished.values()) == [6, 7, 8, 9]
    assert [batch.id for batch in backlog.sent(1_000_000, {TP: 1.0}, 7)] == [8, 9]
    assert [batch.id for batch in queue.waiting] == [6, 7], "they are too old, and expire later"
    assert queue in accumulator.ready
