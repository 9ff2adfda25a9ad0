"""Produce requests of transactions, which are verified before they are appended (ReplicaManager.appendRecords, 3.6.2,
and handleProduceAppend, 3.9.0; ``brokers.transactions.verification``).

A request waits as a whole, in no request handler thread, also for batches that need no verification. What cannot be
verified is refused, and the others are appended. Where requests take time, what follows the coordinator's answer takes
none.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeGuard

from brokers.log.producer_state_manager import VerificationStateEntry
from brokers.replica_manager import ReplicaManager
from brokers.transactions.verification import Verification, Verify
from emulator.protocol.errors import Errors
from emulator.protocol.produce import AppendInfo, IdempotentBatch, ProducedBatch, ProduceRequest
from emulator.protocol.records import ProducedRecords
from emulator.protocol.transactions.coordination import OfTransaction
from emulator.protocol.types import TopicPartition

RETRIABLE = (
    Errors.CONCURRENT_TRANSACTIONS, Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_COORDINATOR,
)  # fmt: skip
"""The errors of a coordinator after which a producer has to send again; older ones do not know them from a leader."""


class Unverified(NamedTuple):
    """The refusal of a batch.

    Attributes:
        error: the error for the client.
        reason: the one of the verification.
        words: the text beside the error.
    """

    error: Errors
    reason: Errors
    words: str = ""

    def info(self, batch: ProducedBatch) -> AppendInfo:
        return AppendInfo(batch.id, message=self.words)


class Checked(NamedTuple):
    """A verified request: the batches that are refused, and the guards of the others."""

    refused: Mapping[TopicPartition, Unverified]
    guards: Mapping[TopicPartition, VerificationStateEntry]


def verify_first(
    manager: ReplicaManager, verify: Verify, request: ProduceRequest, append: Callable[[Checked], object]
) -> None:
    """Verify what ``request`` has of a transaction, then ``append``."""
    batches: dict[TopicPartition, IdempotentBatch] = {
        batch.tp: batch for batch in request.batches if _is_transactional(batch) and manager.serves(batch.tp)
    }
    producers = dict.fromkeys((batch.producer_id, batch.producer_epoch) for batch in batches.values())
    if len(producers) != 1 or request.transactional_id is None:
        error = Errors.INVALID_PRODUCER_ID_MAPPING
        append(Checked({each.tp: Unverified(error, error) for each in request.batches if producers}, {}))
        return
    ((producer_id, epoch),) = producers
    trace, hides = manager.process.node.trace, manager.policies.transactions.hides_network_errors
    cause = trace.cause

    def verified(found: Verification) -> None:
        before, trace.cause = trace.cause, cause
        append(Checked({tp: _refusal(error, hides) for tp, error in found.errors.items()}, found.guards))
        trace.cause = before

    producer = OfTransaction(request.transactional_id, producer_id, epoch)
    sequences = {tp: batch.base_sequence for tp, batch in batches.items()}
    verify(producer, sequences, request.knows_abortable, verified)


def _is_transactional(batch: ProducedBatch) -> TypeGuard[ProducedRecords]:
    return isinstance(batch, ProducedRecords) and batch.transactional and batch.sequenced and not batch.invalid


def _refusal(error: Errors, hides_network_errors: bool) -> Unverified:
    if error is Errors.INVALID_TXN_STATE:
        return Unverified(error, error, "Partition was not added to the transaction")
    if error in RETRIABLE or (error is Errors.NETWORK_EXCEPTION and hides_network_errors):
        why = f"Unable to verify the partition has been added to the transaction. Underlying error: {error.name}"
        return Unverified(Errors.NOT_ENOUGH_REPLICAS, error, why)
    return Unverified(error, error)
