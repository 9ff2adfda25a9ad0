"""No document, however odd, makes the reader raise anything but ``BadInput``."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.schema.toml_text import parse_document

EXAMPLE = Path(__file__).with_name("example.toml").read_text()
ODD = st.sampled_from(
    [
        -1,
        0,
        10**30,
        True,
        "",
        "orders-",
        "-0",
        "(",
        "isr()",
        "now",
        [],
        [[]],
        {},
        {"": 0},
        float("nan"),
        float("inf"),
    ]
)
JUNK = st.recursive(
    ODD | st.text(max_size=5) | st.integers() | st.just(datetime.date(2020, 1, 1)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything below ``value``."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in [(*path, key), *places(item, (*path, key))]]


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def read(document: dict[str, Any]) -> Scenario | BadInput:
    try:
        return Scenario.from_table(document)
    except BadInput as error:
        return error


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_junk_anywhere_in_a_valid_document_is_refused_or_fits(data: st.DataObject) -> None:
    document = dict(parse_document(EXAMPLE, "example.toml"))
    put(document, data.draw(st.sampled_from(places(document))), data.draw(JUNK))
    result = read(document)
    if isinstance(result, Scenario):
        assert Scenario.loads(result.to_toml()) == result
    else:
        for one in result.all:
            assert "\n" not in str(one)
            assert "; " in one.what, "a message says what would be right"


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_is_refused_in_one_line(text: str) -> None:
    for source in ("junk.toml", "junk.json"):
        with pytest.raises(BadInput) as caught:
            Scenario.loads(text, source=source)
        assert "\n" not in str(caught.value)
