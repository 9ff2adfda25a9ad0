"""The bytes of a transaction coordinator's batches, for clients that read ``__transaction_state`` (TransactionLog)."""

from brokers.transactions.metadata import TransactionState, TxnTransitMetadata
from brokers.transactions.records import TransactionBatch
from emulator.protocol.records import write_records
from scenarios.wire.apis.shared import by_topic
from scenarios.wire.codec.messages.stored import TRANSACTION_LOG_KEY, TRANSACTION_LOG_VALUE
from scenarios.wire.codec.stored_records import encode_stored

VERSION = 0
"""The version of keys and values."""
STATUS = {
    state: number
    for number, state in enumerate((
        TransactionState.EMPTY, TransactionState.ONGOING, TransactionState.PREPARE_COMMIT,
        TransactionState.PREPARE_ABORT, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT,
    ))
}  # fmt: skip
"""Kafka's numbers of the states that are written."""


def transaction_records(batch: TransactionBatch) -> bytes:
    """The bytes of a batch, as ``write_records`` makes them."""
    key = encode_stored(TRANSACTION_LOG_KEY, VERSION, {"transactional_id": batch.transactional_id})
    value = None if batch.value is None else _value(batch.value)
    return write_records([(key, value)], batch.timestamp_us // 1000)


def _value(value: TxnTransitMetadata) -> bytes:
    topics = by_topic((tp, None) for tp in value.partitions)
    partitions = [
        {"topic": topic, "partition_ids": [number for number, _none in rows]} for topic, rows in topics.items()
    ]
    fields = {
        "producer_id": value.producer_id,
        "producer_epoch": value.producer_epoch,
        "transaction_timeout_ms": value.timeout_ms,
        "transaction_status": STATUS[value.state],
        "transaction_partitions": None if value.state is TransactionState.EMPTY else partitions,
        "transaction_last_update_timestamp_ms": value.update_ms,
        "transaction_start_timestamp_ms": value.start_ms,
    }
    return encode_stored(TRANSACTION_LOG_VALUE, VERSION, fields)
