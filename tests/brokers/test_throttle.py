"""Replication throttle (KIP-73) at the leader, and from a scenario to the time that a move takes."""

from collections.abc import Callable
from typing import Any

import pytest

from emulator.protocol.events import FetchPosition, IsrChanged, MoveFinished, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkCode
from fetchers import ReplicationThrottle
from scenarios.model import Scenario
from scenarios.profiles.setup import replication_throttle
from scenarios.runner.runner import run_scenario
from tests.brokers.bench import ME, TP, Bench

S = 1_000_000
OTHER = TopicPartition("t", 1)


def throttled_leader(rate: int = 100, isr: tuple[int, ...] = (0,)) -> Bench:
    """``TP`` is listed, ``OTHER`` is not; each holds ten batches of 100 bytes."""
    bench = Bench(throttle=ReplicationThrottle(rate, 2**60, {TP: (ME,)}, {}))
    for tp in (TP, OTHER):
        bench.lead(tp=tp, isr=isr)
        for _ in range(10):
            bench.produce(tp)
    return bench


def test_a_listed_replica_out_of_sync_gets_nothing_while_the_quota_is_exceeded() -> None:
    bench = throttled_leader()
    follower = bench.follower(1, max_partition_bytes=200)
    answer = follower.fetch((TP, 0, 0), (OTHER, 0, 0))
    assert answer is not None
    assert [len(found.batches) for found in answer.partitions] == [2, 2]  # the crossing answer goes through
    answer = follower.fetch((TP, 0, 2), (OTHER, 0, 2))
    assert answer is not None
    assert [(found.tp, len(found.batches)) for found in answer.partitions] == [(OTHER, 2)]
    assert follower.fetch((OTHER, 0, 10)) is None
    bench.at(1_600_000)
    answer = follower.expire()  # 200 bytes in 2.1 s
    assert answer is not None
    assert [(found.tp, len(found.batches)) for found in answer.partitions if found.batches] == [(TP, 2)]


def test_kafka_4313_a_replica_in_sync_is_not_held_back_but_counts() -> None:
    bench = throttled_leader(isr=(0, 1))
    follower = bench.follower(1, max_partition_bytes=200)
    for offset in (0, 2, 4):
        answer = follower.at(offset)
        assert answer is not None
        assert len(answer.partitions[0].batches) == 2
    assert bench.manager.leader_quota is not None
    assert bench.manager.leader_quota.exceeded(bench.world.now)
    assert bench.follower(2).at(0) is None


def test_records_that_are_held_back_keep_the_world_unsettled() -> None:
    bench = throttled_leader()
    follower = bench.follower(1, max_partition_bytes=200)
    follower.at(0)
    assert bench.world.foreground == 0
    assert follower.at(2) is None
    assert bench.world.foreground == 1


def test_an_in_sync_replica_that_joined_is_let_go() -> None:
    bench = throttled_leader()
    follower = bench.follower(1, max_partition_bytes=1000)
    follower.at(0)
    follower.at(10)
    bench.zk.answer(ZkCode.OK, version=1)
    bench.produce()
    assert follower.answer(1) is not None


# -- scenarios ---------------------------------------------------------------------------------------------------

MIB = 2**20
DOCUMENT: dict[str, Any] = {
    "schema": "scenario/1",
    "title": "one partition moves",
    "seed": 1,
    "horizon": "5m",
    "cluster": {"brokers": 4, "controller": 3},
    "topics": [{"name": "orders", "assignment": [[0, 1], [0, 1]], "size": "32MiB"}],
    "plan": {"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 2]}]},
    "method": [{"at": "1s", "action": "reassign.execute"}],
}


def scenario(throttle: str | None = None, settings: dict[str, int] | None = None) -> Scenario:
    document = {**DOCUMENT, "cluster": {**DOCUMENT["cluster"], "config": settings or {}}}
    if throttle is not None:
        document["strategy"] = {"throttle": throttle}
    return Scenario.from_table(document)


def move_us(asked: Scenario) -> tuple[int, list[Any]]:
    """How long the move took, and every event."""
    events: list[Any] = []
    assert run_scenario(asked, on_event=events.extend).verdict == "passed"
    begin = next(event.t_us for event in events if isinstance(event, MoveStarted))
    end = next(event.t_us for event in events if isinstance(event, MoveFinished))
    return end - begin, events


@pytest.mark.parametrize(
    "throttled",
    [
        lambda: scenario("4MiB/s"),
        lambda: scenario(settings={"leader.replication.throttled.rate": 4 * MIB}),
        lambda: scenario(settings={"follower.replication.throttled.rate": 4 * MIB}),
    ],
    ids=["strategy", "leader", "follower"],
)
def test_a_move_of_32_mib_at_4_mib_a_second_takes_8_s(throttled: Callable[[], Scenario]) -> None:
    duration_us, events = move_us(throttled())
    assert 7 * S <= duration_us <= 9.5 * S
    # No busy loop: 33 batches arrive, and in between each side looks again at most twice a second.
    assert len(events) < 600


def test_without_a_throttle_it_takes_a_moment() -> None:
    assert move_us(scenario())[0] < S


def test_the_other_replicas_are_not_throttled() -> None:
    """The partition that does not move, and the replica in sync of the one that does, begin to fetch at once."""
    _duration, events = move_us(scenario("1MiB/s"))
    began = {(e.node, e.partition): e.t_us for e in events if isinstance(e, FetchPosition) and e.offset >= 0}
    assert began[1, 1] < S
    assert [event.isr for event in events if isinstance(event, IsrChanged)] == [(0, 1, 2)]


def test_the_throttle_of_a_strategy() -> None:
    throttle = replication_throttle(scenario("50MiB/s"))
    assert throttle is not None
    orders = TopicPartition("orders", 0)
    assert (throttle.leader_replicas, throttle.follower_replicas) == ({orders: (0, 1)}, {orders: (2,)})
    assert (throttle.leader_rate, throttle.follower_rate) == (50 * MIB, 50 * MIB)
    assert throttle.follower_quota(1) is None


def test_the_strategys_throttle_overrules_the_settings_and_the_window_is_theirs() -> None:
    settings = {
        "leader.replication.throttled.rate": 7,
        "replication.quota.window.num": 3,
        "replication.quota.window.size.seconds": 2,
    }
    throttle = replication_throttle(scenario("50MiB/s", settings))
    assert throttle is not None
    assert (throttle.leader_rate, throttle.windows, throttle.window_us) == (50 * MIB, 3, 2 * S)
    throttle = replication_throttle(scenario(settings=settings))
    assert throttle is not None
    assert (throttle.leader_rate, throttle.follower_rate) == (7, 2**63 - 1)
    assert replication_throttle(scenario()) is None
