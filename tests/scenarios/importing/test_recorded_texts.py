"""Texts that the tools of real clusters printed (Kafka 2.4.1 and 3.9.1, three brokers with two log directories, on
loopback; addresses and paths replaced) become scenarios that are valid, run, and say what was guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.language import Scenario
from scenarios.runs import run_scenario
from tests.scenarios.cli.conftest import Call, call

HERE = Path(__file__).parent
RECORDINGS, SAMPLES = Path("recordings"), Path("samples")
GOLDEN = HERE / "golden"
OLD, NEW = RECORDINGS / "kafka-2.4.1", RECORDINGS / "kafka-3.9.1"
CASES: dict[str, list[str | Path]] = {
    "2.4.1": [
        "--topics", OLD / "topics.txt", "--log-dirs", OLD / "log-dirs.txt",
        "--configs", OLD / "configs-topics-zookeeper.txt", "--configs", OLD / "configs-brokers-zookeeper.txt",
        "--reassignment", OLD / "plan.json", "--rates", SAMPLES / "rates.csv", "--profile", "kafka-2.4",
    ],
    "2.4.1-moving": [
        "--topics", OLD / "moving-topics.txt", "--log-dirs", OLD / "moving-log-dirs.txt",
        "--configs", OLD / "configs-broker.txt", "--configs", OLD / "configs-brokers.txt",
        "--configs", OLD / "configs-brokers-zookeeper.txt", "--reassignment", OLD / "plan.json",
        "--profile", "kafka-2.4",
    ],
    "2.4.1-dead": ["--topics", OLD / "dead-topics.txt", "--log-dirs", OLD / "dead-log-dirs.txt"],
    "3.9.1-moving": [
        "--topics", NEW / "moving-topics.txt", "--log-dirs", NEW / "moving-log-dirs.txt",
        "--configs", NEW / "configs-topics.txt", "--configs", NEW / "configs-brokers.txt",
        "--configs", NEW / "configs-broker-all.txt", "--rates", SAMPLES / "prometheus-counter.json",
    ],
    "cruise-control": [
        "--cluster-state", SAMPLES / "cluster-state.json", "--load", SAMPLES / "load.json",
        "--log-dirs", NEW / "log-dirs.txt", "--rates", SAMPLES / "prometheus-one-minute.json",
    ],
}  # fmt: skip
__all__ = ["call"]


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_as_it_was(name: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)  # the file names its sources as the command line does
    called = call("import", *CASES[name], "-o", tmp_path / "cluster.toml", "--quiet")
    assert called.code == 0, called.err
    assert (tmp_path / "cluster.toml").read_text() == (GOLDEN / f"{name}.toml").read_text()


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_valid_and_runs(name: str) -> None:
    scenario = Scenario.load(GOLDEN / f"{name}.toml")
    run = run_scenario(scenario.with_overrides({"horizon": "3m"}))
    assert run.passed, run.violations
    assert run.metrics["moves_finished"] == len(scenario.targets())


def test_what_a_real_cluster_had_is_in_the_scenario() -> None:
    scenario = Scenario.load(GOLDEN / "2.4.1.toml")
    assert scenario.assignments() == {
        "audit.log-0": (2,), "orders-0": (0, 1), "orders-1": (1, 2), "orders-2": (2, 0), "orders-3": (0, 2),
        "payments-0": (0, 1, 2), "payments-1": (1, 2, 0),
    }  # fmt: skip
    assert scenario.sizes()["orders-0"] == 19_994_400
    orders = next(topic for topic in scenario.topics if topic.name == "orders")
    assert orders.config == {"cleanup.policy": "delete", "min.insync.replicas": 2, "segment.bytes": 16_777_216}
    assert scenario.strategy.throttle == 300_000
    assert scenario.targets() == {"orders-0": (0, 2), "orders-1": (2, 0)}
    assert scenario.workloads[0].shares == (40_000, 20_000, 0, 4_000)


def test_a_move_under_way_begins_before_it_whether_the_tool_says_so_or_not() -> None:
    old, new = (Scenario.load(GOLDEN / f"{name}.toml") for name in ("2.4.1-moving", "3.9.1-moving"))
    assert old.assignments() == new.assignments() == Scenario.load(GOLDEN / "2.4.1.toml").assignments()
    assert old.targets() == new.targets() == {"orders-0": (0, 2), "orders-1": (2, 0)}


def test_the_session_timeout_is_zookeepers_in_the_scenario(call: Call, tmp_path: Path) -> None:
    configs = tmp_path / "configs.txt"
    configs.write_text(
        "Dynamic configs for broker 0 are:\n"
        "  zookeeper.session.timeout.ms=9000 sensitive=false synonyms={STATIC_BROKER_CONFIG:x=9000}\n"
    )
    called = call("import", "--topics", HERE / OLD / "topics.txt", "--configs", configs, "-o", tmp_path / "it.toml")
    assert called.code == 0, called.err
    assert Scenario.load(tmp_path / "it.toml").session_timeout_us == 9_000_000
