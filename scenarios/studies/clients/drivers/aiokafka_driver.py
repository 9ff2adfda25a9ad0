"""The driver of aiokafka."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import KafkaError

from scenarios.studies.clients.drivers.driver_reports import COMMIT_S, Driven, snake

AGAIN_S = 0.2


async def started(driven: Driven, made: Any) -> Any:
    """A client that has connected. Its start may fail while the cluster is in trouble: another one is started then."""
    while True:
        client = made()
        try:
            await client.start()
            return client
        except KafkaError as error:
            driven.say("error", error=type(error).__name__)
            await client.stop()
            await asyncio.sleep(AGAIN_S)


async def send(driven: Driven, producer: AIOKafkaProducer, record: str, partition: int, **more: int) -> Any:
    """Send one record. Returns the future of its outcome; None where the client refused it."""
    driven.say("sent", record=record, partition=partition, **more)

    def settled(future: Any) -> None:
        error = None if future.cancelled() else future.exception()
        if future.cancelled() or error is not None:
            name = "cancelled" if error is None else type(error).__name__
            driven.say("failed", record=record, partition=partition, error=name)
        else:
            written = future.result()
            offset = -1 if written is None or written.offset is None else written.offset
            driven.say("acked", record=record, partition=partition, offset=offset)

    try:
        future = await producer.send(driven.topic, record.encode(), partition=partition)
    except KafkaError as error:
        driven.say("failed", record=record, partition=partition, error=type(error).__name__)
        return None
    future.add_done_callback(settled)
    return future


async def produce(driven: Driven) -> None:
    producer = await started(driven, lambda: AIOKafkaProducer(**snake(driven.settings)))
    for due in driven.records():
        if due is None:
            await asyncio.sleep(0.002)
        else:
            await send(driven, producer, *due)
    await producer.flush()
    await producer.stop()


async def transact(driven: Driven) -> None:
    def made() -> AIOKafkaProducer:
        return AIOKafkaProducer(**snake(driven.settings, ("acks", "enable.idempotence")))

    producer = await started(driven, made)
    for due in driven.transactions():
        if due is None:
            await asyncio.sleep(0.002)
            continue
        number, records, commits = due
        try:
            await carried_out(driven, producer, number, records, commits)
        except KafkaError as error:
            driven.say("unknown", transaction=number, error=type(error).__name__)
            await asyncio.wait([asyncio.ensure_future(producer.stop())], timeout=1)
            producer = await started(driven, made)
    await producer.stop()


async def carried_out(
    driven: Driven, producer: AIOKafkaProducer, number: int, records: list[tuple[str, int]], commits: bool
) -> None:
    """Carry out one transaction. Raises: KafkaError where its outcome is unknown and the producer of no more use."""
    await producer.begin_transaction()
    driven.say("begun", transaction=number)
    for record, partition in records:
        await send(driven, producer, record, partition, transaction=number)
    if commits:
        try:
            await producer.commit_transaction()
            driven.say("committed", transaction=number)
            return
        except KafkaError as error:
            driven.say("error", error=type(error).__name__, transaction=number)
    await producer.abort_transaction()
    driven.say("aborted", transaction=number)


class AiokafkaListener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, driven: Driven, read: dict[int, int]) -> None:
        self.driven, self.read = driven, read

    async def on_partitions_revoked(self, revoked: Any) -> None:
        self.read.clear()
        self.driven.say("revoked", partitions=sorted(each.partition for each in revoked))

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self.read.clear()
        self.driven.say("assigned", partitions=sorted(each.partition for each in assigned))


async def consume(driven: Driven) -> None:
    read: dict[int, int] = {}

    def made() -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(**snake(driven.settings))
        consumer.subscribe([driven.topic], listener=AiokafkaListener(driven, read))
        return consumer

    consumer = await started(driven, made)
    due = time.monotonic() + COMMIT_S
    while driven.goes_on:
        try:
            found = await consumer.getmany(timeout_ms=100)
        except KafkaError as error:
            driven.say("error", error=type(error).__name__)
            await asyncio.sleep(0.01)
            continue
        for messages in found.values():
            for one in messages:
                driven.say("received", record=(one.value or b"").decode(), partition=one.partition, offset=one.offset)
                read[one.partition] = one.offset + 1
        if read and time.monotonic() >= due:
            await commit(driven, consumer, read)
            due = time.monotonic() + COMMIT_S
    if read:
        await commit(driven, consumer, read)
    await consumer.stop()


async def commit(driven: Driven, consumer: AIOKafkaConsumer, read: dict[int, int]) -> None:
    offsets = {TopicPartition(driven.topic, partition): at for partition, at in sorted(read.items())}
    try:
        await consumer.commit(offsets)
    except KafkaError as error:
        driven.say("error", error=f"commit {type(error).__name__}")
        return
    for each, at in offsets.items():
        driven.say("committed", partition=each.partition, offset=at)
    read.clear()


ROLES = {"produce": produce, "consume": consume, "transact": transact}

if __name__ == "__main__":
    logging.disable()
    driven = Driven("aiokafka", aiokafka.__version__)
    asyncio.run(ROLES[driven.plan["role"]](driven))
