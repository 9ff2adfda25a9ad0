"""Strategy names: which ones run, which are known and not implemented, which are misspelt."""

import pytest

from scenarios.errors import BadInput
from scenarios.language.strategies import PARTS, Strategy, parse_strategy
from scenarios.language.strategies.strategy import one_of_each_shape


def test_the_shapes_that_run() -> None:
    assert parse_strategy("wiki") == Strategy("wiki", "wiki", "wiki")
    assert parse_strategy("kafka-6794") == Strategy("kafka-6794", "kafka-6794", "kafka-6794", width=1)
    assert parse_strategy("kafka-42").protocol == "kafka-42"
    assert parse_strategy("grow-then-shrink").protocol == "kafka-6794"
    assert all(parse_strategy(name).name == name for name in one_of_each_shape())


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
        ("wiki+window(10)+largest-first", "such as 'window-10'"),
    ],
)
def test_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(BadInput, match=hint):
        parse_strategy(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("wiki+whole-plan+plan", "wiki"),
        ("kafka-6794+largest-first+waves-3", "kafka-6794+waves-3+largest-first"),
        (" wiki + serial + poll-1000ms ", "wiki+serial"),
        ("wiki+throttle-1024KiB+random", "wiki+random+throttle-1MiB"),
        ("wiki+poll-90s+per-broker-cap-2+leader-last", "wiki+per-broker-cap-2+leader-last+poll-90s"),
    ],
)
def test_a_composition_has_one_name(text: str, name: str) -> None:
    """Its parts in their order, without those that are the default: runs of different strategies have different
    names."""
    strategy = parse_strategy(text)
    assert strategy.name == name
    assert parse_strategy(name) == strategy


@pytest.mark.parametrize("part", PARTS)
def test_every_part_goes_with_every_shape(part: str) -> None:
    for shape in one_of_each_shape():
        assert parse_strategy(f"{shape}+{part.replace('-N', '-3')}").name.startswith(shape)


@pytest.mark.parametrize(
    ("parts", "hint"),
    [
        ("windw-4", "did you mean 'window-N'"),
        ("window", "a number from 1, such as window-4"),
        ("window-0", "a number from 1, such as window-4"),
        ("serial-2", "did you mean 'serial'"),
        ("Largest_First", "such as 'largest-first'"),
        ("serial+waves-2", "two parts set the admission, the second is 'waves-2'"),
        ("plan+random", "two parts set the order"),
        ("throttle-50", "like throttle-50MiB"),
        ("throttle-0B", "like throttle-50MiB"),
        ("serial+poll-10", "like poll-10s"),
        ("poll-10s", "a poll interval has no effect .* add an admission: per-broker-cap-N, serial"),
        ("", "known: "),
    ],
)
def test_parts_are_refused_with_a_hint(parts: str, hint: str) -> None:
    with pytest.raises(BadInput, match=hint):
        parse_strategy(f"wiki+{parts}")
