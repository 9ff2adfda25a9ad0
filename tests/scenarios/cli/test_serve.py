"""``serve`` from start to Ctrl-C."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scenarios.cli import main
from scenarios.errors import BadInput
from scenarios.language import Scenario

LIMIT_S = 60.0


@contextmanager
def serving(ready: Path, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """``understudy serve`` once clients can connect."""
    command = [sys.executable, "-m", "scenarios.cli", "serve", *words, "--ready-file", str(ready)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + LIMIT_S
        while not ready.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_cluster_without_a_file_is_served_until_it_is_stopped(tmp_path: Path, by: signal.Signals) -> None:
    ready = tmp_path / "ready.json"
    with serving(ready, "--quiet", "--set", "cluster.brokers=4") as process:
        written = json.loads(ready.read_text())
        servers = written["bootstrap_servers"].split(",")
        assert len(servers) == 4
        host, port = servers[2].split(":")
        socket.create_connection((host, int(port)), LIMIT_S).close()
        assert Path(written["control"]).is_socket()
        process.send_signal(by)
        said, noted = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0
    announced, zookeeper, verdict = said.splitlines()
    assert announced == f"bootstrap.servers={written['bootstrap_servers']}"
    assert zookeeper == f"zookeeper.connect={written['zookeeper_connect']}"
    assert verdict.startswith("PASSED after")
    assert noted == ""
    assert not Path(written["control"]).exists()


def test_topics_that_clients_bring_about_have_as_many_partitions_as_one_option_says(tmp_path: Path) -> None:
    confluent = pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    ready = tmp_path / "ready.json"
    with serving(ready, "--quiet", "--partitions", "4"):
        producer = confluent.Producer({"bootstrap.servers": json.loads(ready.read_text())["bootstrap_servers"]})
        producer.produce("fresh", b"one")
        assert producer.flush(LIMIT_S) == 0
        found = producer.list_topics("fresh", timeout=LIMIT_S).topics["fresh"]
    assert [len(one.replicas) for one in found.partitions.values()] == [3] * 4


def test_fixed_ports_follow_each_other_and_a_foreign_address_is_warned_of(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if port + 2 > 65535:
        pytest.skip("the free port that was found is one of the last")
    ready = tmp_path / "ready.json"
    with serving(ready, "--port", str(port), "--host", "127.0.0.2") as process:
        servers = json.loads(ready.read_text())["bootstrap_servers"]
        assert servers == ",".join(f"127.0.0.2:{port + broker}" for broker in range(3))
        process.send_signal(signal.SIGINT)
        _, noted = process.communicate(timeout=LIMIT_S)
    assert "127.0.0.2 is no loopback address" not in noted


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "0.0.0.0"), "--host: clients cannot connect to that address; add --advertised-host"),
        (("--host", "127.1.2.3.4"), "--host: '127.1.2.3.4' is no address"),
        (("--host", "here"), "--host: 'here' is no address; write one such as"),
        (("--rate", "fast"), "--rate: 'fast' is no rate; write a number from 0.001 to 1000"),
        (("--api-versions", "4.0"), "--api-versions: unknown value '4.0'"),
        (
            ("--port", "65535"),
            "--port: 3 brokers have the ports from 65535 to 65537, and there is none after",
        ),
        (("no-such-file.toml",), "no-such-file.toml: there is no such scenario file"),
    ],
)
def test_wrong_options_are_one_line(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_an_address_of_another_machine_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "192.0.2.1"]) == 2
    _warning, line = capsys.readouterr().err.splitlines()
    assert (
        line == "understudy: --host: 192.0.2.1 is no address of this machine; write one that it has, such as 127.0.0.1"
    )


def test_too_few_files_for_clients_are_said_before_anything_is_made(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "scenarios.cli", "serve", "--record", str(tmp_path / "recording")]
    command = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "understudy: this process may open 64 files, and a cluster of 3 with 16 connections needs 124; "
        "raise the limit: ulimit -n 124\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "scenarios.cli", "serve", "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"port {port} of 127.0.0.1 cannot be used" in line


@pytest.mark.parametrize(
    ("named", "options", "profile"),
    [
        ("", [], "kafka-2.7"),
        ('profile = "kafka-2.3"', [], "kafka-2.3"),
        ("", ["--profile", "kafka-2.5"], "kafka-2.5"),
        (None, [], "kafka-2.7"),
    ],
)
def test_a_file_has_the_profile_of_no_file_unless_it_names_one(
    named: str | None, options: list[str], profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []

    def refuse(scenario: Scenario, *_: object) -> None:
        found.append(scenario.profile)
        raise BadInput("seen")

    monkeypatch.setattr("scenarios.wire.serving.LiveRun", refuse)
    file = tmp_path / "mine.toml"
    if named is not None:
        file.write_text(f'title = "t"\n{named}\n[cluster]\nbrokers = 1\n')
    assert main(["serve", *([str(file)] if named is not None else []), *options]) == 2
    assert found == [profile]
