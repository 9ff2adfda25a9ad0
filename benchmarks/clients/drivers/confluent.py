"""confluent-kafka (librdkafka)."""

import time
from functools import partial

from confluent_kafka import Consumer, KafkaError, Message, Producer

from benchmarks.clients.drivers.writing import GROUP, TOPIC, arguments, write


def produce(servers: str, seconds: float, rate: float) -> None:
    producer = Producer(
        {"bootstrap.servers": servers, "client.id": "producer", "acks": "all", "error_cb": told, "log_level": 0}
    )

    def delivered(record: int, error: KafkaError | None, _: Message) -> None:
        write("failed" if error else "acked", record, error.name() if error else "")

    began = time.monotonic()
    record = 0
    while time.monotonic() < began + seconds:
        if record < (time.monotonic() - began) * rate:
            producer.produce(TOPIC, str(record), on_delivery=partial(delivered, record))
            record += 1
        producer.poll(0.001)
    producer.flush(60)


def consume(servers: str, seconds: float, _rate: float) -> None:
    consumer = Consumer(
        {"bootstrap.servers": servers, "client.id": "consumer", "group.id": GROUP, "auto.offset.reset": "earliest",
         "error_cb": told, "log_level": 0}
    )  # fmt: skip
    consumer.subscribe([TOPIC])
    late = time.monotonic() + seconds
    while time.monotonic() < late:
        message: Message | None = consumer.poll(0.1)
        if message is None:
            continue
        error = message.error()
        write("error", error=error.name()) if error else write("received", int(message.value() or b"-1"))
    consumer.close()


def told(error: KafkaError) -> None:
    """The client tells the application of an error that it goes on from."""
    write("error", error=error.name())


if __name__ == "__main__":
    role, servers, seconds, rate = arguments()
    {"produce": produce, "consume": consume}[role](servers, seconds, rate)
