"""DeleteRecordsCommand, kafka-delete-records.sh: the leader of each partition is asked once
(KafkaAdminClient.deleteRecords, 2.4.1)."""

from collections.abc import Sequence

from emulator.protocol.delete_records import DeletedRecords, DeleteRecordsRequest, DeleteRecordsResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome

TIMEOUT_US = 30_000_000
"""The time within which a request has to be answered (request.timeout.ms)."""


async def delete_records(
    operator: Operator,
    topics: Sequence[str],
    partitions: Sequence[TopicPartition] | None,
    before: int,
    timeout_us: int = TIMEOUT_US,
) -> CommandOutcome:
    """Delete the records before an offset (TO_HIGH_WATERMARK: all that are committed), in ``partitions`` or, if that is
    None, in all of ``topics``. ``timeout_us``: how long a broker waits for other replicas."""
    try:
        leaders = await operator.admin.find_leaders(topics, TIMEOUT_US)
    except KafkaError as error:
        return CommandOutcome(tuple((str(what), error.error) for what in partitions or topics))
    wanted = partitions or [tp for tp in leaders if tp.topic in topics]
    failed: list[tuple[str, Errors]] = []
    if not wanted:
        failed += [(topic, Errors.UNKNOWN_TOPIC_OR_PARTITION) for topic in topics]
    by_leader: dict[int, list[TopicPartition]] = {}
    for tp in wanted:
        leader = leaders.get(tp)
        if leader is None:
            failed.append((str(tp), Errors.UNKNOWN_TOPIC_OR_PARTITION))
        elif leader < 0:
            failed.append((str(tp), Errors.LEADER_NOT_AVAILABLE))
        else:
            by_leader.setdefault(leader, []).append(tp)
    for leader, tps in by_leader.items():
        results = await _ask(operator, leader, DeleteRecordsRequest(tuple((tp, before) for tp in tps), timeout_us))
        failed += [(str(tp), error) for tp, _low_watermark, error in results if error]
    return CommandOutcome(tuple(failed))


async def _ask(operator: Operator, leader: int, request: DeleteRecordsRequest) -> tuple[DeletedRecords, ...]:
    try:
        response: DeleteRecordsResponse = await operator.admin.ask_broker(leader, request, TIMEOUT_US)
    except KafkaError as error:
        return tuple(DeletedRecords(tp, -1, error.error) for tp, _before in request.partitions)
    return response.partitions
