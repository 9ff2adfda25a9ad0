"""The files of the names of a release's metrics: a line each, with ``*`` for the values of tags; where a metric has no
``name=``, a line for each of its attributes, as Kafka's JmxTool prints them."""

import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "tests" / "scenarios" / "observe" / "exposition" / "mbeans"
_TAGS = re.compile(r",(?!name=)([\w-]+)=(\"[^\"]*\"|[^,:]*)")


def recorded_path(release: str) -> Path:
    """The file of a release."""
    return FOLDER / f"{release}.txt"


def read_recorded(release: str) -> set[str]:
    """The names of a release."""
    return set(recorded_path(release).read_text(encoding="utf-8").splitlines())


def general(name: str) -> str:
    """The name of a metric with ``*`` for the value of each tag but ``name``."""
    return _TAGS.sub(r",\1=*", name)


def names(lines: Iterable[str]) -> list[str]:
    """The lines that Names.java prints, as they are kept."""
    found = set[str]()
    for line in lines:
        name, _, attributes = line.partition("\t")
        shown = [""] if ",name=" in name else [f":{attribute}" for attribute in attributes.split()]
        found.update(general(name) + attribute for attribute in shown)
    return sorted(found)
