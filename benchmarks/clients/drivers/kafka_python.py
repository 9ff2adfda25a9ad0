"""kafka-python."""

import logging
import time
from typing import Any

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError

from benchmarks.clients.drivers.writing import GROUP, TOPIC, arguments, write


def produce(servers: str, seconds: float, rate: float) -> None:
    producer = KafkaProducer(bootstrap_servers=servers, client_id="producer", acks="all")

    def sent(record: int) -> None:
        future: Any = producer.send(TOPIC, str(record).encode())
        future.add_callback(lambda _: write("acked", record))
        future.add_errback(lambda error: write("failed", record, type(error).__name__))

    began = time.monotonic()
    record = 0
    while time.monotonic() < began + seconds:
        if record < (time.monotonic() - began) * rate:
            try:
                sent(record)
            except KafkaError as error:
                write("failed", record, type(error).__name__)
            record += 1
        else:
            time.sleep(0.001)
    producer.flush(60)


def consume(servers: str, seconds: float, _rate: float) -> None:
    consumer = KafkaConsumer(
        TOPIC, bootstrap_servers=servers, client_id="consumer", group_id=GROUP, auto_offset_reset="earliest"
    )
    late = time.monotonic() + seconds
    while time.monotonic() < late:
        try:
            found = consumer.poll(timeout_ms=100)
        except KafkaError as error:
            write("error", error=type(error).__name__)
            continue
        for messages in found.values():
            for message in messages:
                write("received", int(message.value))
    consumer.close()


if __name__ == "__main__":
    logging.disable()
    role, servers, seconds, rate = arguments()
    {"produce": produce, "consume": consume}[role](servers, seconds, rate)
