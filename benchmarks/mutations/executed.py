"""The lines, among some, that a run executes: a mistake in a line that is not executed changes nothing."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from itertools import count

SEEN: dict[str, None] = {}
"""The lines that were executed since it was cleared, as ``FILE:NUMBER``."""


def ran(line: str) -> None:
    """Called before a statement that holds the line."""
    SEEN[line] = None


def watched(file: str, text: str, numbers: Collection[int]) -> str:
    """The module's text with a call of ``ran`` before each statement that holds one of these lines. A line of a
    statement that is more than one line long counts when the statement is executed."""
    tree = ast.parse(text)
    _Watch(file, numbers).visit(tree)
    at = next(place for place in count() if not _comes_first(tree.body[place]))
    tree.body.insert(at, ast.parse(f"from {__name__} import ran").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def _comes_first(statement: ast.stmt) -> bool:
    """Whether it is the docstring, or imports from __future__."""
    return isinstance(statement, ast.Expr) or (
        isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    )


class _Watch(ast.NodeTransformer):
    def __init__(self, file: str, numbers: Collection[int]) -> None:
        self._file = file
        self._numbers = numbers

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not isinstance(node, (ast.Module, ast.ClassDef)):
                setattr(node, name, [each for statement in block for each in (*self._calls(statement), statement)])
        return node

    def _calls(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """Before a statement; of one with a block, for its head only."""
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try)):
            return
        blocks = [block for block in (getattr(statement, "body", None), getattr(statement, "cases", None)) if block]
        first = blocks[0][0] if blocks else None
        end = statement.end_lineno or statement.lineno
        if first is not None:
            end = max(statement.lineno, getattr(first, "lineno", end) - 1)
        for number in self._numbers:
            if statement.lineno <= number <= end:
                yield ast.parse(f"ran({f'{self._file}:{number}'!r})").body[0]
