"""Where the messages of a load go, over partitions and in batches."""

from itertools import pairwise
from typing import Any

from emulator.protocol.events import Appended, Produced
from scenarios.cluster.clients.producing.partitioner import partition_of
from tests.scenarios.runs.building import Played, Table, play, scenario

THREE = [[0, 1], [1, 2], [2, 0]]


def written(config: Table | None = None, method: tuple[Table, ...] = (), **load: Any) -> Played:
    """10 s of 300 messages a second on three partitions."""
    table = {"topic": "orders", "producerRate": 300, "stop": "10s", "config": config or {}, **load}
    rest = {"at": "12s", "action": "link.heal", "target": 3}
    return play(
        scenario(
            brokers=4, controller=3, assignment=THREE, workloads=[table], rate=0, method=[*method, rest], horizon="1m"
        )
    )  # fmt: skip


def appended(played: Played) -> list[Appended]:
    return played.of(Appended, lambda event: event.leader and event.id > 0)


def messages(played: Played) -> dict[int, int]:
    counts: dict[int, int] = {}
    for event in appended(played):
        counts[event.partition] = counts.get(event.partition, 0) + event.next_offset - event.base_offset
    return counts


def test_without_keys_messages_are_spread_evenly() -> None:
    counts = messages(written())
    assert sum(counts.values()) in range(2950, 3001)
    assert max(counts.values()) - min(counts.values()) <= 10


def test_each_key_stays_where_its_hash_says() -> None:
    homes = [partition_of(f"key-{key}".encode(), 3) for key in range(2)]
    counts = messages(written(keys=2))
    assert set(counts) == set(homes)
    assert all(abs(counts[home] - 1500 * homes.count(home)) < 60 for home in set(homes))


def test_a_sticky_partitioner_fills_one_batch_after_the_other() -> None:
    played = written(partitioner="sticky")
    events = appended(played)
    assert {event.next_offset - event.base_offset for event in events} == {30}
    assert {event.partition for event in events} == {0, 1, 2}
    assert all(one.partition != other.partition for one, other in pairwise(events))


def test_a_batch_that_is_full_does_not_wait_for_its_linger() -> None:
    """5 messages of 1024 bytes fill a batch of each of three partitions in 50 ms."""
    played = written({"batch.size": 5 * 1024}, linger="1s")
    assert {event.next_offset - event.base_offset for event in appended(played)} == {5}
    assert max(event.latency_us for event in played.of(Produced)[3:]) < 20_000


def test_several_producers_share_the_rate() -> None:
    played = written(producersPerTopic=4)
    assert {event.node for event in played.of(Produced)} == {-10, -11, -12, -13}
    assert sum(messages(played).values()) in range(2900, 3001)


def test_retries_that_are_used_up() -> None:
    """min.insync.replicas is out of reach from 3 s on: a batch is sent three times, and its application gets the last
    error."""
    gone = {"at": "3s", "action": "broker.crash", "target": [1, 2]}
    setting = {"at": "1s", "action": "config.set", "topic": "orders", "config": {"min.insync.replicas": 2}}
    played = written({"retries": 2}, method=(setting, gone))
    given_up = played.of(Produced, lambda event: event.outcome == "retries")
    assert {(event.error, event.attempts) for event in given_up} >= {("NOT_ENOUGH_REPLICAS", 3)}
    assert max(event.attempts for event in given_up) == 3


def test_a_batch_expires_when_its_delivery_timeout_is_over() -> None:
    gone = {"at": "3s", "action": "broker.crash", "target": "leader(orders-0)"}
    also = {"at": "3s", "action": "broker.crash", "target": 1}
    config = {"delivery.timeout.ms": 2100, "request.timeout.ms": 2000}
    played = written(config, method=(gone, also), keys=50)
    expired = played.of(Produced, lambda event: event.outcome == "expired")
    assert expired
    assert all(2_100_000 <= event.latency_us <= 2_300_000 for event in expired)
    assert all(event.base_offset == -1 for event in expired)


def test_keyless_messages_go_where_a_leader_is() -> None:
    """Partition 0 has lost its leader and does not get another: once the client's metadata shows it, the others share
    the load."""
    gone = {"at": "3s", "action": "broker.crash", "target": [0, 1]}
    late = {"at": "25s", "action": "link.heal", "target": 3}
    played = written(method=(gone, late), stop="24s")
    last = [event for event in appended(played) if event.t_us > 20_000_000]
    assert {event.partition for event in last} == {1, 2}
    assert {event.next_offset - event.base_offset for event in last} == {15}


def test_skewed_keys_load_the_partitions_unevenly() -> None:
    even, skewed = messages(written(keys=100)), messages(written(keys=100, key_skew=1.5))
    assert sum(skewed.values()) == sum(even.values())
    assert max(skewed.values()) - min(skewed.values()) > 2 * (max(even.values()) - min(even.values()))
