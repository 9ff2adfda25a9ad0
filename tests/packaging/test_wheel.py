"""Installed from its wheel, Understudy is one package, and gets along with others that have our packages' names."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from scenarios.extras import STUDY
from tests.docs.pages import fenced
from tests.packaging.conftest import FLOORS, ROOT, Project


def test_the_wheel_has_one_package_and_the_one_for_spark(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
        "understudy",
        "pyspark_understudy",
    }
    assert "understudy/py.typed" in names
    installed = {name.removeprefix("understudy/") for name in names if name.endswith(".py")}
    ours = {str(path.relative_to(ROOT)) for floor in FLOORS for path in (ROOT / floor).rglob("*.py")}
    assert {name for name in ours if "scenarios/package/" not in name} <= installed


def test_packages_of_the_same_names_stay_the_projects(project: Project) -> None:
    program = (
        "from understudy import Scenario\n"
        "from understudy.events import LeaderElected\n"
        "import controller, scenarios, sys\n"
        "print(controller.WHOSE, '|', scenarios.WHOSE, '|', 'emulator' in sys.modules, LeaderElected.__name__)\n"
    )
    assert project.run("-c", program) == "the project, controller | the project, scenarios | False LeaderElected\n"


@pytest.mark.parametrize("more", [(), ("--seeds", "3:5", "--jobs", "2")])
def test_a_run_gives_the_same_bytes_as_in_the_checkout(project: Project, more: tuple[str, ...]) -> None:
    arguments = ("run", "quick-move", *more, "--format", "json")
    command = [sys.executable, "-m", "scenarios.cli", *arguments]
    ours = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert digests(project.run("-m", "understudy", *arguments)) == digests(ours)


def digests(printed: str) -> list[str]:
    return [json.loads(line)["digest"] for line in printed.splitlines()]


IN_ONE_PROCESS = """
import contextlib, io, json, shlex, sys
from understudy.__main__ import program
for line in sys.argv[1:]:
    sys.argv[1:] = shlex.split(line)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = program()
    print(json.dumps([line, code, out.getvalue(), err.getvalue()]))
"""
"""Carries out command lines, one after the other: to start is most of what each of them takes."""


def done(project: Project, *lines: str) -> list[list[Any]]:
    """Command lines, each with its exit code, its output and its text on standard error."""
    return [json.loads(each) for each in project.run("-c", IN_ONE_PROCESS, *lines).splitlines()]


def test_commands_work(project: Project) -> None:
    found = done(
        project,
        "run quick-move --check",
        "list actions",
        "list invariants",
        "validate rolling-restart",
        "schema",
        "run leader-dies-mid-move --trace trace",
        "timeline trace",
        "metrics trace --at 9s",
        "atlas --cell wiki/0,1,2-1,3,4/7.after/leader/crash",
    )
    assert [(line, code) for line, code, *_ in found if code != 0] == []
    assert [line for line, _, out, _ in found if not out] == []


def test_commands_work_without_the_extra_study(core: Project) -> None:
    found = done(
        core,
        "run quick-move",
        "run quick-move --check",
        "run quick-move --seeds 0:2",
        "chaos --seeds 0:1",
        "validate rolling-restart",
        "list actions",
        "completion bash",
        "serve --help",
    )
    assert [(line, code) for line, code, *_ in found if code != 0] == []
    assert [line for line, _, out, _ in found if not out] == []


def test_others_say_in_one_line_what_to_install(core: Project) -> None:
    before = sorted(core.root.iterdir())
    lacking = {
        "run quick-move --trace trace": "pyspark",
        "demo": "pyspark",
        "sweep quick-move --seeds 0:2 --out moves": "pyarrow",
        "compare moves": "numpy",
        "report moves": "pyarrow",
        "timeline moves": "pyarrow",
        "forecast quick-move": "numpy",
    }
    for line, code, _, err in done(core, *lacking):
        assert code == 2, line
        (said,) = err.splitlines()
        assert said.endswith(f"{lacking[line]} is not installed; run: pip install 'understudy[study]'")
    assert sorted(core.root.iterdir()) == before, "nothing is half written"


def test_a_served_cluster_its_replay_and_its_timeline_need_nothing_of_it(core: Project) -> None:
    (core.root / "test_served.py").write_text(
        "import pytest\n\n\n"
        "async def test_it(cluster):\n"
        "    async with cluster(brokers=1) as c:\n"
        "        assert c.up() == [0]\n\n\n"
        "@pytest.mark.kafka(topics={'orders': [[0, 1, 2]]})\n"
        "def test_served(kafka):\n"
        "    kafka.crash(0)\n"
        "    kafka.until(lambda: kafka.state('orders-0')['leader'] == 1)\n"
    )
    recording = "live"
    (core.root / "serving.py").write_text(
        "from understudy.testing import kafka\n"
        f"with kafka(topics={{'orders': [[0, 1, 2]]}}, record={recording!r}) as served:\n"
        "    assert served.state('orders-0')['leader'] == 0\n"
    )
    assert "2 passed" in core.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_served.py")
    core.run("serving.py")
    assert "the same as the live run" in core.run("-m", "understudy", "replay", recording)
    assert "orders-0" in core.run("-m", "understudy", "timeline", recording, "orders-0")


def test_what_is_refused_is_what_the_extra_has(core: Project) -> None:
    for package in STUDY:
        core.run("-c", f"import {package}", code=1)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert tuple(Requirement(line).name for line in extras["study"]) == STUDY


@pytest.mark.slow
@pytest.mark.spark
def test_a_sweep_works_on_spark(project: Project) -> None:
    project.run("-m", "understudy", "sweep", "quick-move", "--seeds", "0:2", "--strategy", "wiki", "--out", "moves")
    assert "time_to_complete_s" in project.run("-m", "understudy", "compare", "moves")


def test_the_data_source_is_where_spark_looks(project: Project) -> None:
    program = """
from pkgutil import iter_modules
from pyspark.sql.datasource import DataSource
assert "pyspark_understudy" in {module.name for module in iter_modules()}
from pyspark_understudy import DefaultSource
assert issubclass(DefaultSource, DataSource)
print(DefaultSource.name())
"""
    assert project.run("-c", program) == "understudy\n"


@pytest.mark.slow
@pytest.mark.spark
def test_spark_finds_the_data_source_by_itself(project: Project) -> None:
    (project.root / "three.toml").write_text('title = "three brokers start"\n[cluster]\nbrokers = 3\n')
    program = """
from understudy.scenarios.studies.spark.session import session
with session("local[1]") as spark:
    print(spark.read.format("understudy").option("seeds", "0:2").load("three.toml").count())
"""
    assert project.run("-c", program) == "2\n"


@pytest.mark.slow
def test_the_examples_of_the_docs_pass_a_strict_type_check(project: Project) -> None:
    """As a user's own code: mypy sees the installed package, and not the checkout."""
    (project.root / "example.py").write_text("\n".join(block.text for block in fenced("python.md", "python")))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull]
    command += ["--python-executable", str(project.python), "example.py"]
    done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_action_of_the_language_can_be_imported(project: Project) -> None:
    program = "import understudy.actions as a; print(' '.join(getattr(a, name).name for name in a.__all__))"
    listed = json.loads(project.run("-m", "understudy", "list", "actions", "--format", "json"))
    assert sorted(project.run("-c", program).split()) == sorted(entry["name"] for entry in listed)


def test_pytest_finds_the_plugin_by_its_entry_point(project: Project) -> None:
    (project.root / "mine.scenario.toml").write_text('title = "three brokers start"\n[cluster]\nbrokers = 3\n')
    (project.root / "test_mine.py").write_text(
        "async def test_it(cluster):\n    async with cluster(brokers=1) as c:\n        assert c.up() == [0]\n"
    )
    printed = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "mine.scenario.toml", "test_mine.py")
    assert "2 passed" in printed
