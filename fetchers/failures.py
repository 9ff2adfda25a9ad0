"""The effect of a failure on a partition or on its thread: one rule for each generation of releases (kafka-behaviour
§8.4).

KIP-461 (2.3) lets the partition fail and the thread go on. Before, an unforeseen error ended the thread, and all its
partitions stopped being fetched, unnoticed (KAFKA-8346).
"""

from enum import Enum

from attrs import frozen

from emulator.disks import DiskError
from emulator.protocol.types import TopicPartition


class Verdict(Enum):
    """The consequence of an error."""

    DELAY = "the partition is tried again after a back-off"
    FAIL = "the partition is not fetched any more"
    DIE = "the thread ends"
    HALT = "the broker ends"


class StorageError(Exception):
    """A replica's log is, or may be, in a directory that is offline (KafkaStorageException)."""


class OffsetOutOfRange(Exception):
    """A leader's log that begins where the follower's has not come to (Log.maybeIncrementLogStartOffset, 2.8)."""


class CorruptBatch(Exception):
    """A fetched batch is damaged or invalid (CorruptRecordException, InvalidRecordException)."""


class FetcherDied(Exception):
    """Ends a fetcher thread, as an uncaught exception ends one of Kafka's.

    Attributes:
        tp: the partition in which it happened.
        error: Kafka's name of the error's code, or the class of the exception.
    """

    def __init__(self, tp: TopicPartition, error: str, reason: str) -> None:
        super().__init__(f"{tp}: {reason}")
        self.tp, self.error = tp, error


@frozen
class FailureRule:
    """One release's rule.

    Attributes:
        storage: the log's disk refuses an append or a truncation.
        unexpected: an append or a truncation fails in any other way.
        fenced: the leader has a higher leader epoch.
        corrupt: a batch that was fetched is damaged (KAFKA-4384, 0.10.1.1).
    """

    storage: Verdict
    unexpected: Verdict
    fenced: Verdict
    corrupt: Verdict = Verdict.DELAY

    def judge(self, error: Exception) -> Verdict:
        """The consequence of an error that a log raised."""
        if isinstance(error, CorruptBatch):
            return self.corrupt
        return self.storage if isinstance(error, (DiskError, StorageError)) else self.unexpected


KIP_461 = FailureRule(storage=Verdict.FAIL, unexpected=Verdict.FAIL, fenced=Verdict.FAIL)
"""The rule of 2.3 and later."""

STORAGE_TOLERATED = FailureRule(storage=Verdict.DELAY, unexpected=Verdict.DIE, fenced=Verdict.DELAY)
"""The rule of 1.0 to 2.0: only the failure of a log directory (KIP-112) is foreseen (AbstractFetcherThread, 1.1)."""

THREAD_DIES = FailureRule(storage=Verdict.HALT, unexpected=Verdict.DIE, fenced=Verdict.DELAY)
"""The rule of 0.8 to 0.11: a disk error ends the broker (ReplicaFetcherThread, 0.8.0)."""
