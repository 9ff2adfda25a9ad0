"""What a broker does with its logs after an unclean stop (Log.recoverLog, 2.3): it reads what may not have been
flushed, and cuts each log at the first batch that is torn or corrupt."""

from attrs import frozen

from emulator.disks import File, Torn

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
"""Written last by a broker that stops in order; where it is, nothing is looked at."""


@frozen
class Cut:
    """What a recovery took away.

    Attributes:
        log_end_offset: where the log ends now.
        batches: how many went, the spoilt one included.
        reason: ``torn`` or ``corrupt``, of the first.
    """

    log_end_offset: int
    batches: int
    reason: str


def recover(file: File, recovery_point: int) -> Cut | None:
    """Look at ``file`` from the segment on in which ``recovery_point`` lies; None if nothing had to go."""
    bases = file.label or (0,)
    first = max((base for base in bases if base <= recovery_point), default=bases[0])
    for place, batch in enumerate(file.entries):
        torn = isinstance(batch, Torn)
        if torn or (batch.corrupt and batch.base_offset >= first):
            end = batch.entry.base_offset if torn else batch.base_offset
            cut = Cut(end, len(file.entries) - place, "torn" if torn else "corrupt")
            file.truncate(place)
            if file.label:
                file.label = tuple(base for base in bases if base < end) or (bases[0],)
            return cut
    return None
