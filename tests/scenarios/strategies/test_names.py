"""Strategy names: what runs, what is known and not yet there, what is a slip of the pen."""

import pytest

from scenarios.errors import BadInput
from scenarios.strategies import Strategy, parse_strategy
from scenarios.strategies.names import available_shapes


def test_the_shapes_that_run() -> None:
    assert parse_strategy("wiki") == Strategy("wiki", "wiki", "wiki")
    assert parse_strategy("kafka-6794") == Strategy("kafka-6794", "kafka-6794", "kafka-6794", width=1)
    assert parse_strategy("kafka-42").protocol == "kafka-42"
    assert parse_strategy("grow-then-shrink").protocol == "kafka-6794"
    assert all(parse_strategy(name).name == name for name in available_shapes())


@pytest.mark.parametrize(("name", "width"), [("width-1", 1), ("width-2", 2), ("width-12", 12), ("width-all", None)])
def test_a_width_is_a_number_of_replicas_or_all(name: str, width: int | None) -> None:
    assert parse_strategy(name) == Strategy(name, "width-K", "kafka-6794", width)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("wikki", "did you mean 'wiki'"),
        ("Kafka-6794", "did you mean|older name"),
        ("all_at_once", "write 'wiki'"),
        ("one_by_one", "write 'kafka-6794'"),
        ("width-0", "did you mean 'width-K'"),
        ("width-K", "write width-2, or width-all"),
        ("", "known: wiki"),
        ("wiki+window(10)+largest-first", "not in this version"),
    ],
)
def test_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(BadInput, match=hint):
        parse_strategy(name)
