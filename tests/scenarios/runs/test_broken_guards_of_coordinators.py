"""The checkers of coordinators, end to end: a guard is taken out of the cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from brokers.coordinators.internal_topic import InternalTopicPartitions
from brokers.groups.committed import Appended
from brokers.groups.delayed_heartbeats import DelayedHeartbeats
from brokers.groups.group import GroupMetadata
from brokers.groups.group_metadata_manager import GroupMetadataManager, Loaded
from brokers.groups.group_offsets import Values
from brokers.groups.member import MemberMetadata
from brokers.groups.rebalance import GroupRebalances
from brokers.groups.records import StoredGroup
from brokers.log.transactions import TransactionalProducers
from brokers.requests.producer_ids import ProducerIds
from brokers.transactions.coordinator import TransactionCoordinator
from brokers.transactions.marker_sending import TransactionMarkerChannelManager
from brokers.transactions.transaction_state_manager import TransactionStateManager
from emulator.protocol.errors import NO_ERROR, Errors
from scenarios.language import Scenario
from tests.scenarios.runs.building import play

CLUSTER: dict[str, Any] = {
    "config": {
        "offsets.topic.num.partitions": 1, "offsets.topic.replication.factor": 3,
        "transaction.state.log.num.partitions": 1, "transaction.state.log.replication.factor": 3,
        "group.initial.rebalance.delay.ms": 0,
    },
    "zk": {"session_timeout": "6s"},
    "brokers": 4,
    "controller": 3,
}  # fmt: skip
MEMBERS = {"behaviour": "group-member", "count": 2, "group": "readers", "partitions": ["orders-0"], "stop": "60s"}
WRITERS = {"behaviour": "transactional", "count": 2, "id": "writer", "partitions": ["orders-0"], "stop": "60s"}
CRASHES = [
    {"at": f"{10 + 15 * broker}s", "action": "broker.crash", "target": broker, "duration": "8s"} for broker in (0, 1, 2)
]
EXPIRIES = [
    {"at": f"{10 + 15 * broker}s", "action": "link.cut", "target": broker, "peer": "zookeeper", "duration": "12s"}
    for broker in (0, 1, 2)
]
"""The coordinator's broker loses its session, and lives on: another broker leads, and is the coordinator."""


def findings(*clients: dict[str, Any], method: list[dict[str, Any]] = CRASHES, profile: str = "kafka-2.7") -> list[str]:
    """The checkers that find something."""
    table = {
        "title": "a test", "profile": profile, "seed": 1, "horizon": "3m", "cluster": CLUSTER,
        "topics": [{"name": "orders", "assignment": [[0, 1, 2]]}], "clients": list(clients), "method": method,
        "expect": [{"converged": True, "within": "90s"}],
    }  # fmt: skip
    return list(dict.fromkeys(each.invariant for each in play(Scenario.from_table(table)).run.violations))


def test_nothing_is_found_without_a_bug() -> None:
    assert findings(MEMBERS | {"stays": 5}, WRITERS | {"group": "readers", "aborts": 30}) == []


def test_a_coordinator_that_does_not_resign(monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(MEMBERS, method=EXPIRIES) == []
    monkeypatch.setattr(InternalTopicPartitions, "resigned", lambda *_of: False)
    assert "coordinators_lead" in findings(MEMBERS, method=EXPIRIES)


def test_a_coordinator_that_loads_no_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loaded, "read", lambda *_of: None)
    assert "offsets_read_back" in findings(MEMBERS)


def test_a_commit_that_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_remembers(
        _self: GroupMetadataManager, group: GroupMetadata, offsets: Values, done: Callable[[Errors], object]
    ) -> None:
        for tp, value in offsets.items():
            group.committed.offsets[tp] = Appended(value, 1 << 40)
        done(NO_ERROR)

    monkeypatch.setattr(GroupMetadataManager, "store_offsets", only_remembers)
    assert {"offsets_read_back", "coordinators_remember"} <= set(findings(MEMBERS))


def test_heartbeats_that_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    extend = DelayedHeartbeats._extend

    def begins_only(self: DelayedHeartbeats, group: GroupMetadata, member: MemberMetadata, timeout_us: int) -> None:
        if member.timer is None:
            extend(self, group, member, timeout_us)

    monkeypatch.setattr(DelayedHeartbeats, "_extend", begins_only)
    assert findings(MEMBERS) == ["members_silent"]


def test_a_rebalance_that_nobody_completes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GroupRebalances, "try_complete", lambda *_of: None)
    monkeypatch.setattr(GroupRebalances, "_expire_join", lambda *_of: None)
    assert findings(MEMBERS | {"stays": 3}) == ["groups_settle"]


def test_offsets_that_count_as_old_once_they_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    restored = GroupMetadata.restored.__func__  # type: ignore[attr-defined]

    def as_old(cls: type[GroupMetadata], id: str, stored: StoredGroup) -> GroupMetadata:
        group: GroupMetadata = restored(cls, id, stored)
        group.state_ms = 0
        return group

    config = {**CLUSTER["config"], "offsets.retention.check.interval.ms": 5000}
    monkeypatch.setitem(CLUSTER, "config", {**config, "offsets.retention.minutes": 1})
    leaves = MEMBERS | {"stop": "30s", "stays": 2}
    other = MEMBERS | {"group": "others", "stop": "110s"}
    assert findings(leaves, other) == []
    monkeypatch.setattr(GroupMetadata, "restored", classmethod(as_old))
    assert "offsets_expire_late" in findings(leaves, other)


# -- transactions -----------------------------------------------------------------------------------------------------


def test_a_marker_that_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TransactionalProducers, "_end", lambda *_of: None)
    assert "transactions_close" in findings(WRITERS)


def test_a_late_transaction_that_nobody_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request to end a transaction is answered: only its time ends it."""
    writer, lasts = WRITERS | {"count": 1, "timeout": "2s"}, MEMBERS | {"stop": "110s"}
    monkeypatch.setattr(TransactionCoordinator, "end", lambda *_of: None)
    assert findings(writer, lasts, method=[]) == []
    monkeypatch.setattr(TransactionStateManager, "late", lambda _self: [])
    assert findings(writer, lasts, method=[]) == ["transactions_end"]


def test_markers_that_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TransactionMarkerChannelManager, "_queue", lambda *_of: None)
    assert "transactions_end" in findings(WRITERS, MEMBERS | {"stop": "110s"}, method=[])


def test_markers_that_say_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    add = TransactionMarkerChannelManager.add

    def aborts(self: TransactionMarkerChannelManager, found: Any, to: Any, *, committed: bool) -> None:
        add(self, found, to, committed=False)

    monkeypatch.setattr(TransactionMarkerChannelManager, "add", aborts)
    assert "markers_decided" in findings(WRITERS)


def test_a_late_transaction_whose_producer_is_not_fenced(monkeypatch: pytest.MonkeyPatch) -> None:
    def aborts(self: TransactionCoordinator) -> None:
        for metadata in self.store.late():
            metadata.prepare_fence()
            self._end(
                metadata.id, metadata.producer_id, metadata.producer_epoch, lambda _error: None, committed=False,
                from_client=False,
            )  # fmt: skip

    pauses = [
        {"at": f"{10 + 20 * broker}s", "action": "broker.pause", "target": broker, "duration": "14s"}
        for broker in (0, 1)
    ]
    writer = WRITERS | {"timeout": "2s", "pause": "100ms", "count": 1}
    assert findings(writer, method=pauses) == []
    monkeypatch.setattr(TransactionCoordinator, "_abort_late", aborts)
    assert "records_in_transactions" in findings(writer, method=pauses)


def test_producer_ids_that_two_brokers_give(monkeypatch: pytest.MonkeyPatch) -> None:
    async def first_block(_self: ProducerIds) -> int:
        return 0

    other = WRITERS | {"id": "other", "start": "50s", "stop": "70s"}
    assert findings(WRITERS, other) == []
    monkeypatch.setattr(ProducerIds, "_next_block", first_block)
    assert "producer_ids_once" in findings(WRITERS, other)
