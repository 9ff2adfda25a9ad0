"""The record of what clients get in answers to Fetch, for the checkers."""

from emulator.nodes import Process
from emulator.protocol.clients.fetch import READ_COMMITTED, ConsumerFetchRequest, ConsumerFetchResponse
from emulator.protocol.events import CommittedFetched, Fetched


def record_answer(
    client: Process, leader: int, request: ConsumerFetchRequest, response: ConsumerFetchResponse
) -> None:  # fmt: skip
    """Record the batches that ``client`` has received from a broker."""
    for partition in response.partitions:
        batches = partition.batches
        if not batches:
            continue
        ids = tuple([batch.id for batch in batches])
        client.emit(
            Fetched, client.node.id, *partition.tp, batches[0].base_offset, batches[-1].next_offset, ids, leader,
            batches[-1].leader_epoch, partition.high_watermark,
        )  # fmt: skip
        stable = response.stability.get(partition.tp)
        if stable is not None and request.isolation == READ_COMMITTED:
            read = tuple([batch.id for batch in batches if batch.size])  # of the others compaction has left nothing
            client.emit(
                CommittedFetched, client.node.id, *partition.tp, leader, read, stable.last_stable_offset,
                tuple([producer_id for producer_id, _first in stable.aborted]),
                tuple([first for _producer_id, first in stable.aborted]),
            )  # fmt: skip
