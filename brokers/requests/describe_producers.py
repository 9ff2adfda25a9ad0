"""DescribeProducers (API 61), which any replica answers (KafkaApis.handleDescribeProducersRequest, 2.8 to 3.9)."""

from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from brokers.topic_creation import check_name
from emulator.network import Channel
from emulator.protocol.describe_producers import DescribedProducers, DescribeProducersRequest, DescribeProducersResponse
from emulator.protocol.errors import NO_ERROR, ApiException, Errors
from emulator.protocol.types import TopicPartition


class DescribeProducersHandler:
    """Answers admin clients."""

    def __init__(self, manager: ReplicaManager) -> None:
        self._manager = manager

    @handles(DescribeProducersRequest)
    def describe_producers(self, request: DescribeProducersRequest, channel: Channel) -> None:
        response = DescribeProducersResponse(tuple([self._described(tp) for tp in request.partitions]))
        channel.reply(response, response.size)

    def _described(self, tp: TopicPartition) -> DescribedProducers:
        manager = self._manager
        try:
            check_name(tp.topic)
        except ApiException as invalid:
            return DescribedProducers(tp, invalid.error.code)
        if not manager.metadata.knows_topic(tp):
            return DescribedProducers(tp, Errors.UNKNOWN_TOPIC_OR_PARTITION)
        partition = manager.partitions.get(tp)
        if partition is None:
            return DescribedProducers(tp, manager.error_without_replica(tp))
        return DescribedProducers(tp, NO_ERROR, partition.log.producers.active())
