"""Figures of the house's shape, of this checkout beside another one.

``python -m tests.house.figures --before CHECKOUT --ticket TICKET`` prints a table in Markdown; nothing of a checkout is
imported or run.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from statistics import median

from benchmarks.tables import table
from tests.house.test_circles import FLOORS, ROOT, circles, import_graph, room

TICKET = re.compile(r"\b(?:KAFKA|KIP)-\d+\b")
TEXTS = (".py", ".md", ".toml", ".txt", ".json", ".ipynb")
TOLD_IN = (*FLOORS, "tests", "docs", "benchmarks")
WALK = re.compile(r"^```walk\n(.*?)^```", re.MULTILINE | re.DOTALL)
HOP = re.compile(r"^(\S+\.py) +\w", re.MULTILINE)


@cache
def sources(root: Path, *folders: str) -> dict[Path, str]:
    """The Python files of folders of a checkout, with their texts."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return {path: path.read_text() for path in paths if "__pycache__" not in path.parts}


def product(root: Path) -> dict[Path, str]:
    """The Python files of the five floors, with their texts."""
    return sources(root, *FLOORS)


def lines(texts: dict[Path, str]) -> int:
    """How many lines they have together."""
    return sum(len(text.splitlines()) for text in texts.values())


def shared_file_names(root: Path) -> dict[str, int]:
    """File names that stand more than once under one floor, with the number of files that have them."""
    names = Counter((path.relative_to(root).parts[0], path.name) for path in product(root))
    shared: Counter[str] = Counter()
    for (_, name), count in names.items():
        if count > 1 and name != "__init__.py":
            shared[name] += count
    return shared


def shared_class_names(root: Path) -> list[tuple[str, str]]:
    """Floors and names of classes that are defined more than once in that floor."""
    names = Counter(
        (path.relative_to(root).parts[0], node.name)
        for path, text in product(root).items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    )
    return sorted(name for name, count in names.items() if count > 1)


def regular_expressions(texts: dict[Path, str]) -> int:
    """How many calls of the module ``re`` there are."""
    return sum(
        isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")
        for text in texts.values()
        for node in ast.walk(ast.parse(text))
    )


def arrows(root: Path) -> int:
    """How many pairs of rooms there are of which the first imports the second."""
    graph = import_graph(root)
    return len({(room(name), room(to)) for name, targets in graph.items() for to in targets if room(name) != room(to)})


def largest_circle(root: Path) -> int:
    """How many files the largest circle of imports has."""
    return max(map(len, circles(import_graph(root))), default=0)


def files_that_import(root: Path, event: str) -> int:
    """How many files of scenarios import an event's class."""
    return sum(
        any(alias.name == event for alias in node.names)
        for text in sources(root, "scenarios").values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
    )


@cache
def tellings(root: Path) -> Counter[str]:
    """Tickets, with the number of files that name them."""
    files = (path for folder in TOLD_IN for path in (root / folder).rglob("*") if path.suffix in TEXTS)
    texts = [path.read_text(errors="replace") for path in (*files, *root.glob("*.md")) if path.is_file()]
    return Counter(ticket for text in texts for ticket in set(TICKET.findall(text)))


def files_that_name(ticket: str, root: Path) -> int:
    """How many files name a ticket."""
    return tellings(root)[ticket]


def walks(root: Path) -> Iterator[tuple[int, int]]:
    """Hops and files of each walk of the page about the architecture."""
    (page,) = (root / "docs").rglob("architecture.md")
    for walk in WALK.findall(page.read_text()):
        hops = HOP.findall(walk)
        yield len(hops), len(set(hops))


FIGURES: dict[str, Callable[[Path], object]] = {
    "files of the five floors": lambda root: len(product(root)),
    "their lines": lambda root: lines(product(root)),
    "median lines of a file": lambda root: round(median(len(text.splitlines()) for text in product(root).values())),
    "lines of tests": lambda root: lines(sources(root, "tests")),
    "lines of observe and runs": lambda root: lines(sources(root, "scenarios/observe", "scenarios/runs")),
    "circles of imports": lambda root: len(circles(import_graph(root))),
    "files in the largest circle": largest_circle,
    "arrows between rooms": arrows,
    "file names used twice or more in a floor": lambda root: len(shared_file_names(root)),
    "files that have them": lambda root: sum(shared_file_names(root).values()),
    "class names used twice or more in a floor": lambda root: len(shared_class_names(root)),
    "calls of `re` in observe and runs": lambda root: regular_expressions(
        sources(root, "scenarios/observe", "scenarios/runs")
    ),
    "files of scenarios that import `NodeCrashed`": lambda root: files_that_import(root, "NodeCrashed"),
    "files that name a ticket, median": lambda root: round(median(tellings(root).values())),
    "tickets named in more than 8 files": lambda root: sum(count > 8 for count in tellings(root).values()),
    "walks: hops/files": lambda root: ", ".join(f"{hops}/{files}" for hops, files in walks(root)),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="figures of the house's shape")
    parser.add_argument("--before", metavar="CHECKOUT", type=Path, help="another checkout, shown in a column before")
    parser.add_argument("--ticket", metavar="TICKET", action="append", default=[], help="count the files that name it")
    arguments = parser.parse_args()
    before = [arguments.before.resolve()] if arguments.before else []
    named = {f"files that name {ticket}": partial(files_that_name, ticket) for ticket in arguments.ticket}
    heads = ("Figure", *["before" for _ in before], "now")
    figures: dict[str, Callable[[Path], object]] = {**FIGURES, **named}
    rows = [(name, *(f"{of(root)}" for root in (*before, ROOT))) for name, of in figures.items()]
    print("\n".join(table(heads, rows)))


if __name__ == "__main__":
    main()
