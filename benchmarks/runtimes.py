"""Programs and libraries of other languages that benchmarks use: jars from the local Maven repository, programs that Go
builds. Nothing is fetched from a network unless ``fetch`` says so; what is not there raises LookupError with a line for
readers.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen

GO = "UNDERSTUDY_GO"
"""The command ``go``, where it is not on the path."""
USUAL_PLACE_OF_GO = "/usr/local/go/bin"
"""The folder of Go by its own installation instructions, which is on no path by itself."""


@frozen
class Artifact:
    """A library in a Maven repository.

    Attributes:
        without: groups of libraries that it asks for and that are not wanted.
    """

    group: str
    name: str
    version: str
    without: Sequence[str] = ()

    @property
    def xml(self) -> str:
        """The artifact as a dependency in a pom.xml."""
        unwanted = "".join(
            f"<exclusion><groupId>{group}</groupId><artifactId>*</artifactId></exclusion>" for group in self.without
        )
        return (
            f"<dependency><groupId>{self.group}</groupId><artifactId>{self.name}</artifactId>"
            f"<version>{self.version}</version><exclusions>{unwanted}</exclusions></dependency>"
        )


def jars(artifacts: Sequence[Artifact], *, fetch: bool = False) -> str:
    """The class path of some libraries and of all that they ask for.

    Raises: LookupError where Java, Maven or a jar is missing.
    """
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            raise LookupError(f"there is no {program} on the PATH")
    pom = (
        "<project><modelVersion>4.0.0</modelVersion><groupId>tools</groupId><artifactId>tools</artifactId>"
        f"<version>1</version><dependencies>{''.join(one.xml for one in artifacts)}</dependencies></project>"
    )
    with TemporaryDirectory() as folder:
        (Path(folder) / "pom.xml").write_text(pom)
        command = ["mvn", "-q", "-B", *([] if fetch else ["-o"]), "dependency:build-classpath"]
        done = subprocess.run(
            [*command, "-Dmdep.outputFile=class-path"], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            named = ", ".join(f"{one.name} {one.version}" for one in artifacts)
            raise LookupError(f"not in the local Maven repository: {named}")
        return (Path(folder) / "class-path").read_text().strip()


@cache
def go_program(source: Path, *, fetch: bool = False) -> Path:
    """The program of a folder with a go.mod, built for as long as this process lives.

    Raises: LookupError where Go or a module is missing.
    """
    path = os.pathsep.join((os.environ.get("PATH", ""), USUAL_PLACE_OF_GO))
    go = os.environ.get(GO) or shutil.which("go", path=path)
    if go is None:
        raise LookupError(f"there is no go on the PATH, and {GO} does not name it")
    program = Path(_built().name) / source.name
    environment = dict(os.environ) if fetch else {**os.environ, "GOPROXY": "off"}
    command = [go, "build", "-o", str(program), "."]
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        *_, reason = "no reason given", *done.stderr.strip().splitlines()
        raise LookupError(f"Go does not build {source.name}: {reason}")
    return program


@cache
def _built() -> "TemporaryDirectory[str]":
    """The folder of what is built. It goes when the process ends."""
    return TemporaryDirectory(prefix="understudy-go-")


def go_version(source: Path, module: str) -> str:
    """The version of a module that a go.mod asks for."""
    words = (source / "go.mod").read_text(encoding="utf-8").split()
    return words[words.index(module) + 1]
