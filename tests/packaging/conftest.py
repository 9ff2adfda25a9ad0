"""A project that is not ours: an environment with the wheel in it, and packages of its own called as ours are."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from attrs import frozen

from scenarios.extras import STUDY

ROOT = Path(__file__).parents[2]
FLOORS = ("emulator", "fetchers", "brokers", "controller", "scenarios")


@frozen
class Project:
    """A folder with a Python of its own, in which Understudy is installed from its wheel."""

    root: Path
    python: Path

    def run(self, *arguments: str, code: int = 0) -> str:
        """The output of ``python ARGUMENTS``, started in the project's folder. Its exit code has to be ``code``."""
        done = subprocess.run(
            [self.python, *arguments],
            cwd=self.root,
            env=self._environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout without asking a registry."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that pip installs from the wheel. It compiles some hundred files, so projects get copies."""
    folder = tmp_path_factory.mktemp("installed")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*install, folder, wheel], check=True)
    return folder


@pytest.fixture(scope="session")
def project(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that sees the dependencies of this environment, and not the checkout, installed for editing."""
    made = _project(installed, tmp_path_factory.mktemp("project"))
    for name in ("scenarios", "controller"):
        (made.root / name).mkdir()
        (made.root / name / "__init__.py").write_text(f"WHOSE = 'the project, {name}'\n")
    return made


REFUSING = f"""
import sys

class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {STUDY}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuses())
"""


@pytest.fixture(scope="session")
def core(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose Python refuses to import what only the extra ``study`` brings, as if it were not installed."""
    made = _project(installed, tmp_path_factory.mktemp("core"))
    (_site(made.root) / "refusing.py").write_text(REFUSING)
    (_site(made.root) / "refusing.pth").write_text("import refusing\n")
    return made


def _project(installed: Path, root: Path) -> Project:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    shutil.copytree(installed, _site(root), dirs_exist_ok=True)
    (_site(root) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Project(root, root / ".venv" / "bin" / "python")


def _site(root: Path) -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return root / ".venv" / "lib" / version / "site-packages"
