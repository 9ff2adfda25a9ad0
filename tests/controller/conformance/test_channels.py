"""C51: requests go to brokers that are live or shutting down (Kafka's ControllerChannelManagerTest)."""

import pytest

from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from tests.controller.lab import Lab, run

TP = TopicPartition("orders", 0)
LIVE, SHUTTING_DOWN, DEAD = 0, 1, 2


@pytest.mark.parametrize("kind", [LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest])
def test_C51_sent_to_live_or_shutting_down_brokers(kind: type) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        c.context.shutting_down[SHUTTING_DOWN] = None
        c.context.remove_brokers([DEAD])
        before = len(lab.received)
        targets = (LIVE, SHUTTING_DOWN, DEAD)
        c.batch.new_batch()
        if kind is LeaderAndIsrRequest:
            c.batch.add_leader_and_isr(targets, TP, c.context.leadership_info[TP], targets, is_new=False)
        elif kind is UpdateMetadataRequest:
            c.batch.add_update_metadata(targets, [TP])
        else:
            for broker in targets:
                c.batch.add_stop_replica(broker, TP, delete=False)
        c.batch.send_to_brokers()
        await lab.settle()
        told = [broker for broker, request in lab.received[before:] if isinstance(request, kind)]
        assert sorted(broker for broker in told if broker in targets) == [LIVE, SHUTTING_DOWN]

    run(test, brokers=4, joins=False)
