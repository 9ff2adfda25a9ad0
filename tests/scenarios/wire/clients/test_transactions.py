"""Transactions of real clients: what is committed is read once, what is aborted is not, whatever dies meanwhile."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from brokers.log.transactions import TransactionalProducers
from emulator.protocol.events import TransactionsLoaded, TransactionStateChanged
from emulator.protocol.types import TopicPartition
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.asynchronous import in_asyncio
from tests.scenarios.wire.gateway.served import LIMIT_S, Served, served, wait_for

confluent_kafka = pytest.importorskip("confluent_kafka")
aiokafka = pytest.importorskip("aiokafka")

IN, OUT, PARTITIONS = "orders", "invoices", 2
SETTINGS = {
    "group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 100, "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1, "min.insync.replicas": 2,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
}  # fmt: skip
TABLE = {
    "cluster": {"brokers": 3, "config": SETTINGS, "zk": {"session_timeout": "1s"}},
    "topics": [{"name": name, "partitions": PARTITIONS, "replication_factor": 3} for name in (IN, OUT)],
}


OTHERS = tuple(f"kafka-2.{number}" for number in range(4, 8))
in_every_release = pytest.mark.parametrize(
    "release", ["kafka-2.3", "kafka-3.9", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)


@contextmanager
def cluster(record: Path | None = None, release: str = "kafka-2.3") -> Iterator[Served]:
    with served({**TABLE, "profile": release}, rate=4.0, record=record) as found:
        yield found
    (run,) = found.finished
    assert run.violations == ()


def transactional(found: Served, id: str = "billing", **settings: Any) -> Any:
    """A producer of librdkafka, which has got its place."""
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": found.run.bootstrap_servers, "transactional.id": id, "log_level": 0, **settings}
    )
    producer.init_transactions(LIMIT_S)
    return producer


def send(producer: Any, texts: Sequence[str], topic: str = OUT) -> None:
    for number, text in enumerate(texts):
        producer.produce(topic, text.encode(), partition=number % PARTITIONS)


def consumer(found: Served, level: str = "read_committed", group: str = "readers") -> Any:
    own = {
        "bootstrap.servers": found.run.bootstrap_servers, "group.id": group, "isolation.level": level,
        "auto.offset.reset": "earliest", "enable.auto.commit": False, "check.crcs": True, "log_level": 0,
    }  # fmt: skip
    return confluent_kafka.Consumer(own)


def read(found: Served, level: str = "read_committed", topic: str = OUT) -> list[str]:
    """All that a consumer reads of a topic, from its beginning up to its end as it is for this consumer."""
    with closing(consumer(found, level)) as reader:
        partitions = [confluent_kafka.TopicPartition(topic, number, 0) for number in range(PARTITIONS)]
        ends = [reader.get_watermark_offsets(each, LIMIT_S)[1] for each in partitions]
        reader.assign(partitions)
        texts: list[str] = []

        def reached() -> bool:
            for message in reader.consume(1000, 0.05):
                assert message.error() is None
                texts.append(message.value().decode())
            places = [each.offset for each in reader.position(partitions)]
            return all(place >= end or not end for place, end in zip(places, ends, strict=True))

        wait_for(reached, what=f"the end of {topic}")
        return sorted(texts)


def leader(found: Served, partition: str) -> int:
    state = found.operate("state", partition=partition)
    return int(state["partitions"][0]["leader"])


def events_of(folder: Path, kind: type) -> list[Any]:
    """The events of the recorded run, which is replayed as it was."""
    replay = ReplayedRun(read_live_run(folder)).play()
    assert replay.same
    return [event for event in replay.run.log.events() if isinstance(event, kind)]


@in_every_release
def test_what_is_committed_is_read_and_what_is_open_or_aborted_is_not(release: str) -> None:
    with cluster(release=release) as found:
        producer = transactional(found)
        for text, ends in (("a", producer.commit_transaction), ("b", producer.abort_transaction)):
            producer.begin_transaction()
            send(producer, [f"{text}{number}" for number in range(4)])
            producer.flush(LIMIT_S)
            ends(LIMIT_S)
        producer.begin_transaction()
        send(producer, ["c0", "c1"])
        producer.flush(LIMIT_S)
        committed = ["a0", "a1", "a2", "a3"]
        assert wait_for(lambda: read(found), what="committed records") == committed
        uncommitted = [*committed, "b0", "b1", "b2", "b3", "c0", "c1"]
        assert read(found, "read_uncommitted") == uncommitted
        producer.commit_transaction(LIMIT_S)
        assert wait_for(lambda: len(read(found)) > 4 and read(found), what="what was open") == [*committed, "c0", "c1"]


@in_every_release
def test_a_producer_that_was_replaced_is_fenced_and_what_it_left_open_is_aborted(release: str) -> None:
    with cluster(release=release) as found:
        zombie = transactional(found)
        zombie.begin_transaction()
        send(zombie, ["lost"])
        zombie.flush(LIMIT_S)
        successor = transactional(found)
        with pytest.raises(confluent_kafka.KafkaException) as refused:
            zombie.commit_transaction(LIMIT_S)
        assert refused.value.args[0].code() == confluent_kafka.KafkaError._FENCED
        successor.begin_transaction()
        send(successor, ["kept", "kept too"])
        successor.commit_transaction(LIMIT_S)
        assert wait_for(lambda: read(found), what="committed records") == ["kept", "kept too"]


@in_every_release
def test_a_transaction_that_lasts_too_long_is_aborted_by_its_coordinator(release: str) -> None:
    with cluster(release=release) as found:
        slow, other = transactional(found, "slow", **{"transaction.timeout.ms": 1000}), transactional(found, "other")
        slow.begin_transaction()
        send(slow, ["late", "late too"])
        slow.flush(LIMIT_S)
        other.begin_transaction()
        send(other, ["kept", "kept too"])
        other.commit_transaction(LIMIT_S)
        wait_for(lambda: read(found) == ["kept", "kept too"], what="an end of the transaction in front")
        with pytest.raises(confluent_kafka.KafkaException):
            slow.commit_transaction(LIMIT_S)


def bill(found: Served, producer: Any, reader: Any, count: int, disturb: Callable[[int], object]) -> None:
    """Consume, transform, produce, until ``count`` records are done; every third transaction is aborted."""
    done = turns = 0
    end = time.monotonic() + LIMIT_S
    while done < count and time.monotonic() < end:
        messages = [each for each in reader.consume(10, 0.1) if each.error() is None]
        if not messages:
            continue
        turns += 1
        producer.begin_transaction()
        try:
            disturb(turns)
            for message in messages:
                producer.produce(OUT, message.value(), partition=message.partition())
            positions = reader.position(reader.assignment())
            producer.send_offsets_to_transaction(positions, reader.consumer_group_metadata(), LIMIT_S)
            if turns % 3 == 2:
                raise confluent_kafka.KafkaException(confluent_kafka.KafkaError(confluent_kafka.KafkaError._FAIL))
            producer.commit_transaction(LIMIT_S)
            done += len(messages)
        except confluent_kafka.KafkaException:
            producer.abort_transaction(LIMIT_S)
            for place in reader.committed(reader.assignment(), LIMIT_S):
                place.offset = max(place.offset, 0)
                reader.seek(place)


def fill(found: Served, count: int) -> list[str]:
    texts = [f"{number:03}" for number in range(count)]
    producer = confluent_kafka.Producer({"bootstrap.servers": found.run.bootstrap_servers, "acks": "all"})
    send(producer, texts, IN)
    assert producer.flush(LIMIT_S) == 0
    return texts


@in_every_release
@pytest.mark.parametrize("victim", ["__transaction_state-0", "__consumer_offsets-0", f"{OUT}-0"])
def test_what_is_consumed_transformed_and_produced_is_there_exactly_once(
    victim: str, release: str, tmp_path: Path
) -> None:
    """The broker dies in the middle that coordinates the transactions, or the group, or leads a partition."""
    with cluster(tmp_path / "run", release) as found:
        texts = fill(found, 60)
        producer = transactional(found)
        with closing(consumer(found, group="clerks")) as reader:
            reader.subscribe([IN])

            def disturb(turn: int) -> None:
                if turn == 3:
                    found.operate("broker.crash", target=leader(found, victim))

            bill(found, producer, reader, len(texts), disturb)

            def committed() -> int:
                return sum(place.offset for place in reader.committed(reader.assignment(), LIMIT_S))

            # Before KIP-447 a reader gets the offset from before while the last marker is under way.
            wait_for(lambda: committed() == len(texts), what="the offsets of the last transaction")
        assert wait_for(lambda: read(found), what="committed records") == texts
    assert ReplayedRun(read_live_run(tmp_path / "run")).play().same


def test_a_coordinator_that_dies_between_the_decision_and_its_markers_leaves_that_to_the_next(tmp_path: Path) -> None:
    with cluster(tmp_path / "run") as found:
        producer = transactional(found)
        first = leader(found, "__transaction_state-0")
        found.operate("broker.crash", target=first, when={"message": "WriteTxnMarkers"})
        producer.begin_transaction()
        send(producer, ["a", "b"])
        producer.commit_transaction(LIMIT_S)
        wait_for(lambda: leader(found, "__transaction_state-0") not in (first, -1), what="another coordinator")
        assert wait_for(lambda: read(found), what="committed records") == ["a", "b"]
    loaded = [event.node for event in events_of(tmp_path / "run", TransactionsLoaded)]
    assert loaded[0] == first
    assert len(loaded) == 2


@pytest.mark.parametrize(("release", "refused"), [("kafka-2.4", False), ("kafka-2.5", True)])
def test_a_member_that_its_group_has_lost_commits_no_offsets_since_kip_447(release: str, refused: bool) -> None:
    with cluster(release=release) as found:
        fill(found, 2)
        producer = transactional(found)
        with closing(consumer(found, group="clerks")) as reader:
            reader.subscribe([IN])
            wait_for(lambda: reader.consume(1, 0.05) and reader.assignment(), what="an assignment")
            lost = reader.consumer_group_metadata()
        producer.begin_transaction()
        send(producer, ["a", "b"])
        offsets = [confluent_kafka.TopicPartition(IN, 0, 1)]
        if refused:
            with pytest.raises(confluent_kafka.KafkaException) as error:
                producer.send_offsets_to_transaction(offsets, lost, LIMIT_S)
            assert error.value.args[0].txn_requires_abort()
            producer.abort_transaction(LIMIT_S)
        else:
            producer.send_offsets_to_transaction(offsets, lost, LIMIT_S)
            producer.commit_transaction(LIMIT_S)
        with closing(consumer(found, group="clerks")) as reader:
            committed = -1001 if refused else 1  # librdkafka's number for none
            wait_for(lambda: reader.committed(offsets, LIMIT_S)[0].offset == committed, what="the committed offset")


@pytest.mark.slow
@pytest.mark.parametrize(("release", "goes_on"), [("kafka-2.3", False), ("kafka-2.4", True)])
def test_an_idempotent_producer_whose_batches_retention_has_deleted(release: str, goes_on: bool) -> None:
    """Up to 2.3 the leader does not know it any more (UNKNOWN_PRODUCER_ID), and librdkafka begins again with the next
    epoch; from 2.4 on (KAFKA-7190) it does. The application sees no difference."""
    settings = {"log.retention.check.interval.ms": 1000, "log.retention.ms": 8000, "log.roll.ms": 2000}
    topics = [{"name": OUT, "assignment": [[0, 1, 2]]}]
    table = {"profile": release, "cluster": {"brokers": 3, "config": settings}, "topics": topics}
    with served(table, rate=10.0) as found:
        leader_log = found.run.stage.cluster.brokers[0].replicas.partitions[TopicPartition(OUT, 0)].log
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": found.run.bootstrap_servers, "enable.idempotence": True, "log_level": 0}
        )

        def write() -> tuple[int, int]:
            failed: list[Any] = []
            producer.produce(OUT, b"x", on_delivery=lambda error, _: failed.append(error))
            assert (producer.flush(LIMIT_S), failed) == (0, [None])
            last: Any = leader_log.batches[-1]
            return last.producer_epoch, last.base_sequence

        assert [write(), write()] == [(0, 0), (0, 1)]
        wait_for(lambda: leader_log.start_offset == 2, what="retention")
        assert write() == ((0, 2) if goes_on else (1, 0))


def test_aiokafka_commits_and_aborts() -> None:
    async def play(found: Served) -> None:
        servers = found.run.bootstrap_servers
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=servers, transactional_id="aio") as producer:
            async with producer.transaction():
                await producer.send_and_wait(OUT, b"kept", partition=0)
            await producer.begin_transaction()
            await producer.send_and_wait(OUT, b"dropped", partition=1)
            await producer.abort_transaction()
        reader = aiokafka.AIOKafkaConsumer(
            OUT, bootstrap_servers=servers, isolation_level="read_committed", auto_offset_reset="earliest"
        )
        async with reader:
            message = await asyncio.wait_for(reader.getone(), LIMIT_S)
            assert message.value == b"kept"
            await asyncio.sleep(0.2)
            assert await reader.getmany(timeout_ms=100) == {}

    with cluster() as found:
        in_asyncio(lambda: play(found))


def test_the_timeline_has_the_states_of_a_transaction(tmp_path: Path) -> None:
    with cluster(tmp_path / "run") as found:
        producer = transactional(found)
        producer.begin_transaction()
        send(producer, ["a", "b"])
        producer.commit_transaction(LIMIT_S)
        wait_for(lambda: read(found), what="committed records")
    states = [event.state for event in events_of(tmp_path / "run", TransactionStateChanged)]
    assert states[0] == "Empty"
    assert states[-2:] == ["PrepareCommit", "CompleteCommit"]
    assert set(states[1:-2]) == {"Ongoing"}


@pytest.mark.parametrize("guard", ["last_stable_offset", "aborted_between"])
def test_a_leader_without_its_guard_is_found_by_the_checker(guard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives readers all that is replicated, or does not say what was aborted."""

    def unguarded(_self: object, first: int, _second: int, **_: object) -> Any:
        return first if guard == "last_stable_offset" else ()

    monkeypatch.setattr(TransactionalProducers, guard, unguarded)
    with served(TABLE, rate=4.0) as found:
        producer = transactional(found)
        producer.begin_transaction()
        send(producer, ["a", "b"])
        producer.flush(LIMIT_S)
        if guard == "aborted_between":
            producer.abort_transaction(LIMIT_S)
        wait_for(lambda: len(read(found)) == 2, what="records that must not be read")
    (run,) = found.finished
    found_by = {violation.invariant for violation in run.violations}
    assert found_by == {"reads_decided", *(["answers_true"] if guard == "last_stable_offset" else [])}
