"""Records of what a client was sent in an answer to a fetch, as checkers learn of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from emulator.protocol.clients.fetch import READ_COMMITTED, Stability
from emulator.protocol.errors import Errors
from emulator.protocol.events import CommittedFetched, Fetched
from emulator.protocol.fetch import FetchedPartition
from emulator.protocol.types import Batch, TopicPartition
from scenarios.cluster.clients.fetch_answers import record_answer

TP = TopicPartition.of("orders", 0)


def test_a_client_has_read_no_batch_that_compaction_has_emptied() -> None:
    """The batch of an aborted transaction keeps its place in the log (2.3, seed 506), and the list of aborted
    transactions does not name it any more; a client gets nothing of it."""
    told: dict[type, Any] = {}
    client: Any = SimpleNamespace(
        node=SimpleNamespace(id=-7), emit=lambda kind, *fields: told.update({kind: kind(0, 0, 0, *fields)})
    )
    batches = (Batch(0, 2, 0, 0, 11), Batch(2, 3, 0, 100, 12))
    partition = FetchedPartition(TP, Errors.NONE, 3, 0, batches)
    response: Any = SimpleNamespace(partitions=(partition,), stability={TP: Stability(3)})
    record_answer(client, 1, SimpleNamespace(isolation=READ_COMMITTED), response)  # type: ignore[arg-type]
    fetched, read = told[Fetched], told[CommittedFetched]
    assert (fetched.offset, fetched.next_offset, fetched.ids) == (0, 3, (11, 12))
    assert read.ids == (12,)
