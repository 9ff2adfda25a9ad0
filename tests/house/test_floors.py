"""The house keeps its shape: who may import whom, and what never enters the world (docs/extend/architecture.md)."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = {
    "emulator": {"fetchers", "brokers", "controller", "scenarios"},
    "fetchers": {"brokers", "controller", "scenarios"},
    "brokers": {"controller", "scenarios"},
    "controller": {"brokers", "fetchers", "scenarios"},
    "scenarios": set(),
}
WORLD = ("emulator", "fetchers", "brokers", "controller")
ANALYSIS = {"dataset", "spark", "statistics", "report", "forecasting", "cli", "drivers"}
ANALYSIS_LIBRARIES = {"pyspark", "pandas", "pyarrow", "numpy", "scipy", "statsmodels", "py4j"}
OUTSIDE = {"time", "datetime", "random", "uuid", "secrets", "asyncio", "threading", "socket"}


def files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def import_statements(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The imports of ``path`` anywhere. It is parsed once for all rules about imports: to do so takes seconds."""
    return tuple(
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
    )


def imports(path: Path) -> Iterator[str]:
    """Every module that ``path`` imports anywhere, names taken from modules included."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def offenders(paths: list[Path], bad: set[str]) -> list[str]:
    """The imports of ``paths`` that are one of ``bad``, or inside one."""
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imports(path)
        if any(name == module or name.startswith(f"{module}.") for module in bad)
    ]


@pytest.mark.parametrize("package", FORBIDDEN)
def test_no_floor_imports_one_above_it(package: str) -> None:
    assert offenders(files(package), FORBIDDEN[package]) == []


def test_only_one_module_draws() -> None:
    users = [path for room in (*FORBIDDEN, "benchmarks") for path in files(room) if offenders([path], {"matplotlib"})]
    assert users == [ROOT / "benchmarks" / "experiments" / "pictures.py"]


def test_only_the_kernel_touches_trios_low_level() -> None:
    others = [path for package in FORBIDDEN for path in files(package) if "kernel" not in path.parts]
    assert offenders(others, {"trio.lowlevel"}) == []


def test_the_ground_floor_knows_no_kafka() -> None:
    """emulator/protocol holds Kafka's nouns; the rest of emulator never imports it."""
    others = [path for path in files("emulator") if "protocol" not in path.relative_to(ROOT).parts]
    assert offenders(others, {"emulator.protocol"}) == []


def test_analysis_libraries_stay_in_their_rooms() -> None:
    others = [path for package in WORLD for path in files(package)]
    others += [path for path in files("scenarios") if not ANALYSIS.intersection(path.relative_to(ROOT).parts)]
    assert offenders(others, ANALYSIS_LIBRARIES) == []


@pytest.mark.parametrize("package", WORLD)
def test_no_wall_clock_and_no_global_randomness_in_the_world(package: str) -> None:
    assert offenders(files(package), OUTSIDE) == []


@pytest.mark.parametrize("package", ["brokers", "controller", "fetchers"])
def test_roles_read_the_clock_of_their_machine(package: str) -> None:
    """It can be skewed; no machine has the world's own time."""
    attributes = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files(package)
        if "now" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr == "now"
    ]
    assert attributes == []


@pytest.mark.parametrize("package", ["brokers", "controller", "fetchers", "emulator/zookeeper", "emulator/network"])
def test_roles_record_through_their_process(package: str) -> None:
    """What goes to the trace directly is recorded of a dead process too."""
    direct = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files(package)
        if "trace" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr in ("emit", "emit_columns", "anchor", "show", "mark")
        if isinstance(of := node.value, ast.Name | ast.Attribute)
        if (of.id if isinstance(of, ast.Name) else of.attr) == "trace"
    ]
    assert direct == []


@pytest.mark.parametrize("package", FORBIDDEN)
def test_files_stay_small(package: str) -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files(package)}
    assert {path: length for path, length in lengths.items() if length > 600} == {}


def test_the_house_rules_can_be_broken(tmp_path: Path) -> None:
    """The helper really finds both forms of an import."""
    file = ROOT / "tests" / "house" / "test_floors.py"
    assert offenders([file], {"ast"})
    assert offenders([file], {"pathlib.Path"})
