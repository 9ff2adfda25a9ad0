"""Messages of bad input: each says what is wrong, then, after a semicolon, what would be right."""

import ast
from collections.abc import Iterator
from pathlib import Path

SCENARIOS = Path(__file__).parents[2] / "scenarios"
COMPLETE = "is neither"
"""Words of a message that names both things which would be right."""


def incomplete(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each message without what would be right. One that begins or ends with an expression may
    get it from there."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "BadInput" and node.args:
            parts = node.args[0].values if isinstance(node.args[0], ast.JoinedStr) else [node.args[0]]
            text = "".join([str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts])
            if not text.startswith("{}") and not text.endswith("{}") and "; " not in text and COMPLETE not in text:
                yield node.lineno, text


def test_every_message_says_what_would_be_right() -> None:
    found = []
    for path in sorted(SCENARIOS.rglob("*.py")):
        source = path.read_text()
        if "BadInput(" in source:
            found += [f"{path.relative_to(SCENARIOS.parent)}:{line}: {text}" for line, text in incomplete(source)]
    assert not found, "\n".join(found)


def test_the_rule_finds_what_it_is_about() -> None:
    assert [text for _, text in incomplete('BadInput(f"no {x} here")\nBadInput("a; b")\nBadInput(f"see {x}")')] == [
        "no {} here"
    ]
