"""The events of transactions in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from emulator.protocol import events as e
from scenarios.units import counted


def _loaded(event: e.TransactionsLoaded) -> str:
    return (
        f"broker {event.node} coordinates the transactions of {event.topic}-{event.partition} (epoch "
        f"{event.leader_epoch}): {counted(event.ids, 'transactional ids')} in its log"
    )


def _unloaded(event: e.TransactionsUnloaded) -> str:
    return (
        f"broker {event.node} no longer coordinates the transactions of {event.topic}-{event.partition}: "
        f"{counted(event.ids, 'transactional ids')}"
    )


def _state(event: e.TransactionStateChanged) -> str:
    rows = ", ".join(f"{topic}-{number}" for topic, number in zip(event.topics, event.partitions, strict=True))
    return (
        f"transactional id {event.transactional_id} at broker {event.node}: {event.state}, producer "
        f"{event.producer_id}, epoch {event.producer_epoch}" + (f", with {rows}" if rows else "")
    )


def _marked(event: e.TransactionMarked) -> str:
    how = "committed" if event.committed else "aborted"
    return (
        f"broker {event.node} marks a transaction of producer {event.producer_id} as {how} in "
        f"{event.topic}-{event.partition} (coordinator epoch {event.coordinator_epoch})"
    )


def _appended(event: e.TransactionalAppended) -> str:
    return (
        f"broker {event.node} appends a batch of a transaction of producer {event.producer_id} to "
        f"{event.topic}-{event.partition} at {event.base_offset}"
    )


def _fetched(event: e.CommittedFetched) -> str:
    return (
        f"client {event.node} reads committed records of {event.topic}-{event.partition} from broker {event.leader}: "
        f"{counted(len(event.ids), 'batches')}, {counted(len(event.producer_ids), 'aborted transactions')}, stable up "
        f"to {event.last_stable_offset}"
    )


TRANSACTION_WORDS: dict[type, Callable[[Any], str]] = {
    e.TransactionsLoaded: _loaded,
    e.TransactionsUnloaded: _unloaded,
    e.TransactionStateChanged: _state,
    e.TransactionMarked: _marked,
    e.TransactionalAppended: _appended,
    e.CommittedFetched: _fetched,
}
"""Sentences about events of transactions, by kind."""
