"""Files that a person names are read in one room (scenarios/reading.py), within limits. Each of its
readers is among those that get any content (tests/scenarios/cli/test_any_content.py)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.test_floors import ROOT, files, import_statements
from tests.scenarios.cli.test_any_content import READERS

READING = "scenarios/reading.py"
CALLS = {
    "open", "os.open", "os.fdopen", "json.load", "json.loads", "tomllib.load", "tomllib.loads", "zlib.decompress",
    "pickle.load", "pickle.loads", "marshal.load", "pq.ParquetFile", "pq.read_schema", "pq.read_metadata",
    "pq.read_table",
}  # fmt: skip
METHODS = {"read_text", "read_bytes"}
LAST_NAME = re.compile(rf"\b(?:{'|'.join({call.rpartition('.')[2] for call in CALLS} | METHODS)})\b")
"""Names in the source of every module that has one of these calls; most modules have none of them."""
OWN = "files of the program, or of this very process"
WRITES = "opens what it writes"
IN_WORLD = "texts of the emulated world, which refuses what it cannot read"
CHECKED = "a part of a data set, after check_file"
LEFT: dict[str, str] = {
    "scenarios/chaos/draw.py": OWN,
    "scenarios/cli/commands/plan.py": OWN,
    "scenarios/cli/commands/timeline.py": "events that were read before",
    "scenarios/cli/first_difference.py": OWN,
    "scenarios/cli/chaos_under_clients.py": OWN,
    "scenarios/cli/output.py": WRITES,
    "scenarios/cli/recording.py": OWN,
    "scenarios/cli/start.py": OWN,
    "scenarios/cluster/clients/tools/topic_command.py": IN_WORLD,
    "scenarios/language/files.py": OWN,
    "scenarios/language/schema/places.py": "a key in a text that was read before",
    "scenarios/museum/densities.py": OWN,
    "scenarios/museum/exhibits.py": OWN,
    "scenarios/pages.py": OWN,
    "scenarios/plugins.py": "lists of installed packages",
    "scenarios/runs/dataset/cell_files.py": CHECKED,
    "scenarios/runs/dataset/events.py": CHECKED,
    "scenarios/runs/dataset/identity.py": OWN,
    "scenarios/runs/dataset/reader.py": CHECKED,
    "scenarios/runs/dataset/writer.py": WRITES,
    "scenarios/runs/forking.py": OWN,
    "scenarios/runs/record.py": OWN,
    "scenarios/studies/atlas/atlas_page.py": OWN,
    "scenarios/studies/likely/tails.py": OWN,
    "scenarios/studies/java.py": OWN,
    "scenarios/studies/clients/client_outcome.py": "lines that campaign_results.py has read",
    "scenarios/studies/clients/driver_process.py": "lines of a process that this one has started, each within a limit",
    "scenarios/studies/clients/drivers/driver_reports.py": "the plan that this program writes to its driver",
    "scenarios/studies/clients/drivers/spark_driver.py": "Spark's readers, and the standard output of its own process",
    "scenarios/studies/report/html_page.py": OWN,
    "scenarios/studies/shrink/trial.py": OWN,
    "scenarios/studies/spark/compare.py": CHECKED,
    "scenarios/studies/spark/ctrl_c.py": OWN,
    "scenarios/studies/spark/session.py": OWN,
    "scenarios/whole_files.py": WRITES,
    "scenarios/wire/gateway/sockets.py": WRITES,
    "scenarios/wire/security/certificates.py": WRITES,
    "scenarios/wire/zookeeper/payloads.py": IN_WORLD,
}
"""Modules that open or parse something themselves, and why that is not what a person names."""


def calls_of(source: str) -> Iterator[str]:
    if not LAST_NAME.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and LAST_NAME.fullmatch(getattr(node.func, "attr", getattr(node.func, "id", ""))):
            name = ast.unparse(node.func)
            if name in CALLS or (isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
                yield name


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_what_opens_or_parses_is_known() -> None:
    modules = [path for path in files("scenarios") if "package" not in path.parts and place(path) != READING]
    found = {place(path) for path in modules if any(calls_of(path.read_text()))}
    assert sorted(found) == sorted(LEFT)


def test_what_reads_within_limits_gets_any_content() -> None:
    reading = [
        place(path).removeprefix("scenarios/")
        for path in files("scenarios")
        for node in import_statements(path)
        if isinstance(node, ast.ImportFrom) and node.module == "scenarios.reading"
    ]
    assert sorted(reading) == sorted({reader.module for reader in READERS.values()} | {"language/recorded_frames.py"})
