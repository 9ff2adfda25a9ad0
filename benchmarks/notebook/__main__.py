"""``python -m benchmarks.notebook [--write]``: carries out docs/use/notebooks/study.ipynb in a Jupyter kernel of this
Python, and says where the text of a cell's output is no longer what the page has. ``--write`` puts the new outputs into
it.

What a cell writes to standard error is left out: it is Spark's log, which names this machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "use" / "notebooks" / "study.ipynb"
LONGEST_S = 600


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.notebook", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the outputs into the notebook")
    options = parser.parse_args(arguments)
    found = read(PAGE)
    new = carried_out(PAGE)
    if options.write:
        nbformat.write(new, PAGE)  # type: ignore[no-untyped-call]
    changed = [cell.source for cell, other in zip(found.cells, new.cells, strict=True) if texts(cell) != texts(other)]
    for source in changed:
        print(f"the output has changed:\n{source}\n")
    return 1 if changed and not options.write else 0


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call, no-any-return]


def carried_out(path: Path) -> NotebookNode:
    """The notebook with its outputs, made in an empty folder by a kernel that imports this checkout."""
    book = read(path)
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, ROOT / "scenarios" / "package")))
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(book, timeout=LONGEST_S, record_timing=False, resources={"metadata": {"path": folder}}).execute()
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    book.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return book


def texts(cell: NotebookNode) -> list[str]:
    """The text of a cell's outputs but its pictures: what it prints, and the value of its last line."""
    if cell.cell_type != "code":
        return []
    shown = [output for output in cell.outputs if output.output_type in ("stream", "execute_result")]
    return [output.text if output.output_type == "stream" else output.data["text/plain"] for output in shown]


if __name__ == "__main__":
    sys.exit(main())
