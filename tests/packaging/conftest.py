"""A project that is not ours: an environment with the wheel in it, and packages of its own called as ours are."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from attrs import frozen

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
def project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that sees the dependencies of this environment, and not the checkout, installed for editing."""
    root = tmp_path_factory.mktemp("project")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    python = root / ".venv" / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = root / ".venv" / "lib" / version / "site-packages"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*install, site, wheel], check=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    for name in ("scenarios", "controller"):
        (root / name).mkdir()
        (root / name / "__init__.py").write_text(f"WHOSE = 'the project, {name}'\n")
    return Project(root, python)
