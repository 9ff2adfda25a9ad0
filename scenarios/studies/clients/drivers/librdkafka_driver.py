"""The driver of librdkafka, through confluent-kafka."""

from __future__ import annotations

import time
from functools import partial

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from scenarios.studies.clients.drivers.driver_reports import COMMIT_S, Driven

PATIENT_S = 3600.0
"""Longer than any run: the process is ended from outside."""


def made_producer(driven: Driven) -> Producer:
    def told(error: KafkaError) -> None:
        driven.say("error", error=error.name())

    settings = dict(driven.settings)
    if "request.timeout.ms" in settings:  # librdkafka itself gives up a request by another setting
        settings["socket.timeout.ms"] = settings["request.timeout.ms"]
    return Producer({**settings, "error_cb": told, "log_level": 0})


def delivered(driven: Driven, record: str, error: KafkaError | None, message: Message) -> None:
    partition, offset = message.partition(), message.offset()
    if error is None:
        driven.say("acked", record=record, partition=partition, offset=-1 if offset is None else offset)
    else:
        driven.say("failed", record=record, partition=partition, error=error.name())


def send(driven: Driven, producer: Producer, record: str, partition: int, **more: int) -> None:
    driven.say("sent", record=record, partition=partition, **more)
    while True:
        try:
            producer.produce(driven.topic, record, partition=partition, on_delivery=partial(delivered, driven, record))
            return
        except BufferError:
            producer.poll(0.01)


def produce(driven: Driven) -> None:
    producer = made_producer(driven)
    for due in driven.records():
        if due is not None:
            send(driven, producer, *due)
        producer.poll(0 if due else 0.002)
    producer.flush(PATIENT_S)


def transact(driven: Driven) -> None:
    producer = made_producer(driven)
    producer = initialised(driven, producer)
    for due in driven.transactions():
        if due is None:
            producer.poll(0.002)
            continue
        number, records, commits = due
        producer = carried_out(driven, producer, number, records, commits)


def initialised(driven: Driven, producer: Producer) -> Producer:
    while True:
        try:
            producer.init_transactions(10)
            return producer
        except KafkaException as error:
            driven.say("error", error=error.args[0].name())
            if not error.args[0].retriable():
                producer = made_producer(driven)


def carried_out(
    driven: Driven, producer: Producer, number: int, records: list[tuple[str, int]], commits: bool
) -> Producer:
    """Carry out one transaction. Returns the producer for the next one: another one after a fatal error."""
    try:
        producer.begin_transaction()
        driven.say("begun", transaction=number)
        for record, partition in records:
            send(driven, producer, record, partition, transaction=number)
        if not commits:
            return aborted(driven, producer, number)
        while True:
            try:
                producer.commit_transaction(10)
                driven.say("committed", transaction=number)
                return producer
            except KafkaException as error:
                driven.say("error", error=error.args[0].name(), transaction=number)
                if error.args[0].txn_requires_abort():
                    return aborted(driven, producer, number)
                if not error.args[0].retriable():
                    raise
    except (KafkaException, BufferError) as error:
        told = error.args[0]
        driven.say("unknown", transaction=number, error=told.name() if isinstance(told, KafkaError) else str(told))
        return initialised(driven, made_producer(driven))


def aborted(driven: Driven, producer: Producer, number: int) -> Producer:
    while True:
        try:
            producer.abort_transaction(10)
            driven.say("aborted", transaction=number)
            return producer
        except KafkaException as error:
            driven.say("error", error=error.args[0].name(), transaction=number)
            if not error.args[0].retriable():
                raise


def consume(driven: Driven) -> None:
    def told(error: KafkaError) -> None:
        driven.say("error", error=error.name())

    def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
        read.clear()
        driven.say("assigned", partitions=[each.partition for each in partitions])

    def revoked(_: Consumer, partitions: list[TopicPartition]) -> None:
        read.clear()
        driven.say("revoked", partitions=[each.partition for each in partitions])

    read: dict[int, int] = {}
    consumer = Consumer({**driven.settings, "error_cb": told, "log_level": 0})
    consumer.subscribe([driven.topic], on_assign=assigned, on_revoke=revoked, on_lost=revoked)
    due = time.monotonic() + COMMIT_S
    while driven.goes_on:
        for message in consumer.consume(500, 0.1):
            error = message.error()
            if error:
                driven.say("error", error=error.name())
                continue
            partition, offset, value = message.partition(), message.offset(), message.value()
            assert partition is not None
            assert offset is not None
            driven.say("received", record=(value or b"").decode(), partition=partition, offset=offset)
            read[partition] = offset + 1
        if read and time.monotonic() >= due:
            commit(driven, consumer, read)
            due = time.monotonic() + COMMIT_S
    if read:
        commit(driven, consumer, read)
    consumer.close()


def commit(driven: Driven, consumer: Consumer, read: dict[int, int]) -> None:
    offsets = [TopicPartition(driven.topic, partition, offset) for partition, offset in sorted(read.items())]
    try:
        answered = consumer.commit(offsets=offsets, asynchronous=False)
    except KafkaException as error:
        driven.say("error", error=f"commit {error.args[0].name()}")
        return
    for each in answered or ():
        if each.error is None:
            driven.say("committed", partition=each.partition, offset=each.offset)
    read.clear()


ROLES = {"produce": produce, "consume": consume, "transact": transact}

if __name__ == "__main__":
    driven = Driven("librdkafka", f"{confluent_kafka.libversion()[0]} (confluent-kafka {confluent_kafka.version()})")
    ROLES[driven.plan["role"]](driven)
