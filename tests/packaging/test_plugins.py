"""The module that docs/extend/plugins.md teaches, installed as a package of another project beside the wheel."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import fenced
from tests.packaging.conftest import Project

SCENARIO = """
title = "Acme's move"
[cluster]
brokers = 5
controller = 4
[[topics]]
name = "orders"
assignment = [[0, 1, 2], [0, 1, 2]]
[strategy]
name = "drop-first+pairs-1+last-first+careful-20"
[plan]
partitions = [{ topic = "orders", partition = 0, replicas = [0, 1, 3] }, { topic = "orders", partition = 1, replicas = [0, 1, 3] }]
[[method]]
at = "2s"
action = "reassign.execute"
[[method]]
at = "30s"
action = "broker.restart"
target = 1
[[clients]]
behaviour = "hammer"
name = "h"
count = 2
partition = "orders-0"
[[method]]
after = "5s"
action = "client.crash"
target = "client(h)"
duration = "5s"
[[expect]]
invariant = "three_in_sync"
[[expect]]
metric = "fetcher_starts"
tolerance = [3, 100]
"""  # noqa: E501


def text() -> str:
    return "\n\n".join(block.text for block in fenced("plugins.md", "python"))


@pytest.fixture(scope="module")
def acme(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The project, with the package ``acme_kafka`` installed."""
    source = tmp_path_factory.mktemp("acme")
    (source / "acme_kafka.py").write_text(text())
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "acme-kafka"\nversion = "1"\n'
        '[project.entry-points."understudy.plugins"]\nacme = "acme_kafka"\n'
        '[tool.setuptools]\npy-modules = ["acme_kafka"]\n'
    )
    [site] = (project.root / ".venv" / "lib").glob("*/site-packages")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*install, "--target", site, source], check=True)
    (project.root / "acme.toml").write_text(SCENARIO)
    yield project
    for installed in site.glob("acme_kafka*"):  # other tests have the project as it was
        shutil.rmtree(installed) if installed.is_dir() else installed.unlink()


NAMES = {
    "plugins": ["acme_kafka"],
    "invariants": ["three_in_sync"],
    "actions": ["broker.restart"],
    "behaviours": ["hammer"],
    "profiles": ["acme-2.4"],
    "bugs": ["ACME-7"],
    "strategies": ["drop-first", "+pairs-N", "+last-first", "+careful-N"],
    "metrics": ["fetcher_starts"],
}
"""The names that the package registers, by the kind that ``list`` knows them under."""
LIST = """
import sys
from understudy.__main__ import program
for kind in sys.argv[1:]:
    sys.argv[1:] = ["list", kind, "--format", "json"]
    assert program() == 0
"""


def test_its_names_are_listed(acme: Project) -> None:
    found: dict[str, list[str]] = {}
    printed, place = acme.run("-c", LIST, *NAMES), 0
    for kind in NAMES:
        listed, place = json.JSONDecoder().raw_decode(printed, place)
        place += 1  # the end of the line
        found[kind] = [entry["name"] for entry in listed if entry["name"] in NAMES[kind]]
    assert {kind: sorted(names) for kind, names in found.items()} == {kind: sorted(NAMES[kind]) for kind in NAMES}


def test_a_file_uses_them_in_processes_of_its_own_too(acme: Project) -> None:
    printed = acme.run("-m", "understudy", "run", "acme.toml", "--seeds", "0:3", "--jobs", "2", "--format", "json")
    runs = [json.loads(line) for line in printed.splitlines()]
    assert [run["verdict"] for run in runs] == ["passed"] * 3
    assert all(run["metrics"]["fetcher_starts"] > 0 and run["metrics"]["acked_batches"] > 100 for run in runs)


def test_its_profile_and_its_bug_can_be_asked_for(acme: Project) -> None:
    acme.run("-m", "understudy", "run", "quick-move", "--profile", "acme-2.4", "--bug", "ACME-7")


@pytest.mark.spark
def test_spark_s_workers_have_them(acme: Project) -> None:
    acme.run("-m", "understudy", "sweep", "acme.toml", "--seeds", "0:2", "--strategy", "drop-first", "--out", "acme")
    assert "fetcher_starts" in acme.run("-m", "understudy", "compare", "acme")


@pytest.mark.slow
def test_the_page_passes_a_type_check(acme: Project) -> None:
    (acme.root / "acme_page.py").write_text(text())
    command = [sys.executable, "-m", "mypy", "--python-executable", str(acme.python), "acme_page.py"]
    done = subprocess.run(command, cwd=acme.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_plug_in_that_fails_is_named(project: Project, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("\n1 / 0\n")
    program = f"from understudy.__main__ import program; import sys; sys.argv[1:] = ['list', 'plugins', '--plugin', '{tmp_path}/broken.py']; sys.exit(program())"  # noqa: E501
    project.run("-c", program, code=2)
