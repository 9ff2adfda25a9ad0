"""What becomes of a partition, or of its thread, when something fails (kafka-behaviour, 8.4).

KIP-461 (2.3) lets the partition fail and the thread go on. Before, an error that was not foreseen ended the thread, and
all its partitions stood still unnoticed (KAFKA-8346).
"""

from enum import Enum

from attrs import frozen

from emulator.disks import DiskError


class Verdict(Enum):
    """What follows from an error."""

    DELAY = "the partition is tried again after a back-off"
    FAIL = "the partition is not fetched any more"
    DIE = "the thread ends"
    HALT = "the broker ends"


class StorageError(Exception):
    """A replica's log is, or may be, in a directory that is offline (KafkaStorageException)."""


class CorruptBatch(Exception):
    """What came is damaged, or is no valid batch (CorruptRecordException, InvalidRecordException)."""


class FetcherDied(Exception):
    """Ends a fetcher thread, as an exception that nobody catches ends one of Kafka's."""


@frozen
class FailureRule:
    """One release's rule.

    Attributes:
        storage: the log's disk refuses an append or a truncation.
        unexpected: an append or a truncation fails in any other way; a damaged batch only delays.
        fenced: the leader knows of a later leader epoch.
    """

    storage: Verdict
    unexpected: Verdict
    fenced: Verdict

    def judge(self, error: Exception) -> Verdict:
        """What follows from the error of a log."""
        if isinstance(error, CorruptBatch):
            return Verdict.DELAY
        return self.storage if isinstance(error, (DiskError, StorageError)) else self.unexpected


KIP_461 = FailureRule(storage=Verdict.FAIL, unexpected=Verdict.FAIL, fenced=Verdict.FAIL)
"""2.3 and later."""

STORAGE_TOLERATED = FailureRule(storage=Verdict.DELAY, unexpected=Verdict.DIE, fenced=Verdict.DELAY)
"""1.0 to 2.0: of what fails, only a log directory (KIP-112) is foreseen (AbstractFetcherThread, 1.1)."""

THREAD_DIES = FailureRule(storage=Verdict.HALT, unexpected=Verdict.DIE, fenced=Verdict.DELAY)
"""0.8 to 0.11: a broker does not outlive its disk (ReplicaFetcherThread, 0.8.0)."""
