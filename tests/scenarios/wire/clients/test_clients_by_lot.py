"""Cases of TransactionsTest, ResetConsumerGroupOffsetTest and ListOffsetsIntegrationTest (1.1.1 to 3.9.0) that were
drawn by lot, by librdkafka."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest

from tests.scenarios.wire.clients.test_transactions import IN, OUT, cluster, consumer, transactional
from tests.scenarios.wire.clients.test_transactions import leader as leader_of
from tests.scenarios.wire.gateway.served import LIMIT_S, Served, served, wait_for

confluent_kafka = pytest.importorskip("confluent_kafka")
admin_api = pytest.importorskip("confluent_kafka.admin")
TopicPartition = confluent_kafka.TopicPartition


def taken(reader: Any, count: int) -> list[Any]:
    """At least that many records."""
    got = list[Any]()

    def enough() -> bool:
        got.extend(reader.consume(count, 0.05))
        return len(got) >= count

    wait_for(enough, what=f"{count} records")
    return got


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-3.0"])
def test_read_committed_consumer_should_not_see_undecided_data(release: str) -> None:
    """testReadCommittedConsumerShouldNotSeeUndecidedData."""
    with cluster(release=release) as found:
        one, two = transactional(found, "one"), transactional(found, "other")
        one.begin_transaction()
        two.begin_transaction()
        visible = int(time.time() * 1000)
        for topic in (IN, OUT):
            two.produce(topic, b"1", b"x", 0, timestamp=visible)
        two.flush(LIMIT_S)
        written = visible + 1
        for topic, key, value in ((IN, b"a", b"1"), (IN, b"b", b"2"), (OUT, b"c", b"3"), (OUT, b"d", b"4")):
            one.produce(topic, value, key, 0, timestamp=written)
        one.flush(LIMIT_S)
        for topic in (IN, OUT):
            two.produce(topic, b"2", b"x", 0, timestamp=written)
        two.commit_transaction(LIMIT_S)
        asked = [TopicPartition(topic, 0, written) for topic in (IN, OUT)]
        starts = [TopicPartition(topic, 0, 0) for topic in (IN, OUT)]
        with closing(consumer(found, "read_uncommitted")) as reader:
            reader.assign(starts)
            assert len(taken(reader, 8)) == 8
            assert [each.offset for each in reader.offsets_for_times(asked, LIMIT_S)] == [1, 1]
        with closing(consumer(found, group="others")) as reader:
            reader.assign(starts)
            got = taken(reader, 2) + reader.consume(100, 1.0)
            assert [(each.key(), each.value()) for each in got] == [(b"x", b"1")] * 2
            for each in starts:
                assert reader.get_watermark_offsets(each, LIMIT_S)[1] == 1
            assert [each.offset for each in reader.offsets_for_times(asked, LIMIT_S)] == [-1, -1]
        one.abort_transaction(LIMIT_S)


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-3.9"])
def test_reset_offsets_all_topics_all_groups(release: str) -> None:
    """testResetOffsetsAllTopicsAllGroups: what the tool asks for with --all-groups --all-topics --to-offset 50."""
    names, groups = ["topic1", "topic2", "topic3"], ["group1", "group2", "group3"]
    with cluster(release=release) as found:
        servers = {"bootstrap.servers": found.run.bootstrap_servers, "log_level": 0}
        admin = admin_api.AdminClient(servers)
        for each in admin.create_topics([admin_api.NewTopic(name, 1, 3) for name in names]).values():
            each.result(LIMIT_S)
        producer = confluent_kafka.Producer(servers)
        for name in names:
            for number in range(100):
                producer.produce(name, str(number).encode(), partition=0)
        producer.flush(LIMIT_S)
        for group in groups:
            with closing(consumer(found, group=group)) as member:
                member.subscribe(names)
                taken(member, 300)
                member.commit(asynchronous=False)
        assert sorted(each.group_id for each in admin.list_consumer_groups().result(LIMIT_S).valid) == groups

        def committed(group: str) -> dict[str, int]:
            asked = confluent_kafka.ConsumerGroupTopicPartitions(group)
            answer = admin.list_consumer_group_offsets([asked])[group].result(LIMIT_S)
            return {each.topic: each.offset for each in answer.topic_partitions}

        assert [committed(group) for group in groups] == [dict.fromkeys(names, 100)] * 3

        def inactive() -> bool:
            """The tool resets no group that has members."""
            states = admin.describe_consumer_groups(groups)
            return {each.result(LIMIT_S).state for each in states.values()} == {
                confluent_kafka.ConsumerGroupState.EMPTY
            }

        wait_for(inactive, what="groups without members")
        for group in groups:
            wanted = confluent_kafka.ConsumerGroupTopicPartitions(
                group, [TopicPartition(name, 0, 50) for name in names]
            )
            answer = admin.alter_consumer_group_offsets([wanted])[group].result(LIMIT_S)
            assert [each.error for each in answer.topic_partitions] == [None] * 3
        assert [committed(group) for group in groups] == [dict.fromkeys(names, 50)] * 3


def test_list_max_timestamp_with_empty_log() -> None:
    """testListMaxTimestampWithEmptyLog (3.9.0)."""
    with cluster(release="kafka-3.9") as found:
        admin = admin_api.AdminClient({"bootstrap.servers": found.run.bootstrap_servers, "log_level": 0})
        tp = TopicPartition(OUT, 0)
        answer = admin.list_offsets({tp: admin_api.OffsetSpec.max_timestamp()})[tp].result(LIMIT_S)
        assert (answer.offset, answer.timestamp) == (-1, -1)


SETTINGS = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 4,
    "offsets.topic.replication.factor": 1,
}


@pytest.fixture(scope="module", params=["kafka-2.4", "kafka-3.9"])
def of_tools(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A cluster in which partition p of topicN, which has N partitions, has N records."""
    topics = [{"name": f"topic{count}", "partitions": count, "replication_factor": 1} for count in range(1, 5)]
    table = {"profile": request.param, "cluster": {"brokers": 1, "config": SETTINGS}, "topics": topics}
    with served(table, rate=4.0) as found:
        old = admin_api.NewTopic("old", 1, 1, config={"message.format.version": "0.9.0"})
        admin = admin_of(found)
        admin.create_topics([old])["old"].result(LIMIT_S)
        producer = confluent_kafka.Producer({"bootstrap.servers": found.run.bootstrap_servers, "log_level": 0})
        for count in range(1, 5):
            for number in range(count * count):
                producer.produce(f"topic{count}", b"value", partition=number % count)
        for _ in range(100):
            producer.produce("old", b"value", partition=0)
        producer.flush(LIMIT_S)
        yield found


def admin_of(found: Served) -> Any:
    return admin_api.AdminClient({"bootstrap.servers": found.run.bootstrap_servers, "log_level": 0})


def offsets(admin: Any, spec: Any, *tps: tuple[str, int]) -> list[int]:
    asked = {TopicPartition(topic, number): spec for topic, number in tps}
    return [each.result(LIMIT_S).offset for each in admin.list_offsets(asked).values()]


def test_get_offset_shell(of_tools: Served) -> None:
    """GetOffsetShellTest.testTopicPatternArgWithPartitionsArg, testNoOffsetIfTimestampGreaterThanLatestRecord
    (3.3.2): what the tool asks for; ConsumerWithLegacyMessageFormatIntegrationTest.testEarliestOrLatestOffsets."""
    admin = admin_of(of_tools)
    named = [topic for topic in admin.list_topics().topics if topic.startswith("topic")]
    tps = [(topic, number) for topic in sorted(named) for number in (0, 1) if number < int(topic[5:])]
    latest, earliest = admin_api.OffsetSpec.latest(), admin_api.OffsetSpec.earliest()
    assert offsets(admin, latest, *tps) == [int(topic[5:]) for topic, _ in tps]
    later = admin_api.OffsetSpec.for_timestamp(int(time.time() * 2000))
    assert offsets(admin, later, *tps) == [-1] * len(tps)
    assert [offsets(admin, spec, ("old", 0)) for spec in (earliest, latest)] == [[0], [100]]


def committed(admin: Any, group: str) -> dict[str, int]:
    asked = confluent_kafka.ConsumerGroupTopicPartitions(group)
    answer = admin.list_consumer_group_offsets([asked])[group].result(LIMIT_S)
    return {each.topic: each.offset for each in answer.topic_partitions}


def reset(admin: Any, group: str, offset: int) -> None:
    wanted = confluent_kafka.ConsumerGroupTopicPartitions(group, [TopicPartition("old", 0, offset)])
    answer = admin.alter_consumer_group_offsets([wanted])[group].result(LIMIT_S)
    assert [each.error for each in answer.topic_partitions] == [None]


def described(admin: Any, group: str) -> Any:
    return admin.describe_consumer_groups([group])[group].result(LIMIT_S)


def test_groups_that_the_tool_describes_and_resets(of_tools: Served) -> None:
    """DescribeConsumerGroupTest.testDescribeMembersOfExistingGroup, testDescribeOffsetsOfExistingGroupWithNoMembers,
    ResetConsumerGroupOffsetTest.testResetOffsetsExistingTopicSelectedGroups,
    testResetOffsetsNewConsumerExistingTopic."""
    admin = admin_of(of_tools)
    for group in ("group1", "group2", "group3"):
        with closing(consumer(of_tools, group=group)) as reader:
            reader.subscribe(["old"])
            taken(reader, 100)
            reader.commit(asynchronous=False)
            now = described(admin, group)
            assert now.state == confluent_kafka.ConsumerGroupState.STABLE
            [member] = now.members
            assert all((member.member_id, member.client_id, member.host))
            assert [(each.topic, each.partition) for each in member.assignment.topic_partitions] == [("old", 0)]
        now = wait_for(lambda: (found := described(admin, group)).members or found, what="no member")  # noqa: B023
        assert (now.state, now.members) == (confluent_kafka.ConsumerGroupState.EMPTY, [])
        assert committed(admin, group) == {"old": 100}
    for group in ("group1", "group2", "new.group"):
        reset(admin, group, 50)
    assert [committed(admin, f"group{number}")["old"] for number in (1, 2, 3)] == [50, 50, 100]
    assert committed(admin, "new.group") == {"old": 50}


def test_assign_and_fetch_committed_offsets(of_tools: Served) -> None:
    """PlaintextConsumerAssignTest.testAssignAndFetchCommittedOffsets (3.9.0)."""
    tp = TopicPartition("old", 0, 0)
    with closing(consumer(of_tools, group="assigned")) as one, closing(consumer(of_tools, group="assigned")) as another:
        one.assign([tp])
        assert [record.offset() for record in taken(one, 100)] == list(range(100))
        one.commit(asynchronous=False)
        assert [each.offset for each in one.committed([tp], LIMIT_S)] == [100]
        another.assign([tp])
        assert [each.offset for each in another.committed([tp], LIMIT_S)] == [100]


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-3.0"])
def test_an_application_performs_multiple_transactions(release: str) -> None:
    """EosIntegrationTest.shouldBeAbleToPerformMultipleTransactions: what Streams does, by librdkafka."""
    with cluster(release=release) as found:
        source = confluent_kafka.Producer({"bootstrap.servers": found.run.bootstrap_servers, "log_level": 0})
        writer = transactional(found, "application")
        with closing(consumer(found, group="application")) as reader, closing(consumer(found, group="check")) as check:
            reader.assign([TopicPartition(IN, 0, 0)])
            check.assign([TopicPartition(OUT, 0, 0)])
            for burst in (range(5), range(5, 8)):
                for number in burst:
                    source.produce(IN, str(number).encode(), b"0", 0)
                source.flush(LIMIT_S)
                writer.begin_transaction()
                for record in taken(reader, len(burst)):
                    writer.produce(OUT, record.value(), record.key(), 0)
                position = reader.position([TopicPartition(IN, 0)])
                writer.send_offsets_to_transaction(position, reader.consumer_group_metadata(), LIMIT_S)
                writer.commit_transaction(LIMIT_S)
                assert [int(record.value()) for record in taken(check, len(burst))] == list(burst)
            assert [each.offset for each in reader.committed([TopicPartition(IN, 0)], LIMIT_S)] == [8]


def test_groups_of_two_that_the_tool_describes_and_deletes(of_tools: Served) -> None:
    """DescribeConsumerGroupTest.testDescribe(Members)WithMultiPartitionTopicAndMultipleConsumers,
    DeleteConsumerGroupsTest.testDeleteCmdAllGroups."""
    admin, groups = admin_of(of_tools), ("pair1", "pair2", "pair3")
    for group in groups:
        with closing(consumer(of_tools, group=group)) as one, closing(consumer(of_tools, group=group)) as other:
            for member in (one, other):
                member.subscribe(["topic2"])

            def shared() -> bool:
                for member in (one, other):
                    member.consume(1, 0.05)
                now = described(admin, group)  # noqa: B023
                return [len(each.assignment.topic_partitions) for each in now.members] == [1, 1]

            wait_for(shared, what="two members with a partition each")
            now = described(admin, group)
            assert now.state == confluent_kafka.ConsumerGroupState.STABLE
            refused = admin.delete_consumer_groups([group])[group]
            with pytest.raises(confluent_kafka.KafkaException) as failed:
                refused.result(LIMIT_S)
            assert failed.value.args[0].name() == "NON_EMPTY_GROUP"
        wait_for(lambda: not described(admin, group).members, what="no member")  # noqa: B023
    for deleted in admin.delete_consumer_groups(list(groups)).values():
        assert deleted.result(LIMIT_S) is None
    assert not {each.group_id for each in admin.list_consumer_groups().result(LIMIT_S).valid} & set(groups)


def test_commit_metadata(of_tools: Served) -> None:
    """PlaintextConsumerCommitTest.testCommitMetadata (3.9.0)."""
    with closing(consumer(of_tools, group="metadata")) as reader:
        reader.assign([TopicPartition("old", 0, 0)])
        taken(reader, 1)
        tp = TopicPartition("old", 0)
        for wanted, asynchronous in (
            (TopicPartition("old", 0, 5, "foo"), False),
            (TopicPartition("old", 0, 10, "bar"), True),
            (TopicPartition("old", 0, 5), False),
        ):
            reader.commit(offsets=[wanted], asynchronous=asynchronous)
            wait_for(lambda: reader.committed([tp], LIMIT_S)[0].offset == wanted.offset, what="the offset")  # noqa: B023
            [found] = reader.committed([tp], LIMIT_S)
            assert (found.metadata or None) == wanted.metadata


def test_fetch_of_an_invalid_offset(of_tools: Served) -> None:
    """PlaintextConsumerFetchTest.testFetchInvalidOffset (3.9.0), PlaintextConsumerTest.testAutoOffsetReset: without a
    reset policy the reader gets an error; with one it begins."""
    servers = {"bootstrap.servers": of_tools.run.bootstrap_servers, "log_level": 0, "group.id": "new"}

    def first(policy: str, offset: int) -> Any:
        with closing(confluent_kafka.Consumer({**servers, "auto.offset.reset": policy})) as reader:
            reader.assign([TopicPartition("old", 0, offset)])
            return wait_for(lambda: reader.poll(0.1), what="an answer")

    stored = confluent_kafka.OFFSET_STORED
    assert first("error", stored).error().name() == "_AUTO_OFFSET_RESET"
    failed = first("error", 101)
    assert failed.error().name() == "_AUTO_OFFSET_RESET"
    assert "out of range" in failed.error().str()
    assert first("earliest", stored).offset() == 0


def test_assign_and_consume_with_leader_change() -> None:
    """PlaintextConsumerAssignTest.testAssignAndConsumeWithLeaderChangeValidatingPositions (3.9.0)."""
    with cluster(release="kafka-3.9") as found:
        producer = confluent_kafka.Producer({"bootstrap.servers": found.run.bootstrap_servers, "log_level": 0})
        with closing(consumer(found)) as reader:
            reader.assign([TopicPartition(OUT, 0, 0)])
            for begin in (0, 10):
                for number in range(10):
                    producer.produce(OUT, str(begin + number).encode(), partition=0)
                producer.flush(LIMIT_S)
                records = taken(reader, 10)
                assert [(record.offset(), int(record.value())) for record in records] == [
                    (begin + number, begin + number) for number in range(10)
                ]
                if not begin:
                    leader = leader_of(found, f"{OUT}-0")
                    found.operate("broker.stop", target=leader)
                    wait_for(lambda: leader_of(found, f"{OUT}-0") not in (leader, -1), what="another leader")  # noqa: B023
                    found.operate("broker.start", target=leader)


def test_groups_with_a_member_too_many_and_groups_that_are_missing(of_tools: Served) -> None:
    """DescribeConsumerGroupTest.testDescribeStateWithConsumersWithoutAssignedPartitions,
    DeleteConsumerGroupsTest.testDeleteCmdNonEmptyGroup, testDeleteCmdWithMixOfSuccessAndError."""
    admin, group = admin_of(of_tools), "crowd"

    def deletion(name: str) -> str:
        try:
            admin.delete_consumer_groups([name])[name].result(LIMIT_S)
        except confluent_kafka.KafkaException as failed:
            return str(failed.args[0].name())
        return ""

    with closing(consumer(of_tools, group=group)) as one, closing(consumer(of_tools, group=group)) as other:
        for member in (one, other):
            member.subscribe(["topic1"])

        def both() -> bool:
            for member in (one, other):
                member.consume(1, 0.05)
            now = described(admin, group)
            stable = now.state == confluent_kafka.ConsumerGroupState.STABLE
            return stable and sorted(len(each.assignment.topic_partitions) for each in now.members) == [0, 1]

        wait_for(both, what="two members, one of them without a partition")
        assert deletion(group) == "NON_EMPTY_GROUP"
    wait_for(lambda: not described(admin, group).members, what="no member")
    assert [deletion(name) for name in (group, "missing.group")] == ["", "GROUP_ID_NOT_FOUND"]


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-3.0"])
@pytest.mark.parametrize("how", ["send", "offsets"])
def test_fencing(release: str, how: str) -> None:
    """TransactionsTest.testFencingOnSend, testFencingOnSendOffsets."""
    with cluster(release=release) as found:
        zombie = transactional(found)
        zombie.begin_transaction()
        for topic, value in ((IN, b"1"), (OUT, b"3")):
            zombie.produce(topic, value, b"aborted", 0)
        zombie.flush(LIMIT_S)
        successor = transactional(found)
        successor.begin_transaction()
        for topic in (IN, OUT):
            successor.produce(topic, b"4", b"committed", 0)
        successor.flush(LIMIT_S)

        def goes_on() -> None:
            if how == "send":
                zombie.produce(IN, b"5", b"aborted", 0)
                zombie.flush(LIMIT_S)
                zombie.commit_transaction(LIMIT_S)
                return
            with closing(consumer(found, group="foobar")) as reader:
                wanted = [TopicPartition(OUT, 0, 110)]
                zombie.send_offsets_to_transaction(wanted, reader.consumer_group_metadata(), LIMIT_S)

        with pytest.raises(confluent_kafka.KafkaException) as refused:
            goes_on()
        assert refused.value.args[0].code() == confluent_kafka.KafkaError._FENCED
        successor.commit_transaction(LIMIT_S)
        with closing(consumer(found)) as reader:
            reader.assign([TopicPartition(topic, 0, 0) for topic in (IN, OUT)])
            assert {record.key() for record in taken(reader, 2)} == {b"committed"}


@pytest.mark.parametrize("release", ["kafka-2.7", "kafka-3.0"])
def test_transactions_at_a_single_broker(release: str) -> None:
    """TransactionsWithMaxInFlightOneTest.testTransactionalProducerSingleBrokerMaxInFlightOne (2.7.2)."""
    names = [f"{name}.replication.factor" for name in ("offsets.topic", "transaction.state.log")]
    settings = dict.fromkeys((*names, "transaction.state.log.min.isr"), 1)
    topics = [{"name": name, "partitions": 1, "replication_factor": 1} for name in (IN, OUT)]
    table = {"profile": release, "cluster": {"brokers": 1, "config": settings}, "topics": topics}
    with served(table, rate=4.0) as found:
        producer = transactional(found, "one", **{"max.in.flight": 1})
        for values, ends in (("24", producer.abort_transaction), ("13", producer.commit_transaction)):
            producer.begin_transaction()
            for topic, value in zip((IN, OUT), values, strict=True):
                producer.produce(topic, value.encode(), partition=0)
            producer.flush(LIMIT_S)
            ends(LIMIT_S)
        with closing(consumer(found)) as reader:
            reader.assign([TopicPartition(topic, 0, 0) for topic in (IN, OUT)])
            assert sorted(record.value() for record in taken(reader, 2)) == [b"1", b"3"]


def test_seek_and_commit_with_broker_failures() -> None:
    """ConsumerBounceTest.testSeekAndCommitWithBrokerFailures: positions and commits hold while brokers are bounced."""
    count, draws = 1000, random.Random(7)
    with cluster(release="kafka-2.3") as found:
        producer = confluent_kafka.Producer({"bootstrap.servers": found.run.bootstrap_servers, "log_level": 0})
        for number in range(count):
            producer.produce(OUT, str(number).encode(), partition=0)
        producer.flush(LIMIT_S)
        tp = TopicPartition(OUT, 0)
        with closing(consumer(found)) as reader:
            reader.assign([TopicPartition(OUT, 0, 0)])
            read = taken(reader, count)

            def ends() -> Any:
                with suppress(confluent_kafka.KafkaException):  # of a connection to a broker that has gone
                    return reader.get_watermark_offsets(tp, LIMIT_S)

            def commits(record: Any) -> Any:
                with suppress(confluent_kafka.KafkaException):  # its coordinator may have to be found again
                    reader.commit(record, asynchronous=False)
                    return [each.offset for each in reader.committed([tp], LIMIT_S)]

            # Kafka's test has __consumer_offsets from the start: it cannot be created while a broker is gone.
            assert wait_for(lambda: commits(read[-1]), what="a coordinator")
            for broker in (0, 1, 2):
                found.operate("broker.stop", target=broker)
                for _ in range(4):
                    assert wait_for(ends, what="the ends") == (0, count)
                    place = draws.randrange(count)
                    reader.seek(TopicPartition(OUT, 0, place))
                    [record] = taken(reader, 1)[:1]
                    assert record.offset() == place
                    assert wait_for(lambda: commits(record), what="a commit") == [place + 1]  # noqa: B023
                found.operate("broker.start", target=broker)
                other = found.connect((broker + 1) % 3)
                wait_for(lambda: len(other.metadata()["brokers"]) == 3, what="three brokers")  # noqa: B023


def test_reset_by_shifting(of_tools: Served) -> None:
    """ResetConsumerGroupOffsetTest.testResetOffsetsShiftMinus: 100 were read, 50 less are committed; of a group with a
    member DescribeConsumerGroupTest.testDescribeOffsetsOfExistingGroup shows who it is."""
    admin, group = admin_of(of_tools), "shifted"
    with closing(consumer(of_tools, group=group)) as reader:
        reader.subscribe(["old"])
        taken(reader, 100)
        reader.commit(asynchronous=False)
        [member] = described(admin, group).members
        assert all((member.member_id, member.client_id, member.host, committed(admin, group) == {"old": 100}))
    wait_for(lambda: not described(admin, group).members, what="no member")
    reset(admin, group, committed(admin, group)["old"] - 50)
    assert committed(admin, group) == {"old": 50}


def test_consuming_with_an_empty_group_id(of_tools: Served) -> None:
    """PlaintextConsumerTest.testConsumingWithEmptyGroupId (2.3.1), MetadataRequestTest.testClusterIdIsValid, by
    requests of Java's consumer; librdkafka refuses such an id itself."""
    raw = of_tools.connect(0)
    assert raw.ask(3, 2, {"topics": None})["cluster_id"]
    row = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    body = {"group_id": "", "generation_id": -1, "member_id": "", "topics": [{"name": "old", "partitions": [row]}]}
    raw.ask(10, 2, {"key": "", "key_type": 0})
    [topic] = raw.ask(8, 5, body)["topics"]
    assert [each["error_code"] for each in topic["partitions"]] == [0]
    asked = {"group_id": "", "topics": [{"name": "old", "partition_indexes": [0]}]}
    [topic] = raw.ask(9, 5, asked)["topics"]
    assert [each["committed_offset"] for each in topic["partitions"]] == [1]
