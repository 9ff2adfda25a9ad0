"""The pytest plugin, as a project meets it: pytest runs in a folder of its own, in a process of its own."""

import os
from argparse import Namespace
from pathlib import Path

import pytest

from scenarios.cli.traces import read
from scenarios.language import Scenario
from scenarios.runs.dataset.reader import open_data_set, read_table
from tests import forked
from tests.docs.pages import ROOT, fenced

MOVE = """
title = "a move"
[cluster]
brokers = 3
[[topics]]
name = "orders"
assignment = [[0, 1]]
[plan]
partitions = [{ topic = "orders", partition = 0, replicas = [1, 2] }]
[[method]]
at = "1s"
action = "reassign.execute"
[[expect]]
within = "WITHIN"
assignment = { "orders-0" = [1, 2] }
"""


def run_pytest(folder: Path, *arguments: str) -> str:
    """The output of pytest. The plugin is named, whether this environment has its entry point or not."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "scenarios/package")])
    return forked.run_pytest(
        folder,
        ["-p", "understudy.pytest_plugin", "-p", "no:cacheprovider", "-v", *arguments],
        {**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.scenario.toml").write_text(MOVE.replace("WITHIN", "1m"))
    (tmp_path / "late.scenario.toml").write_text(MOVE.replace("WITHIN", "1ms"))
    return tmp_path


def test_a_file_is_a_test_for_each_strategy_and_seed(folder: Path) -> None:
    options = ("--understudy-seeds", "2", "--understudy-strategy", "wiki", "--understudy-strategy", "kafka-6794")
    printed = run_pytest(folder, "good.scenario.toml", *options, "--understudy-jobs", "2")
    names = [f"good.scenario.toml::{strategy}[{seed}] PASSED" for strategy in ("wiki", "kafka-6794") for seed in (0, 1)]
    assert all(name in printed for name in names), printed
    assert "4 passed" in printed


def test_a_failure_names_seed_and_replay_and_leaves_its_run(folder: Path) -> None:
    printed = run_pytest(
        folder, "late.scenario.toml::wiki[3]", "--understudy-seeds", "3:4", "--understudy-shrink", "0s"
    )
    assert "expected assignment orders-0 [1, 2] within 0.001 s" in printed
    assert "python -m pytest 'late.scenario.toml::wiki[3]' --understudy-seeds 3:4" in printed
    kept = folder / "understudy-artifacts" / "late.scenario.toml--wiki-3"
    assert Scenario.load(kept / "scenario.toml").seed == 3
    assert (kept / "trace" / "manifest.json").exists()


def test_a_failing_run_is_shrunk_and_a_chaos_file_is_what_its_seed_draws(folder: Path) -> None:
    (folder / "mine.scenario.toml").write_text(
        'title = "one broker after the other"\nbugs = ["KAFKA-7128"]\n[cluster]\nbrokers = 3\n'
        '[[topics]]\nname = "orders"\nassignment = [[0, 1]]\n[[chaos]]\nkind = "attrition"\nshare = 1\n'
        '[[expect]]\nwithin = "1ms"\nassignment = { "orders-0" = [0, 2] }\n'
    )
    printed = run_pytest(folder, "mine.scenario.toml", "--understudy-seeds", "1:2", "--understudy-shrink", "10s")
    kept = folder / "understudy-artifacts" / "mine.scenario.toml--wiki-1"
    drawn, shrunk = Scenario.load(kept / "scenario.toml"), Scenario.load(kept / "shrunk.toml")
    assert drawn.method, printed
    assert len(shrunk.method) < len(drawn.method)
    assert "the smallest scenario that shows it" in printed


def test_a_wrong_file_and_a_wrong_option_are_one_line(folder: Path) -> None:
    (folder / "bad.scenario.toml").write_text(MOVE.replace("WITHIN", "1m").replace("assignment =", "asignment =", 1))
    assert "did you mean 'assignment'?" in run_pytest(folder, "bad.scenario.toml")
    printed = run_pytest(folder, "--understudy-seeds", "none")
    assert printed.strip() == "ERROR: --understudy-seeds: 'none' names no seeds; write a number, or A:B such as 3:4"


def test_a_plugin_that_raises_is_named_and_not_the_scenario(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from understudy.events import IsrChanged\nfrom understudy.plugins import *\n@checker\n"
        'class Raises(Checker):\n    name, ids, statement = "raises", ("Z1",), "nothing"\n'
        "    def on_change(self, event: IsrChanged) -> None:\n        1 / 0\n"
    )
    printed = run_pytest(folder, "good.scenario.toml", "--understudy-plugin", "mine.py")
    assert f"no failure of the scenario: checker 'raises' of plug-in {folder / 'mine.py'} failed: Zero" in printed
    assert (
        "python -m pytest 'good.scenario.toml::wiki[0]' --understudy-seeds 0:1 --understudy-plugin mine.py" in printed
    )
    assert "culprits.py" not in printed
    gone = run_pytest(folder, "good.scenario.toml", "--understudy-plugin", "gone.py")
    assert "--understudy-plugin: 'gone.py' is no Python file; write the path of one" in gone


def test_the_tests_that_the_page_teaches_pass(tmp_path: Path) -> None:
    (tmp_path / "test_page.py").write_text("\n".join(block.text for block in fenced("pytest.md", "python")))
    printed = run_pytest(tmp_path, "--understudy-seeds", "2", "-p", "_hypothesis_pytestplugin", "--hypothesis-seed=0")
    assert "6 passed" in printed, printed
    assert "test_the_next_replica_leads[1] PASSED" in printed


def test_a_failing_test_with_the_fixture_names_its_seed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "async def test_seed(cluster, seed):\n    async with cluster(brokers=1) as c:\n        assert seed != 5\n"
    )
    printed = run_pytest(tmp_path, "--understudy-seeds", "5:6")
    assert "python -m pytest 'test_it.py::test_seed[5]' --understudy-seeds 5:6" in printed
    assert "of virtual time, seed 5" in printed


def test_a_fixture_of_the_projects_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import inspect, pytest\n"
        "@pytest.fixture\n"
        "def cluster():\n    return 7\n"
        "def test_own(cluster):\n    assert cluster == 7\n"
        "async def test_asynchronous(cluster): ...\n"
        "def test_not_wrapped(request):\n"
        "    assert [inspect.iscoroutinefunction(item.obj) for item in request.session.items] == [False, True, False]\n"
    )
    assert "2 passed" in run_pytest(tmp_path)


SHUT_DOWN = """
async def test_stop(cluster):
    async with cluster(3, {"orders": [[0, 1, 2]]}, profile="PROFILE", controller=2) as c:
        await c.stop(0)
        await c.settled()
"""
KNOWN = "KnownFinding: known under kafka-1.1: KAFKA-7482: a broker in its controlled shutdown gets no LeaderAndIsr"


def test_what_a_release_does_wrong_by_itself_is_a_warning_and_no_failure(tmp_path: Path) -> None:
    """In a test with the fixture, and in a scenario file; also where warnings are made errors."""
    (tmp_path / "test_it.py").write_text(SHUT_DOWN.replace("PROFILE", "kafka-1.1"))
    (tmp_path / "stop.scenario.toml").write_text(
        'title = "stop"\nprofile = "kafka-1.1"\n[cluster]\nbrokers = 3\ncontroller = 2\n'
        '[[topics]]\nname = "orders"\nassignment = [[0, 1, 2]]\n'
        '[[method]]\nat = "3s"\naction = "broker.controlled_shutdown"\ntarget = 0\n'
    )
    printed = run_pytest(tmp_path)
    assert "2 passed, 2 warnings" in printed, printed
    assert printed.count(KNOWN) == 2
    assert not (tmp_path / "understudy-artifacts").exists()
    assert "2 passed, 2 warnings" in run_pytest(tmp_path, "-W", "error")
    assert "2 passed in" in run_pytest(tmp_path, "-W", "ignore")


def test_the_same_finding_fails_under_a_release_that_does_not_have_it(tmp_path: Path) -> None:
    (tmp_path / "stop.scenario.toml").write_text(
        'title = "stop"\nbugs = ["KAFKA-7482"]\n[cluster]\nbrokers = 3\ncontroller = 2\n'
        '[[topics]]\nname = "orders"\nassignment = [[0, 1, 2]]\n'
        '[[method]]\nat = "3s"\naction = "broker.controlled_shutdown"\ntarget = 0\n'
    )
    printed = run_pytest(tmp_path, "--understudy-shrink", "0s")
    assert "1 failed" in printed
    assert "KnownFinding" not in printed


def test_a_failing_test_with_the_fixture_leaves_the_trace_of_its_cluster(tmp_path: Path) -> None:
    failing = SHUT_DOWN + "        assert c.leader('orders-0') == 7\n"
    fixtures = "import pytest\n\n\n@pytest.mark.parametrize('seed', [4])\n"
    (tmp_path / "test_it.py").write_text(
        fixtures + failing.replace("PROFILE", "kafka-1.1").strip().replace("(cluster)", "(cluster, seed)") + "\n"
    )
    printed = run_pytest(tmp_path)
    trace = tmp_path / "understudy-artifacts" / "test_it.py--test_stop-4" / "trace"
    assert f"its trace: ./understudy timeline {trace.relative_to(tmp_path)}" in printed, printed
    assert "known under kafka-1.1: KAFKA-7482" in printed
    arguments = Namespace(trace=str(trace), run_id=None, seed=4, strategy=None)
    recorded = read(arguments)
    assert recorded.profile == "kafka-1.1"
    assert [event.node for event in recorded.events if type(event).__name__ == "NodeCrashed"] == [0]
    said = read_table(open_data_set(trace), "account").to_pylist()
    assert any("assert 1 == 7" in row["text"] for row in said)
    assert said[-1]["text"] == "python -m pytest 'test_it.py::test_stop[4]' --understudy-seeds 4:5"
    assert read_table(open_data_set(trace), "isr_events").num_rows


def test_a_test_that_never_makes_a_cluster_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("async def test_it(cluster):\n    assert 0\n")
    printed = run_pytest(tmp_path)
    assert "1 failed" in printed
    assert "what the cluster did" not in printed
    assert not (tmp_path / "understudy-artifacts").exists()
