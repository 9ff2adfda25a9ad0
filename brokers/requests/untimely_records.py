"""Records whose time no leader appends: it is too far from that of the append, or is said to be that of the append
(LogValidator.validateTimestamp, 1.1 to 3.9)."""

from brokers.log.log_config import CREATE_TIME, NEVER, LogConfig
from emulator.protocol.produce import AppendInfo, KeylessRecords
from emulator.protocol.records import APPEND_TIME, NO_TIMESTAMP, ProducedRecords
from emulator.protocol.rewriting import whole_records

REJECTED = "One or more records have been rejected due to invalid timestamp"


def untimely(batch: ProducedRecords, log: LogConfig, now_ms: int) -> list[tuple[int, str]]:
    """The places of the records of ``batch`` that are refused, each with the reason. None, where its records cannot be
    read."""
    difference_ms = log.timestamp_difference_us // 1000
    judges = log.timestamp_type == CREATE_TIME and difference_ms < NEVER
    if not judges and not batch.header.attributes & APPEND_TIME:
        return []
    try:
        times = [record.timestamp_ms for record in whole_records(batch.data)]
    except ValueError:
        return []
    if batch.header.attributes & APPEND_TIME:
        why = "Invalid timestamp type in message. Producer should not set timestamp type to LogAppendTime."
        return [(place, why) for place in range(len(times))]
    between = f"within [{now_ms - difference_ms}, {now_ms + difference_ms}]"
    return [
        (place, f"Timestamp {time} of message with offset {place} is out of range. The timestamp should be {between}")
        for place, time in enumerate(times)
        if time != NO_TIMESTAMP and abs(time - now_ms) > difference_ms
    ]


def answer(batch: ProducedRecords, found: list[tuple[int, str]], rule: KeylessRecords) -> AppendInfo:
    """The answer about ``batch``, beside the error. ``rule``: which records the release names (KIP-467)."""
    if rule.names_all:
        return AppendInfo(batch.id, message=REJECTED, record_errors=tuple(found))
    if rule.names_first:
        place, why = found[0]
        return AppendInfo(batch.id, message=why, record_errors=((place, ""),))
    return AppendInfo(batch.id)
