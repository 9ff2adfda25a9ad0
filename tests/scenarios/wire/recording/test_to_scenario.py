"""A recorded live run as a scenario of its own: the same faults under the same frames."""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator.protocol.events import Appended, Fault, LeaderElected
from scenarios.cli.program import main
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.recorded_frames import compressed
from scenarios.runs import run_scenario
from scenarios.testing.kafka import kafka
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.to_scenario import write_scenario

confluent = pytest.importorskip(
    "confluent_kafka", reason="confluent-kafka is not installed: ./understudy test does that"
)

SMALL = {"title": "small", "cluster": {"brokers": 1}}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A producer loses its leader between two records."""
    folder: Path = tmp_path_factory.mktemp("live") / "run"
    with kafka(topics={"orders": [[0, 1, 2]]}, rate=8.0, record=folder) as server:
        producer = confluent.Producer({"bootstrap.servers": server.bootstrap_servers, "client.id": "billing"})
        for text in (b"one", b"two"):
            producer.produce("orders", text)
            assert producer.flush(60) == 0
            server.crash("leader(orders-0)")
    return folder


def test_the_scenario_has_the_faults_and_the_load_of_the_live_run(recorded: Path, tmp_path: Path) -> None:
    path = tmp_path / "incident.toml"
    assert main(["replay", str(recorded), "--to-scenario", str(path)]) == 0
    scenario = Scenario.load(path)
    assert scenario.attached == ("billing",)
    assert [type(entry.action).__name__ for entry in scenario.method] == ["BrokerCrash", "BrokerCrash"]
    seen: list[object] = []
    run = run_scenario(scenario, on_event=seen.extend)
    faults = [event for event in seen if isinstance(event, Fault)]
    assert [fault.t_us for fault in faults] == [
        entry.t_us for entry in read_live_run(recorded).inputs.entries if "broker.crash" in str(entry.what)
    ]
    assert {event.leader for event in seen if isinstance(event, LeaderElected)} >= {0, 1}
    assert sum(isinstance(event, Appended) for event in seen) >= 5
    assert run_scenario(scenario).digest == run.digest
    assert Scenario.loads(scenario.to_toml()) == scenario


def test_it_never_goes_over_another_file(recorded: Path, tmp_path: Path) -> None:
    path = tmp_path / "incident.toml"
    path.with_suffix(".frames").write_text("mine")
    with pytest.raises(BadInput, match="is there already"):
        write_scenario(read_live_run(recorded), path)
    assert path.with_suffix(".frames").read_text() == "mine"
    assert not path.exists()


@pytest.mark.parametrize(
    ("frames", "wrong"),
    [
        ({"file": "none.frames"}, "cannot be read"),
        ({"file": "x", "data": "y"}, "keep 'file' or 'data'"),
        ({"data": "no base64"}, "not a compressed log"),
        ({"data": compressed(b"no log at all, whatever it is")}, "not the log of a live run"),
        ({"data": compressed(b"understudy live run 2\n"), "api_versions": "9"}, "'9'"),
    ],
)
def test_frames_that_cannot_be_used_are_refused(frames: dict[str, str], wrong: str, tmp_path: Path) -> None:
    text = Scenario.from_table(SMALL).to_toml() + "".join(
        ["[frames]\n", *(f'{name} = "{value}"\n' for name, value in frames.items())]
    )
    with pytest.raises(BadInput, match=wrong):
        run_scenario(Scenario.loads(text, folder=tmp_path))
