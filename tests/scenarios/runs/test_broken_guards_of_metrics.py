"""A metric that is measured wrongly is found by its checker (T1 to T5), on real brokers."""

import pytest

from brokers.metrics import ReplicaManagerMetrics
from controller.metrics import ControllerMetrics
from emulator.protocol.fetch import FetchedFields
from fetchers.state import PartitionFetchState
from fetchers.thread import FetcherRounds
from scenarios.runs import Run
from tests.scenarios.runs.building import Table, play, scenario

CRASH: Table = {"at": "3s", "action": "broker.crash", "target": 2, "duration": "20s"}


def broken(run: Run) -> set[str]:
    return {violation.invariant for violation in run.violations}


def test_an_isr_that_changes_and_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = scenario(brokers=3, controller=1, assignment=[(0, 1, 2)], method=[CRASH], horizon="2m", rate=20)
    assert play(wanted).run.violations == ()
    monkeypatch.setattr(ReplicaManagerMetrics, "isr_written", lambda self, partition, kind: None)
    assert broken(play(wanted).run) == {"under_replicated_true"}


def test_kafka_7704_the_lag_of_an_idle_follower(monkeypatch: pytest.MonkeyPatch) -> None:
    """2.1.0: an answer without records showed the high watermark as the lag."""
    load = scenario(brokers=3, controller=1, assignment=[(0, 1, 2)], method=[CRASH], horizon="2m", rate=1)
    process = FetcherRounds.process_partition_data

    def as_in_2_1(self: FetcherRounds, state: PartitionFetchState, answer: FetchedFields) -> None:
        process(self, state, answer)
        _tp, _error, high_watermark, _log_start, batches, _diverging = answer
        if not batches:
            self._metrics.lag_changed(state, high_watermark)

    monkeypatch.setattr(FetcherRounds, "process_partition_data", as_in_2_1)
    assert broken(play(load).run) == {"lag_true"}


def test_kafka_1068_what_is_offline_after_a_failover(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.8.0: the count was right only for what changed after the election."""
    method: list[Table] = [
        {"at": "3s", "action": "broker.crash", "target": 2},
        {"at": "30s", "action": "controller.crash"},
    ]
    wanted = scenario(brokers=4, controller=0, assignment=[(2,), (1,)], method=method, horizon="2m", expect=[])
    assert "offline_true" not in broken(play(wanted).run)
    shown = ControllerMetrics.show

    epochs: dict[int, int] = {}

    def show(self: ControllerMetrics, *, active: bool) -> None:
        epoch = self.context.epoch
        began = epochs.get(self.process.node.id, 0) != epoch
        epochs[self.process.node.id] = epoch
        if began and epoch > 1:
            self.context.touched.clear()
        shown(self, active=active)

    monkeypatch.setattr(ControllerMetrics, "show", show)
    assert "offline_true" in broken(play(wanted).run)


def test_kafka_1068_what_is_offline_shows_a_second_after_the_failover(monkeypatch: pytest.MonkeyPatch) -> None:
    """At rest the count is right."""
    method: list[Table] = [
        {"at": "3s", "action": "broker.crash", "target": 2},
        {"at": "30s", "action": "controller.crash"},
    ]
    shown = ControllerMetrics.show

    def late(self: ControllerMetrics, *, active: bool) -> None:
        shown(self, active=active)
        gauge = self.gauges["OfflinePartitionsCount"]
        true = gauge.value
        gauge.set(0)
        self.process.call_later(1_000_000, gauge.set, true)

    monkeypatch.setattr(ControllerMetrics, "show", late)
    wanted = scenario(brokers=4, controller=0, assignment=[(2,), (1,)], method=method, horizon="2m", expect=[])
    assert broken(play(wanted).run) == {"offline_true"}
