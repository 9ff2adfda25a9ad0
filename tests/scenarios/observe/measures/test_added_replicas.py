"""The batches that an added replica fetched, kept as runs, against a list of them."""

from hypothesis import given
from hypothesis import strategies as st

from scenarios.observe.measures.added_replicas import _Replica

STEPS = st.lists(
    st.one_of(
        st.tuples(st.integers(1, 3), st.integers(1, 2), st.integers(1, 6)),
        st.tuples(st.just(0), st.integers(-1, 40), st.just(0)),
    )
)


@given(STEPS)
def test_against_a_list(steps: list[tuple[int, int, int]]) -> None:
    replica, batches, lost = _Replica(), list[tuple[int, int]](), 0
    for records, number, times in steps:
        if not records:
            replica.cut(number)
            while batches and batches[-1][0] > number:
                lost += batches.pop()[1]
        for _ in range(times):
            batches.append(((batches[-1][0] if batches else 0) + records, number))
            replica.fetched(*batches[-1])
        assert replica.lost_bytes == lost
        assert replica.bytes == lost + sum(size for _, size in batches)


def test_equal_batches_cost_what_one_does() -> None:
    replica = _Replica()
    for number in range(1000):
        replica.fetched(10 * number, 5)
    replica.cut(501)
    assert (len(replica.batches), replica.lost_bytes) == (1, 949 * 5)
