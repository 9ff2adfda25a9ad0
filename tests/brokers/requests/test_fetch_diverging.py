"""The leader's side of truncation on fetch (KIP-595), and its answers about epochs before KIP-279."""

from typing import Any

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchPartition, FetchRequest
from emulator.protocol.offsets_for_leader_epoch import EpochQuery, OffsetsForLeaderEpochRequest
from tests.brokers.bench import TP, Bench, Line


def lead(bench: Bench, *written: int) -> None:
    """Lead under one epoch after the other, and write the given number of records in each."""
    for epoch, records in enumerate(written):
        bench.lead(epoch, isr=(0,))
        for _ in range(records):
            bench.produce()


def fetch(bench: Bench, offset: int, last: int, line: Line | None = None, session: int = 0) -> Any:
    """The answer to follower 1, whose log ends at ``offset`` with a record of epoch ``last``; None: none yet."""
    line = line or Line()
    answered = len(line.replies)
    wanted = (FetchPartition(TP, bench.partition.leader_epoch, offset, 0, last),)
    epoch = 0 if session == 0 else 1
    request = FetchRequest(1, session, epoch, 500_000, 1, 10_000, 1_000, wanted, ())
    bench.send(request, line)
    if len(line.replies) == answered:
        return None
    (answer,) = line.last.partitions
    return answer


def test_a_log_that_is_the_leaders_as_far_as_it_goes_is_read_on() -> None:
    bench = Bench()
    lead(bench, 2, 2)
    for offset, last in ((1, 0), (2, 0), (3, 1)):
        answer = fetch(bench, offset, last)
        assert (answer.diverging, answer.batches[0].base_offset) == (None, offset)
    fetch(bench, 4, 1)
    assert bench.remote(1).log_end_offset == 4


def test_the_diverging_epoch_is_answered_at_once() -> None:
    bench = Bench()
    lead(bench, 2, 0, 2)
    for offset, last, part in ((3, 0, (0, 2)), (3, 1, (0, 2)), (9, 0, (0, 2))):
        answer = fetch(bench, offset, last)
        assert (answer.error, answer.diverging, answer.batches) == (Errors.NONE, part, ())


def test_a_follower_whose_log_diverges_does_not_count_as_caught_up() -> None:
    bench = Bench()
    lead(bench, 2, 0, 2)
    fetch(bench, 4, 1)
    assert bench.remote(1).log_end_offset < 4
    assert bench.remote(1).session is None
    assert bench.partition.isr == (0,)


def test_once_it_is_cut_it_counts() -> None:
    bench = Bench()
    lead(bench, 2, 0, 2)
    line = Line()
    assert fetch(bench, 3, 1, line).diverging == (0, 2)
    answer = fetch(bench, 2, 0, line, session=line.last.session_id)
    assert (answer.diverging, len(answer.batches)) == (None, 2)
    assert bench.remote(1).log_end_offset == 2


def test_an_epoch_that_the_leader_does_not_know_is_out_of_range() -> None:
    bench = Bench()
    lead(bench, 2)
    assert fetch(bench, 2, 7).error is Errors.OFFSET_OUT_OF_RANGE


def test_before_kip_279_an_answer_is_an_offset_alone() -> None:
    ends = {True: [(0, 2), (1, 3), (-1, -1)], False: [(-1, 2), (-1, 3), (-1, -1)]}
    for with_epoch, expected in ends.items():
        bench = Bench(BrokerPolicies(answers_with_epoch=with_epoch))
        lead(bench, 2, 1)
        line = Line()
        queries = tuple(EpochQuery(TP, 1, epoch) for epoch in (0, 1, 5))
        bench.send(OffsetsForLeaderEpochRequest(1, queries), line)
        assert [(answer.leader_epoch, answer.end_offset) for answer in line.last.partitions] == expected
