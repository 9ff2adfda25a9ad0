"""The pages are right: their Python runs, the tests they teach pass, their links
lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scenarios.cli.report import report
from scenarios.language import Scenario
from tests.docs.pages import ROOT, Fenced, fenced, pages, path_of, run_blocks, text_of

_LINK = re.compile(r"\]\(([^)#:]+)?(?:#([^)]+))?\)")
_NEEDS_SPARK = "scenarios.studies.spark"


def python_of(page: str, *, spark: bool = False) -> list[Fenced]:
    return [block for block in fenced(page, "python") if (_NEEDS_SPARK in block.text) == spark]


@pytest.mark.parametrize("page", ["python.md", "dataset.md"])
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = python_of(page)
    assert len(blocks) >= 3
    run_blocks(blocks)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_spark_of_the_data_set_s_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, *_ = python_of("dataset.md")
    blocks = python_of("dataset.md", spark=True)
    assert blocks
    run_blocks([first, *blocks])


@pytest.mark.slow
@pytest.mark.spark
def test_the_python_of_spark_s_page_runs() -> None:
    run_blocks(python_of("spark.md", spark=True))


def test_the_test_that_the_page_teaches_passes_under_pytest(tmp_path: Path) -> None:
    file = tmp_path / "test_page.py"
    file.write_text("\n".join(block.text for block in python_of("python.md")))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(file)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9 passed" in done.stdout


@pytest.mark.parametrize(("page", "block"), [("README.md", 0), ("scenarios.md", 1)])
def test_what_a_page_says_that_its_scenario_prints_is_printed(page: str, block: int) -> None:
    run = Scenario.loads(fenced(page, "toml")[block].text).run()
    printed = {without_real_time(line) for line in report(run)}
    (output,) = fenced(page, "text")
    shown = [without_real_time(line) for line in output.text.splitlines() if line != "..."]
    assert len(shown) > 5
    assert [line for line in shown if line not in printed] == []


def without_real_time(line: str) -> str:
    """A line of output without what differs from one machine to another."""
    return re.sub(r"[\d.]+ s here", "here", line)


def test_a_page_that_lies_is_noticed() -> None:
    wrong = Fenced("python.md", 3, "python", "assert 1 + 1 == 3\n")
    with pytest.raises(AssertionError) as caught:
        run_blocks([wrong])
    last: Any = caught.traceback[-1]
    assert (last.path, last.lineno + 1) == (path_of("python.md"), 3), "the traceback points into the page"


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page: str) -> None:
    assert broken_links(path_of(page)) == []


@pytest.mark.parametrize("link", ["no-such-page.md", "#no-such-heading", "use/python.md#no-such-heading"])
def test_a_link_that_leads_nowhere_is_found(link: str, tmp_path: Path) -> None:
    (tmp_path / "use").mkdir()
    (tmp_path / "use" / "python.md").write_text("# Python\n")
    (tmp_path / "page.md").write_text(f"# Page\n[here](use/python.md#python), [there]({link})\n")
    assert broken_links(tmp_path / "page.md") == [link]


def broken_links(page: Path) -> list[str]:
    """The links of a page to files or headings that are not there, as written."""
    broken = []
    for target, anchor in _LINK.findall(page.read_text(encoding="utf-8")):
        leads_to = page.parent / target if target else page
        if not leads_to.exists() or (anchor and anchor not in anchors(leads_to)):
            broken.append(target + (f"#{anchor}" if anchor else ""))
    return broken


def anchors(page: Path) -> list[str]:
    """The headings of a page as GitHub names them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads]


_FOLDERS = ("emulator", "fetchers", "brokers", "controller", "scenarios", "tests", "benchmarks", "docs")


@pytest.mark.parametrize("folder", _FOLDERS)
def test_the_pages_that_a_folder_names_are_there(folder: str) -> None:
    """In docstrings, comments, help, errors, and in pages beside their links."""
    named = {
        (str(path.relative_to(ROOT)), page)
        for path in (ROOT / folder).rglob("*.[pm][yd]")
        for page in re.findall(r"(?<![\w/])docs/(?:[\w-]+/)*[\w-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert sorted((path, page) for path, page in named if not (ROOT / page).exists()) == []


def test_the_places_that_the_page_of_the_architecture_names_are_there() -> None:
    floors = "scenarios|controller|brokers|fetchers|emulator|tests|benchmarks"
    named = set(re.findall(rf"`((?:{floors})/[a-z0-9_/.]+)`", text_of("architecture.md")))
    assert len(named) > 30
    assert sorted(place for place in named if not (ROOT / place).exists()) == []
