"""Real clients in a test: the context managers, and the fixture ``kafka`` as a project meets it."""

from __future__ import annotations

import asyncio
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
