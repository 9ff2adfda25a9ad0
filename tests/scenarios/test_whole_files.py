"""Files are written whole or not at all, and what is no file stays what it is."""

import os
from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.whole_files import check_target, save


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    save(target, "first")
    save(target, "second")
    assert target.read_text() == "second"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"is a folder; name a file, as x\.toml"):
        check_target(tmp_path, "x.toml")
    with pytest.raises(BadInput, match="there is no folder"):
        check_target(tmp_path / "missing" / "report.html", "x.toml")
    with pytest.raises(BadInput, match="cannot be written"):
        save(tmp_path / "missing" / "report.html", "text")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(tmp_path / "real")
    save(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == "text"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    save(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()
