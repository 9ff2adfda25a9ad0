"""Plain English: idioms that read as riddles, or wrongly, stay out of docstrings, comments, test names and pages.

Each rule names what to write instead. None has an innocent use in this repository; a sentence that breaks one can be
said in Kafka's words.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_READ = (".venv/", "build/", "docs/extend/sources/", "tests/controller/", "tests/house/test_language.py")
"""Other people's texts; tests that have yet to be reworded; this file, which quotes the idioms."""

RULES = {
    r"behind (?:the|its|their) (?:offset|high watermark|end|start)": "beyond, at or above, after: behind means lagging",
    r"whoever|whomever": "every broker that, any replica that",
    r"nobody|somebody|anybody|everybody": "no broker, a client, all replicas: name the components",
    r"(?:is|are|was|were|been) told": "receives, is notified, gets the request",
    r"(?:hears?|heard) of": "learns of, receives",
    r"whence": "from which",
    r"anew": "again, starts over",
    r"how manieth": "which occurrence, counted from 1",
    r"so many more": "n more",
    r"of another time": "stale, outdated",
    r"(?<!there\s)is another(?=[.;])": "has changed",
    r"see the module(?=[.;])": "say it here, or name the module",
    r"ghosts?": "history, the earlier state",
    r"strangers?": "a broker that is not assigned",
    r"planted": "injected",
    r"comes? to nothing": "has no effect, fails",
    r"what bec(?:omes?|ame) of": "what happens to",
    r"amiss": "wrong",
    r"heed(?:s|ed)?": "uses, respects",
    r"mend(?:s|ed|ing)?": "repairs, heals, corrects",
    r"in vain": "without effect",
    r"stands? (?:in|on) (?:ZooKeeper|the (?:log|znode|ISR|list))": "is in, is stored in",
    r"whosever": "of whichever broker",
    r"dealt(?! with)|deals? out": "handed out, divided, placed",
    r"go(?:es)? round": "takes turns, in turn",
    r"comes? to rest": "settles",
    r"leans? (?:towards|on)": "prefers, depends on",
    r"broken off": "interrupted",
    r"meant of": "a share of, refers to",
}
"""An idiom, as a regular expression of whole words, and what to write instead."""

OPENING = re.compile(r"(?:the )?same\b|(?:it|its|whose|whom?)\b|what\b|of (?!course)|none of\b|those\b", re.IGNORECASE)
"""First words of a docstring that do not say what is defined: the noun comes first."""

QUOTED_OPENING = re.compile(rf"[\"'](?:\s|\\n|\\)*(?:{OPENING.pattern})", re.IGNORECASE)
"""Letters in the source of every module with such a docstring; few others have it, and need to be parsed."""

ANY = re.compile(rf"\b(?:{'|'.join(f'({idiom})' for idiom in RULES)})\b".replace(" ", r"\s+"), re.IGNORECASE)


def prose(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring, comment and test name of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.lineno, node.name.replace("_", " ")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def may_have_idioms(source: str) -> bool:
    """Whether it is worth taking a module apart, which for all of them takes ten seconds: its prose is in its source as
    it is, but for the underscores of test names and escaped ends of lines."""
    return ANY.search(source.replace("_", " ").replace("\\\n", "").replace("\\n", " ")) is not None


def idioms(text: str) -> list[str]:
    """What is wrong with ``text``, and what to write instead."""
    instead = list(RULES.values())
    return [f"{found[0]!r}: write {instead[found.lastindex - 1]!r}" for found in ANY.finditer(text) if found.lastindex]


def files(*globs: str) -> list[Path]:
    paths = {path for glob in globs for path in ROOT.glob(glob)}
    return sorted(path for path in paths if not str(path.relative_to(ROOT)).startswith(NOT_READ))


def test_docstrings_comments_and_test_names_are_plain() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {problem}"
        for path in files("*/**/*.py", "*.py")
        if may_have_idioms(source := path.read_text())
        for line, text in prose(source)
        for problem in idioms(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_pages_and_library_scenarios_are_plain() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in files("docs/**/*.md", "README.md", "scenarios/library/*.toml")
        for problem in idioms(path.read_text())
    ]
    assert not wrong, "\n".join(wrong)


def openings(source: str) -> list[tuple[int, str]]:
    """The line and the first words of each docstring that does not begin with the noun it defines.

    A test's docstring defines nothing: it gives the reason for what the test's name states, and may begin with "It".
    """
    if not QUOTED_OPENING.search(source):
        return []
    tree = ast.parse(source)
    tests = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    reasons = {node.body[0] for node in tests if node.name.startswith("test_")}
    return [
        (node.lineno, node.value.value[:40])
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if OPENING.match(node.value.value.strip()) and node not in reasons
    ]


def test_docstrings_begin_with_the_noun_they_define() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {words!r}"
        for path in files("*/**/*.py", "*.py")
        for line, words in openings(path.read_text())
    ]
    assert not wrong, "\n".join(wrong)


def test_an_opening_without_a_noun_is_found() -> None:
    source = 'LIMIT = 3\n"""Of one request."""\ndef f():\n    """The same for all."""\ndef g():\n    """The size."""\n'
    assert openings(source) == [(2, "Of one request."), (4, "The same for all.")]
    assert not openings('def test_a_broker_stays():\n    """It is in the ISR."""\n')


@pytest.mark.parametrize(
    ("source", "line", "idiom"),
    [
        ('"""A log that begins\nbehind its\nhigh watermark."""', 1, "behind its\nhigh watermark"),
        ("x = 1  # whoever fetches", 1, "whoever"),
        ("def f():\n    pass\n    # the state is read anew", 3, "anew"),
        ('ACKS = 1\n"""Nobody waits for it."""', 2, "Nobody"),
        ("def test_the_producer_is_told():\n    pass", 1, "is told"),
        ('"of another\\ntime"', 1, "of another\ntime"),
    ],
)
def test_an_idiom_is_found(source: str, line: int, idiom: str) -> None:
    assert may_have_idioms(source)
    [(where, [problem])] = [(where, found) for where, text in prose(source) if (found := idioms(text))]
    assert (where, problem.split(": write ")[0]) == (line, repr(idiom))


@pytest.mark.parametrize(
    "text",
    [
        "A follower that is behind the leader.",
        "The end is another one.",
        "See the module ``brokers.log``.",
        "heeds_moves: whether a topic waits",
        "A recommended amendment.",
    ],
)
def test_plain_text_is_not(text: str) -> None:
    assert idioms(text) == []
