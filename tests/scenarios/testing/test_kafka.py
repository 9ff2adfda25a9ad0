"""Real clients in a test: the context managers, and the fixture ``kafka`` as a project meets it."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.testing.kafka import kafka
from scenarios.testing.virtual_time import NotInTime
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.asynchronous import in_asyncio
from tests.scenarios.testing.test_pytest_plugin import run_pytest

confluent = pytest.importorskip(
    "confluent_kafka", reason="confluent-kafka is not installed: ./understudy test does that"
)

ORDERS = {"orders": [[0, 1, 2]]}
TESTS = """
import pytest
from confluent_kafka import Producer

@pytest.mark.kafka(topics={"orders": [[0, 1, 2]]}, rate=4.0)
def test_the_producer_survives_its_leader(kafka):
    offsets = []
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    def send(text):
        producer.produce("orders", text, on_delivery=lambda error, message: offsets.append((error, message.offset())))
        producer.flush(30)
    send("one")
    kafka.crash("leader(orders-0)")
    send("two")
    assert offsets == [(None, 0), (None, 1)]

def test_that_fails(kafka):
    kafka.crash(9)

@pytest.mark.kafka(scenario="never.toml")
def test_whose_expectation_does_not_come_true(kafka):
    pass
"""
NEVER = """
title = "never"
[cluster]
brokers = 1
[[topics]]
name = "orders"
assignment = [[0]]
[[expect]]
within = "1ms"
leader = { "orders-0" = 7 }
"""


def test_brokers_have_the_ids_that_are_asked_for(tmp_path: Path) -> None:
    with kafka(
        [1, 2, 1001],
        {"orders": [[1001, 1, 2]]},
        record=tmp_path / "run",
        listeners=["SASL_PLAINTEXT"],
        users="any",
        rate=4.0,
    ) as server:
        producer = confluent.Producer({"bootstrap.servers": server.bootstrap_servers})
        known = producer.list_topics(timeout=30)
        assert sorted(known.brokers) == [1, 2, 1001]
        assert known.topics["orders"].partitions[0].leader == 1001
        assert len(server.servers("SASL_PLAINTEXT").split(",")) == 3
        server.crash(1001)
        server.until(lambda: server.state("orders-0")["leader"] == 1)
        producer.produce("orders", "one")
        assert producer.flush(30) == 0
    assert ReplayedRun(read_live_run(tmp_path / "run")).play().same


def test_the_fixture_serves_what_its_mark_says_and_judges_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "never.toml").write_text(NEVER)
    printed = run_pytest(tmp_path, "test_it.py")
    assert "test_the_producer_survives_its_leader PASSED" in printed, printed
    assert "test_that_fails FAILED" in printed
    assert "BadInput: target" in printed
    assert "understudy replay" in printed
    assert "test_whose_expectation_does_not_come_true ERROR" in printed
    assert "leader" in printed


def test_a_passing_test_leaves_nothing_and_a_failing_one_its_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    artifacts = tmp_path / "understudy-artifacts"
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n"
        "def test_that_passes(kafka):\n    assert kafka.bootstrap_servers\n\n"
        "def test_that_fails(kafka):\n    kafka.crash(9)\n\n"
        "@pytest.mark.kafka(record='mine')\n"
        "def test_that_records(kafka):\n    assert kafka.bootstrap_servers\n\n"
        "@pytest.mark.kafka(scenario='never.toml')\n"
        "def test_that_is_judged(kafka):\n    pass\n"
    )
    (tmp_path / "never.toml").write_text(
        NEVER.replace('leader = { "orders-0" = 7 }', 'assignment = { "orders-0" = [] }')
    )
    (tmp_path / "test_refused.py").write_text(
        "import pytest\n\n@pytest.mark.kafka(brokers=0)\ndef test_it(kafka):\n    pass\n"
    )
    assert "ERROR" in run_pytest(tmp_path, "test_refused.py")
    assert not artifacts.exists(), "there was no run"
    for _ in range(2):
        run_pytest(tmp_path, "test_it.py", "-k", "passes")
        assert not artifacts.exists()
    for _ in range(2):  # the second recording takes the place of the first
        printed = run_pytest(tmp_path, "test_it.py", "-k", "fails or judged")
        kept = sorted(path.name for path in artifacts.iterdir())
        assert kept == ["test_it.py--test_that_fails", "test_it.py--test_that_is_judged"], printed
        failed = artifacts / kept[0] / "recording"
        assert f"understudy replay {failed}" in printed or f"{failed.relative_to(tmp_path)}" in printed
        read_live_run(failed)
        read_live_run(artifacts / kept[1] / "recording")
    run_pytest(tmp_path, "test_it.py", "-k", "records")
    read_live_run(tmp_path / "mine")
    assert not [path.name for path in temporary.iterdir() if "understudy" in path.name]


def test_without_pytest_only_a_failure_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with kafka(topics=ORDERS) as passed:
        assert passed.recording is not None
    assert not passed.recording.exists()
    with pytest.raises(BadInput) as caught, kafka(topics=ORDERS) as failed:
        failed.crash(9)
    assert failed.recording is not None
    assert str(failed.recording) in caught.value.__notes__[-1]
    read_live_run(failed.recording)


def test_a_run_is_recorded_and_replays(tmp_path: Path) -> None:
    with kafka(topics=ORDERS, rate=8.0, record=tmp_path / "run") as server:
        producer = confluent.Producer({"bootstrap.servers": server.bootstrap_servers})
        producer.produce("orders", b"one")
        assert producer.flush(30) == 0
        server.reassign("orders-0", [2, 1, 0])
        server.until(lambda: server.state("orders-0")["replicas"] == [2, 1, 0])
        assert server.state("orders-0")["logs"][0]["high_watermark"] == 1
    assert server.run is not None
    assert server.run.passed
    assert ReplayedRun(read_live_run(tmp_path / "run")).play().same


def test_it_serves_beside_asyncio() -> None:
    async def attach() -> list[int]:
        async with kafka(topics=ORDERS) as server:
            state = await asyncio.to_thread(server.state, "orders-0")
        return list(state["isr"])

    assert in_asyncio(attach) == [0, 1, 2]


def test_what_is_wrong_is_one_line() -> None:
    with pytest.raises(BadInput, match="unknown key 'toppics'"):
        kafka(toppics=ORDERS)
    with pytest.raises(BadInput, match="give one or the other"):
        kafka(topics=ORDERS, scenario="some.toml")
    with pytest.raises(RuntimeError, match="with statement"):
        kafka().act("heal")
    with kafka() as server:
        with pytest.raises(BadInput, match=r"did you mean 'broker\.crash'"):
            server.act("broker.crush", 1)
        with pytest.raises(NotInTime):
            server.until(lambda: False, within_s=0.05)


def test_a_long_path_of_the_temporary_files_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a Unix socket has 103 bytes at most; macOS's own TMPDIR has about 50."""
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with kafka(topics={"orders": [[0]]}, brokers=1) as server:
        assert server.bootstrap_servers
    assert not list(long.iterdir())
