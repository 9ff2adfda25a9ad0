"""Fetches answered for a high watermark alone (Kafka 2.4 and 2.5: KIP-392, taken back with KAFKA-9952)."""

import pytest

from brokers.broker_policies import BrokerPolicies
from tests.brokers.bench import Bench, Follower


def leader(early: bool) -> tuple[Bench, Follower, Follower]:
    """A batch that follower 1 has read, and follower 2 has yet to read; both have received high watermark 0."""
    bench = Bench(BrokerPolicies(high_watermark_completes_fetches=early))
    bench.lead()
    bench.produce()
    one, two = bench.follower(1), bench.follower(2)
    for follower in (one, two):
        answer = follower.at(0)
        assert answer is not None
        assert answer.partitions[0].high_watermark == 0
    assert one.at(1) is None
    return bench, one, two


@pytest.mark.parametrize("early", [True, False])
def test_a_parked_fetch_is_answered_when_the_high_watermark_moves(early: bool) -> None:
    _bench, one, two = leader(early)
    answered = len(one.line.replies)
    last = two.at(1)  # the whole ISR has it now
    early_answer = one.answer(answered)
    assert (early_answer is not None, last is not None) == (early, early)
    if early_answer is not None and last is not None:
        assert [(part.high_watermark, part.batches) for part in early_answer.partitions] == [(1, ())]
        assert [(part.high_watermark, part.batches) for part in last.partitions] == [(1, ())]


def test_a_follower_that_has_the_high_watermark_waits_for_records() -> None:
    _bench, one, two = leader(True)
    two.at(1)
    assert one.at(1) is None


def test_the_first_high_watermark_of_an_empty_log_is_no_news() -> None:
    bench = Bench(BrokerPolicies(high_watermark_completes_fetches=True))
    bench.lead()
    assert bench.follower(1).at(0) is None
