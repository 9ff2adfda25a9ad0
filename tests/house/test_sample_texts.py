"""The draw of texts for fresh eyes finds every kind of text with its place and context, and repeats by its seed."""

import pytest

from tests.house import sample_texts
from tests.house.sample_texts import SHARES, Text, paragraphs, sample, texts_of_module, texts_of_repository

MODULE = '''"""What this module is about, in words."""

LIMIT = 3
"""Records that one answer has at most."""


def take(count: int) -> int:
    """Take records from the log, in order."""
    if count > LIMIT:
        raise ValueError(f"{count} records are too many; take at most {LIMIT}")
    # Two lines of one comment
    # are read as one text.
    return count  # the caller counts them


HELP = key("count", "how many records to take")
'''
PAGE = """# A heading of a page is left out

A paragraph of
two whole lines.

- An item of a list
  3 lines below.
- Another item of that list.

```sh
a command that is not prose
```

| the key of an entry | what that key means there |
|---|---|
| `count` | how many records to take |
"""


def test_each_text_of_a_module_is_found_with_its_context() -> None:
    assert list(texts_of_module(MODULE, "m.py")) == [
        Text("docstring", "m.py", 1, "What this module is about, in words."),
        Text("docstring", "m.py", 4, "Records that one answer has at most.", "LIMIT = 3"),
        Text("docstring", "m.py", 8, "Take records from the log, in order.", "def take(count: int) -> int:"),
        Text(
            "error", "m.py", 10, "f'{count} records are too many; take at most {LIMIT}'",
            '        raise ValueError(f"{count} records are too many; take at most {LIMIT}")',
        ),
        Text("help", "m.py", 16, "'how many records to take'", 'HELP = key("count", "how many records to take")'),
        Text(
            "comment", "m.py", 11, "# Two lines of one comment\n# are read as one text.",
            '    return count  # the caller counts them\n\n\nHELP = key("count", "how many records to take")',
        ),
        Text(
            "comment", "m.py", 13, "# the caller counts them",
            '    return count  # the caller counts them\n\n\nHELP = key("count", "how many records to take")',
        ),
    ]  # fmt: skip


def test_the_paragraphs_items_and_rows_of_a_page_are_found() -> None:
    assert [(text.line, text.text) for text in paragraphs(PAGE, "page.md")] == [
        (3, "A paragraph of\ntwo whole lines."),
        (6, "- An item of a list\n  3 lines below."),
        (8, "- Another item of that list."),
        (16, "| `count` | how many records to take |"),
    ]


def test_a_seed_draws_the_same_texts_of_every_kind_and_another_seed_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two floors, which have enough of each kind."""
    monkeypatch.setattr(sample_texts, "CODE", ("emulator", "fetchers"))
    texts = list(texts_of_repository())
    drawn = sample(texts, 100, seed=1)
    assert drawn == sample(texts, 100, seed=1) != sample(texts, 100, seed=2)
    assert {kind: sum(text.kind == kind for text in drawn) for kind in SHARES} == SHARES


def test_a_text_is_printed_with_its_place_and_its_context() -> None:
    text = Text("docstring", "m.py", 8, "Take records.", "    def take(count: int) -> int:")
    assert str(text) == "m.py:8 (docstring)\n  | def take(count: int) -> int:\n  Take records."
