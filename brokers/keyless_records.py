"""Records without a key, which no leader appends to a compacted topic (LogValidator.validateKey)."""

from attrs import frozen

from emulator.protocol.errors import Errors
from emulator.protocol.produce import AppendInfo
from emulator.protocol.records import ProducedRecords

REJECTED = "One or more records have been rejected"


@frozen
class KeylessRecords:
    """How a release refuses them.

    Attributes:
        error: CORRUPT_MESSAGE up to 2.3: InvalidRecordException is one of CorruptRecordException.
        names_first: the answer names the first of them, and says beside the error what is wrong (2.4).
        names_all: it names each, and says at each what is wrong (2.5).
    """

    error: Errors = Errors.CORRUPT_MESSAGE
    names_first: bool = False
    names_all: bool = False

    def info(self, batch: ProducedRecords) -> AppendInfo:
        """The answer about ``batch``, beside the error."""
        places = keyless(batch)
        why = f"Compacted topic cannot accept message without key in topic partition {batch.tp}."
        if self.names_all:
            return AppendInfo(batch.id, message=REJECTED, record_errors=tuple((place, why) for place in places))
        if self.names_first:
            return AppendInfo(batch.id, message=why, record_errors=((places[0], ""),))
        return AppendInfo(batch.id)


NAMES_FIRST = KeylessRecords(Errors.INVALID_RECORD, names_first=True)
NAMES_ALL = KeylessRecords(Errors.INVALID_RECORD, names_all=True)


def keyless(batch: ProducedRecords) -> list[int]:
    """The places of the records of ``batch`` that have no key. None, where its records cannot be read."""
    from emulator.protocol.rewriting import whole_records

    try:
        return [place for place, record in enumerate(whole_records(batch.data)) if record.key is None]
    except ValueError:
        return []
