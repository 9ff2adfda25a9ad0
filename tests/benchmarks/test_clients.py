"""Figures that follow from what an application saw."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from attrs import evolve

from benchmarks.clients.__main__ import end, measured, rows
from benchmarks.clients.faults import FAULTS, Fault
from benchmarks.clients.history import Findings, Seen, findings, longest_gap_s, read, reordered
from benchmarks.clients.known import CLIENTS, Client, class_path
from benchmarks.clients.page import errors_in_short, span
from benchmarks.runtimes import go_program, go_version


def acked(*records: int) -> list[Seen]:
    return [Seen(float(index), "acked", record) for index, record in enumerate(records)]


def received(*records: int) -> list[Seen]:
    return [Seen(float(index), "received", record) for index, record in enumerate(records)]


def test_records_that_are_acknowledged_and_not_in_the_log_are_lost() -> None:
    found = findings([*acked(0, 1, 2, 3), Seen(9, "failed", 4, "NETWORK")], received(0, 1, 2), [0, 1, 4])
    assert (found.acked, found.failed, found.lost, found.unread) == (4, 1, 2, 1)
    assert found.errors == {"NETWORK": 1}


def test_a_record_that_is_twice_in_the_log_may_be_read_twice() -> None:
    found = findings(acked(0, 1, 2), received(0, 1, 1, 2, 2), [0, 1, 2, 1])
    assert (found.duplicated, found.reread, found.reordered) == (1, 1, 0)


@pytest.mark.parametrize(
    ("log", "count"), [([0, 1, 2], 0), ([0, 2, 1], 1), ([3, 0, 1, 2], 3), ([0, 1, 0, 2], 0), ([], 0)]
)
def test_records_are_out_of_order_behind_later_ones(log: list[int], count: int) -> None:
    assert reordered(log) == count


def test_the_longest_gap_is_between_neighbours() -> None:
    times = [Seen(t_s, "acked", 0) for t_s in (5, 1, 1.5, 9.5)]
    assert longest_gap_s([*times, Seen(7, "failed", 1, "X")], "acked") == 4.5
    assert longest_gap_s(times[:1], "acked") == 0


def test_a_line_that_is_cut_short_is_left_out() -> None:
    lines = ['{"t_s": 1.0, "kind": "acked", "record": 3, "error": ""}\n', '{"t_s": 2.0, "kin']
    assert read(lines) == [Seen(1.0, "acked", 3)]


@pytest.mark.parametrize(
    ("values", "form", "text"),
    [
        ([3200], ",", "3,200"),
        ([0, 2, 1], ",", "0 to 2"),
        ([6.51, 6.54], ".1f", "6.5"),
        ([6.5, 8.26], ".1f", "6.5 to 8.3"),
    ],
)
def test_runs_that_disagree_show_their_least_and_their_most(values: list[float], form: str, text: str) -> None:
    assert span(values, form) == text


def test_errors_are_counted_run_by_run() -> None:
    runs = [findings([Seen(0, "failed", 1, "NETWORK"), Seen(0, "failed", 2, "NETWORK")], [], []), findings([], [], [])]
    assert errors_in_short(runs) == "NETWORK 0 to 2"
    assert errors_in_short(runs[1:]) == "none"


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("pass", ""),
        ("raise TypeError('x')", "breaks off by TypeError"),
        ("raise SystemExit(3)", "breaks off by exit code 3"),
        ("import time; time.sleep(60)", "does not end"),
    ],
)
def test_how_an_application_ends(program: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.clients.__main__.END_S", 1.0 if how == "does not end" else 60.0)
    with (tmp_path / "errors").open("w") as errors:
        application = subprocess.Popen([sys.executable, "-c", program], stderr=errors)
    assert end(application, tmp_path / "errors", 0) == how


def test_what_was_measured_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, measurements = tmp_path / "out", list[str]()

    def count(client: Client, fault: Fault, keep: Path | None) -> Findings:
        measurements.append(f"{client.name}, {fault.name}, {keep and keep.name}")
        return findings(acked(0), [], [0])

    monkeypatch.setattr("benchmarks.clients.__main__.measured", count)
    clients, faults = [client for client in CLIENTS if client.name in ("franz-go", "spark")], FAULTS[4:5]
    first = list(rows(clients, faults, 1, out))
    second = list(rows(clients, faults, 3, out, tmp_path))
    assert [(client, fault, len(runs)) for client, fault, runs in first] == [("franz-go", "coordinator-dies", 1)]
    assert [len(runs) for _, _, runs in second] == [3]
    pair = "franz-go, coordinator-dies"  # Spark has no group
    assert measurements == [f"{pair}, None", *(f"{pair}, franz-go-coordinator-dies-{number}" for number in (2, 3))]


@pytest.mark.parametrize("client", CLIENTS, ids=[client.name for client in CLIENTS])
def test_a_client_that_is_not_there_is_left_out(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> str:
        raise PackageNotFoundError

    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("UNDERSTUDY_GO", "")
    monkeypatch.setattr("benchmarks.runtimes.USUAL_PLACE_OF_GO", "")
    monkeypatch.setattr("benchmarks.clients.known.installed", missing)
    class_path.cache_clear()
    go_program.cache_clear()
    assert client.version() is None
    assert client.install


def test_the_version_of_a_module_is_that_of_the_program(tmp_path: Path) -> None:
    required = "require example.org/a v1.2.0", "require (", "\texample.org/b v3.0.0 // indirect", ")"
    (tmp_path / "go.mod").write_text("\n".join(("module x", "go 1.26.0", *required)))
    assert go_version(tmp_path, "example.org/a") == "v1.2.0"
    assert go_version(tmp_path, "example.org/b") == "v3.0.0"


def test_a_leader_moves_under_a_real_producer_and_consumer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed: ./understudy test does that")
    moved(CLIENTS[0], monkeypatch, tmp_path / "kept")
    assert read((tmp_path / "kept" / "produced").open())[0].kind == "acked"
    assert (tmp_path / "kept" / "run" / "log-00001.gz").stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS[1:], ids=[client.name for client in CLIENTS[1:]])
def test_a_leader_moves_under_each_client(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    if client.version() is None:
        pytest.skip(f"not there: {client.install}")
    moved(client, monkeypatch)


def moved(client: Client, monkeypatch: pytest.MonkeyPatch, keep: Path | None = None) -> None:
    """Records go in while a leader moves, none is lost, and the consumer is given some.

    Producers are not idempotent: a batch that waits for followers as its leader steps down is refused, sent again, and
    may be there twice.
    """
    monkeypatch.setattr("benchmarks.clients.__main__.AFTER_S", 1.0)
    monkeypatch.setattr("benchmarks.clients.__main__.BEFORE_S", 1.5)
    [fault] = [evolve(fault, seconds=3) for fault in FAULTS if fault.name == "leader-moves"]
    found = measured(client, fault, keep)
    assert found.acked > 100
    assert (found.lost, found.failed) == (0, 0)
    assert found.unread < found.acked
