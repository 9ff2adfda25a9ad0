"""``run``: its text, its JSON, many seeds in one process and in several, and its exit codes."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from emulator.kernel import Deadlock
from scenarios.cli import main
from scenarios.language import Scenario
from scenarios.runs.dataset.reader import open_data_set
from tests.scenarios.cli import tool
from tests.scenarios.cli.conftest import Call
from tests.scenarios.runs.dataset.runs import files, write

KEYS = {
    "run_id", "digest", "seed", "strategy", "profile", "verdict", "violations", "expectations", "metrics",
    "virtual_s", "wall_s", "events",
}  # fmt: skip


def test_a_passed_run_as_text(call: Call) -> None:
    called = call("run", "quick-move", "--seed", "3")
    assert (called.code, called.err) == (0, "")
    lines = called.out.splitlines()
    assert lines[:2] == [
        "One small partition moves and nothing goes wrong",
        "strategy wiki, profile kafka-2.3, seed 3",
    ]
    assert lines[3].startswith("PASSED after ")
    assert "  ok  assignment orders-0 [1, 2] within 30 s" in called.out
    assert re.search(r"^  moves +1 of 1 done in [\d.]+ s$", called.out, re.MULTILINE)
    assert lines[-1].startswith("run ")
    assert "FAILED" not in called.out


def test_a_passed_run_says_plainly_what_was_lost(call: Call) -> None:
    """Nothing was expected of acks=1, and Kafka does not promise to keep such records: the run passes."""
    called = call("run", "old-leader-hears-late", "--set", "expect=[]")
    assert called.code == 0
    verdict, lost, *_ = called.out.splitlines()[3:]
    assert verdict.startswith("PASSED")
    found = "acks=1: 1,000 records in 100 batches (first orders-0 at 5.063 s; Kafka does not promise to keep them)"
    assert lost == f"  acknowledged data lost  {found}"
    seeds = call("run", "old-leader-hears-late", "--seeds", "77:78").out.splitlines()
    assert re.split(r"\s{2,}", seeds[2].strip())[2:-1] == [
        "lost acks=all", "lost acks=1", "under_replicated_any_s", "time_to_complete_s", "leader_elections",
    ]  # fmt: skip
    assert seeds[3].split()[2:4] == ["0", "1,000"]


def test_how_long_a_replica_was_missing_is_said_in_seconds_first(call: Call) -> None:
    lines = call("run", "follower-cut-off").out.splitlines()
    assert re.fullmatch(r"  under-replicated +2\d\.\d+ s, orders-0 alone; recovered at \d+\.\d+ s", lines[5])
    lines = call("run", "quick-move").out.splitlines()
    assert re.fullmatch(r"  under-replicated +0 s", lines[5])
    assert re.fullmatch(r" +by Kafka's rule up to 2.4 the moves themselves add [\d.]+ partition-seconds", lines[6])


def test_what_has_no_leader_at_the_end_stands_beside_what_is_lost(call: Call, tmp_path: Path) -> None:
    """The last replica is down for good: no leader lacks its records, and none has them."""
    text = (
        'schema = "scenario/1"\ntitle = "gone"\nhorizon = "60s"\ncluster = { brokers = 2, controller = 1 }\n'
        'topics = [{ name = "orders", assignment = [[0]] }]\nworkloads = [{ topic = "orders", producerRate = 10 }]\n'
        'method = [{ at = "5s", action = "broker.crash", target = 0 }]\n'
    )
    (tmp_path / "gone.toml").write_text(text)
    lines = call("run", tmp_path / "gone.toml").out.splitlines()
    said = "acks=all: none; not to be read, without a leader at the end: 1 partition"
    assert lines[4] == f"  acknowledged data lost  {said}"
    assert any(re.fullmatch(r"  without a leader +[\d.]+ partition-seconds", line) for line in lines)


def test_what_was_lost_is_red_where_there_are_colours(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    called = call("run", "unclean-election")
    assert (
        "  acknowledged data lost  \033[31macks=all: 3,000 records in 300 batches\033[0m "
        "(first orders-0 at 110.009 s; by an unclean election)" in called.out
    )


def test_a_passed_run_as_json(call: Call) -> None:
    called = call("run", "quick-move", "--format", "json", "--strategy", "kafka-6794")
    assert (called.code, called.err) == (0, "")
    (line,) = called.out.splitlines()
    found = json.loads(line)
    assert found.keys() >= KEYS
    assert (found["verdict"], found["strategy"], found["seed"]) == ("passed", "kafka-6794", 1)
    run = Scenario.load(tool.PROJECT / "scenarios" / "library" / "quick-move.toml").run(strategy="kafka-6794")
    assert (found["digest"], found["run_id"]) == (run.digest, run.run_id)


def test_a_failed_run_is_explained_on_a_screen(call: Call, failing: Path) -> None:
    called = call("run", failing, "--set", "horizon=4s", "--seed", "9")
    assert (called.code, called.err) == (1, "")
    assert "FAILED (expectation) after " in called.out
    assert "  FAILED  assignment orders-0 [2, 1] within 2 s  found orders-0 [1, 2] at 3.000 s" in called.out
    assert shlex.split(_replay(called.out))[1:] == ["run", str(failing), "--seed", "9", "--set", "horizon=4s"]
    assert len(called.out.splitlines()) <= 45
    assert max(map(len, called.out.splitlines())) <= 140


def test_the_replay_command_replays(call: Call, failing: Path) -> None:
    first = call("run", failing, "--set", "workloads[0].producerRate=50", "--strategy", "kafka-6794")
    command = _replay(first.out)
    assert "--strategy kafka-6794" in command
    second = call(*shlex.split(command)[1:])
    assert _digest(first.out) == _digest(second.out)


def test_a_changed_key_changes_the_run(call: Call, failing: Path) -> None:
    called = call("run", failing, "--set", "expect[0].assignment={ orders-0 = [1, 2] }")
    assert called.code == 0


def test_a_failed_run_as_json(call: Call, failing: Path) -> None:
    called = call("run", failing, "--format", "json")
    assert called.code == 1
    found = json.loads(called.out)
    assert (found["verdict"], found["reason"]) == ("failed", "expectation")


def test_seeds_as_json_lines_in_their_order(call: Call) -> None:
    called = call("run", "quick-move", "--seeds", "3:6", "--format", "json")
    assert called.code == 0
    found = [json.loads(line) for line in called.out.splitlines()]
    assert [run["seed"] for run in found] == [3, 4, 5]
    assert len({run["digest"] for run in found}) == 3
    assert called.err.splitlines() == ["run: 1 of 3, 0 failed"]


def test_one_failed_seed_fails_them_all_and_is_explained(call: Call, failing: Path) -> None:
    called = call("run", failing, "--seeds", "0:2")
    assert called.code == 1
    assert "0 of 2 passed" in called.out
    assert "expected assignment orders-0 [2, 1]" in called.out
    assert f"also failed: ./understudy run {failing} --seed 1" in called.out


def test_jobs_give_the_same_runs_in_the_same_order() -> None:
    words = ["run", "quick-move", "--seeds", "0:3", "--format", "json"]
    alone, shared = tool.call(*words), tool.call(*words, "--jobs", "2")
    assert (alone.returncode, shared.returncode) == (0, 0)
    assert _without_wall_time(alone.stdout) == _without_wall_time(shared.stdout)


def test_quiet_prints_the_result_only(call: Call, failing: Path) -> None:
    one = call("run", "quick-move", "--quiet")
    assert (one.code, one.err) == (0, "")
    assert one.out.startswith("PASSED after ")
    assert one.out.count("\n") == 1
    many = call("run", failing, "--seeds", "0:2", "--quiet")
    assert (many.code, many.err) == (1, "")
    replays = [f"failed: ./understudy run {failing} --seed {seed}" for seed in (0, 1)]
    assert many.out.splitlines() == ["0 of 2 passed", *replays]
    assert call("validate", "quick-move", "--quiet").out == ""


def test_a_trace_per_seed(call: Call, tmp_path: Path) -> None:
    called = call("run", "quick-move", "--seeds", "0:2", "--trace", tmp_path / "traces")
    assert called.code == 0
    assert sorted(path.name for path in (tmp_path / "traces").iterdir() if path.name[0] != "_") == [
        "seed-0",
        "seed-1",
    ]
    assert call("timeline", tmp_path / "traces" / "seed-1", "orders-0").code == 0


def test_a_trace_takes_the_place_of_one_of_the_same_file_and_of_nothing_else(
    call: Call, failing: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    for change in ("seed=1", "topics[0].size=1MiB"):
        assert call("run", failing, "--set", change, "--trace", trace).code == 1
    assert len(open_data_set(trace).run_ids) == 1
    assert call("timeline", trace, "orders-0").code == 0
    before = files(trace)
    other = failing.rename(tmp_path / "other.toml")
    refused = call("run", other, "--trace", trace)
    assert (refused.code, refused.out) == (2, "")
    assert refused.line == (
        f"understudy: {trace}: holds the trace of {failing}, which is not overwritten; name another folder"
    )
    assert files(trace) == before


def test_no_trace_is_written_over_a_sweep(call: Call, failing: Path, tmp_path: Path) -> None:
    write(tmp_path / "sweep" / "seed-1", 0)
    before = files(tmp_path / "sweep")
    refused = call("run", failing, "--seeds", "0:2", "--trace", tmp_path / "sweep")
    assert (refused.code, refused.out) == (2, "")
    assert "holds the sweep 'e' of the scenario 'a title', which is not overwritten" in refused.line
    assert files(tmp_path / "sweep") == before


def test_a_reader_that_goes_away_is_no_failure() -> None:
    command = [sys.executable, "-m", "scenarios.cli", "list", "steps"]
    process = subprocess.Popen(
        command, cwd=tool.PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=tool.environment()
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=tool.TIMEOUT_S)
    assert (process.returncode, err) == (0, b"")


def test_a_full_disk_under_standard_output() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "scenarios.cli", "list", "steps"],
            cwd=tool.PROJECT, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=tool.environment(),
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "understudy: standard output cannot be written (No space left on device); make room for it"
    ]


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (Deadlock("no task can run\nmore of it"), 4, "understudy: the tool failed: Deadlock: no task can run (--log"),
        (ZeroDivisionError("by zero"), 4, "understudy: the tool failed: ZeroDivisionError: by zero (--log"),
        (KeyboardInterrupt(), 130, "understudy: interrupted"),
        (BaseExceptionGroup("", [KeyboardInterrupt()]), 130, "understudy: "),
        (ExceptionGroup("two", [ValueError("a")]), 4, "understudy: the tool failed: ValueError: a (--log"),
    ],
)
def test_what_breaks_in_a_run_becomes_one_line(
    error: BaseException, code: int, line: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break(monkeypatch, error)
    called = call("run", "quick-move")
    assert (called.code, called.out) == (code, "")
    assert called.line.startswith(line)


def test_debug_shows_the_frames(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, ZeroDivisionError("by zero"))
    called = call("run", "quick-move", "--log", "debug")
    assert called.code == 4
    assert "Traceback" in called.err
    assert called.err.splitlines()[-1] == "understudy: the tool failed: ZeroDivisionError: by zero"


def test_ctrl_c_while_seeds_run_in_processes() -> None:
    process = tool.start("run", "controller-dies-mid-move", "--seeds", "0:10000", "--jobs", "2")
    assert process.stderr is not None
    try:
        assert process.stderr.readline().startswith("run: 1 of 10000, 0 failed, about ")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=tool.TIMEOUT_S)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err.splitlines()[-1] == "understudy: interrupted"
    assert "Traceback" not in err


def test_the_log_shows_virtual_time_on_standard_error(call: Call) -> None:
    quiet, talking = call("run", "controller-dies-mid-move"), call("run", "controller-dies-mid-move", "--log", "debug")
    assert quiet.err == ""
    assert _digest(quiet.out) == _digest(talking.out), "whether anybody listens changes nothing"
    times = [float(line.split()[0]) for line in talking.err.splitlines()]
    assert times == sorted(times)
    assert times[-1] > 1.0


def _break(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("scenarios.runs.run_scenario", broken)


def _digest(out: str) -> str:
    return out[out.rindex("digest ") :].split()[1]


def _replay(out: str) -> str:
    """The command under ``replay it:``, its continued lines joined."""
    return out.partition("replay it:\n")[2].partition("\n\n")[0].replace("\\\n", " ").strip()


def _without_wall_time(out: str) -> list[dict[str, Any]]:
    runs = [json.loads(line) for line in out.splitlines()]
    for run in runs:
        assert run.pop("wall_s") > 0
    return runs


def test_main_reads_the_process_arguments(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["understudy", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("understudy ")
