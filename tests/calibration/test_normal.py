"""Differences between two runs of one Kafka are set aside, and nothing else."""

import pytest
from attrs import evolve

from benchmarks.calibration.facts import Fact, PartitionState, Request, Write
from benchmarks.calibration.normal import Stream, differences, normal

STATE = "/brokers/topics/orders/partitions/0/state"
OF_STATE = Stream("orders", "state znode of orders-0")


def state(isr: list[int], version: int, *, epoch: int = 0, leader: int = 0) -> Write:
    data = f'{{"controller_epoch":1,"leader":{leader},"version":1,"leader_epoch":{epoch},"isr":{isr}}}'
    return Write(0, "setData", STATE, version, data)


def metadata(isr: tuple[int, ...], version: int, *, leader: int = 0, api: str = "UpdateMetadata") -> Request:
    told = PartitionState("orders", 0, 1, leader, 0, isr, version, (0, 1, 2), "", "NONE")
    return Request(1, api, 3, 1, 1, "NONE", (told,), (0, 1, 2, 3))


@pytest.mark.parametrize("first", [[0, 1], [0, 2]])
def test_the_order_of_joins_is_set_aside(first: list[int]) -> None:
    run = normal([state([0], 0), state(first, 1), state([0, 1, 2], 2)])
    assert run[OF_STATE] == [
        "controller epoch 1, leader 0, epoch 0, ISR [0, 1, 2] v2",
    ]


def test_a_join_that_is_lacking_is_seen_in_the_version() -> None:
    two, one = [state([0], 0), state([0, 1], 1), state([0, 1, 2], 2)], [state([0], 0), state([0, 1, 2], 1)]
    assert [each.stream for each in differences(normal(two), normal(one))] == [OF_STATE]


@pytest.mark.parametrize("other", [state([0], 1), state([0, 1], 1, epoch=1), state([1, 2], 1, leader=1)])
def test_a_drop_an_epoch_and_a_leader_are_kept(other: Write) -> None:
    run = normal([state([0, 1], 0), other])
    assert len(run[OF_STATE]) == 2


@pytest.mark.parametrize(
    "announced", [[metadata((0, 1, 2), 2)], [metadata((0, 1), 1), metadata((0, 1, 2), 2)], [metadata((0, 1, 2), 2)] * 2]
)
def test_how_joins_are_announced_is_set_aside(announced: list[Fact]) -> None:
    [lines] = normal([metadata((0,), 0), *announced]).values()
    assert len(lines) == 2
    assert lines[-1].startswith("in the end: 0 leader 0, epoch 0, ISR [0, 1, 2]")


def test_joins_that_are_never_announced_differ() -> None:
    announced, silent = normal([metadata((0,), 0), metadata((0, 1), 1)]), normal([metadata((0,), 0)])
    [difference] = differences(announced, silent)
    assert (len(difference.kafka), len(difference.understudy)) == (1, 1)


@pytest.mark.parametrize(
    "other",
    [
        metadata((0, 1, 2), 0, leader=1),
        metadata((0, 1), 1),
        evolve(metadata((0, 1, 2), 0), brokers=(0, 1, 3)),
        evolve(metadata((0, 1, 2), 0), controller_epoch=2),
        evolve(metadata((0, 1, 2), 0), broker_epoch=2),
        metadata((0, 1, 2), 0, api="LeaderAndIsr"),
        evolve(metadata((0, 1, 2), 0, api="LeaderAndIsr"), error="STALE_BROKER_EPOCH"),
    ],
)
def test_all_other_requests_are_kept(other: Request) -> None:
    [lines] = normal([metadata((0, 1, 2), 0), other]).values()
    assert len([line for line in lines if not line.startswith("in the end")]) == 2


def test_what_was_before_the_first_topic_is_set_aside() -> None:
    empty = evolve(metadata((), 0), partitions=())
    early = Write(3, "create", "/controller_epoch", 0, "1")
    later = Write(4, "setData", "/controller_epoch", 1, "2")
    run = normal([early, state([0], 0), later, empty, metadata((0,), 0), empty])
    assert run[Stream("-", "znode /controller_epoch")] == ["2 v1"]
    assert len(run[Stream("-", "requests to 1")]) == 1


def test_one_topic_does_not_hide_in_the_requests_of_another() -> None:
    here = metadata((0,), 0)
    there = here.partitions[0]._replace(topic="payments")
    run = normal([evolve(here, partitions=(*here.partitions, there))])
    assert {stream.topic for stream in run} == {"orders", "payments"}


def topic(topic_id: str, version: int = 0) -> Write:
    data = f'{{"version":3,"partitions":{{"0":[0]}},"topic_id":"{topic_id}"}}'
    return Write(0, "setData" if version else "create", "/brokers/topics/orders", version, data)


def test_the_id_of_a_topic_is_set_aside_but_not_that_it_changes() -> None:
    gone = Write(0, "delete", "/brokers/topics/orders", 0, "")
    run = normal([topic("qXvK"), gone, topic("Z1bA")])
    assert differences(run, normal([topic("aaaa"), gone, topic("bbbb")])) == []
    assert len(differences(run, normal([topic("aaaa"), gone, topic("aaaa")]))) == 1
    unnamed = Write(0, "create", "/brokers/topics/orders", 0, '{"version":3,"partitions":{"0":[0]}}')
    assert len(differences(normal([topic("qXvK")]), normal([unnamed]))) == 1


def test_a_leader_that_recovers_is_kept() -> None:
    """``leader_recovery_state`` (KIP-704, 3.2): the leader's first ISR ends it."""
    recovers = state([0], 1)
    recovers = evolve(recovers, data=recovers.data.replace('"version"', '"leader_recovery_state":1,"version"'))
    recovered = normal([state([0], 0), recovers, state([0, 1], 2)])
    assert recovered[OF_STATE] == [
        "controller epoch 1, leader 0, epoch 0, ISR [0] v0",
        "controller epoch 1, leader 0, epoch 0, ISR [0] v1 recovering",
        "controller epoch 1, leader 0, epoch 0, ISR [0, 1] v2",
    ]
