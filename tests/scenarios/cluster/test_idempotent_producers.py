"""Idempotent producers on a whole cluster: in spite of faults, each batch is in the log once and in order."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.protocol.events import Appended, ControllerElected, Produced
from emulator.protocol.types import SequencedBatch, TopicPartition
from emulator.protocol.znodes import PRODUCER_ID_BLOCK
from emulator.trace.events import ZkWritten
from scenarios.language import Scenario
from tests.scenarios.runs.building import HEAL, TP, Played, Table, play, scenario

IDEMPOTENT = {"enable.idempotence": True}


def loaded(*method: Table, config: Table = IDEMPOTENT, brokers: int = 4, **more: Any) -> Scenario:
    """orders-0 on brokers 0, 1, 2, led by 0; a batch of 20 messages every 100 ms for 8 s."""
    load = {"topic": "orders", "producerRate": 200, "stop": "8s", "config": config, **more.pop("load", {})}
    return scenario(
        brokers=brokers, controller=brokers - 1, assignment=[[0, 1, 2]], method=method, workloads=[load], rate=0,
        config={"replica.lag.time.max.ms": 4000}, horizon="3m", rollbacks=HEAL, **more,
    )  # fmt: skip


def written(played: Played, tp: TopicPartition = TP) -> list[int]:
    """The ids of the producers' batches in the log of the last leader, in its order."""
    partition = played.stage.cluster.brokers[played.state(tp).leader].replicas.partitions[tp]
    assert partition.log is not None
    return [batch.id for batch in partition.log.batches if batch.id > 0]


def last(played: Played) -> int:
    return max(event.id for event in played.of(Produced))


LOST_ANSWER: Table = {
    "when": {"message": "Produce", "response": True, "since": "4s", "from": "leader(orders-0)"},
    "action": "message.cut",
}


@pytest.mark.parametrize(("config", "twice"), [({}, True), (IDEMPOTENT, False)])
def test_an_answer_that_is_lost(config: Table, twice: bool) -> None:
    """The broker has the batch, the producer does not know and sends it again."""
    played = play(loaded(LOST_ANSWER, config=config))
    assert played.run.passed, played.run.explanation
    ids = written(played)
    assert (len(ids) > len(set(ids))) is twice
    assert sorted(set(ids)) == list(range(1, last(played) + 1))
    again = played.of(Produced, lambda event: event.attempts > 1)
    assert {(event.outcome, event.error) for event in again} == {("acked", "NONE")}


def test_producer_ids_come_in_blocks_of_a_thousand_from_zookeeper() -> None:
    played = play(loaded(load={"producersPerTopic": 3}))
    data = played.stage.cluster.zookeeper.tree.get(PRODUCER_ID_BLOCK)
    assert data is not None
    assert data.startswith('{"version":1,"broker":')
    assert data.endswith(',"block_start":"0","block_end":"999"}'), "all three have asked one broker"
    ids = {getattr(batch, "producer_id", None) for batch in _batches(played)}
    assert ids == {None, 0, 1, 2}, "and what the topic began with has none"


def test_since_kip_730_they_come_from_the_controller() -> None:
    played = play(loaded(load={"producersPerTopic": 3}), profile="kafka-3.0")
    assert played.run.passed, played.run.explanation
    data = played.stage.cluster.zookeeper.tree.get(PRODUCER_ID_BLOCK)
    assert data is not None
    assert data.endswith(',"block_start":"0","block_end":"999"}')
    [written] = played.of(ZkWritten, lambda event: event.path == PRODUCER_ID_BLOCK)
    [controller] = dict.fromkeys(event.node for event in played.of(ControllerElected))
    assert written.client == controller
    assert {getattr(batch, "producer_id", None) for batch in _batches(played)} == {None, 0, 1, 2}


def _batches(played: Played) -> list[Any]:
    partition = played.stage.cluster.brokers[0].replicas.partitions[TP]
    assert partition.log is not None
    return list(partition.log.batches)


fault_times = st.integers(1000, 7500)
faults = st.one_of(
    st.builds(lambda t: {**LOST_ANSWER, "when": {**LOST_ANSWER["when"], "since": f"{t}ms"}}, fault_times),
    st.builds(
        lambda t, kind: {"at": f"{t}ms", "action": "broker.crash", "target": "leader(orders-0)", "kind": kind,
                         "duration": "5s"},
        fault_times, st.sampled_from(("process",)),
    ),
    st.builds(
        lambda t, peer: {"at": f"{t}ms", "action": "link.cut", "target": "leader(orders-0)", "peer": peer,
                         "duration": "7s"},
        fault_times, st.sampled_from(([1], [1, 2], "zookeeper")),
    ),
    st.builds(
        lambda t: {"at": f"{t}ms", "action": "broker.pause", "target": "leader(orders-0)", "duration": "9s"},
        fault_times,
    ),
)  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(st.lists(faults, min_size=1, max_size=3), st.integers(1, 1000), st.sampled_from((1, 5)))
def test_no_batch_twice_and_none_out_of_order(method: list[Table], seed: int, in_flight: int) -> None:
    config = {**IDEMPOTENT, "max.in.flight.requests.per.connection": in_flight}
    played = play(loaded(*method, config=config, seed=seed, load={"linger": "20ms"}))
    assert played.run.violations == ()
    assert {event.error for event in played.of(Produced)} == {"NONE"}
    assert written(played) == list(range(1, last(played) + 1))


def test_a_producer_whose_acknowledged_batches_are_lost_gets_a_new_id() -> None:
    """An unclean election: the new leader lacks the last batches, the next one is out of order. Batches in flight fail,
    and later ones have another producer id."""
    cut = {"at": "3s", "action": "link.cut", "target": "leader(orders-0)", "peer": [1, 2], "duration": "20s"}
    crash = {"at": "12s", "action": "broker.crash", "target": 0}
    played = play(
        loaded(
            cut, crash, load={"stop": "40s"},
            topics=[{"name": "orders", "assignment": [[0, 1, 2]], "config": {"unclean.leader.election.enable": True}}],
        )
    )  # fmt: skip
    assert played.run.violations == ()
    failed = played.of(Produced, lambda event: event.outcome == "failed")
    assert {event.error for event in failed} == {"OUT_OF_ORDER_SEQUENCE_NUMBER"}
    leader = played.state().leader
    partition = played.stage.cluster.brokers[leader].replicas.partitions[TP]
    assert partition.log is not None
    ids = {batch.producer_id for batch in partition.log.batches if isinstance(batch, SequencedBatch)}
    assert ids == {0, 1000}, "the broker that had the first block is gone"
    assert played.of(Appended, lambda event: event.node == leader and event.id == last(played))
