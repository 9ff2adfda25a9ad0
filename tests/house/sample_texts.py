"""A seeded draw of the repository's texts, to be read by a reader who sees each of them for the first time.

    python -m tests.house.sample_texts 100 --seed 7

Each text is printed with its place and what a reader of that place has in view: the signature above a docstring, the
code below a comment, the statement around an error text. Half of the draw is docstrings.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[2]
CODE = ("emulator", "controller", "fetchers", "brokers", "scenarios", "understudy", "benchmarks")
SHARES = {"docstring": 50, "page": 22, "error": 10, "help": 10, "comment": 8}
"""How many of 100 drawn texts are of each kind."""
WORDS = 4
"""The fewest words that make a text: shorter ones are names and labels."""
CONTEXT = 8
"""The most lines of code that are printed with a text."""

_PARAGRAPH = re.compile(
    r"(?:^(?!\s*$|#|<!--|\|[-|: ]+\|$|.*\n\|[-|: ]+\|$).+\n?)+?"  # no heading, mark, or head of a table
    r"(?=^\s*$|^\s*(?:[-*] |\d+\. |\|)|\Z)",
    re.MULTILINE,
)


@frozen
class Text:
    """One text of the repository and where it is; ``context`` is the code that a reader of it has in view."""

    kind: str
    path: str
    line: int
    text: str
    context: str = ""

    def __str__(self) -> str:
        context = "\n".join(textwrap.dedent(self.context).splitlines()[:CONTEXT])
        parts = [
            f"{self.path}:{self.line} ({self.kind})",
            textwrap.indent(context, "  | "),
            textwrap.indent(self.text, "  "),
        ]
        return "\n".join(part for part in parts if part)


def sample(texts: Iterable[Text], number: int, seed: int) -> list[Text]:
    """``number`` of the texts, each kind with its share of them; one seed draws the same texts from the same tree."""
    drawn = random.Random(seed)
    kinds: dict[str, list[Text]] = {kind: [] for kind in SHARES}
    for text in texts:
        kinds[text.kind].append(text)
    chosen: list[Text] = []
    for kind, share in SHARES.items():
        chosen += drawn.sample(kinds[kind], min(len(kinds[kind]), -(-number * share // 100)))
    drawn.shuffle(chosen)
    return chosen[:number]


def texts_of_repository() -> Iterator[Text]:
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from texts_of_module(path.read_text(), str(path.relative_to(ROOT)))
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        if "sources" not in path.parts:
            yield from paragraphs(path.read_text(), str(path.relative_to(ROOT)))


def texts_of_module(source: str, path: str) -> Iterator[Text]:
    """The docstrings, error texts, help texts and comments of one module."""
    yield from _Strings(source, path).texts(ast.parse(source))
    yield from _comments(source, path)


def paragraphs(page: str, path: str) -> Iterator[Text]:
    """The paragraphs, list items and rows of tables of a page in Markdown, without its code and its headings."""
    for number, part in enumerate(re.split(r"^```", page, flags=re.MULTILINE)):
        if number % 2 == 0:
            line = 1 + page[: page.find(part)].count("\n")
            for found in _PARAGRAPH.finditer(part):
                if _is_prose(found[0]):
                    yield Text("page", path, line + part[: found.start()].count("\n"), found[0].rstrip())


class _Strings:
    """The texts of one module that its syntax tree has: docstrings, texts of errors, other sentences."""

    def __init__(self, source: str, path: str) -> None:
        self._lines = source.splitlines()
        self._path = path

    def texts(self, node: ast.AST, statement: ast.stmt | None = None) -> Iterator[Text]:
        before: ast.AST = node
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                if isinstance(child.value.value, str) and _is_prose(child.value.value):
                    text = textwrap.dedent(" " * child.col_offset + child.value.value)
                    yield Text("docstring", self._path, child.lineno, text, self._heading(before, child))
            elif isinstance(child, ast.JoinedStr) or (isinstance(child, ast.Constant) and isinstance(child.value, str)):
                if statement is not None and _is_prose(text := ast.unparse(child)):
                    kind = "error" if isinstance(statement, ast.Raise) else "help"
                    yield Text(
                        kind, self._path, child.lineno, text, self._source(statement.lineno, statement.end_lineno)
                    )
            else:
                yield from self.texts(child, child if isinstance(child, ast.stmt) else statement)
            before = child if isinstance(child, ast.stmt) and child is not node else before

    def _heading(self, before: ast.AST, docstring: ast.Expr) -> str:
        """The code that a docstring is about: the signature around it, or the assignment above it."""
        if isinstance(before, ast.Module):
            return ""
        if isinstance(before, ast.stmt):
            first = min([before.lineno, *(each.lineno for each in getattr(before, "decorator_list", []))])
            return self._source(first, docstring.lineno - 1)
        return self._source(docstring.lineno - 1, docstring.lineno - 1)

    def _source(self, first: int, last: int | None) -> str:
        return "\n".join(self._lines[first - 1 : last])


def _comments(source: str, path: str) -> Iterator[Text]:
    """The comments of a module; lines of comments that follow each other are one text."""
    lines = source.splitlines()
    block: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            block.append(token.string)
            following = lines[token.start[0]] if token.start[0] < len(lines) else ""
            is_alone = token.line.lstrip().startswith("#")
            if is_alone and following.lstrip().startswith("#"):
                continue
            if _is_prose(text := "\n".join(block)) and "# noqa" not in text:
                first = token.start[0] - len(block) + 1
                yield Text("comment", path, first, text, "\n".join(lines[token.start[0] - (not is_alone) :][:4]))
            block = []


def _is_prose(text: str) -> bool:
    words = re.findall(r"(?<![\w.-])[A-Za-z]+(?![\w.(])", re.sub(r"\{[^{}]*\}", " ", text))
    return len(words) >= WORDS


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw texts of the repository to be read by fresh eyes.")
    parser.add_argument("number", type=int, nargs="?", default=100, help="how many texts (100)")
    parser.add_argument("--seed", type=int, default=0, help="which draw (0)")
    options = parser.parse_args()
    for place, text in enumerate(sample(texts_of_repository(), options.number, options.seed), 1):
        print(f"[{place}] {text}\n")


if __name__ == "__main__":
    main()
