"""Installed from its wheel, Understudy is one package, and gets along with others that have our packages' names."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "quick-move", "--check"),
        ("list", "actions"),
        ("list", "invariants"),
        ("validate", "rolling-restart"),
        ("schema",),
        ("run", "leader-dies-mid-move", "--trace", "trace"),
        ("timeline", "trace"),
        ("metrics", "trace", "--at", "9s"),
        ("atlas", "--cell", "wiki/0,1,2-1,3,4/7.after/leader/crash"),
    ],
    ids=" ".join,
)
def test_commands_work(project: Project, arguments: tuple[str, ...]) -> None:
    assert project.run("-m", "understudy", *arguments)


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
