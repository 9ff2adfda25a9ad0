"""The history of an application: one JSON object a line, written by its driver, and the findings from it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from attrs import frozen


@frozen
class Seen:
    """One thing that the application saw.

    Attributes:
        t_s: when, on the clock of the driver's machine.
        kind: ``acked`` (the client says that the record is written), ``failed`` (it gives the record up), ``received``
            (a consumer was given it), ``error`` (the application got to know of an error), ``begun`` (a consumer that
            is slow to start is ready).
        record: the number of the record; -1 where there is none.
        error: its name; empty unless there is one.
        name: the driver's job that observed it; empty where the driver has one only.
    """

    t_s: float
    kind: str
    record: int = -1
    error: str = ""
    name: str = ""


def read(lines: Iterable[str]) -> list[Seen]:
    """The history in a driver's output. A last line that is cut short is left out."""
    found = []
    for line in lines:
        if line.endswith("\n"):
            found.append(Seen(**json.loads(line)))
    return found


@frozen(kw_only=True)
class Findings:
    """Findings from the histories of a producer and a consumer, and from the log at the end.

    Attributes:
        acked, failed: the numbers of records that the client reported so to its producer.
        gap_s: the longest time between two acknowledgements that follow each other.
        lost: records that were acknowledged, and are not in the log.
        duplicated: records that are more than once in the log.
        reordered: records in the log before one that was sent earlier, where neither is a duplicate.
        unread: records in the log that the consumer was never given.
        reread: records that it was given more often than they are in the log.
        read_gap_s: the longest time between two records that it was given.
        errors: the errors that the client reported to the application, with their numbers.
    """

    acked: int
    failed: int
    gap_s: float
    lost: int
    duplicated: int
    reordered: int
    unread: int
    reread: int
    read_gap_s: float
    errors: Mapping[str, int]


def findings(produced: Sequence[Seen], consumed: Sequence[Seen], log: Sequence[int]) -> Findings:
    """``log``: the numbers of the records in the partition at the end, in its order."""
    acked = [seen.record for seen in produced if seen.kind == "acked"]
    received = Counter(seen.record for seen in consumed if seen.kind == "received")
    written = Counter(log)
    return Findings(
        acked=len(acked),
        failed=sum(seen.kind == "failed" for seen in produced),
        gap_s=longest_gap_s(produced, "acked"),
        lost=sum(record not in written for record in acked),
        duplicated=sum(count > 1 for count in written.values()),
        reordered=reordered(log),
        unread=sum(record not in received for record in written),
        reread=sum(received[record] > written[record] for record in received),
        read_gap_s=longest_gap_s(consumed, "received"),
        errors=Counter(seen.error for seen in (*produced, *consumed) if seen.error),
    )


def longest_gap_s(history: Sequence[Seen], kind: str) -> float:
    """The longest time between two of a kind that follow each other; 0 for fewer than two."""
    times = sorted(seen.t_s for seen in history if seen.kind == kind)
    return max((later - earlier for earlier, later in pairwise(times)), default=0.0)


def reordered(log: Sequence[int]) -> int:
    """The number of records that are in the log for the first time after one that was sent later."""
    last, seen, found = -1, set[int](), 0
    for record in log:
        if record in seen:
            continue
        seen.add(record)
        found += record < last
        last = max(last, record)
    return found
