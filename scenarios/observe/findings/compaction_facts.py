"""Facts about what the compaction of a log has removed, or left."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition
from scenarios.observe.findings.facts import Part


class Compacts(Part):
    """The conditions of ``compaction_keeps``."""

    WHAT_IS_CLOSED = "it ends before the active segment and the first open transaction"
    PLACES = "batches stay where they are, and records what they are"
    LAST_RECORDS = "the last record of each key stays"
    COMMITTED = "a record goes only for one that is committed"
    TOMBSTONES = "tombstones and markers stay for delete.retention.ms"
    MARKERS = "a marker stays as long as records of its transaction"
    PRODUCERS = "the last batch of a producer stays"
    ONE_EACH = "no earlier record of a key stays"


class CompactedWrong(NamedTuple):
    """A record, batch or marker that is gone and should have stayed, or the reverse.

    Attributes:
        end: the end of the segments that were compacted.
        offset: its offset.
        why: what is wrong with that, in a clause.
    """

    broker: int
    end: int
    offset: int
    why: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"broker {self.broker} compacts {tp} up to {self.end}: at {self.offset}, {self.why}"
