"""A live run, recorded and replayed: the same events and answers; and what keeps it from being the same."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from io import FileIO
from pathlib import Path
from socket import create_connection
from time import sleep
from typing import Any

import pytest

from scenarios.cli.program import main
from scenarios.errors import BadInput
from scenarios.wire.inputs import Frame
from scenarios.wire.recording import folder, pieces
from scenarios.wire.recording.folder import RUN, read_live_run
from scenarios.wire.recording.log import Entry, InputLog, read_log
from scenarios.wire.recording.pieces import PieceWriter, piece
from scenarios.wire.recording.replay import ReplayedRun
from tests.scenarios.wire.gateway.served import METADATA, Raw, served, wait_for

TOPIC = {"name": "orders", "partitions": 2, "replication_factor": 3}
ROOT = Path(__file__).parents[4]
ENVIRONMENT = {"PYTHONPATH": f"{ROOT}:{ROOT / 'scenarios' / 'package'}", "PATH": ""}
PIECE = 1000
"""The bytes of a piece where there are to be several."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A live run in which two clients ask, one sends what is no request, and a broker crashes and starts again."""
    folder: Path = tmp_path_factory.mktemp("live") / "run"
    with served({"topics": [TOPIC], "seed": 5}, record=folder, rate=20.0) as cluster:
        first, second = cluster.connect(0), cluster.connect(1)
        second.client_id = "second"
        assert len(first.metadata()["brokers"]) == 3
        cluster.operate("broker.crash", target=2)
        while len(second.metadata()["brokers"]) == 3:
            sleep(0.05)
        first.send(METADATA, 8, {"topics": None})
        cluster.operate("broker.start", target=2)
        while len(second.metadata()["brokers"]) == 2:
            sleep(0.05)
        second.socket.sendall(b"\0\0\0\x04junk")
    return folder


def test_a_replay_has_the_events_and_answers_of_the_live_run(recorded: Path) -> None:
    run = read_live_run(recorded)
    assert run.inputs.ended is not None
    replay = ReplayedRun(run).play()
    assert replay.same
    assert replay.run.digest == run.inputs.ended.digest
    assert replay.run.seed == 5
    assert "broker.crash" in {entry.action for entry in replay.run.log.events() if hasattr(entry, "action")}


@pytest.mark.parametrize("hash_seed", ["77"])
def test_another_process_replays_it_too(recorded: Path, hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "understudy", "replay", str(recorded), "--format", "json"],
        env={**ENVIRONMENT, "PYTHONHASHSEED": hash_seed},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["same_as_live"] is True


def test_a_frame_that_came_at_another_time_or_not_at_all_is_another_run(recorded: Path, tmp_path: Path) -> None:
    run = read_live_run(recorded)
    entries = list(run.inputs.entries)
    entries.remove(next(entry for entry in entries if isinstance(entry.what, Frame)))
    without = copy(recorded, tmp_path, entries)
    assert ReplayedRun(read_live_run(without)).play().same is False


def test_a_run_that_was_killed_is_replayed_up_to_its_last_whole_entry(recorded: Path, tmp_path: Path) -> None:
    log = piece(copied := copy(recorded, tmp_path, read_live_run(recorded).inputs.entries), 1)
    log.write_bytes(log.read_bytes()[:-60])
    run = read_live_run(copied)
    assert run.inputs.cut_short
    replay = ReplayedRun(run).play()
    assert replay.same is None
    assert replay.run.virtual_s == pytest.approx(run.inputs.last_us / 1e6)


def test_a_replay_can_stop_earlier(recorded: Path) -> None:
    run = read_live_run(recorded)
    until_us = list(run.inputs.entries)[4].t_us + 1
    replay = ReplayedRun(run, until_us).play()
    assert (replay.same, replay.run.virtual_s) == (None, until_us / 1e6)


def test_the_commands_that_read_a_trace_read_a_recording(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timeline", str(recorded)]) == 0
    assert "broker.crash" in capsys.readouterr().out
    assert main(["replay", str(recorded), "--trace", str(tmp_path / "trace"), "--quiet"]) == 0
    assert main(["diff", str(recorded), str(tmp_path / "trace")]) == 0


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("version = 7\n", "is of version 7"),
        ("version = 2\n", "cannot be read"),
        ("= =", "cannot be read"),
    ],
)
def test_what_is_no_recording_is_refused_in_one_line(recorded: Path, tmp_path: Path, text: str, wrong: str) -> None:
    folder = copy(recorded, tmp_path, [])
    (folder / RUN).write_text(text)
    with pytest.raises(BadInput, match=wrong):
        read_live_run(folder)
    with pytest.raises(BadInput, match="serve --record"):
        read_live_run(tmp_path)


def test_a_recording_never_goes_over_another(recorded: Path) -> None:
    with pytest.raises(BadInput, match="is not empty"), served(record=recorded):
        pass
    assert read_log(recorded).ended is not None


def copy(recorded: Path, to: Path, entries: Iterable[Entry]) -> Path:
    """The recording with other entries."""
    folder = to / "copy"
    folder.mkdir()
    for path in recorded.iterdir():
        if path.suffix == ".toml":
            (folder / path.name).write_bytes(path.read_bytes())
    with InputLog(PieceWriter(folder)) as log:
        for entry in entries:
            log.write(*entry)
    return folder


def small_pieces(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(folder, "PieceWriter", partial(PieceWriter, most=PIECE))


def test_a_replay_over_several_pieces_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_pieces(monkeypatch)
    with served({"topics": [TOPIC], "seed": 5}, record=tmp_path / "run", rate=20.0) as cluster:
        client = cluster.connect(0)
        for _ in range(40):
            client.metadata()
        cluster.operate("broker.crash", target=2)
        for _ in range(40):
            client.metadata()
    assert piece(tmp_path / "run", 4).exists()
    run = read_live_run(tmp_path / "run")
    assert not run.inputs.cut_short
    assert ReplayedRun(run).play().same


KILLED = f"""
import sys
from functools import partial
from scenarios.cli import main
from scenarios.wire.recording import folder
folder.PieceWriter = partial(folder.PieceWriter, most={PIECE})
main(["serve", "--record", "run", "--ready-file", "ready", "--quiet"])
"""


def test_what_was_answered_before_a_kill_is_replayed_from_all_pieces(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED], cwd=tmp_path, env=ENVIRONMENT)
    try:
        wait_for((tmp_path / "ready").exists, what="the cluster")
        host, port = json.loads((tmp_path / "ready").read_text())["bootstrap_servers"].split(",")[0].split(":")
        client = Raw(create_connection((host, int(port)), 60.0))
        for _ in range(60):
            client.metadata()
        sleep(0.5)  # what was answered is flushed when there is nothing else to do
        process.kill()
    finally:
        process.kill()
        process.wait()
    run = read_live_run(tmp_path / "run")
    assert piece(tmp_path / "run", 3).exists()
    assert sum(isinstance(entry.what, Frame) for entry in run.inputs.entries) == 60
    assert run.inputs.ended is None
    first, second = ReplayedRun(run).play(), ReplayedRun(run).play()
    assert (first.same, first.run.digest) == (None, second.run.digest)
    piece(tmp_path / "run", 2).unlink()
    with pytest.raises(BadInput, match=r"log-00002\.gz is missing"):
        read_live_run(tmp_path / "run")


def test_a_full_disk_ends_the_run_in_one_line_and_loses_nothing_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = list[int]()

    class FullAtLast(FileIO):
        def write(self, data: Any, /) -> int:
            if len(frames) == 3:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data)

    write = InputLog.write

    def noted(log: InputLog, t_us: int, what: object) -> None:
        frames.extend([t_us] * isinstance(what, Frame))
        write(log, t_us, what)  # type: ignore[arg-type]

    monkeypatch.setattr(InputLog, "write", noted)
    monkeypatch.setattr(pieces, "FileIO", FullAtLast)
    where = tmp_path / "run"
    with pytest.raises(BadInput, match=r"cannot be written .No space left on device.; what came in by about") as error:
        ask_three_times(where)
    said_s = float(str(error.value).split("by about ")[1].split(" s ")[0])
    run = read_live_run(where)
    assert [entry.t_us for entry in run.inputs.entries if isinstance(entry.what, Frame)] == frames[:2]
    assert run.inputs.last_us / 1e6 == pytest.approx(said_s, abs=1e-3)
    assert ReplayedRun(run).play().same is None


def ask_three_times(folder: Path) -> None:
    """Have a recorded cluster end before it answers the third time."""
    with served(record=folder) as cluster:
        client = cluster.connect(0)
        client.metadata()
        client.metadata()
        with pytest.raises(ConnectionError):
            client.metadata()
