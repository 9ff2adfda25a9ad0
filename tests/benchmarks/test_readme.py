"""benchmarks/README.md lists every benchmark program and the section that it writes."""

import re
from pathlib import Path

import benchmarks
from benchmarks.results import RESULTS

FOLDER = Path(benchmarks.__file__).parent
ROWS = re.findall(
    r"^\| `python -m benchmarks\.(\w+)[^`]*` \| (\S+) \|", (FOLDER / "README.md").read_text(), re.MULTILINE
)


def test_every_program_is_listed() -> None:
    programs = {path.parent.name for path in FOLDER.glob("*/__main__.py")}
    assert programs - {program for program, _ in ROWS} == set()


def test_every_section_of_the_results_is_a_listed_programs() -> None:
    sections = set(re.findall(r"^<!-- (\S+) -->$", RESULTS.read_text(encoding="utf-8"), re.MULTILINE))
    listed = {section for _, section in ROWS}
    assert sections - {f"/{section}" for section in listed} - listed == set()
