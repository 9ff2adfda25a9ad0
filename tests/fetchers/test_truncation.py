"""Each generation's truncation rule on two logs, without a thread: which ends with the leader's log, and which does not
(kafka-behaviour §8.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.log.leader_epoch_cache import NO_EPOCHS
from emulator.protocol.errors import Errors
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, EpochEndOffset
from fetchers.truncation import Kip101, Kip279, OnFetch, ToHighWatermark, TruncationRule
from tests.fetchers.rig import A, Replica, new_log, write

TERMS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 5), st.booleans()), min_size=1, max_size=6)
"""Terms of leaders: how many records each writes, how much of the log before it keeps, which of the two it is."""


def epochs_of(replica: Replica) -> list[int]:
    return [batch.leader_epoch for batch in replica.log.batches]


def histories(terms: list[tuple[int, int, bool]]) -> tuple[Replica, Replica]:
    """A leader's and a follower's log after ``terms``: each term begins with a part of the log of the one before,
    which is what unclean elections, or lost tails, leave."""
    logs: dict[bool, list[int]] = {True: [], False: []}
    last = True
    for epoch, (records, kept, leader) in enumerate(terms):
        before = logs[last]
        mine = before if leader is last else before[: max(0, len(before) - kept)]
        logs[leader] = [*mine, *[epoch] * records]
        last = leader
    return Replica(write(new_log(), *logs[last])), Replica(write(new_log(), *logs[not last]))


def ask(leader: Replica, epoch: int, *, alone: bool) -> EpochEndOffset:
    log = leader.log
    if alone:
        return EpochEndOffset(A, Errors.NONE, UNDEFINED_EPOCH, log.epochs.end_offset_alone(epoch, log.end_offset))
    return EpochEndOffset(A, Errors.NONE, *log.epochs.end_offset_for(epoch, log.end_offset))


def truncate(rule: TruncationRule, leader: Replica, follower: Replica, high_watermark: int, *, alone: bool) -> int:
    """Truncate as a thread does; how many questions it took."""
    questions, done, offset = 0, False, high_watermark
    while not done:
        epoch = follower.latest_epoch
        if not rule.asks(epoch):
            follower.truncate_to(high_watermark)
            break
        questions += 1
        offset, done = rule.cut(follower, ask(leader, epoch, alone=alone), offset)
        follower.truncate_to(offset)
    return questions


def is_prefix(follower: Replica, leader: Replica) -> bool:
    mine = epochs_of(follower)
    return mine == epochs_of(leader)[: len(mine)]


@given(terms=TERMS)
def test_after_kip_279_the_follower_has_a_prefix_of_the_leaders_log(terms: list[tuple[int, int, bool]]) -> None:
    leader, follower = histories(terms)
    leader.log.begin_epoch(len(terms), leader.log_end_offset)
    shared = shared_length(leader, follower)
    questions = truncate(Kip279(), leader, follower, 0, alone=False)
    assert is_prefix(follower, leader)
    assert follower.log_end_offset == shared, "nothing that both have is cut off"
    assert questions <= 1 + len(terms)


def shared_length(leader: Replica, follower: Replica) -> int:
    pairs = zip(epochs_of(leader), epochs_of(follower), strict=False)
    return next(
        (at for at, (theirs, mine) in enumerate(pairs) if theirs != mine),
        min(leader.log_end_offset, follower.log_end_offset),
    )


@given(terms=TERMS)
def test_kip_101_asks_once_and_never_cuts_what_both_have(terms: list[tuple[int, int, bool]]) -> None:
    leader, follower = histories(terms)
    leader.log.begin_epoch(len(terms), leader.log_end_offset)
    shared = shared_length(leader, follower)
    assert truncate(Kip101(), leader, follower, shared, alone=True) == 1
    assert follower.log_end_offset >= shared


def test_kafka_6361_kip_101_leaves_logs_different_after_two_changes_of_leader() -> None:
    """The leader does not know the follower's last epoch: it names the end of the epoch before, which is its own
    history, and the follower keeps the records that it wrote meanwhile."""
    leader, follower = Replica(write(new_log(), 0, 0, 1, 1, 3)), Replica(write(new_log(), 0, 0, 2))
    truncate(Kip101(), leader, follower, 2, alone=True)
    assert (epochs_of(follower), is_prefix(follower, leader)) == ([0, 0, 2], False)
    truncate(Kip279(), leader, follower, 2, alone=False)
    assert (epochs_of(follower), is_prefix(follower, leader)) == ([0, 0], True)


@given(terms=TERMS, data=st.data())
def test_truncation_to_the_high_watermark_asks_nothing(terms: list[tuple[int, int, bool]], data: st.DataObject) -> None:
    """Records below it are right; those at or above it are removed, even if the leader has them."""
    leader, follower = histories(terms)
    high_watermark = data.draw(st.integers(0, shared_length(leader, follower)))
    assert truncate(ToHighWatermark(), leader, follower, high_watermark, alone=True) == 0
    assert is_prefix(follower, leader)
    assert follower.log_end_offset == high_watermark


def test_an_epoch_before_all_that_the_leader_knows() -> None:
    """Before KIP-279 the leader's answer is undefined; since then it is the start of its own log."""
    leader = Replica(write(new_log(), 2, 2))
    assert ask(leader, 1, alone=True).end_offset == -1
    assert (ask(leader, 1, alone=False).leader_epoch, ask(leader, 1, alone=False).end_offset) == (1, 0)


@pytest.mark.parametrize("rule", [Kip101(), Kip279(), OnFetch()], ids=lambda rule: type(rule).__name__)
def test_a_log_without_epochs_ends_at_its_high_watermark(rule: TruncationRule) -> None:
    leader, follower = Replica(write(new_log(), 0, 0, 0)), Replica(write(new_log(), 0, 0))
    follower.log.epochs = NO_EPOCHS
    truncate(rule, leader, follower, 1, alone=isinstance(rule, Kip101))
    assert follower.log_end_offset == 1
