"""Strategy names: what runs, what is known and not yet there, what is a slip of the pen."""

import pytest

from scenarios.errors import BadInput
from scenarios.strategies import SHAPES, Strategy, parse_strategy


def test_the_shapes_that_run() -> None:
    assert parse_strategy("wiki") == Strategy("wiki", "wiki", "wiki")
    assert parse_strategy("kafka-6794").protocol == "kafka-6794"


@pytest.mark.parametrize(
    "name", [shape.name for shape in SHAPES.values() if not shape.available] + ["width-12"]
)
def test_known_shapes_of_later_versions(name: str) -> None:
    with pytest.raises(
        BadInput, match=r"is not in this version \(docs/limits\.md\); write one of wiki, kafka-6794"
    ):
        parse_strategy(name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("wikki", "did you mean 'wiki'"),
        ("Kafka-6794", "did you mean|older name"),
        ("all_at_once", "write 'wiki'"),
        ("one_by_one", "write 'kafka-6794'"),
        ("width-0", "did you mean 'width-K'"),
        ("", "known: wiki"),
        ("wiki+window(10)+largest-first", "not in this version"),
    ],
)
def test_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(BadInput, match=hint):
        parse_strategy(name)
