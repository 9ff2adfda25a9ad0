"""Cases of TransactionsTest, ResetConsumerGroupOffsetTest and ListOffsetsIntegrationTest (1.1.1 to 3.9.0) that were
drawn by lot, by librdkafka."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

import pytest

from tests.scenarios.wire.clients.test_transactions import IN, OUT, cluster, consumer, transactional
from tests.scenarios.wire.gateway.served import LIMIT_S, wait_for

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
