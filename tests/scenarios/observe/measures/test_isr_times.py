"""The times under each definition of readings §8, with values computed by hand."""

from __future__ import annotations

from emulator.protocol.events import NodeCrashed, NodeStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import state_path, topic_path
from emulator.trace.events import Step
from scenarios.observe.mbeans import UNDER_REPLICATED
from tests.scenarios.observe.measures.streams import ORDERS_0, Stream


def started(**measured: object) -> Stream:
    """orders-0 on [0,1,2], all in sync, at time 0."""
    stream = Stream(**measured)
    stream.topic("orders", {0: (0, 1, 2)})
    stream.state(0, (0, 1, 2))
    return stream


def test_a_shrunk_isr_is_under_replicated_by_every_definition() -> None:
    stream = started(default_min_isr=2)
    stream.at(1_000).state(0, (0, 1))
    stream.at(3_000).state(0, (0,))
    stream.at(4_000).state(0, (0, 1, 2))
    found = stream.finish(10_000)
    assert found["under_replicated_assigned_us"] == 3_000_000
    assert found["under_replicated_draft_us"] == 3_000_000
    assert found["under_replicated_final_us"] == 3_000_000
    assert found["under_min_isr_us"] == 1_000_000
    assert found["offline_us"] == 0


def test_the_time_with_any_partition_under_replicated_is_not_the_sum_over_the_partitions() -> None:
    """orders-0 lacks a replica for 3 s, orders-1 for 2 s, 1 s of them together; what lasts no time is no peak."""
    stream = Stream()
    stream.topic("orders", {0: (0, 1), 1: (0, 1), 2: (0, 1)})
    first, second, third = (TopicPartition("orders", partition) for partition in range(3))
    for tp in (first, second, third):
        stream.state(0, (0, 1), tp=tp)
    stream.at(1_000).state(0, (0,), tp=first)
    stream.at(3_000).state(0, (0,), tp=second)
    stream.at(4_000).state(0, (0,), tp=third)
    stream.state(0, (0, 1), tp=third)
    stream.state(0, (0, 1), tp=first)
    stream.at(5_000).state(0, (0, 1), tp=second)
    stream.at(8_000).state(0, (0,), tp=second)
    found = stream.finish(9_000)
    assert found["under_replicated_any_us"] == 4_000_000 + 1_000_000
    assert found["under_replicated_final_us"] == 6_000_000
    assert found["under_replicated_worst_us"] == 3_000_000
    assert found["under_replicated_peak"] == 2
    assert found["under_replicated_until_us"] == 9_000_000
    assert found["under_replicated_by_moves_us"] == 0


def test_a_move_is_under_replicated_by_the_oldest_definition_only() -> None:
    """[0,1,2] to [3,4,5] as the wiki moves it: widen, catch up, shrink, record."""
    stream = started()
    stream.at(1_000).move((3, 4, 5))
    stream.at(1_100).topic("orders", {0: (0, 1, 2, 3, 4, 5)})
    stream.at(2_100).state(0, (0, 1, 2, 3, 4, 5))
    stream.at(2_600).state(3, (3, 4, 5), epoch=1)
    stream.at(2_800).topic("orders", {0: (3, 4, 5)})
    stream.at(2_900).moved()
    found = stream.finish(5_000)
    # 1.1 to 2.1 for want of the new ones, 2.6 to 2.8 for want of the old ones that are still listed.
    assert found["under_replicated_assigned_us"] == found["under_replicated_by_moves_us"] == 1_200_000
    assert found["under_replicated_any_us"] == 0
    # From 2.6 to the move's end the original replicas are out of the ISR.
    assert found["under_replicated_draft_us"] == 300_000
    assert found["under_replicated_final_us"] == 0
    assert found["excess_isr_us"] == 3 * 500_000
    assert found["extra_replica_us"] == 3 * 1_700_000
    assert found["peak_replicas"] == 6
    assert (found["moves"], found["moves_finished"], found["time_to_complete_us"]) == (1, 1, 1_900_000)


def test_the_adopted_definition_sees_an_original_replica_that_dies_during_a_move() -> None:
    stream = started()
    stream.at(1_000).move((0, 1, 3))
    stream.topic("orders", {0: (0, 1, 2, 3)})
    stream.at(2_000).state(0, (0, 1))
    found = stream.finish(3_000)
    assert found["under_replicated_final_us"] == 1_000_000
    assert found["time_to_complete_us"] is None
    assert (found["moves"], found["moves_finished"]) == (1, 0)


def test_offline_is_what_zookeeper_says_and_a_dead_leader_shows_in_isr_live() -> None:
    stream = started()
    stream.at(1_000).emit(NodeCrashed, 0, 1, "process")
    stream.at(2_000).state(-1, (0,), epoch=1)
    stream.at(5_000).emit(NodeStarted, 0, 2)
    stream.state(0, (0,), epoch=2)
    found = stream.finish(6_000)
    assert found["offline_us"] == 3_000_000
    lives = [(row.t_us, row.isr_live) for row in stream.rows("isr_events") if row.w_us]
    assert lives == [(0, 3), (1_000_000, 2), (2_000_000, 0), (5_000_000, 1)]


def test_a_changed_min_insync_replicas_counts_from_then_on() -> None:
    """Of the topic, then of all brokers, under the topic's own; a topic that is gone sets nothing any more."""
    stream = started(default_min_isr=2)
    stream.at(1_000).write("/config/topics/orders", '{"version":1,"config":{"min.insync.replicas":"4"}}')
    stream.at(3_000).write("/config/brokers/<default>", '{"version":1,"config":{"min.insync.replicas":"5"}}')
    stream.at(4_000).write("/config/topics/orders", '{"version":1,"config":{"min.insync.replicas":"1"}}')
    stream.at(5_000).write("/config/topics/orders", "", op="delete")
    stream.at(7_000).write("/config/brokers/<default>", '{"version":1,"config":{}}')
    found = stream.finish(9_000)
    assert found["under_min_isr_us"] == 3_000_000 + 2_000_000
    assert [row.min_isr for row in stream.rows("isr_events")] == [2, 4, 1, 5, 2]


def test_settings_of_others_change_nothing() -> None:
    stream = started(min_isr={"orders": 2})
    stream.at(1_000).write("/config/topics/logs", '{"version":1,"config":{"min.insync.replicas":"9"}}')
    stream.write("/config/brokers/1", '{"version":1,"config":{"min.insync.replicas":"9"}}')
    stream.write("/config/changes/config_change_0000000000", '{"version":2,"entity_path":"topics/orders"}')
    assert stream.finish(9_000)["under_min_isr_us"] == 0
    assert [row.min_isr for row in stream.rows("isr_events")] == [2]


def test_a_deleted_partition_counts_no_more() -> None:
    stream = started()
    stream.at(1_000).state(-1, ())
    stream.at(2_000).write(state_path(ORDERS_0), "", op="delete")
    assert stream.finish(9_000)["offline_us"] == 1_000_000


def test_intervals_of_a_partition_tile_the_run() -> None:
    stream = started()
    stream.at(1_500).state(0, (0,))
    stream.at(2_500).state(1, (1, 2), epoch=1)
    stream.finish(7_000)
    rows = stream.rows("isr_events")
    assert [row.t_us + row.w_us for row in rows] == [*(row.t_us for row in rows[1:]), 7_000_000]


def test_gauges_follow_the_leader() -> None:
    stream = started()
    stream.at(1_000).state(0, (0, 1))
    assert stream.measures.now("under_replicated_partitions") == 1
    stream.at(2_000).state(1, (1, 2), epoch=1)
    stream.at(3_000).state(1, (0, 1, 2), epoch=1)
    assert stream.measures.now("under_replicated_partitions") == 0
    stream.finish(4_000)
    name = UNDER_REPLICATED
    rows = [(row.node, row.t_us, row.w_us) for row in stream.rows("true_gauges") if row.name == name and row.value]
    assert rows == [(0, 1_000_000, 1_000_000), (1, 2_000_000, 1_000_000)]


def test_a_topic_that_is_deleted_is_neither_offline_nor_under_replicated() -> None:
    """From the step on at which Kafka's controller stops to count it, and until a topic of that name is created
    again."""
    stream = started(default_min_isr=2)
    stream.at(1_000).state(0, (0, 1))
    stream.at(2_000).emit(Step, "delete.partitions", "before", "orders", -1, -1, 0, 3, "")
    stream.at(3_000).emit(Step, "delete.partitions", "after", "orders", -1, -1, 0, 3, "")
    stream.state(-1, (2,), epoch=3)
    assert stream.measures.now("offline_partitions") == 0
    stream.at(4_000).write(state_path(ORDERS_0), "", "delete")
    stream.write(topic_path("orders"), "", "delete")
    stream.at(5_000).topic("orders", {0: (0, 1, 2)})
    stream.state(0, (0, 1, 2))
    stream.at(6_000).state(-1, (2,), epoch=1)
    found = stream.finish(7_000)
    assert found["offline_us"] == 1_000_000
    assert found["under_replicated_assigned_us"] == 2_000_000 + 1_000_000
    assert found["under_min_isr_us"] == 1_000_000
