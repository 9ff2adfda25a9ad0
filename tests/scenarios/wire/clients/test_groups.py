"""Consumer groups of real clients: rebalances, static members, and coordinators that die or move."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from emulator.protocol.events import GroupGeneration, GroupsLoaded
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.asynchronous import in_asyncio
from tests.scenarios.wire.gateway.served import LIMIT_S, Served, served, wait_for

confluent_kafka = pytest.importorskip("confluent_kafka")
pytest.importorskip("confluent_kafka.admin")
kafka = pytest.importorskip("kafka")
aiokafka = pytest.importorskip("aiokafka")

GROUP, TOPIC, PARTITIONS = "readers", "orders", 4
SETTINGS = {
    "group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 100, "offsets.topic.num.partitions": 1,
    "min.insync.replicas": 2,
}  # fmt: skip
TABLE = {
    "cluster": {"brokers": 3, "config": SETTINGS, "zk": {"session_timeout": "1s"}},
    "topics": [{"name": TOPIC, "partitions": PARTITIONS, "replication_factor": 3}],
}
SESSION_MS = 45_000


@contextmanager
def cluster(record: Path | None = None, profile: str = "kafka-2.3") -> Iterator[Served]:
    with served({**TABLE, "profile": profile}, rate=4.0, record=record) as found:
        yield found


def produce(found: Served, first: int, count: int) -> None:
    """Records with the texts of their numbers, each on the replicas in sync."""
    producer = confluent_kafka.Producer({"bootstrap.servers": found.run.bootstrap_servers, "acks": "all"})
    for number in range(first, first + count):
        producer.produce(TOPIC, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(LIMIT_S) == 0


def coordinator(found: Served) -> int:
    """The broker that coordinates all groups."""
    state = found.operate("state", partition="__consumer_offsets-0")
    return int(state["partitions"][0]["leader"])


class Reader:
    """A consumer of librdkafka, what it has read, and how often it was assigned partitions."""

    def __init__(self, found: Served, **settings: Any) -> None:
        self.read: list[int] = []
        self.assignments = 0
        self.errors: list[Any] = []
        own = {
            "bootstrap.servers": found.run.bootstrap_servers, "group.id": GROUP, "auto.offset.reset": "earliest",
            "session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 100, "enable.auto.commit": False,
            "check.crcs": True, "log_level": 0, "error_cb": self.errors.append,
        }  # fmt: skip
        self.consumer = confluent_kafka.Consumer({**own, **settings})
        self.consumer.subscribe([TOPIC], on_assign=self._assigned)

    def _assigned(self, _consumer: Any, _partitions: Any) -> None:
        self.assignments += 1

    def poll(self) -> None:
        for message in self.consumer.consume(1000, 0.05):
            if message.error():
                self.errors.append(message.error())
            else:
                self.read.append(int(message.value()))

    @property
    def partitions(self) -> list[int]:
        return sorted(each.partition for each in self.consumer.assignment())

    def close(self) -> None:
        self.consumer.close()

    def commit(self) -> None:
        """Commit; again where the coordinator has just moved, as an application does."""

        def committed() -> bool:
            try:
                outcomes = self.consumer.commit(asynchronous=False)
            except confluent_kafka.KafkaException as refused:
                if refused.args[0].code() == confluent_kafka.KafkaError._NO_OFFSET:
                    return True
                self.poll()
                return False
            return all(each.error is None for each in outcomes)

        wait_for(committed, what="a commit")

    @property
    def committed(self) -> int:
        partitions = [confluent_kafka.TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        return sum(max(each.offset, 0) for each in self.consumer.committed(partitions, LIMIT_S))


def until(readers: list[Reader], condition: Callable[[], Any], *, what: str) -> None:
    def polled() -> Any:
        for reader in readers:
            reader.poll()
        return condition()

    wait_for(polled, what=what)


def test_librdkafka_shares_partitions_and_survives_the_death_of_its_coordinator(tmp_path: Path) -> None:
    with cluster(tmp_path / "run") as found, closing(Reader(found)) as first:
        produce(found, 0, 200)
        until([first], lambda: len(first.read) == 200, what="one consumer reads all")
        first.commit()
        with closing(Reader(found)) as second:
            both = [first, second]
            until(both, lambda: len(first.partitions) == len(second.partitions) == 2, what="two consumers share")
            produce(found, 200, 200)
            until(both, lambda: len(first.read) + len(second.read) == 400, what="two consumers read all")
            second.commit()
        until([first], lambda: len(first.partitions) == 4, what="one is left with all")
        first.commit()
        dead = coordinator(found)
        assert found.operate("broker.crash", target=dead)["ok"]
        produce(found, 400, 100)
        until([first], lambda: len({*first.read, *second.read}) >= 500, what="reading goes on")  # some are read twice
        first.commit()
        assert coordinator(found) != dead
        assert sorted({*first.read, *second.read}) == list(range(500))
        assert first.committed == 500
        found.operate("broker.start", target=dead)
    replay = ReplayedRun(read_live_run(tmp_path / "run")).play()
    assert replay.same, "groups are replayed as they were"
    events = replay.run.log.events()
    loaded = [event.node for event in events if isinstance(event, GroupsLoaded)]
    assert len({*loaded}) == 2
    members = [len(event.members) for event in events if isinstance(event, GroupGeneration)]
    assert 2 in members


def test_librdkafka_static_members_come_back_without_a_rebalance() -> None:
    with cluster() as found, closing(Reader(found, **{"group.instance.id": "a"})) as stays:
        produce(found, 0, 100)
        leaves = Reader(found, **{"group.instance.id": "b"})
        until([stays, leaves], lambda: len(stays.partitions) == len(leaves.partitions) == 2, what="both are assigned")
        before, own = stays.assignments, leaves.partitions
        leaves.close()
        back = Reader(found, **{"group.instance.id": "b"})
        until([stays, back], lambda: back.partitions == own, what="the place is kept")
        assert stays.assignments == before
        until([stays, back], lambda: {*stays.read, *back.read, *leaves.read} == {*range(100)}, what="all is read")
        with closing(Reader(found, **{"group.instance.id": "b"})) as other:
            codes = confluent_kafka.KafkaError
            fenced = codes.FENCED_INSTANCE_ID, codes._FATAL
            until([other, back], lambda: any(each.code() in fenced for each in back.errors), what="it is fenced")
        back.close()


def test_administrators_see_groups_and_what_coordinators_write() -> None:
    """Groups are listed with their states since 2.6 (ListGroups 4, KIP-518)."""
    with cluster(profile="kafka-2.6") as found, closing(Reader(found)) as reader:
        produce(found, 0, 40)
        until([reader], lambda: len(reader.read) == 40, what="all is read")
        reader.commit()
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": found.run.bootstrap_servers})
        listed = admin.list_consumer_groups().result(LIMIT_S)
        assert [(each.group_id, each.state.name) for each in listed.valid] == [(GROUP, "STABLE")]
        shown = admin.describe_consumer_groups([GROUP])[GROUP].result(LIMIT_S)
        (member,) = shown.members
        assert len(member.assignment.topic_partitions) == PARTITIONS
        assert shown.coordinator.id == coordinator(found)
        spy = confluent_kafka.Consumer(
            {
                "bootstrap.servers": found.run.bootstrap_servers,
                "group.id": "spy",
                "check.crcs": True,
                "enable.auto.commit": False,
            }
        )
        spy.assign([confluent_kafka.TopicPartition("__consumer_offsets", 0, 0)])
        keys: list[bytes] = []
        kinds = (1, 2)

        def both() -> bool:
            keys.extend(message.key() for message in spy.consume(100, 0.05) if not message.error())
            return all(any(key[:2] == kind.to_bytes(2, "big") for key in keys) for kind in kinds)

        wait_for(both, what="a group and offsets in the log")
        spy.close()
        reader.close()
        with closing(kafka.KafkaAdminClient(bootstrap_servers=found.run.bootstrap_servers)) as python:
            offsets = python.list_group_offsets({GROUP: None})[GROUP]
            assert sum(each.offset for each in offsets.values()) == 40
            python.delete_group_offsets(GROUP, [kafka.TopicPartition(TOPIC, 0)])
            assert len(python.list_group_offsets({GROUP: None})[GROUP]) == PARTITIONS - 1
        deleted = admin.delete_consumer_groups([GROUP])[GROUP]
        assert deleted.result(LIMIT_S) is None
        assert list(admin.list_consumer_groups().result(LIMIT_S).valid) == []


def test_kafka_python_goes_on_when_its_coordinator_stops_in_order() -> None:
    with cluster() as found:
        produce(found, 0, 100)
        consumers = [
            kafka.KafkaConsumer(
                TOPIC, bootstrap_servers=found.run.bootstrap_servers, group_id=GROUP, auto_offset_reset="earliest",
                session_timeout_ms=SESSION_MS, heartbeat_interval_ms=100, enable_auto_commit=False,
                retry_backoff_ms=50, reconnect_backoff_ms=50,
            )
            for _ in range(2)
        ]  # fmt: skip
        for consumer in consumers:  # a leader without metadata assigns nothing, and does not notice when they come
            assert consumer.partitions_for_topic(TOPIC)
        read: list[int] = []

        def poll() -> None:
            for consumer in consumers:
                for records in consumer.poll(50).values():
                    read.extend(int(record.value) for record in records)

        def shared() -> bool:
            poll()
            return all(len(consumer.assignment()) == 2 for consumer in consumers) and len({*read}) == 100

        def committed(each: int) -> bool:
            """Commit; again while the group rebalances, as an application does."""
            poll()
            try:
                for consumer in consumers:
                    consumer.commit()
            except kafka.errors.KafkaError:
                return False
            ends = [consumers[0].committed(kafka.TopicPartition(TOPIC, number)) for number in range(PARTITIONS)]
            return ends == [each] * PARTITIONS

        wait_for(shared, what="two consumers share")
        wait_for(lambda: committed(25), what="a commit")
        left = coordinator(found)
        assert found.operate("broker.stop", target=left)["ok"]
        produce(found, 100, 100)

        def all_read() -> bool:
            poll()
            return len({*read}) == 200

        wait_for(all_read, what="reading goes on")
        assert coordinator(found) != left

        wait_for(lambda: committed(50), what="a commit at the new coordinator")
        for consumer in consumers:
            consumer.close()


def test_aiokafka_rebalances_and_survives_the_death_of_its_coordinator() -> None:
    with cluster() as found:
        produce(found, 0, 100)
        assert sorted(in_asyncio(lambda: _read_with_aiokafka(found))) == list(range(200))


async def _read_with_aiokafka(found: Served) -> set[int]:
    read: set[int] = set()
    settings = {
        "bootstrap_servers": found.run.bootstrap_servers, "group_id": GROUP, "auto_offset_reset": "earliest",
        "session_timeout_ms": SESSION_MS, "heartbeat_interval_ms": 100, "enable_auto_commit": False,
        "retry_backoff_ms": 50,
    }  # fmt: skip
    consumers = [aiokafka.AIOKafkaConsumer(TOPIC, group_instance_id=name, **settings) for name in ("a", "b")]
    for consumer in consumers:
        await consumer.start()

    async def until_read(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not condition():
                for consumer in consumers:
                    for records in (await consumer.getmany(timeout_ms=50)).values():
                        read.update(int(record.value) for record in records)

    await until_read(lambda: len(read) == 100 and all(len(each.assignment()) == 2 for each in consumers))
    dead = coordinator(found)
    found.operate("broker.crash", target=dead)
    await asyncio.to_thread(produce, found, 100, 100)
    await until_read(lambda: len(read) == 200)
    assert coordinator(found) != dead
    for consumer in consumers:
        await consumer.stop()
    return read
