"""aiokafka."""

import asyncio
import logging
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

from benchmarks.clients.drivers.writing import GROUP, TOPIC, arguments, write


async def produce(servers: str, seconds: float, rate: float) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=servers, client_id="producer", acks="all")
    await producer.start()
    sent: set[asyncio.Task[None]] = set()

    async def send(record: int) -> None:
        try:
            await producer.send_and_wait(TOPIC, str(record).encode())
        except KafkaError as error:
            write("failed", record, type(error).__name__)
        else:
            write("acked", record)

    began = time.monotonic()
    record = 0
    while time.monotonic() < began + seconds:
        if record < (time.monotonic() - began) * rate:
            task = asyncio.create_task(send(record))
            sent.add(task)
            task.add_done_callback(sent.discard)
            record += 1
            await asyncio.sleep(0)
        else:
            await asyncio.sleep(0.001)
    if sent:
        await asyncio.wait(sent, timeout=60)
    await producer.stop()


async def consume(servers: str, seconds: float, _rate: float) -> None:
    consumer = AIOKafkaConsumer(
        TOPIC, bootstrap_servers=servers, client_id="consumer", group_id=GROUP, auto_offset_reset="earliest"
    )
    await consumer.start()
    late = time.monotonic() + seconds
    while time.monotonic() < late:
        try:
            found = await consumer.getmany(timeout_ms=100)
        except KafkaError as error:
            write("error", error=type(error).__name__)
            continue
        for messages in found.values():
            for message in messages:
                write("received", int(message.value))
    await consumer.stop()


if __name__ == "__main__":
    logging.disable()
    role, servers, seconds, rate = arguments()
    asyncio.run({"produce": produce, "consume": consume}[role](servers, seconds, rate))
