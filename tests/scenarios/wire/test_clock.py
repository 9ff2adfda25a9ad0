"""The clock of a served cluster is that of the wall, as clients see it, and a replay has it again."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from scenarios.cli.program import main
from scenarios.language import Scenario
from scenarios.runs.runner import Stage
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.scenarios.wire.gateway.served import served

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
STAMPED = {
    "name": "stamped",
    "partitions": 1,
    "replication_factor": 3,
    "config": {"message.timestamp.type": "LogAppendTime"},
}
OLD = {
    "name": "old",
    "partitions": 1,
    "replication_factor": 3,
    "config": {"retention.ms": MINUTE_MS, "segment.ms": 1000},
}
CLUSTER = {"brokers": 3, "config": {"log.retention.check.interval.ms": 1000}}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A recorded run in which clients see what the time is; and the time when it began, in milliseconds."""
    folder: Path = tmp_path_factory.mktemp("clock") / "run"
    began_ms = int(time.time() * 1000)
    with served({"topics": [STAMPED, OLD], "cluster": CLUSTER}, record=folder) as cluster:
        servers = {"bootstrap.servers": cluster.run.bootstrap_servers, "log_level": 0}
        producer = Producer(servers)
        producer.produce("stamped", b"a", timestamp=5)
        for age_ms in (3 * HOUR_MS, 2 * HOUR_MS, 0):
            producer.produce("old", b"a", timestamp=began_ms - age_ms)
            producer.flush()
        consumer = Consumer({**servers, "group.id": "clock"})
        consumer.assign([TopicPartition("stamped", 0, 0)])
        message = consumer.poll(30)
        assert message is not None
        kind, stamped_ms = message.timestamp()
        assert kind == 2
        assert began_ms - 1000 <= stamped_ms <= time.time() * 1000 + 1000
        since = [TopicPartition("stamped", 0, began_ms - HOUR_MS), TopicPartition("old", 0, began_ms - HOUR_MS)]
        assert [found.offset for found in consumer.offsets_for_times(since, timeout=30)] == [0, 2]
        while consumer.get_watermark_offsets(TopicPartition("old", 0), timeout=30) != (2, 3):
            time.sleep(0.1)
        consumer.close()
    (run,) = cluster.finished
    assert run.verdict == "passed", run.explanation
    return folder, began_ms


def test_a_replay_has_the_time_of_the_live_run(recorded: tuple[Path, int]) -> None:
    folder, began_ms = recorded
    run = read_live_run(folder)
    assert 0 <= run.served.clock_us // 1000 - began_ms < 60_000
    assert ReplayedRun(run).play().same


def test_a_replay_with_another_time_is_another_run(recorded: tuple[Path, int], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for file in recorded[0].iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    text = (folder / "run.toml").read_text()
    (folder / "run.toml").write_text("\n".join(line for line in text.splitlines() if "clock_us" not in line))
    run = read_live_run(folder)
    assert run.served.clock_us == 0
    assert ReplayedRun(run).play().same is False


def test_a_scenario_of_a_recording_begins_at_its_time(recorded: tuple[Path, int], tmp_path: Path) -> None:
    folder, _ = recorded
    path = tmp_path / "found.toml"
    assert main(["replay", str(folder), "--to-scenario", str(path)]) == 0
    scenario = Scenario.load(path)
    assert scenario.frames is not None
    assert scenario.frames.clock_us == read_live_run(folder).served.clock_us
    stage = Stage(scenario)
    assert stage.cluster.epoch_us == scenario.frames.clock_us
