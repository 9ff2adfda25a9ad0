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


TRANSACTION_WORDS: dict[type, Callable[[Any], str]] = {
    e.TransactionsLoaded: _loaded,
    e.TransactionsUnloaded: _unloaded,
    e.TransactionStateChanged: _state,
}
"""By kind."""
