"""Files that import each other in a circle have to be read together: such circles stay small, and inside one room."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.house.test_floors import import_statements

ROOT = Path(__file__).parents[2]
FLOORS = ("emulator", "fetchers", "brokers", "controller", "scenarios")
LARGEST = 5

Graph = Mapping[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    """Dotted name to file, of every module of the five packages."""
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for floor in FLOORS
        for path in sorted((root / floor).rglob("*.py"))
    }


def imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules that ``path`` imports: at its top, in functions, and for types alone."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield from (found for found in ((name if name in known else node.module),) if found in known)


@cache
def import_graph(root: Path) -> Graph:
    """Module to the modules that it imports."""
    known = modules(root)
    return {name: set(imported(path, known)) for name, path in known.items()}


def reachable(graph: Graph, start: str) -> set[str]:
    """All modules that an import of ``start`` leads to."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def circles(graph: Graph) -> list[list[str]]:
    """The largest sets of modules of which each imports, directly or not, all the others."""
    ways = {name: reachable(graph, name) for name in graph}
    sets = {frozenset(to for to in ways[name] if name in ways[to]) for name in graph}
    return sorted(sorted(one) for one in sets if len(one) > 1)


def room(module: str) -> str:
    """The folder of a package that the module is in."""
    return ".".join(module.split(".")[:2])


def test_no_import_circle_is_large() -> None:
    assert [circle for circle in circles(import_graph(ROOT)) if len(circle) > LARGEST] == []


def test_no_import_circle_crosses_rooms() -> None:
    assert [circle for circle in circles(import_graph(ROOT)) if len({room(module) for module in circle}) > 1] == []


def test_the_rooms_of_scenarios_import_each_other_in_one_direction() -> None:
    rooms: dict[str, set[str]] = {}
    for module, targets in import_graph(ROOT).items():
        if module.startswith("scenarios."):
            found = rooms.setdefault(room(module), set())
            found |= {room(to) for to in targets if to.startswith("scenarios.")} - {room(module)}
    assert circles(rooms) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    """Through an import for types, one in a function and one of a package's own name."""
    for floor in FLOORS:
        (tmp_path / floor).mkdir()
    folder = tmp_path / "brokers"
    (folder / "__init__.py").write_text("from brokers.one import a\n")
    (folder / "one.py").write_text("if TYPE_CHECKING:\n    from brokers import two\n")
    (folder / "two.py").write_text("def f():\n    import brokers.three\n")
    (folder / "three.py").write_text("from brokers import a\n")
    (folder / "four.py").write_text("import brokers.one\n")
    assert circles(import_graph(tmp_path)) == [["brokers", "brokers.one", "brokers.three", "brokers.two"]]
