"""The notebook of docs/use/notebooks: its cells give the text that the page has, also where asyncio runs a loop, as in
Jupyter. ``python -m benchmarks.notebook`` does the same in a Jupyter kernel, with the pictures."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from pyspark.sql import SparkSession

from benchmarks.notebook.__main__ import PAGE, ROOT, read, texts
from tests.asynchronous import in_asyncio

pytestmark = pytest.mark.spark


def carried_out(source: str, names: dict[str, Any]) -> list[str]:
    """The output of a cell, and the text of its last line's value."""
    cell = ast.parse(source)
    last = cell.body.pop() if isinstance(cell.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(cell, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None
    return [said for said in (printed.getvalue(), "" if value is None else repr(value)) if said]


@pytest.mark.slow
def test_its_cells_give_what_it_says_while_a_loop_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", os.environ["PYSPARK_PYTHON"])
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    cells = [cell for cell in read(PAGE).cells if cell.cell_type == "code"]
    names: dict[str, Any] = {}

    async def notebook() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        other = asyncio.create_task(tick())
        for cell in cells:
            await asyncio.sleep(0)
            assert carried_out(cell.source, names) == texts(cell), cell.source
        other.cancel()
        return ticks

    with plt.ioff(), plt.rc_context({"backend": "agg"}):
        assert in_asyncio(notebook) > 1, "the loop goes on between the cells"


def test_it_is_a_small_page_without_this_machine() -> None:
    text = PAGE.read_text()
    nbformat.validate(nbformat.reads(text, as_version=4))  # type: ignore[no-untyped-call]
    assert len(text) < 300_000
    for place in (str(ROOT), str(Path.home()), "/tmp", "site-packages"):
        assert place not in text, place
