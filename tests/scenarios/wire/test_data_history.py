"""The clients' own histories of a live run against what the emulator has and says (after Jepsen's Kafka tests): what
was acknowledged, what was read, and what is in the logs at the end."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, Producer, TopicPartition

from emulator.protocol import types
from emulator.protocol.records import StoredBatch, read_records
from tests.scenarios.wire.gateway.served import Served, served
from tests.scenarios.wire.test_data import LIMIT_S, confluent_producer, operate, quiet, wait

SAFE, FAST, UNCLEAN = "safe", "fast", "unclean"
TABLE: dict[str, Any] = {
    "profile": "kafka-2.4",  # clients rely on the leader epochs of Metadata 9 and later only
    # The leaders of the topics that lose records are not the controller.
    "cluster": {"brokers": 3, "controller": 2, "config": {"replica.lag.time.max.ms": 100000}},
    "topics": [
        {"name": SAFE, "assignment": [[0, 1, 2]], "config": {"min.insync.replicas": 2}},
        {"name": FAST, "assignment": [[0, 1]]},
        {"name": UNCLEAN, "assignment": [[0, 1]]},
    ],
}


@define(eq=False)
class History:
    """The records that one producer knows to be written in partition 0 of one topic: offsets and values."""

    producer: Producer
    topic: str
    acknowledged: list[tuple[int, bytes]] = field(factory=list)
    failed: int = 0

    def send(self, count: int, text: str) -> None:
        for number in range(count):
            self.producer.produce(self.topic, f"{text} {number}".encode(), partition=0, on_delivery=self._reported)
            self.producer.poll(0)
        assert self.producer.flush(LIMIT_S) == 0

    def _reported(self, error: Any, message: Message) -> None:
        if error is None:
            self.acknowledged.append((message.offset() or 0, message.value() or b""))
        else:
            self.failed += 1


def in_the_log(cluster: Served, topic: str, broker: int) -> dict[int, bytes]:
    """Offset -> value of what a broker's log has at the end of the run."""
    log = cluster.run.stage.cluster.nodes[broker].disks[0].open(f"logs/{types.TopicPartition(topic, 0)}")
    found: dict[int, bytes] = {}
    for batch in log.entries:
        assert isinstance(batch, StoredBatch)
        for record in read_records(batch.records.read()):
            found[batch.base_offset + record.offset_delta] = record.value or b""
    return found


def described(cluster: Served, topic: str, broker: int = 2) -> dict[str, Any]:
    """Partition 0 of ``topic``, as a broker sees it."""
    raw = cluster.connect(broker)
    with raw.socket:
        [found] = [each for each in raw.metadata()["topics"] if each["name"] == topic]
    partition: dict[str, Any] = found["partitions"][0]
    return partition


def in_sync(cluster: Served) -> bool:
    """Whether all replicas of all topics are in sync."""
    sizes = {SAFE: 3, FAST: 2, UNCLEAN: 2}
    return all(len(described(cluster, topic)["isr_nodes"]) == size for topic, size in sizes.items())


def unclean_reader(cluster: Served) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.run.bootstrap_servers, "group.id": "none", "enable.auto.commit": False,
            "auto.offset.reset": "earliest", "error_cb": quiet, "log_level": 0,
        }
    )  # fmt: skip
    consumer.assign([TopicPartition(UNCLEAN, 0, OFFSET_BEGINNING)])
    return consumer


def records(consumer: Consumer, count: int) -> list[bytes]:
    found: list[bytes] = []
    while len(found) < count:
        messages = consumer.consume(count, timeout=LIMIT_S)
        assert messages
        found += [message.value() or b"" for message in messages if message.error() is None]
    return found


def lost(history: History, log: dict[int, bytes]) -> list[int]:
    """The offsets at which ``log`` has another record than was acknowledged, or none."""
    return [offset for offset, value in history.acknowledged if log.get(offset) != value]


def test_what_was_acknowledged_and_read_against_the_logs_and_the_report() -> None:
    with served(TABLE, rate=20.0) as cluster:
        safe = History(confluent_producer(cluster), SAFE)
        fast = History(confluent_producer(cluster, acks="1"), FAST)
        unclean = History(confluent_producer(cluster, acks="1"), UNCLEAN)
        for history in (safe, fast, unclean):
            history.send(200, "before")
        wait(lambda: in_sync(cluster))

        # Broker 1 receives nothing of what broker 0 appends from now on, and leads after it.
        operate(cluster, "link.cut", target=0, peer=1)
        fast.send(50, "lost")
        operate(cluster, "broker.crash", target=0)
        wait(lambda: described(cluster, FAST)["leader_id"] == 1)
        for history in (safe, fast):
            history.send(100, "after")
        operate(cluster, "heal")
        wait(lambda: in_sync(cluster))

        # What is committed while broker 1 is down is read, and goes when broker 1 leads again.
        operate(cluster, "election.preferred")
        wait(lambda: described(cluster, UNCLEAN)["leader_id"] == 0)
        consumer = unclean_reader(cluster)
        read = records(consumer, 200)
        operate(cluster, "broker.crash", target=1)
        wait(lambda: described(cluster, UNCLEAN)["isr_nodes"] == [0])
        unclean.send(100, "read, and lost")
        read += records(consumer, 100)
        operate(cluster, "broker.crash", target=0)
        operate(cluster, "broker.start", target=1)
        wait(lambda: described(cluster, UNCLEAN)["leader_id"] == -1)
        operate(cluster, "election.unclean", partitions=[f"{UNCLEAN}-0"])
        wait(lambda: described(cluster, UNCLEAN)["leader_id"] == 1)
        instead = History(unclean.producer, UNCLEAN)
        instead.send(50, "instead")
        read += records(consumer, 50)
        consumer.close()
        operate(cluster, "heal")
        wait(lambda: in_sync(cluster))
    [run] = cluster.finished
    assert run.verdict == "passed", run.explanation

    assert not safe.failed
    assert [lost(safe, in_the_log(cluster, SAFE, broker)) for broker in range(3)] == [[], [], []]
    assert run.metrics["lost_acks_all_records"] == 0

    for broker in (0, 1):
        assert lost(fast, in_the_log(cluster, FAST, broker)) == list(range(200, 250))
        assert lost(unclean, in_the_log(cluster, UNCLEAN, broker)) == list(range(200, 300))
    assert run.metrics["lost_acks_1_records"] == 150

    # librdkafka notices that the log was cut (KIP-320), and goes on where it was cut.
    log = in_the_log(cluster, UNCLEAN, 1)
    assert read[:200] + read[300:] == [log[offset] for offset in sorted(log)]
    assert read[200:300] == [f"read, and lost {number}".encode() for number in range(100)]
