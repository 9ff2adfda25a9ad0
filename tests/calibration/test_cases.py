"""Every case can be played on a real cluster, and what cannot be recorded is refused with one line."""

import struct
from pathlib import Path

import pytest

from benchmarks.calibration.__main__ import main
from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.facts import PartitionState, Request, Write
from benchmarks.calibration.real.java import class_path
from benchmarks.calibration.real.player import ACTIONS
from benchmarks.calibration.real.zookeeper import password
from benchmarks.calibration.record import record
from benchmarks.calibration.recording import Recording, again, case_names, load_case, read, write
from benchmarks.calibration.releases import find_release
from scenarios.language.actions import all_actions
from scenarios.language.triggers import After


@pytest.mark.parametrize("case", case_names())
def test_a_case_asks_for_what_a_real_cluster_can_do(case: str) -> None:
    method = load_case(case).method
    assert [entry.name for entry in method if entry.name not in ACTIONS] == []
    assert all(isinstance(entry.trigger, After) for entry in method)


def test_every_action_of_a_real_cluster_is_one_of_a_scenario() -> None:
    assert set(ACTIONS) <= set(all_actions())


def test_an_unknown_case_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "mvoes"]) == 2
    assert capsys.readouterr().err.startswith("benchmarks.calibration: unknown case 'mvoes'; known: ")


def test_an_unknown_release_is_refused() -> None:
    with pytest.raises(CannotRecord, match=r"unknown release '9\.9\.9'; known: .*2\.4\.1"):
        find_release("9.9.9")


def test_a_case_of_the_api_needs_a_release_that_has_it(tmp_path: Path) -> None:
    with pytest.raises(CannotRecord, match=r"2\.3\.1 does not have \(KIP-455, 2\.4\)"):
        record("cancel", "2.3.1", tmp_path)


def test_recording_without_java_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRecord, match="recording needs java on the PATH"):
        class_path(find_release("2.4.1"), tmp_path)


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    state = PartitionState("t", 0, 1, 0, 0, (0, 1), 0, (1, 0), "isNew", "NONE")
    first = Request(0, "LeaderAndIsr", 2, 1, 1, "NONE", (state,), (0, 1))
    second = Request(1, "LeaderAndIsr", 2, 1, 1, "NONE", (state,), (0, 1))
    other = Request(0, "StopReplica", 2, 1, 1, "NONE", (), (), True)
    facts = (Write("tool", "create", "/brokers/topics/t", 0, "{}"), first, other, second)
    one = Recording("moves", "2.4.1", "abc", facts=facts, expiries_s=(5.5,), copied=(((1.5, 10),),))
    write(again(one, one), tmp_path / "file")
    found = read(tmp_path / "file")
    assert (found.runs, found.expiries_s, found.copied) == (2, (5.5, 5.5), (((1.5, 10),),) * 2)
    assert found.facts == facts


def test_the_password_of_a_session_is_what_java_draws() -> None:
    """``new Random(42)`` draws -1170105035, then 234785527."""
    assert password(42 ^ 0xB3415C00)[:8] == struct.pack("<ii", -1170105035, 234785527)
