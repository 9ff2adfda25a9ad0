"""Does my producer survive its leader? With pytest: pip install 'understudy[test]' confluent-kafka"""

import pytest
from confluent_kafka import Consumer, Producer

SETTINGS = {"acks": "all", "enable.idempotence": True}


class Orders:
    """The code under test: it keeps what Kafka has acknowledged."""

    def __init__(self, servers: str) -> None:
        self.producer = Producer({"bootstrap.servers": servers, "client.id": "billing", **SETTINGS})
        self.acknowledged: list[bytes] = []

    def send(self, order: bytes) -> None:
        self.producer.produce("orders", order, on_delivery=self._delivered)
        self.producer.poll(0)

    def wait(self) -> None:
        assert self.producer.flush(60) == 0

    def _delivered(self, error: object, message: object) -> None:
        if error is None:
            self.acknowledged.append(message.value())


def orders_in_kafka(servers: str, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "check", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    found: list[bytes] = []
    while len(found) < count:
        message = consumer.poll(60)
        assert message is not None, "nothing comes"
        assert not message.error(), message.error()
        found.append(message.value())
    consumer.close()
    return found


@pytest.mark.kafka(
    topics={"orders": [[0, 1, 2]]},
    config={"min.insync.replicas": 2, "group.initial.rebalance.delay.ms": 0},
    rate=4.0,  # ZooKeeper's session time-out of 6 s passes in 1.5 s
)
def test_no_acknowledged_order_is_lost_when_the_leader_dies(kafka):
    orders = Orders(kafka.bootstrap_servers)
    for number in range(100):
        orders.send(b"order %d" % number)
    kafka.crash("leader(orders-0)")
    for number in range(100, 200):
        orders.send(b"order %d" % number)
    orders.wait()
    kafka.start(0)
    assert orders_in_kafka(kafka.bootstrap_servers, 200) == orders.acknowledged
