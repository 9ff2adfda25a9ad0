"""The driver of kafka-python."""

from __future__ import annotations

import logging
import time
from typing import Any

import kafka
from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError

from scenarios.studies.clients.drivers.driver_reports import COMMIT_S, Driven, snake


def made_producer(driven: Driven) -> KafkaProducer:
    """A producer. Its first look for a broker may fail while the cluster is in trouble: it looks again."""
    while True:
        try:
            return KafkaProducer(**snake(driven.settings))
        except KafkaError as error:
            driven.say("error", error=type(error).__name__)


def send(driven: Driven, producer: KafkaProducer, record: str, partition: int, **more: int) -> None:
    driven.say("sent", record=record, partition=partition, **more)

    def acked(written: Any) -> None:
        driven.say("acked", record=record, partition=written.partition, offset=written.offset)

    def failed(error: Any) -> None:
        driven.say("failed", record=record, partition=partition, error=type(error).__name__)

    try:
        future: Any = producer.send(driven.topic, record.encode(), partition=partition)
    except KafkaError as error:
        failed(error)
        return
    future.add_callback(acked)
    future.add_errback(failed)


def produce(driven: Driven) -> None:
    producer = made_producer(driven)
    for due in driven.records():
        if due is None:
            time.sleep(0.002)
        else:
            send(driven, producer, *due)
    while True:
        try:
            producer.flush(5)
            break
        except KafkaError:
            continue  # records are still under way: it is ended from outside if that lasts


def transact(driven: Driven) -> None:
    producer = initialised(driven)
    for due in driven.transactions():
        if due is None:
            time.sleep(0.002)
            continue
        number, records, commits = due
        try:
            carried_out(driven, producer, number, records, commits)
        except KafkaError as error:
            driven.say("unknown", transaction=number, error=type(error).__name__)
            producer.close(0)
            producer = initialised(driven)


def initialised(driven: Driven) -> KafkaProducer:
    while True:
        producer = made_producer(driven)
        try:
            producer.init_transactions()
            return producer
        except KafkaError as error:
            driven.say("error", error=type(error).__name__)
            producer.close(0)


def carried_out(
    driven: Driven, producer: KafkaProducer, number: int, records: list[tuple[str, int]], commits: bool
) -> None:
    """Carry out one transaction. Raises: KafkaError where its outcome is unknown and the producer of no more use."""
    producer.begin_transaction()
    driven.say("begun", transaction=number)
    for record, partition in records:
        send(driven, producer, record, partition, transaction=number)
    if commits:
        try:
            producer.commit_transaction()
            driven.say("committed", transaction=number)
            return
        except KafkaError as error:
            driven.say("error", error=type(error).__name__, transaction=number)
    producer.abort_transaction()
    driven.say("aborted", transaction=number)


class KafkaPythonListener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, driven: Driven, read: dict[int, int]) -> None:
        self.driven, self.read = driven, read

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.read.clear()
        self.driven.say("revoked", partitions=sorted(each.partition for each in revoked))

    def on_partitions_assigned(self, assigned: Any) -> None:
        self.read.clear()
        self.driven.say("assigned", partitions=sorted(each.partition for each in assigned))


def made_consumer(driven: Driven) -> KafkaConsumer:
    while True:
        try:
            return KafkaConsumer(**snake(driven.settings))
        except KafkaError as error:
            driven.say("error", error=type(error).__name__)


def consume(driven: Driven) -> None:
    read: dict[int, int] = {}
    consumer = made_consumer(driven)
    consumer.subscribe([driven.topic], listener=KafkaPythonListener(driven, read))
    due = time.monotonic() + COMMIT_S
    while driven.goes_on:
        try:
            found = consumer.poll(timeout_ms=100)
        except KafkaError as error:
            driven.say("error", error=type(error).__name__)
            continue
        for messages in found.values():
            for one in messages:
                driven.say("received", record=(one.value or b"").decode(), partition=one.partition, offset=one.offset)
                read[one.partition] = one.offset + 1
        if read and time.monotonic() >= due:
            commit(driven, consumer, read)
            due = time.monotonic() + COMMIT_S
    if read:
        commit(driven, consumer, read)
    consumer.close()


def commit(driven: Driven, consumer: KafkaConsumer, read: dict[int, int]) -> None:
    offsets = {TopicPartition(driven.topic, each): OffsetAndMetadata(at, "", -1) for each, at in sorted(read.items())}
    try:
        consumer.commit(offsets)
    except KafkaError as error:
        driven.say("error", error=f"commit {type(error).__name__}")
        return
    for each, at in offsets.items():
        driven.say("committed", partition=each.partition, offset=at.offset)
    read.clear()


ROLES = {"produce": produce, "consume": consume, "transact": transact}

if __name__ == "__main__":
    logging.disable()
    driven = Driven("kafka-python", kafka.__version__)
    ROLES[driven.plan["role"]](driven)
