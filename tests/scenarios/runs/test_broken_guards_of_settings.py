"""The checkers of what processes remember, end to end: settings, watches, files and ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from brokers.log.directory import LogDirectory
from brokers.metadata_cache import MetadataCache
from controller.context import ControllerContext, Deletions
from controller.operations.rebalance import AutoLeaderRebalance
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.zookeeper.client.handlers import Handlers
from fetchers.manager import AbstractFetcherManager
from fetchers.quota import QuotaManagers
from scenarios.language import Scenario
from tests.scenarios.runs.building import scenario
from tests.scenarios.runs.test_broken_guards_of_memories import CONVERGED, EXPIRE, findings

THROTTLED = {
    "at": "5s", "action": "config.set", "brokers": 0, "config": {"follower.replication.throttled.rate": 1000000}
}  # fmt: skip


def standing(*method: dict[str, Any], **more: Any) -> Scenario:
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=list(method), expect=[CONVERGED], rate=5, horizon="2m",
        **more,
    )  # fmt: skip


def found_without(
    monkeypatch: pytest.MonkeyPatch, wanted: Scenario, owner: type, name: str, instead: Any, checker: str
) -> str:
    """The finding of ``checker`` where ``instead`` is in the place of a function; there is none with the function."""
    assert findings(wanted) == {}
    monkeypatch.setattr(owner, name, instead)
    return findings(wanted)[checker]


def test_a_throttle_that_a_broker_does_not_take_up(monkeypatch: pytest.MonkeyPatch) -> None:
    state = found_without(
        monkeypatch, standing(THROTTLED), QuotaManagers, "_limit", lambda *_of: None, "broker_remembers"
    )
    assert "broker 0 remembers as throttles of rates" in state


def test_a_number_of_fetchers_that_a_broker_does_not_take_up(monkeypatch: pytest.MonkeyPatch) -> None:
    change = {"at": "5s", "action": "config.set", "brokers": 0, "config": {"num.replica.fetchers": 2}}
    state = found_without(
        monkeypatch, standing(change), AbstractFetcherManager, "resize_thread_pool", lambda *_of: None,
        "broker_remembers",
    )  # fmt: skip
    assert state == "broker 0 remembers as fetcher_threads: 1; a fresh process has 2"


def _first_controller(update: Callable[..., None]) -> Callable[..., None]:
    def keeps(self: MetadataCache, request: UpdateMetadataRequest) -> None:
        before = self.controller
        update(self, request)
        self.controller = before if before >= 0 else self.controller

    return keeps


def test_a_controller_that_a_broker_goes_on_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    instead = _first_controller(MetadataCache.update)
    state = found_without(monkeypatch, standing(EXPIRE), MetadataCache, "update", instead, "broker_remembers")
    assert "remembers as controller: broker 3" in state


def _unwatched(wants: Callable[..., bool]) -> Callable[..., bool]:
    return lambda self, request: wants(self, request) and request.path != znodes.CONFIG_CHANGES


def test_a_watch_that_is_not_armed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting changes: nothing else shows it."""
    instead = _unwatched(Handlers.wants)
    state = found_without(monkeypatch, standing(), Handlers, "wants", instead, "broker_remembers")
    assert state == f"broker 0 remembers as watches of {znodes.CONFIG_CHANGES}: none; a fresh process has one"


def test_a_controller_that_looks_at_preferred_leaders_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    state = found_without(
        monkeypatch, standing(EXPIRE), AutoLeaderRebalance, "start", lambda _self: None, "controller_remembers"
    )
    assert "as rebalance_lost: no look at preferred leaders is due; a new one reads the next one" in state


DELETION = (
    {"at": "5s", "action": "broker.crash", "target": 0, "duration": "20s"},
    {"at": "12s", "action": "topic.delete", "topic": "orders"},
)


def _in_queue_only(self: Deletions, topic: str) -> None:
    self.queued.pop(topic, None)


def test_a_deletion_that_goes_on_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic of the same name that is created later cannot be deleted."""
    wanted = standing(*DELETION, profile="kafka-2.3")
    state = found_without(monkeypatch, wanted, Deletions, "discard", _in_queue_only, "controller_remembers")
    assert "as left_deletions of topic orders: there; a new one reads nothing" in state


def test_checkpoints_of_a_log_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic of the same name that is created later begins where the old one began."""
    delete = {"at": "12s", "action": "topic.delete", "topic": "orders"}
    state = found_without(
        monkeypatch, standing(delete), LogDirectory, "forget", lambda *_of: None, "gone_topics_forgotten"
    )
    assert "remembers as left_files of replication-offset-checkpoint: an entry" in state


def test_ids_that_a_new_controller_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async def reads_none(_self: KafkaZkClient, _topics: object) -> None:
        return None

    wanted = standing(EXPIRE, profile="kafka-3.0")
    state = found_without(monkeypatch, wanted, KafkaZkClient, "identify", reads_none, "controller_remembers")
    assert "remembers after its failover as topic_ids of topic orders: nothing" in state


def test_replicas_that_go_offline_and_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    set_states = ControllerContext.set_replica_states

    def not_again(self: ControllerContext, broker: int, partitions: Any, state: Any) -> None:
        if state.name != "ONLINE" or broker != 1 or not self.replica_states.get(1):
            set_states(self, broker, partitions, state)

    crash = {"at": "5s", "action": "broker.crash", "target": 1, "duration": "20s"}
    wanted = standing(crash, profile="kafka-2.4")
    state = found_without(
        monkeypatch, wanted, ControllerContext, "set_replica_states", not_again, "controller_remembers"
    )
    assert "orders-0: controller 3 remembers as replica_states of broker 1: new; a new one reads online" in state
