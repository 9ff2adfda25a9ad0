"""Records without a key, which no leader appends to a compacted topic (LogValidator.validateKey)."""

from emulator.protocol.produce import AppendInfo, KeylessRecords
from emulator.protocol.records import ProducedRecords
from emulator.protocol.rewriting import whole_records

REJECTED = "One or more records have been rejected"


def keyless(batch: ProducedRecords) -> list[int]:
    """The places of the records of ``batch`` that have no key. None, where its records cannot be read."""
    try:
        return [place for place, record in enumerate(whole_records(batch.data)) if record.key is None]
    except ValueError:
        return []


def answer(batch: ProducedRecords, rule: KeylessRecords) -> AppendInfo:
    """The answer about ``batch``, beside the error."""
    places = keyless(batch)
    why = f"Compacted topic cannot accept message without key in topic partition {batch.tp}."
    if rule.names_all:
        return AppendInfo(batch.id, message=REJECTED, record_errors=tuple((place, why) for place in places))
    if rule.names_first:
        return AppendInfo(batch.id, message=why, record_errors=((places[0], ""),))
    return AppendInfo(batch.id)
