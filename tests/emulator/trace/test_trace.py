"""The digest is one of values: not of identity, chunks or subscribers; any change of any event shows."""

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.kernel import World
from emulator.trace import Trace, read_back
from emulator.trace.trace import CHUNK


class Said(NamedTuple):
    t_us: int
    seq: int
    cause: int
    text: str
    number: int | None
    replicas: tuple[int, ...]


class Heard(NamedTuple):
    t_us: int
    seq: int
    cause: int
    text: str
    number: int | None
    replicas: tuple[int, ...]


Row = tuple[Any, str, int | None, tuple[int, ...]]
ROWS = st.lists(
    st.tuples(
        st.sampled_from([Said, Heard]),
        st.text(max_size=5),
        st.none() | st.integers(-(2**70), 2**70),
        st.lists(st.integers(0, 5), max_size=3).map(tuple),
    ),
    max_size=12,
)


def traced(rows: list[Row]) -> Trace:
    trace = Trace(World(1))
    for kind, *fields in rows:
        trace.emit(kind, *fields)
    return trace


def copied(value: Any) -> Any:
    """Equal, but not the same object, and never interned."""
    if isinstance(value, str):
        return "".join(list(value))
    if isinstance(value, tuple):
        return tuple(copied(item) for item in value)
    return value if not isinstance(value, int) else int(str(value))


@given(ROWS)
def test_equal_values_have_one_digest(rows: list[Row]) -> None:
    copies: list[Row] = [(kind, copied(text), copied(number), copied(ids)) for kind, text, number, ids in rows]
    assert traced(rows).digest() == traced(copies).digest()


@given(ROWS, ROWS)
def test_different_values_have_different_digests(one: list[Row], other: list[Row]) -> None:
    assert (one == other) == (traced(one).digest() == traced(other).digest())


@given(ROWS, st.integers(0, 12))
def test_a_digest_on_the_way_changes_nothing(rows: list[Row], at: int) -> None:
    trace = traced(rows[:at])
    trace.digest()
    for kind, *fields in rows[at:]:
        trace.emit(kind, *fields)
    assert trace.digest() == traced(rows).digest()


def test_time_cause_and_kind_count() -> None:
    def digest(kind: Any, cause: int, now: int) -> str:
        world = World(1)
        trace = Trace(world)
        world.now, trace.cause = now, cause
        trace.emit(kind, "a", 1, ())
        return trace.digest()

    digests = [digest(Said, 0, 0), digest(Heard, 0, 0), digest(Said, 1, 0), digest(Said, 0, 1)]
    assert len(set(digests)) == 4


def test_folds_see_each_event_of_their_kind_at_once_and_in_order() -> None:
    trace = Trace(World(1))
    seen: list[Any] = []
    trace.fold(Said, lambda event: seen.append(("a", event.seq)))
    trace.fold(Said, lambda event: seen.append(("b", event.seq)))
    trace.emit(Said, "x", 1, ())
    trace.emit(Heard, "x", 1, ())
    trace.emit(Said, "x", 1, ())
    assert seen == [("a", 1), ("b", 1), ("a", 3), ("b", 3)]


def test_sinks_get_every_event_once_in_whole_chunks() -> None:
    trace = Trace(World(1))
    chunks: list[list[Any]] = []
    trace.sink(chunks.append)
    for number in range(CHUNK + 10):
        trace.emit(Said, "x", number, ())
    assert [len(chunk) for chunk in chunks] == [CHUNK]
    trace.digest()
    trace.flush()
    assert [len(chunk) for chunk in chunks] == [CHUNK, 10]
    assert [event.seq for chunk in chunks for event in chunk] == list(range(1, CHUNK + 11))


@given(ROWS)
def test_what_is_kept_as_bytes_is_read_back_equal(rows: list[Row]) -> None:
    trace = Trace(World(1))
    kept: list[tuple[list[Any], bytes]] = []
    trace.keep(lambda chunk, values: kept.append((chunk, values)))
    for kind, *fields in rows:
        trace.emit(kind, *fields)
    trace.flush()
    for chunk, values in kept:
        found = list(read_back(values, {"Said": Said}))
        assert found == [event for event in chunk if type(event) is Said]
        assert all(type(event) is Said for event in found)
    assert sum(len(chunk) for chunk, _ in kept) == len(rows)


def test_an_anchor_is_the_cause_of_what_follows() -> None:
    trace = Trace(World(1))
    trace.anchor(Said, "root", None, ())
    assert trace.emit(Said, "child", None, ()).cause == 1
    assert trace.anchor(Said, "next", None, ()).cause == 1
    assert trace.emit(Said, "grandchild", None, ()).cause == 3


def test_what_is_not_a_plain_value_is_refused() -> None:
    trace = Trace(World(1))
    trace.emit(Said, object(), 1, ())
    with pytest.raises(ValueError, match="unmarshallable"):
        trace.digest()
