"""An error names line and column, and all errors of a file are named at once."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import BadInput, join_path
from scenarios.language import Scenario
from scenarios.language.schema.places import Places
from scenarios.language.schema.toml_text import write_toml
from tests.scenarios.language.builders import SMALL

TRICKY = '''\
title = """a [text]
that = "ends" here"""   # horizon = 1
'quoted.key' = 'C:\\\\'
when = 1979-05-27 07:32:00
deep.er = { a = [1, 2], "b c" = "}" }

[cluster] # the cluster
list = [
  1, # one
  [ "x]", 'y' ],
  { z = 1.5e3 },
]

[[method]]
at = "5s"
[method.when]
step = "a"

[[method]]
at = "6s"
[[method.inner]]
n = true
'''


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ("title", 1, 1),
        ("quoted.key", 3, 1),
        ("when", 4, 1),
        ("deep", 5, 1),
        ("deep.er.a[1]", 5, 21),
        ("deep.er.b c", 5, 25),
        ("cluster", 7, 1),
        ("cluster.list[1][1]", 10, 11),
        ("cluster.list[2].z", 11, 5),
        ("method[0].when.step", 17, 1),
        ("method[1].at", 20, 1),
        ("method[1].inner[0].n", 22, 1),
        ("method[1].absent.deeper[3]", 19, 1),
        ("cluster.absent", 7, 1),
    ],
)
def test_where_a_key_is(path: str, line: int, column: int) -> None:
    assert Places(TRICKY).find(path) == (line, column)


def test_a_key_of_which_nothing_is_there() -> None:
    assert Places(TRICKY).find("absent[0].deeper") is None


KEYS = st.text(st.sampled_from("ab- \"'\\#="), min_size=1, max_size=4)
VALUES = st.recursive(
    st.integers()
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.text(st.sampled_from("a\"'\\\n#[]{},="), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_every_key_of_a_document_is_found(document: dict[str, Any]) -> None:
    text = write_toml(document)
    lines, places = text.split("\n"), Places(text)
    for path, key in keys("", tomllib.loads(text)):
        place = places.find(path)
        assert place is not None
        written = lines[place.line - 1][place.column - 1 :].lstrip("[")
        assert written.startswith((key, json.dumps(key)))


def keys(path: str, value: object) -> Iterator[tuple[str, str]]:
    """All key paths below ``value`` that end with a key, and that key."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield join_path(path, name), name
            yield from keys(join_path(path, name), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from keys(f"{path}[{index}]", item)


def test_all_errors_of_a_file_are_named_at_once() -> None:
    text = SMALL.replace("horizon", "horizn").replace('name = "orders"', 'name = "orders"\npartitons = 2')
    with pytest.raises(BadInput) as caught:
        Scenario.loads("seed = -1\n" + text, source="small.toml")
    wrong = caught.value.all
    assert [(one.source, one.line, one.where) for one in wrong] == [
        ("small.toml", 4, "horizn"),
        ("small.toml", 1, "seed"),
        ("small.toml", text[: text.index("partitons")].count("\n") + 2, "topics[0].partitons"),
    ]
    assert all("\n" not in str(one) and one.others == () for one in wrong)


def test_all_references_that_lead_nowhere_are_named_at_once() -> None:
    text = SMALL.replace('topic = "orders"', 'topic = "oders"')
    with pytest.raises(BadInput) as caught:
        Scenario.loads(text, source="small.toml")
    assert len(caught.value.all) == text.count('"oders"') > 1
    assert all("did you mean 'orders'?" in one.what for one in caught.value.all)
