"""pytest in a process of its own, forked from one that has imported what pytest and the plugin need: to import it takes
longer than most of the tests that are run there. The server is a fresh Python without threads, and never this process,
whose modules have been changed by the tests before."""

import os
import sys
from collections.abc import Mapping
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

IMPORTED = ["pytest", "scenarios.testing.pytest_plugin", "scenarios.cluster.cluster", "scenarios.runs.runner"]
"""Not ``understudy.pytest_plugin``, which pytest itself imports in its own way."""


def run_pytest(folder: Path, arguments: list[str], environment: Mapping[str, str]) -> str:
    """The output of ``python -m pytest ARGUMENTS`` in ``folder``, its standard error last."""
    context = get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    with TemporaryDirectory() as place:
        process = context.Process(target=_pytest, args=(folder, arguments, dict(environment), Path(place)))
        process.start()
        process.join()
        return "".join((Path(place) / name).read_text() for name in ("out", "err"))


def _pytest(folder: Path, arguments: list[str], environment: Mapping[str, str], place: Path) -> None:
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(place / name, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, str(folder))
    sys.argv = ["pytest", *arguments]

    import pytest

    sys.exit(pytest.console_main())
