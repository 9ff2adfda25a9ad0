"""The bootstrap script ./understudy, run as a user runs it but with a stand-in for Python: no downloads.

The stand-in writes down each environment it makes and each pip it is asked for. It passes other calls to the Python
that runs these tests.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import frozen

PROJECT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "cat", "cksum", "cp", "dirname", "head", "mkdir", "mv", "readlink", "rm", "sed", "tail")
TIMEOUT_S = 60.0

STAND_IN = """\
#!/bin/sh
for last; do :; done
case " $* " in
*" -m venv "*)
    echo "venv" >>{calls}; rm -rf "$last"; mkdir -p "$last/bin"; cp "$0" "$last/bin/python"
    [ ! -e {venv_gate} ] || cat {venv_gate} >/dev/null ;;
*"import pip"*) ;;
*ensurepip*) echo "$0" ;;
*" -m pip "*)
    echo "pip $last" >>{calls}
    [ ! -e {gate} ] || cat {gate} >/dev/null
    [ ! -e {broken} ] || {{ echo "ERROR: No matching distribution found for trio"; exit 1; }} ;;
*" -m scenarios.cli "*) shift 2; printf '<%s>' "$@"; exit 7 ;;
*) exec {python} "$@" ;;
esac
"""


@frozen
class Clone:
    """A copy of the three files that matter, with a stand-in python3 on an otherwise bare PATH."""

    root: Path
    path: Path
    calls_file: Path

    def environment(self, **extra: str) -> dict[str, str]:
        return {"PATH": str(self.path), **extra}

    def start(self, *arguments: str, script: Path | None = None, cwd: Path | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [script or self.root / "understudy", *arguments],
            cwd=cwd or self.root,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self, *arguments: str, script: Path | None = None, cwd: Path | None = None, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [script or self.root / "understudy", *arguments],
            cwd=cwd or self.root,
            env=self.environment(**extra),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def put(self, name: str, text: str) -> Path:
        return write_script(self.path / name, text)


def write_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    root, path = tmp_path / "a clone", tmp_path / "bin"
    root.mkdir()
    path.mkdir()
    for name in ("understudy", "pyproject.toml", "constraints.txt"):
        shutil.copy(PROJECT / name, root / name)
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None, f"the script needs {tool}"
        (path / tool).symlink_to(found)
    clone = Clone(root=root, path=path, calls_file=tmp_path / "calls")
    quoted = {name: shlex.quote(str(tmp_path / name)) for name in ("calls", "gate", "venv_gate", "broken")}
    clone.put("python3", STAND_IN.format(python=shlex.quote(sys.executable), **quoted))
    return clone


def fake_java(version: str) -> str:
    return f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-01' >&2\n"


def test_the_first_start_installs_and_hands_over(clone: Clone) -> None:
    result = clone.run("run", "a file.toml", "--seed", "")
    assert (result.returncode, result.stdout) == (7, "<run><a file.toml><--seed><>")
    assert clone.calls() == ["venv", "pip .[study]"]
    assert len(result.stderr.splitlines()) == 1
    assert "installing" in result.stderr


def test_the_second_start_is_silent_and_installs_nothing(clone: Clone) -> None:
    clone.run("run")
    result = clone.run("run")
    assert result.stderr == ""
    assert clone.calls() == ["venv", "pip .[study]"]


def test_any_folder_and_a_chain_of_symbolic_links(clone: Clone, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "first").symlink_to(Path("..") / clone.root.name / "understudy")
    (elsewhere / "second").symlink_to(elsewhere / "first")
    assert clone.run("list", script=elsewhere / "second", cwd=elsewhere).returncode == 7
    assert (clone.root / ".venv").is_dir()
    assert not (elsewhere / ".venv").exists()


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_changed_pins_install_again_into_the_same_environment(clone: Clone, name: str) -> None:
    clone.run("run")
    with (clone.root / name).open("a") as file:
        file.write("# changed\n")
    clone.run("run")
    assert clone.calls() == ["venv", "pip .[study]", "pip .[study]"]


def test_a_moved_clone_installs_again(clone: Clone, tmp_path: Path) -> None:
    clone.run("run")
    moved = clone.root.rename(tmp_path / "moved")
    clone.run("run", script=moved / "understudy", cwd=moved)
    assert clone.calls()[-1] == "pip .[study]"
    assert len(clone.calls()) > 2


def test_the_test_command_adds_the_tools_of_development(clone: Clone) -> None:
    clone.put("java", fake_java("21.0.1"))
    clone.run("run")
    clone.run("test")
    clone.run("run")
    assert clone.calls() == ["venv", "pip .[study]", "pip .[study,dev]"]


@pytest.mark.parametrize("command", ["sweep", "compare", "demo"])
@pytest.mark.parametrize("version", ["17.0.15", "21-ea", "25"])
def test_a_system_java_is_used(clone: Clone, command: str, version: str) -> None:
    clone.put("java", fake_java(version))
    clone.run(command)
    assert clone.calls() == ["venv", "pip .[study]"]


@pytest.mark.parametrize("version", [None, "1.8.0_402", "11.0.2"])
def test_java_comes_along_where_the_system_has_none_that_will_do(clone: Clone, version: str | None) -> None:
    if version is not None:
        clone.put("java", fake_java(version))
    clone.run("run")
    clone.run("compare", "moves")
    assert clone.calls() == ["venv", "pip .[study]"]
    clone.run("compare", "moves", "--recount")
    clone.run("demo")
    clone.run("test")
    assert clone.calls()[2:] == ["pip .[study,java]", "pip .[study,dev,java]"]


def test_java_home_counts_before_the_path(clone: Clone, tmp_path: Path) -> None:
    write_script(tmp_path / "my jdk" / "bin" / "java", fake_java("17"))
    clone.run("demo", JAVA_HOME=str(tmp_path / "my jdk"))
    assert clone.calls() == ["venv", "pip .[study]"]


def test_a_failed_installation_is_one_line_and_exit_code_2(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    result = clone.run("run")
    assert (result.returncode, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert len(lines) == 2, "what it does, and what came of it"
    assert lines[1].startswith("understudy: the installation failed: No matching distribution found for trio (")
    assert lines[1].endswith(f"{clone.root}/.venv.log)")
    (tmp_path / "broken").unlink()
    assert clone.run("run").returncode == 7


def test_no_python_that_will_do(clone: Clone) -> None:
    clone.put("python3", "#!/bin/sh\necho 3.9\nexit 1\n")
    result = clone.run("run")
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "needs Python 3.11, 3.12 or 3.13" in result.stderr
    assert not (clone.root / ".venv").exists()


def test_a_second_python_on_the_path_is_found(clone: Clone) -> None:
    good = (clone.path / "python3").read_text()
    clone.put("python3", "#!/bin/sh\necho 3.9\nexit 1\n")
    clone.put("python3.13", "#!/bin/sh\necho 'this shim has no such version' >&2\nexit 127\n")
    clone.put("python3.12", good)
    assert clone.run("run").returncode == 7


def test_the_python_one_asks_for(clone: Clone, tmp_path: Path) -> None:
    asked = write_script(tmp_path / "my python" / "py", (clone.path / "python3").read_text())
    clone.put("python3", "#!/bin/sh\nexit 1\n")
    assert clone.run("run", UNDERSTUDY_PYTHON=str(asked)).returncode == 7
    assert clone.run("run").returncode == 7, "once installed, .venv is enough"
    wrong = clone.run("run", UNDERSTUDY_PYTHON="no-such-python")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("understudy: UNDERSTUDY_PYTHON=no-such-python is not a Python 3.11")
    assert len(wrong.stderr.splitlines()) == 1


def test_an_environment_in_another_place_holds_the_dependencies_alone(clone: Clone, tmp_path: Path) -> None:
    venv = tmp_path / "shared" / "environments" / "mine"
    assert clone.run("run", "a", UNDERSTUDY_VENV=str(venv)).stdout == "<run><a>"
    assert not list(clone.root.glob(".venv*"))
    requirements = venv / "understudy.requirements"
    assert clone.calls() == ["venv", f"pip {requirements}"]
    named = requirements.read_text().splitlines()
    assert "trio>=0.35" in named
    assert not any(name.startswith("pytest") for name in named)
    second = shutil.copytree(clone.root, tmp_path / "another checkout")
    assert clone.run("run", script=second / "understudy", UNDERSTUDY_VENV=str(venv)).stderr == ""
    clone.run("test", UNDERSTUDY_VENV=str(venv))
    assert clone.calls() == ["venv", f"pip {requirements}", f"pip {requirements}"]
    assert any(name.startswith("pytest") for name in requirements.read_text().splitlines())


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere: run the tests as another user")
def test_a_checkout_that_cannot_be_written(clone: Clone, tmp_path: Path) -> None:
    clone.root.chmod(0o555)
    result = clone.run("run", UNDERSTUDY_VENV=str(tmp_path / "venv"))
    clone.root.chmod(0o755)
    assert result.returncode == 7


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere: run the tests as another user")
def test_a_folder_that_cannot_be_written(clone: Clone) -> None:
    clone.root.chmod(0o555)
    result = clone.run("run")
    clone.root.chmod(0o755)
    assert result.returncode == 2
    assert result.stderr.startswith("understudy: cannot write to ")


def test_two_starts_at_once_install_once(clone: Clone, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    first = clone.start("run", "1")
    with gate.open("w"):  # opens when the first start's pip reads: it holds the lock now
        second = clone.start("run", "2")
        assert second.stderr is not None
        assert second.stderr.readline() == "understudy: waiting for another start that is installing\n"
    assert first.communicate(timeout=TIMEOUT_S)[0] == "<run><1>"
    assert second.communicate(timeout=TIMEOUT_S)[0] == "<run><2>"
    assert clone.calls() == ["venv", "pip .[study]"]


@pytest.mark.parametrize(("stage", "done"), [("venv_gate", ["venv"]), ("gate", ["venv", "pip .[study]"])])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143)])
def test_a_killed_installation_begins_again(
    clone: Clone, tmp_path: Path, number: signal.Signals, code: int, stage: str, done: list[str]
) -> None:
    gate = tmp_path / stage
    os.mkfifo(gate)
    first = clone.start("run")
    with gate.open("w"):
        os.killpg(first.pid, number)
        first.communicate(timeout=TIMEOUT_S)
    gate.unlink()
    assert first.returncode == code
    result = clone.run("run")
    assert (result.returncode, result.stdout) == (7, "<run>")
    assert clone.calls() == [*done, "venv", "pip .[study]"]


def shells() -> Sequence[str]:
    return [shell for shell in ("dash", "bash", "ksh", "busybox") if shutil.which(shell)]


@pytest.mark.parametrize("shell", shells())
def test_the_script_is_posix(shell: str) -> None:
    command = [shell, "sh", "-n"] if shell == "busybox" else [shell, "-n"]
    subprocess.run([*command, PROJECT / "understudy"], check=True, timeout=TIMEOUT_S)
