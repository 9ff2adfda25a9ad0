"""The lines of a driver: what is read, what is refused, and how its end is seen."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.studies.clients.driver_process import DriverProcess, SeenLine, read_line
from tests.scenarios.studies.clients.histories import WRITER

ENDS = """
import sys
print('{"seen": "ready", "client": "own", "version": "1"}', flush=True)
sys.stdin.readline()
"""


def process(program: str, folder: Path) -> DriverProcess:
    return DriverProcess((sys.executable, "-c", program), WRITER, folder / "errors", lambda _: None)


def test_a_line_is_read_and_unknown_keys_are_left_alone() -> None:
    found = read_line('{"seen": "acked", "record": "writer-1", "partition": 1, "offset": 7, "mine": []}', "writer", 2.0)
    assert found == SeenLine(at_s=2.0, name="writer", seen="acked", record="writer-1", partition=1, offset=7)


@pytest.mark.parametrize("text", ["", "sent 3", "[]", '{"sent": 3}', '{"seen": "acked", "offset": "7"}', "[" * 9000])
def test_a_line_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON|no object|is no "):
        read_line(text, "writer", 0.0)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(read_line(text, "writer", 0.0), SeenLine)


@pytest.mark.parametrize(
    ("rest", "ending"),
    [
        ("sys.stdin.read()", ""),
        ("", "ends by itself"),
        ("raise TypeError('x')", "breaks off by TypeError"),
        ("import time; time.sleep(60)", "does not end"),
    ],
)
def test_an_ending_is_seen(rest: str, ending: str, tmp_path: Path) -> None:
    one = process(ENDS + rest, tmp_path)
    one.start()
    one.wait_ready()
    one.begin("127.0.0.1:1")
    if ending not in ("", "does not end"):
        while not one.has_ended:
            time.sleep(0.01)
    one.ask_to_end()
    one.wait_end(time.monotonic() + (0.2 if ending == "does not end" else 30))
    assert one.ending == ending


def test_a_program_that_says_nothing_is_no_driver(tmp_path: Path) -> None:
    one = process("raise ImportError('no such client')", tmp_path)
    one.start()
    with pytest.raises(BadInput, match=r"does not say .*ImportError"):
        one.wait_ready()


def test_a_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    one = DriverProcess(("/no/such/program",), WRITER, tmp_path / "errors", lambda _: None)
    with pytest.raises(BadInput, match="cannot be started"):
        one.start()
