"""The figures of the house count what is there, on a small tree that was written for it."""

from pathlib import Path

import pytest

from tests.house import figures
from tests.house.test_circles import FLOORS


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in (*FLOORS, "scenarios/observe", "scenarios/runs", "docs", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "brokers" / "topics.py").write_text("from emulator.kinds import Kind\n\nclass Topic: ...\n")
    (tmp_path / "emulator" / "kinds.py").write_text("class Kind: ...  # KAFKA-1\n")
    (tmp_path / "emulator" / "topics.py").write_text("")
    (tmp_path / "scenarios" / "observe" / "topics.py").write_text(
        "import re\n\nclass Topic:\n    x = re.compile('a')\n"
    )
    (tmp_path / "scenarios" / "runs" / "topics.py").write_text("from x import NodeCrashed\nclass Topic: ...\n")
    (tmp_path / "docs" / "architecture.md").write_text("KAFKA-1\n```walk\na.py  f\nb.py  g\na.py  h\n```\n")
    return tmp_path


def test_a_name_counts_when_one_floor_has_it_twice(tree: Path) -> None:
    assert figures.shared_file_names(tree) == {"topics.py": 2}
    assert figures.shared_class_names(tree) == [("scenarios", "Topic")]


def test_what_else_is_counted(tree: Path) -> None:
    assert figures.lines(figures.product(tree)) == 10
    assert figures.regular_expressions(figures.sources(tree, "scenarios/observe", "scenarios/runs")) == 1
    assert figures.files_that_import(tree, "NodeCrashed") == 1
    assert figures.arrows(tree) == 1
    assert figures.largest_circle(tree) == 0
    assert figures.files_that_name("KAFKA-1", tree) == 2
    assert list(figures.walks(tree)) == [(3, 2)]
