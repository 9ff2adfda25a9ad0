"""Work that is kept goes on with the same command; Ctrl-C says so in the same words everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scenarios.cli import output
from scenarios.resuming import Interrupted, resumable
from scenarios.studies.spark.ctrl_c import INCUBATOR, _pass_on
from scenarios.studies.spark.sweep import SweepInterrupted
from tests.scenarios.cli.conftest import Call

DONE = r"(?:[1-9][\d,]* (?:of [\d,]+ )?(?:runs|seeds|cells) are|nothing new is)"
KEPT = rf"understudy: interrupted; {DONE} kept in (.+); the same command goes on"
INSIDE = {
    "chaos": ("scenarios.studies.chaos.campaign.run", ("chaos", "--seeds", "0:3", "--out")),
    "atlas": ("scenarios.studies.atlas.atlas.work", ("atlas", "--protocol", "wiki", "--jobs", "1", "--out")),
    "shrink": ("scenarios.studies.shrink.Shrinker.shrink", ("shrink", "FAILING", "--out")),
}


def interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", INSIDE)
def test_ctrl_c_says_what_is_kept_and_that_the_same_command_goes_on(
    command: str, failing: Path, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inside, words = INSIDE[command]
    monkeypatch.setattr(inside, interrupt)
    out = tmp_path / "kept"
    said = call(*(failing if word == "FAILING" else word for word in words), out)
    assert said.code == 130
    found = re.fullmatch(KEPT, said.err.splitlines()[-1])
    assert found, said.err
    assert found[1].startswith(str(out))


def test_a_sweep_says_it_in_the_same_words() -> None:
    assert re.fullmatch(KEPT, f"understudy: {SweepInterrupted(3, 8, Path('swept'))}")


def test_what_is_not_kept_is_said_and_what_breaks_is_no_interrupt() -> None:
    with pytest.raises(Interrupted, match="interrupted; nothing is kept without --out"), resumable(str, None):
        raise BaseExceptionGroup("tasks", [KeyboardInterrupt()])
    with pytest.raises(ExceptionGroup), resumable(str, None):
        raise ExceptionGroup("tasks", [ValueError()])


def test_progress_comes_once_a_minute_where_standard_error_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    monkeypatch.setattr("scenarios.cli.output.time.monotonic", lambda: now_s)
    for is_watched, shown in ((False, [0, 60, 120]), (True, list(range(0, 150, 5)))):
        monkeypatch.setattr(output, "_is_watched", lambda is_watched=is_watched: is_watched)
        output.be_quiet(False)
        for second in range(0, 150, 5):
            now_s = 1_000.0 + second
            output.progress(str(second))
        assert [int(line) for line in capsys.readouterr().err.splitlines()] == shown
    output.told("always")
    assert capsys.readouterr().err == "always\n"
    output.be_quiet(False)


def test_one_remark_of_the_jvm_is_not_passed_on(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    printed = tmp_path / "stderr"
    printed.write_bytes(INCUBATOR + b": jdk.incubator.vector\nspark: ERROR no memory\n")
    with printed.open("rb") as file:
        import os

        _pass_on(os.dup(file.fileno()))
    assert capfd.readouterr().err == "spark: ERROR no memory\n"
