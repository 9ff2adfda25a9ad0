"""The parts of docs/specification that are made from constants and configurations: `.cfg` files, two tables."""

from benchmarks.specification.checker import SPECIFICATION
from benchmarks.specification.configurations import Configuration
from benchmarks.specification.questions import CONFIGURATIONS
from scenarios.observe.specification.constants import CONSTANTS, RELEASES
from scenarios.pages import into_page, table

PAGE = SPECIFICATION / "README.md"


def sections() -> dict[str, str]:
    """The tables, by name."""
    heads = ["Constant", "What it says", *RELEASES, "Source"]
    constants = [
        [f"`{one.name}`", one.meaning, *("yes" if release in one.releases else "" for release in RELEASES), one.source]
        for one in CONSTANTS
    ]
    asked = [[f"[{one.name}]({one.name}.cfg)", one.asks, _bounds(one), _found(one)] for one in CONFIGURATIONS]
    return {
        "constants": table(heads, constants),
        "configurations": table(["Configuration", "Asks", "At most", "Finds"], asked),
    }


def _bounds(configuration: Configuration) -> str:
    limits = {"Moves": 1} | configuration.bounds
    return ", ".join(f"{name.lower()} {limit}" for name, limit in limits.items() if limit)


def _found(configuration: Configuration) -> str:
    return f"`{configuration.finds}` does not hold" if configuration.finds else "nothing"


def files() -> dict[str, str]:
    """The configurations' files, by name."""
    return {f"{one.name}.cfg": one.text for one in CONFIGURATIONS}


def render() -> int:
    """Write all of it. Returns the exit code."""
    for old in SPECIFICATION.glob("*.cfg"):
        old.unlink()
    for name, text in files().items():
        (SPECIFICATION / name).write_text(text, encoding="utf-8")
    PAGE.write_text(into_page(PAGE.read_text(encoding="utf-8"), sections()), encoding="utf-8")
    return 0
