"""Java processes, and the class path of a release, by Maven."""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.releases import Release

SMALL = (
    "-Xmx160m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto",
    "-XX:+IgnoreUnrecognizedVMOptions", "-Djava.net.preferIPv4Stack=true", "-Djava.awt.headless=true",
)  # fmt: skip
"""A small heap and the cheap compiler: a broker of seven on two cores."""

END_WITHIN_S = 20


def class_path(release: Release, folder: Path, more: Sequence[str] = ()) -> str:
    """The jars of a release, and of ``more`` artifacts of it (``kafka-tools``).

    Raises: CannotRecord, without Java or Maven, or where Maven does not find the release."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            raise CannotRecord(f"recording needs {program} on the PATH (Java 17, Maven); comparing needs neither")
    zookeeper, exclusion = "", ""
    if release.zookeeper is not None:
        zookeeper = _dependency("org.apache.zookeeper", "zookeeper", release.zookeeper)
        exclusion = _exclusion("org.apache.zookeeper", "zookeeper")
    kafka = _dependency("org.apache.kafka", f"kafka_{release.scala}", release.name, exclusion)
    kafka += "".join(_dependency("org.apache.kafka", artifact, release.name) for artifact in more)
    logger = _dependency("org.slf4j", *release.logger)
    (folder / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>calibration</groupId><artifactId>calibration</artifactId>"
        f"<version>1</version><dependencies>{kafka}{zookeeper}{logger}</dependencies></project>"
    )
    command = ["nice", "mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=class-path"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRecord(f"Maven cannot get Kafka {release.name}: {done.stdout.strip()[:500]}")
    return (folder / "class-path").read_text().strip()


def _dependency(group: str, artifact: str, version: str, inside: str = "") -> str:
    return f"<dependency>{_names(group, artifact)}<version>{version}</version>{inside}</dependency>"


def _exclusion(group: str, artifact: str) -> str:
    return f"<exclusions><exclusion>{_names(group, artifact)}</exclusion></exclusions>"


def _names(group: str, artifact: str) -> str:
    return f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId>"


@define(eq=False)
class Jvm:
    """A Java program that runs or has run; its output goes to ``output``."""

    name: str
    output: Path
    _process: "subprocess.Popen[bytes]" = field(alias="process")

    @classmethod
    def start(cls, name: str, path: str, options: Sequence[str], main: Sequence[str], folder: Path) -> "Jvm":
        output = folder / f"{name}.out"
        with output.open("ab") as out:
            process = subprocess.Popen(
                ["java", *SMALL, *options, "-cp", path, *main],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=folder, start_new_session=True,
            )  # fmt: skip
        return cls(name, output, process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        if self.running:
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        """SIGKILL, also where the process is stopped."""
        self.signal(signal.SIGKILL)
        self._process.wait(END_WITHIN_S)

    def wait(self, for_s: float) -> bool:
        """Whether it ends within that time."""
        try:
            self._process.wait(for_s)
        except subprocess.TimeoutExpired:
            return False
        return True
