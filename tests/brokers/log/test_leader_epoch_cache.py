"""The leader-epoch cache against a model that knows the epoch of every single offset (KIP-101, KIP-279)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.log.leader_epoch_cache import LeaderEpochFileCache
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET

OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 2), st.integers(1, 4)),
        st.tuples(st.just("truncate"), st.integers(0, 20), st.just(0)),
    ),
    max_size=20,
)
"""``append``: raise the epoch by that much and write that many records; ``truncate`` to an offset."""


def model_end_offset(epochs: list[int], asked: int) -> tuple[int, int]:
    """``epochs[offset]``: the answer by a look at every record."""
    if not epochs or asked == UNDEFINED_EPOCH or asked > epochs[-1]:
        return UNDEFINED_EPOCH, UNDEFINED_OFFSET
    later = [offset for offset, epoch in enumerate(epochs) if epoch > asked]
    end = later[0] if later else len(epochs)
    earlier = [epoch for epoch in epochs if epoch <= asked]
    return (earlier[-1] if earlier else asked), end


@given(OPERATIONS, st.integers(-1, 12))
def test_agrees_with_a_model_of_single_records(operations: list[tuple[str, int, int]], asked: int) -> None:
    cache, epochs, newest = LeaderEpochFileCache(), list[int](), 0
    for kind, number, records in operations:
        if kind == "append":
            newest += number
            cache = cache.assigned(newest, len(epochs))
            epochs += [newest] * records
        elif number < len(epochs):
            del epochs[number:]
            cache = cache.truncated_from(number)
    assert cache.latest == (epochs[-1] if epochs else UNDEFINED_EPOCH)
    assert cache.end_offset_for(asked, len(epochs)) == model_end_offset(epochs, asked)


def test_an_epoch_without_records_gives_way_to_the_next() -> None:
    cache = LeaderEpochFileCache(((0, 0),)).assigned(3, 5).assigned(4, 5)
    assert cache.entries == ((0, 0), (4, 5))


def test_an_epoch_below_the_first_ends_where_the_first_begins() -> None:
    assert LeaderEpochFileCache(((3, 10), (5, 20))).end_offset_for(1, 30) == (1, 10)


def test_an_epoch_in_a_gap_answers_with_the_one_before_it() -> None:
    assert LeaderEpochFileCache(((3, 10), (5, 20))).end_offset_for(4, 30) == (3, 20)


# -- LeaderEpochFileCacheTest, 2.3.1 to 2.7.2 -----------------------------------------------------------------------

THREE = LeaderEpochFileCache(((2, 6), (3, 8), (4, 11)))


@pytest.mark.parametrize(
    ("assigned", "entries"),
    [
        pytest.param([(2, 9), (2, 10)], [(2, 9)], id="shouldNotOverwriteOffsetForALeaderEpochOnceItHasBeenAssigned"),
        pytest.param([(2, 9), (3, 9)], [(3, 9)], id="shouldEnforceMonotonicallyIncreasingStartOffsets"),
        pytest.param([(1, 5), (2, 6), (1, 7)], [(1, 7)], id="shouldEnforceMonotonicallyIncreasingEpochs"),
        pytest.param([(2, 6), (3, 5)], [(3, 5)], id="shouldEnforceOffsetsIncreaseMonotonically"),
        pytest.param(
            [(5, 11), (6, 12), (7, 13), (7, 12)], [(5, 11), (7, 12)],
            id="shouldTruncateIfMatchingEpochButEarlierStartingOffset",
        ),
    ],
)  # fmt: skip
def test_the_latest_assignment_is_right_and_what_contradicts_it_is_dropped(
    assigned: list[tuple[int, int]], entries: list[tuple[int, int]]
) -> None:
    cache = LeaderEpochFileCache()
    for epoch, start in assigned:
        cache = cache.assigned(epoch, start)
    assert list(cache.entries) == entries


@pytest.mark.parametrize(
    ("start", "entries"),
    [
        pytest.param(1, THREE.entries, id="shouldNotClearAnythingIfOffsetToEarly"),
        pytest.param(6, THREE.entries, id="shouldNotClearAnythingIfOffsetToFirstOffset"),
        pytest.param(8, ((3, 8), (4, 11)), id="shouldPreserveResetOffsetOnClearEarliestIfOneExists"),
        pytest.param(9, ((3, 9), (4, 11)), id="shouldUpdateOffsetBetweenEpochBoundariesOnClearEarliest"),
        pytest.param(11, ((4, 11),), id="shouldRetainLatestEpochOnClearAllEarliest"),
        pytest.param(15, ((4, 15),), id="shouldRetainLatestEpochOnClearAllEarliestAndUpdateItsOffset"),
    ],
)
def test_a_log_that_begins_later(start: int, entries: tuple[tuple[int, int], ...]) -> None:
    assert THREE.truncated_before(start).entries == entries
    assert LeaderEpochFileCache().truncated_before(start).entries == ()


@pytest.mark.parametrize(
    ("end", "left"),
    [
        pytest.param(8, 1, id="shouldDropEntriesOnEpochBoundaryWhenRemovingLatestEntries"),
        pytest.param(9, 2, id="shouldDropEntriesBetweenEpochBoundaryWhenRemovingNewest"),
        pytest.param(UNDEFINED_OFFSET, 3, id="shouldNotResetEpochHistoryHeadIfUndefinedPassed"),
    ],
)
def test_a_log_that_ends_earlier(end: int, left: int) -> None:
    assert THREE.truncated_from(end).entries == THREE.entries[:left]
