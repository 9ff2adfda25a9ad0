"""The bytes of a coordinator's batches, for clients that read ``__consumer_offsets`` (GroupMetadataManager, 3.0)."""

from brokers.groups.records import (
    Entry,
    GroupBatch,
    Key,
    OffsetAndMetadata,
    OffsetKey,
    StoredGroup,
    TransactionalGroupBatch,
)
from emulator.protocol.records import TRANSACTIONAL, write_records
from scenarios.wire.codec.messages.stored import (
    GROUP_METADATA_KEY,
    GROUP_METADATA_VALUE,
    OFFSET_COMMIT_KEY,
    OFFSET_COMMIT_VALUE,
)
from scenarios.wire.codec.stored_records import encode_stored

OFFSET_KEY, GROUP_KEY = 1, 2
OFFSET_VALUE, EXPIRING_OFFSET_VALUE, GROUP_VALUE = 3, 1, 3
"""The versions that brokers write. The version of an offset's value depends on whether it has an expiry time."""


def group_records(batch: GroupBatch) -> bytes:
    """The bytes of a batch, as ``write_records`` makes them."""
    records, at_ms = [_in_bytes(entry) for entry in batch.entries], batch.timestamp_us // 1000
    count = batch.next_offset - batch.base_offset
    if not isinstance(batch, TransactionalGroupBatch):
        return write_records(records, at_ms, places=batch.places, count=count)
    return write_records(
        records, at_ms, attributes=TRANSACTIONAL, producer_id=batch.producer_id, producer_epoch=batch.producer_epoch,
        places=batch.places, count=count,
    )  # fmt: skip


def _in_bytes(entry: Entry) -> tuple[bytes, bytes | None]:
    key, value = entry
    if value is None:
        return _key(key), None
    return _key(key), _offset(value) if isinstance(value, OffsetAndMetadata) else _group(value)


def _key(key: Key) -> bytes:
    if isinstance(key, OffsetKey):
        fields = {"group": key.group, "topic": key.tp.topic, "partition": key.tp.partition}
        return encode_stored(OFFSET_COMMIT_KEY, OFFSET_KEY, fields)
    return encode_stored(GROUP_METADATA_KEY, GROUP_KEY, {"group": key.group})


def _offset(value: OffsetAndMetadata) -> bytes:
    fields = {
        "offset": value.offset,
        "leader_epoch": value.leader_epoch,
        "metadata": value.metadata,
        "commit_timestamp": value.commit_ms,
        "expire_timestamp": -1 if value.expire_ms is None else value.expire_ms,
    }
    version = OFFSET_VALUE if value.expire_ms is None else EXPIRING_OFFSET_VALUE
    return encode_stored(OFFSET_COMMIT_VALUE, version, fields)


def _group(value: StoredGroup) -> bytes:
    fields = {
        "protocol_type": value.protocol_type,
        "generation": value.generation,
        "protocol": value.protocol,
        "leader": value.leader,
        "current_state_timestamp": -1 if value.state_ms is None else value.state_ms,
        "members": [
            {
                "member_id": member.member_id,
                "group_instance_id": member.instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "rebalance_timeout": member.rebalance_timeout_us // 1000,
                "session_timeout": member.session_timeout_us // 1000,
                "subscription": member.subscription,
                "assignment": member.assignment,
            }
            for member in value.members
        ],
    }
    return encode_stored(GROUP_METADATA_VALUE, GROUP_VALUE, fields)
