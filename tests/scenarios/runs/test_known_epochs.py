"""Logs that differ since a follower missed an epoch (KIP-279, KIP-320, KAFKA-9338), from runs in which it happens."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import Deviated
from scenarios.runs import Run, run_scenario
from tests.scenarios.runs.building import TP, Table, scenario
from tests.scenarios.runs.stated import restated, stated
from tests.scenarios.runs.test_known_findings import quiet, tickets, told
from tests.scenarios.runs.test_known_logs import follows, led

__all__ = ["quiet"]

MAKE_LEADER = "Partition.makeLeader (0.9 to 3.9)"


def test_before_kip_320_a_follower_misses_elections(quiet: Run) -> None:
    found = stated(
        "log_matching",
        "…",
        9,
        9,
        "orders-0, broker 1, epoch 0: below its high watermark 14 its log has …",
        brokers=(1,),
    )
    missed = [follows(1, 0, 0), led(2, 2, 1), led(3, 0, 2)]
    assert tickets(told(quiet, "kafka-1.1", missed, found)) == ["KIP-320"]
    assert tickets(told(quiet, "kafka-2.5", missed, found)) == [None]
    for events in (
        missed[:2],
        [missed[0], missed[2]],
        [*missed, follows(4, 0, 2)],
        [missed[0], missed[1], led(3, 2, 2)],
    ):
        assert "KIP-320" not in tickets(told(quiet, "kafka-1.1", events, found))
    at_rest = stated(
        "isr_logs_identical", "…", 9, 9, "orders-0: broker 1, in sync, has a log that ends at 14 and …", brokers=(1,)
    )
    assert tickets(told(quiet, "kafka-1.1", [*missed, follows(4, 0, 2)], at_rest)) == ["KIP-320"]
    early = [follows(1, 0, 0), follows(2, 0, 1), led(3, 2, 1), led(4, 0, 2)]
    assert "KIP-320" not in tickets(told(quiet, "kafka-1.1", early, at_rest))


def test_before_kafka_9338_it_misses_them_within_a_session(quiet: Run) -> None:
    """Which goes on where the follower fetches another partition from the same leader."""
    found = stated(
        "log_matching",
        "…",
        9,
        9,
        "orders-0, broker 1, epoch 0: below its high watermark 14 its log has …",
        brokers=(1,),
    )
    missed = [follows(1, 0, 0), led(3, 2, 1), led(5, 0, 2)]
    other = follows(2, 0, 7)._replace(partition=1)
    for profile, ticket in (("kafka-1.1", "KIP-320"), ("kafka-2.4", "KAFKA-9338"), ("kafka-2.5", None)):
        assert tickets(told(quiet, profile, [*missed, other], found)) == [ticket]
    for elsewhere in (
        [],
        [other._replace(node=2)],
        [other._replace(leader=2)],
        [other._replace(seq=6)],
        [other, other._replace(seq=4, leader=2)],
        [other, led(4, 1, 8)._replace(partition=1)],
    ):
        assert tickets(told(quiet, "kafka-2.4", [*missed, *elsewhere], found)) == [None]


def test_before_kafka_9338_it_may_also_have_been_paused_meanwhile(quiet: Run) -> None:
    found = stated("log_matching", "…", 9, 9, "orders-0, broker 1, epoch 0: below …", brokers=(1,))

    def pause(seq: int, action: str = "broker.pause", broker: int = 1) -> e.Fault:
        return e.Fault(seq, seq, -1, action, str(broker), "")

    missed = [follows(1, 0, 0), led(3, 2, 1), led(6, 0, 2)]
    assert tickets(told(quiet, "kafka-2.4", [*missed, pause(2)], found)) == ["KAFKA-9338"]
    assert tickets(told(quiet, "kafka-2.5", [*missed, pause(2)], found)) == [None]
    for events in ([pause(7)], [pause(0)], [pause(2, broker=3)], [pause(2), pause(4, "broker.resume")]):
        assert tickets(told(quiet, "kafka-2.4", [*missed, *events], found)) == [None]


@pytest.mark.parametrize(
    ("profile", "assignment", "known"),
    [
        ("kafka-2.3", [[1, 0, 2], [0, 2, 3]], {"KAFKA-9338": None}),
        ("kafka-2.4", [[1, 0, 2], [0, 2, 3]], {"KAFKA-9338": None}),
        ("kafka-2.5", [[1, 0, 2], [0, 2, 3]], {}),
        ("kafka-2.4", [[1, 0, 2]], {}),
    ],
)
def test_a_session_hides_two_elections(profile: str, assignment: list[list[int]], known: dict[str, None]) -> None:
    """Broker 2 has records that broker 1 lacks, is cut off from the controller, and fetches from broker 0: in the first
    partition before and after broker 1 led there, in the second one, if there is one, all the time."""
    method: tuple[Table, ...] = (
        {"at": "1s", "action": "broker.crash", "target": 1, "duration": "7s"},
        {"at": "12s", "action": "link.cut", "target": 3, "peer": 2},
        {"at": "12s", "action": "link.cut", "target": 0, "peer": 1},
        {"at": "13s", "action": "election.preferred"},
        {"at": "18s", "action": "link.heal", "target": 0, "peer": 1},
        {"at": "26s", "action": "broker.crash", "target": 1},
        {"at": "38s", "action": "broker.crash", "target": 0},
        {"at": "45s", "action": "link.heal", "target": 3},
    )
    run = run_scenario(
        scenario(
            brokers=4, controller=3, assignment=assignment, method=method, rate=100, acks="1", horizon="1m",
            profile=profile, strategy="kip-455" if profile == "kafka-2.5" else "wiki",
        )
    )  # fmt: skip
    assert dict.fromkeys(tickets(run)) == known


def test_before_kafka_9338_a_follower_leads_in_an_epoch_before_that_of_what_it_has_read(quiet: Run) -> None:
    """By a LeaderAndIsr that was long on its way (kafka-2.3, seed 40082, before what a machine has sent was lost when
    it goes down)."""
    found = stated(
        "append_shape", "…", 9, 9, "broker 1, orders-0: leader epoch 1 is found to end at 76, and …", brokers=(1,)
    )
    grown = restated(found, "broker 1, orders-0: batch 5 of epoch 2 follows a batch of epoch 3")
    late = led(5, 1, 2)._replace(log_end_offset=76)
    marks: list[Any] = [follows(1, 0, 1), led(3, 0, 3)._replace(log_end_offset=28), late]
    other = follows(2, 0, 7)._replace(partition=1)
    for state in (found, grown):
        for profile, ticket in (("kafka-1.1", "KIP-320"), ("kafka-2.4", "KAFKA-9338"), ("kafka-2.5", None)):
            assert tickets(told(quiet, profile, [*marks, other], state)) == [ticket]
    again = follows(6, 0, 5, end=76)
    assert tickets(told(quiet, "kafka-2.4", [*marks, other, again], found)) == ["KAFKA-9338"]
    for others in (
        marks,
        [other, *marks[1:]],
        [other, *marks[:2]],
        [other, marks[0], marks[2]],
        [other, *marks[:2], late._replace(log_end_offset=28)],
        [other, *marks[:2], late._replace(leader_epoch=3)],
        [other, *marks[:2], late._replace(node=2)],
        [other, marks[0], marks[1]._replace(node=2), late],
        [other, marks[0], marks[1]._replace(seq=6), late],
        [other, *marks, e.Truncated(6, 6, 0, 1, *TP, 5, 28, 28)],
    ):
        assert tickets(told(quiet, "kafka-2.4", others, found)) == [None]
    kept = [other, *marks, e.Truncated(6, 6, 0, 1, *TP, 5, 30, 28)]
    assert tickets(told(quiet, "kafka-2.4", kept, found)) == ["KAFKA-9338"]
    cut = stated(
        "truncate_safety", "…", 6, 6, "orders-0: broker 1, in the ISR [0, 1, 2], truncates to 28 in …", brokers=(1,)
    )
    lacks = stated(
        "isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 ends at 28 and lacks …", brokers=(1,)
    )
    truncated = e.Truncated(6, 6, 0, 1, *TP, 5, 28, 28)
    run = told(quiet, "kafka-2.4", [*marks, other, truncated], cut, lacks)
    assert tickets(run) == ["KAFKA-9338", "KAFKA-9338"]
    assert tickets(told(quiet, "kafka-2.4", [*marks, other], lacks)) == [None]


@pytest.mark.parametrize(("profile", "known"), [("kafka-1.1", None), ("kafka-2.3", "KAFKA-9338"), ("kafka-2.5", None)])
def test_a_session_reads_ahead_of_the_epoch_in_which_the_follower_leads(profile: str, known: str | None) -> None:
    """Broker 2 is to lead, and does not learn of it; nor that broker 0 leads in its place, from which it fetches. Up to
    2.0.0 its log keeps the later epoch nevertheless (LeaderEpochFileCache.assign)."""
    method: tuple[Table, ...] = (
        {"at": "1s", "action": "broker.crash", "target": 2, "duration": "9s"},
        {"at": "14s", "action": "link.cut", "target": 3, "peer": 2},
        {"at": "14s", "action": "link.cut", "target": 2, "peer": "zookeeper"},
        {"at": "15s", "action": "election.preferred"},
        {"at": "32s", "action": "link.heal", "target": 3, "peer": 2},
        {"at": "36s", "action": "link.heal", "target": 2, "peer": "zookeeper"},
    )
    run = run_scenario(
        scenario(
            brokers=4, controller=3, assignment=[[2, 0, 1], [0, 2, 3]], method=method, rate=100, horizon="1m",
            profile=profile, strategy="kip-455" if profile == "kafka-2.5" else "wiki",
        )
    )  # fmt: skip
    assert dict.fromkeys(tickets(run)) == ({} if known is None else {known: None})


@pytest.mark.parametrize("ticket", ["KIP-279", "KIP-320"])
def test_others_differ_from_a_leader_that_has_kept_too_much_while_nothing_was_committed(
    quiet: Run, ticket: str
) -> None:
    """kafka-1.1, seed 703 of the default swarm."""
    kept = Deviated(1, 1, 0, 0, ticket, *TP, 1)
    marks: list[Any] = [kept, e.Truncated(2, 2, 0, 1, *TP, 5, 5, 5), led(6, 1, 6)]
    lacks = stated("isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 0 ends at 20 …", brokers=(0,))
    differs = stated("log_matching", "…", 9, 9, "orders-0, broker 0, epoch 6: below …", brokers=(0,))
    assert tickets(told(quiet, "kafka-1.1", marks, lacks, differs)) == [ticket, ticket]
    assert tickets(told(quiet, "kafka-2.4", marks, lacks, differs)) == [None, None]
    grown = stated("append_shape", "…", 9, 9, "broker 0, orders-0: batch 5 of epoch 2 follows …", brokers=(0,))
    assert tickets(told(quiet, "kafka-1.1", marks, grown)) == [None]
    for others in (
        marks[:2],
        marks[1:],
        [kept._replace(replica=2), *marks[1:]],
        [kept._replace(seq=7), *marks[1:]],
        [*marks[:2], led(6, 2, 6)],
        [*marks[:2], led(10, 1, 6)],
        [*marks, e.Truncated(4, 4, 0, 1, *TP, 5, 0, 0)],
        [*marks, e.LogLoaded(4, 4, 0, 1, *TP, 0, 0, 0)],
    ):
        assert tickets(told(quiet, "kafka-1.1", others, differs)) == [None]


def test_a_leader_commits_what_a_follower_has_cut_off_under_another(quiet: Run) -> None:
    """kafka-2.4, seed 21021: broker 0 has no request of the epoch in which broker 2 led, and is elected again."""
    found = stated("isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 …", brokers=(1,))
    cut = e.Truncated(4, 4, 0, 1, *TP, 2, 12, 12)
    marks = [led(1, 0, 1), led(2, 2, 2), cut, led(5, 0, 3)]
    for profile, has in (("kafka-0.8", False), ("kafka-1.1", True), ("kafka-3.9", True)):
        assert (MAKE_LEADER in tickets(told(quiet, profile, marks, found))) is has
    learns = e.BecameFollower(3, 3, 0, 0, *TP, 2, 2, 14, 14)
    for others in ([*marks, learns], [marks[0], cut, marks[3]], [*marks[:2], marks[3]]):
        assert MAKE_LEADER not in tickets(told(quiet, "kafka-3.9", others, found))
