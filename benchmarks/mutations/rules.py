"""The mutations that can be made of a module: each changes one line, by one rule, into code that still parses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from attrs import frozen

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
"""The replacement of each comparison: bounds are off by one, the others are the opposite."""

SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@frozen
class Mutation:
    """One mistake.

    Attributes:
        file: the module, from the root of the checkout.
        rule: the kind of mistake.
        before, after: the line, without the white space at its ends.
        occurrence: the number of the line among the lines of the module that read like ``before``, from 1.
    """

    file: str
    rule: str
    before: str
    after: str
    occurrence: int = 1

    def number(self, text: str) -> int:
        """The number of the line, from 1. Raises: LookupError where it is not there any more."""
        seen = 0
        for number, line in enumerate(text.splitlines(), 1):
            seen += line.strip() == self.before
            if seen == self.occurrence:
                return number
        raise LookupError(f"{self.file} has no line {self.before!r} (number {self.occurrence}) any more")

    def applied(self, text: str) -> str:
        """The module's text with the mistake. Raises: LookupError where the line is not there any more."""
        lines, index = text.splitlines(keepends=True), self.number(text) - 1
        lines[index] = lines[index].replace(self.before, self.after)
        return "".join(lines)


def mutations(file: str, text: str) -> Iterator[Mutation]:
    """All mutations of a module by the rules, in the order of its lines."""
    lines = text.splitlines()
    found = sorted(_Finder(lines).of(ast.parse(text)))
    for number, rule, changed in dict.fromkeys(found):
        before = lines[number - 1].strip()
        occurrence = sum(line.strip() == before for line in lines[:number])
        yield Mutation(file, rule, before, changed.strip(), occurrence)


class _Finder(ast.NodeVisitor):
    """Collects (line number, rule, the changed line)."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._found: list[tuple[int, str, str]] = []

    def of(self, tree: ast.AST) -> list[tuple[int, str, str]]:
        self.visit(tree)
        return self._found

    def _replace(self, first: ast.expr | ast.stmt, last: ast.expr | ast.stmt, rule: str, by: str) -> None:
        """Add the change that puts ``by`` in place of all from ``first`` to ``last``, if these are on one line."""
        end = last.end_col_offset
        if first.lineno == last.end_lineno and end is not None:
            line = self._lines[first.lineno - 1].encode()
            changed = line[: first.col_offset] + by.encode() + line[end:]
            self._found.append((first.lineno, rule, changed.decode()))

    # Declarations, defaults and what is raised or said are not behaviour of the cluster.
    def visit_Raise(self, node: ast.Raise) -> None: ...

    def visit_Assert(self, node: ast.Assert) -> None: ...

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Attribute) and node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if not (node.name.startswith("__") and node.name != "__call__"):
            for statement in node.body:
                self.visit(statement)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.visit(statement)

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.visit(statement)

    # The rules.
    def visit_Compare(self, node: ast.Compare) -> None:
        left, right = node.left, node.comparators[0]
        by = COMPARISONS.get(type(node.ops[0]))
        if by is not None and len(node.ops) == 1:
            self._replace(node, node, "comparison", f"{ast.unparse(left)} {by} {ast.unparse(right)}")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        by = " or " if isinstance(node.op, ast.And) else " and "
        parts = [_bracketed(value) for value in node.values]
        self._replace(node, node, "and, or", f"({by.join(parts)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace(node, node, "not", ast.unparse(node.operand))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, (ast.Add, ast.Sub)) and not isinstance(node.left, (ast.List, ast.Tuple, ast.JoinedStr)):
            by = "-" if isinstance(node.op, ast.Add) else "+"
            self._replace(node, node, "plus, minus", f"{ast.unparse(node.left)} {by} {ast.unparse(node.right)}")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._replace(node.test, node.test, "condition", "True")
        self._replace(node.test, node.test, "condition", "False")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool):
            self._replace(node.value, node.value, "truth", str(not node.value.value))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._replace(node, node, "left out", "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute):
            self._replace(node, node, "left out", "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace(node, node, "left out", "pass")

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in SWAPPED:
            self._replace(node.func, node.func, "min, max", SWAPPED[node.func.id])
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(argument, ast.Constant) and isinstance(argument.value, bool):
                self._replace(argument, argument, "truth", str(not argument.value))
        self.generic_visit(node)


def _bracketed(value: ast.expr) -> str:
    return f"({ast.unparse(value)})" if isinstance(value, ast.BoolOp) else ast.unparse(value)
