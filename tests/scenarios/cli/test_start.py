"""Imports of a short run, and that it does not compile again what attrs generates."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import CodeType

import attr._make
import pytest
from attrs import frozen

from scenarios.cli.start import KeptCode

OURS = ("emulator", "fetchers", "brokers", "controller", "scenarios")
MOST_OF_OURS = 640
NEVER = (
    "asyncio", "concurrent", "decimal", "email", "http", "hypothesis", "importlib.metadata", "matplotlib",
    "multiprocessing", "numpy", "pandas", "pickle", "pyarrow", "pyspark", "scipy", "statistics", "structlog",
    "scenarios.cli.commands.atlas", "scenarios.faults.actions.disks", "scenarios.faults.actions.topic_actions",
    "scenarios.observe.exposition", "scenarios.observe.timeline.words", "scenarios.runs.batch",
    "scenarios.runs.dataset.writer", "scenarios.studies", "scenarios.testing",
)  # fmt: skip
"""Packages and modules that an ordinary run has no use for."""

RUN = """
import sys
from scenarios.cli import main
assert main(["run", "controller-dies-mid-move"]) == 0
print(*sys.modules)
"""


def test_a_run_imports_only_what_it_uses() -> None:
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert [name for name in loaded for never in NEVER if name == never or name.startswith(f"{never}.")] == []
    assert len([name for name in loaded if name.partition(".")[0] in OURS]) <= MOST_OF_OURS


CHAOS = """
import sys
from scenarios.cli import main
assert main(["chaos", "--seeds", "0"]) == 0
print(*sys.modules)
"""


def test_a_seed_of_chaos_imports_nothing_for_data_sets() -> None:
    """Arrow alone takes 40 MB and a tenth of a second in each process of a campaign."""
    done = subprocess.run([sys.executable, "-c", CHAOS], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert loaded.isdisjoint(("numpy", "pandas", "pyarrow", "pyspark"))


SERVE = """
import linecache, sys
from scenarios.cli.start import quick_start
with quick_start():
    from scenarios.language import Scenario
    from scenarios.wire.serving import LiveRun
    scenario = Scenario.from_table({"title": "a served cluster", "cluster": {"brokers": 3}})
    LiveRun(scenario, on_ready=lambda run: run.operate('{"action": "stop"}')).play()
print(*linecache.cache, sep="#")
print(*sys.modules)
"""
NOT_SERVED_AT_FIRST = (
    "brokers.coordinators.appending", "brokers.coordinators.find", "brokers.coordinators.internal_topic",
    "brokers.groups.coordinator", "brokers.transactions.coordinator", "scenarios.cluster.clients.producer",
    "h11", "scenarios.faults.actions.reassignments", "scenarios.wire.apis.produce",
    "scenarios.wire.gateway.http_control", "scenarios.wire.recording",
    "scenarios.wire.zookeeper.zookeeper_connection",
)  # fmt: skip
"""Modules that a served cluster imports when something first asks for them."""


def test_a_served_cluster_imports_only_what_it_uses() -> None:
    done = subprocess.run([sys.executable, "-c", SERVE], capture_output=True, text=True, check=True)
    texts, modules = done.stdout.splitlines()
    loaded, never_or_late = modules.split(), (*NEVER, *NOT_SERVED_AT_FIRST)
    assert [name for name in loaded for never in never_or_late if name == never or name.startswith(f"{never}.")] == []
    kept = [text for text in texts.split("#") if "<attrs" in text]
    assert all("methods attr." in text for text in kept), "but for attrs' own classes no text is kept"


@pytest.fixture
def pyc(tmp_path: Path) -> str:
    return str(tmp_path / "start.pyc")


def compiled(kept: KeptCode, source: str = "a = 1", filename: str = "<of a test>") -> CodeType:
    return kept.compile(source, filename, "exec")


def point(monkeypatch: pytest.MonkeyPatch, kept: KeptCode) -> object:
    """An object of a frozen class that attrs makes with the help of ``kept``."""
    monkeypatch.setitem(vars(attr._make), "compile", kept.compile)

    @frozen
    class Point:
        x: int
        y: int = 2

    return Point(1)


def written(kept: KeptCode, pyc: str) -> bool:
    """Whether it has compiled something that the file lacked."""
    Path(f"{pyc}.methods").unlink(missing_ok=True)
    kept.save()
    return Path(f"{pyc}.methods").exists()


@pytest.fixture(autouse=True)
def _may_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def test_what_attrs_generates_is_compiled_once(monkeypatch: pytest.MonkeyPatch, pyc: str) -> None:
    first = KeptCode(pyc)
    before = point(monkeypatch, first)
    first.save()
    second = KeptCode(pyc)
    after = point(monkeypatch, second)
    assert (repr(before), hash(before), before == before) == (repr(after), hash(after), after == after)
    assert not written(second, pyc)


NAMED_TUPLES = """
import builtins, typing
from scenarios.cli.start import KeptCode
kept = KeptCode({pyc!r})
kept.serve_named_tuples()
texts = []
plain = builtins.compile
builtins.compile = lambda text, *rest: texts.append(text) or plain(text, *rest)
class Point(typing.NamedTuple):
    x: "tuple[int, ...]"
    y: "tuple[int, ...]" = (2,)
class Line(typing.NamedTuple):
    y: "tuple[int, ...]"
builtins.compile = plain
assert Point((1,)) == ((1,), (2,)) == Point(x=(1,)) and repr(Line(3)) == "Line(y=3)"
assert typing.get_type_hints(Point)["x"] == tuple[int, ...]
try:
    Line()
except TypeError as error:
    assert "missing 1 required positional argument: 'y'" in str(error)
kept.save()
print(len(texts), len(set(texts)))
"""


def test_named_tuples_are_compiled_once_and_each_annotation_once(pyc: str) -> None:
    """Two texts of ``__new__`` and one annotation, and in the next process none."""
    counts = [
        subprocess.run(
            [sys.executable, "-c", NAMED_TUPLES.format(pyc=pyc)], check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert counts == ["3 3\n", "0 0\n"]


def test_the_fields_of_a_class_are_found_by_position_and_by_name() -> None:
    program = """
import attr._make, attrs
from scenarios.cli.start import KeptCode
KeptCode(None).serve(attr._make)
Point = attrs.make_class("Point", ["x", "y"], frozen=True)
found = attrs.fields(Point)
assert found.y is found[1] and [each.name for each in found] == ["x", "y"]
assert attrs.evolve(Point(1, 2), y=3) == Point(1, 3) != attrs.make_class("Other", ["x"])(1)
assert not hasattr(found, "z")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_kept_for_other_commands_stays(pyc: str) -> None:
    for source in ("a = 1", "b = 1"):
        kept = KeptCode(pyc)
        compiled(kept, source, f"<{source}>")
        kept.save()
    both = KeptCode(pyc)
    for source in ("a = 1", "b = 1", "a = 1"):
        compiled(both, source, f"<{source}>")
    before = Path(f"{pyc}.methods").stat().st_mtime_ns
    both.save()
    assert Path(f"{pyc}.methods").stat().st_mtime_ns == before


@pytest.mark.parametrize("lasting", [True, False])
def test_values_of_numbers_have_one_hash_in_every_process_unless_it_is_to_differ(lasting: bool) -> None:
    program = f"""
import attr._make
from scenarios.cli.start import KeptCode
KeptCode(None, lasting_hashes={lasting}).serve(attr._make)
Point = attr.frozen(type("Point", (), {{"__annotations__": {{"x": int}}}}))
print(hash(Point(1)))
"""
    command = [sys.executable, "-c", program]
    first, second = (
        subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    )
    assert (first == second) is lasting


def test_what_attrs_generates_does_not_depend_on_the_hash_seed(pyc: str) -> None:
    program = f"""
import attr._make
from scenarios.cli.start import KeptCode
kept = KeptCode({pyc!r})
kept.serve(attr._make)
attr.frozen(type("Point", (), {{"__annotations__": {{"x": int}}}}))
kept.save()
"""
    for seed, writes in (("1", True), ("2", False)):
        file = Path(f"{pyc}.methods")
        before = file.stat().st_mtime_ns if file.exists() else None
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": ""}
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)
        assert (file.stat().st_mtime_ns != before) is writes


def test_a_text_that_has_changed_is_compiled(pyc: str) -> None:
    kept = KeptCode(pyc)
    compiled(kept)
    kept.save()
    found: dict[str, int] = {}
    exec(compiled(KeptCode(pyc), "a = 2"), found)
    assert found["a"] == 2


@pytest.mark.parametrize("content", [b"", b"no marshal", b"\x00", b"N"])
def test_a_file_that_cannot_be_read_is_written_again(pyc: str, content: bytes) -> None:
    Path(f"{pyc}.methods").write_bytes(content)
    kept = KeptCode(pyc)
    assert compiled(kept).co_filename == "<of a test>"
    assert written(kept, pyc)


@pytest.mark.parametrize("where", [None, "/nowhere/start.pyc"])
def test_a_program_that_cannot_keep_code_runs_all_the_same(where: str | None) -> None:
    kept = KeptCode(where)
    compiled(kept)
    kept.save()


def test_nothing_is_written_where_python_writes_no_bytecode(monkeypatch: pytest.MonkeyPatch, pyc: str) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept = KeptCode(pyc)
    compiled(kept)
    assert not written(kept, pyc)


@pytest.mark.parametrize(
    "entry", ["scenarios.cli.start", "scenarios.cli.__main__", "scenarios.cli.recording", "understudy.__main__"]
)
def test_a_program_can_prepare_its_start_before_attrs_and_trio_are_imported(entry: str) -> None:
    program = f"import sys, {entry}; print([name for name in ('attr', 'trio') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
