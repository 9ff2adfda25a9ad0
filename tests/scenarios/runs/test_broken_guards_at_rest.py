"""The checkers of what stands still, end to end: a guard is taken out of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from brokers import metadata_cache
from brokers.log.log import Log
from controller.operations.notifications import Notifications
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.types import LEADER_DURING_DELETE
from fetchers.manager import AbstractFetcherManager
from scenarios.language import Scenario
from tests.scenarios.runs.building import scenario
from tests.scenarios.runs.test_broken_guards_of_memories import CONVERGED, findings, isr_changes


def deletion() -> Scenario:
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], topic_config={"min.insync.replicas": 2}, rate=0, horizon="3m",
        method=[{"at": "10s", "action": "topic.delete", "topic": "orders"}], expect=[CONVERGED],
    )  # fmt: skip


def leaders_change(**more: Any) -> Scenario:
    crash = {"at": "10s", "action": "broker.crash", "target": "leader(orders-0)", "duration": "10s"}
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[crash], expect=[CONVERGED], rate=20, horizon="3m",
        **more,
    )  # fmt: skip


def test_a_log_that_notes_its_first_leader_epoch_only(monkeypatch: pytest.MonkeyPatch) -> None:
    begin_epoch = Log.begin_epoch

    def begins_once(self: Log, epoch: int, start_offset: int) -> None:
        if not self.epochs.entries:
            begin_epoch(self, epoch, start_offset)

    assert findings(leaders_change()) == {}
    monkeypatch.setattr(Log, "begin_epoch", begins_once)
    state = findings(leaders_change(), "logs_reload")["logs_reload"]
    assert "remembers as logs of epochs: ((0, 0),); a fresh process has ((0, 0), (1, " in state


def test_fetchers_that_keep_what_was_taken_from_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AbstractFetcherManager, "remove_fetcher_for_partitions", lambda *_of, **_how: None)
    state = findings(leaders_change(), "fetchers_fit")["fetchers_fit"]
    assert "remembers as fetched: a fetcher from broker" in state


def test_topics_that_stay_in_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    updated = metadata_cache._updated

    def keeps(before: metadata_cache.Topics, update: metadata_cache.Update) -> Mapping[str, Any]:
        return updated(before, tuple(state for state in update if state.leader != LEADER_DURING_DELETE))

    assert findings(deletion()) == {}
    monkeypatch.setattr(metadata_cache, "_updated", keeps)
    state = findings(deletion(), "gone_topics_forgotten")["gone_topics_forgotten"]
    assert "remembers as metadata of topic orders: it is there; a fresh process has nothing" in state


def test_settings_that_outlive_their_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    delete = KafkaZkClient.delete

    async def spares(self: KafkaZkClient, paths: list[str]) -> Any:
        return await delete(self, [path for path in paths if not path.startswith(znodes.CONFIG_TOPICS)])

    monkeypatch.setattr(KafkaZkClient, "delete", spares)
    state = findings(deletion(), "gone_topics_forgotten")["gone_topics_forgotten"]
    assert "remembers as settings of topic orders: they are in ZooKeeper" in state


def test_announcements_that_no_controller_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def looks_away(_self: Notifications) -> None:
        return None

    monkeypatch.setattr(Notifications, "process_isr_changes", looks_away)
    state = findings(isr_changes(), "notifications_taken")["notifications_taken"]
    assert "/isr_change_notification/isr_change_0000000000 is there for" in state
