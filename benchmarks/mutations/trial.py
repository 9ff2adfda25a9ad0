"""One mutation in a copy of the checkout: what chaos sees of it in its budget, and what the tests of its room see."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from benchmarks.mutations.executed import watched
from benchmarks.mutations.rules import Mutation

COPIED = ("emulator", "fetchers", "brokers", "controller", "scenarios", "tests", "benchmarks", "docs", "pyproject.toml")
TESTS_CPU_S = 600
"""A mistake can make a test run for ever; after that much CPU time it counts as seen."""


@frozen
class Survey:
    """The runs without a mutation.

    Attributes:
        watched: the lines, as ``FILE:NUMBER``, for which it is known which runs execute them.
        found: for each run its place, its CPU seconds, whether it has findings, and the lines that it executes.
    """

    watched: Collection[str]
    found: Sequence[dict[str, Any]]

    def runs(self, mutation: Mutation, text: str) -> list[tuple[str, int, float]]:
        """The runs that can see ``mutation`` of the module ``text``: profile, seed, and the CPU seconds of those before
        it that cannot."""
        line, runs, left_out_s = f"{mutation.file}:{mutation.number(text)}", [], 0.0
        for one in self.found:
            executes = line not in self.watched or line in one["executed"]
            if executes and not one["noisy"]:
                runs.append((*one["place"], left_out_s))
            elif not executes:
                left_out_s += one["cpu_s"]
        return runs


@define
class Copy:
    """A copy of the checkout, in which one module at a time is changed."""

    root: Path
    folder: Path
    _original: tuple[Path, str] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        for name in COPIED:
            source, target = self.root / name, self.folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)

    def plant(self, mutation: Mutation) -> None:
        """Undo the mutation before, and make this one. Raises: LookupError where its line is not there any more."""
        self.restore()
        path = self.folder / mutation.file
        text = path.read_text(encoding="utf-8")
        path.write_text(mutation.applied(text), encoding="utf-8")
        self._original = path, text

    def restore(self) -> None:
        if self._original is not None:
            path, text = self._original
            path.write_text(text, encoding="utf-8")
            self._original = None

    def survey(self, cpu_s: int, mutations: Sequence[Mutation]) -> Survey:
        """The survey of the runs that are made within ``cpu_s`` of CPU time without a mutation. Raises: LookupError
        where a mutation's line does not exist any more."""
        numbers: dict[str, list[int]] = {}
        texts = {one.file: (self.folder / one.file).read_text(encoding="utf-8") for one in mutations}
        for mutation in mutations:
            numbers.setdefault(mutation.file, []).append(mutation.number(texts[mutation.file]))
        changed = {file: watched(file, text, numbers[file]) for file, text in texts.items()}
        for file, text in changed.items():
            (self.folder / file).write_text(text, encoding="utf-8")
        done = self._python(["-m", "benchmarks.mutations.hunt", str(cpu_s), "--survey"], 2 * cpu_s + 30)
        for file, text in texts.items():
            (self.folder / file).write_text(text, encoding="utf-8")
        called = "\n".join(changed.values())
        known = {f"{file}:{number}" for file, those in numbers.items() for number in those}
        return Survey({line for line in known if f"ran('{line}')" in called}, json.loads(done.stdout.splitlines()[-1]))

    def chaos(self, cpu_s: int, runs: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """The first finding of ``runs`` (``Survey.runs``) within ``cpu_s`` of CPU time: a violation, a run that ends in
        an error, or a run that never ends."""
        done = self._python(["-m", "benchmarks.mutations.hunt", str(cpu_s), json.dumps(list(runs))], 2 * cpu_s + 30)
        if done.returncode == 0:
            answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            return answer
        if done.returncode < 0:
            return {"seen": "a run that does not end", "seed": "", "runs": 0}
        return {"seen": _last_line(done.stderr), "seed": "", "runs": 0}

    def tests(self, mutation: Mutation) -> str:
        """The first test of the room that fails, those of the module's part of it first; "" where all pass."""
        parts = Path(mutation.file).parts
        near = [f"tests/{'/'.join(parts[:2])}"] if (self.folder / "tests" / parts[0] / parts[1]).is_dir() else []
        done = self._python(
            ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *near, f"tests/{parts[0]}"], TESTS_CPU_S
        )
        if done.returncode == 0:
            return ""
        failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0] if failed else "the tests do not end" if done.returncode < 0 else _last_line(done.stdout)

    def _python(self, arguments: Sequence[str], cpu_s: int) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join([str(self.folder), str(self.folder / "scenarios/package")])
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))

        return subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment, preexec_fn=limit, capture_output=True,
            text=True, check=False,
        )  # fmt: skip


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["ended without a word"])[-1][:200]
