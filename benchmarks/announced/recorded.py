"""The file of what real brokers announced: a line for each release, with ``API:MIN-MAX`` for each API."""

from collections.abc import Mapping
from pathlib import Path

from scenarios.wire.released_versions import Versions

RECORDED = Path(__file__).parents[2] / "tests" / "scenarios" / "wire" / "announced.txt"
COMMENT = "# What real brokers in ZooKeeper mode announced: python -m benchmarks.announced RELEASE...\n"
Announced = Mapping[str, Mapping[int, Versions]]


def read_recorded(path: Path = RECORDED) -> dict[str, dict[int, Versions]]:
    """The versions of each API by release; empty where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {
        release: dict(map(_versions, words))
        for release, *words in (line.split() for line in lines if not line.startswith("#"))
    }


def _versions(word: str) -> tuple[int, Versions]:
    key, _, found = word.partition(":")
    low, _, high = found.partition("-")
    return int(key), (int(low), int(high))


def write_recorded(announced: Announced, path: Path = RECORDED) -> None:
    """Write the file, the releases in their order."""
    ordered = sorted(announced, key=lambda release: tuple(map(int, release.split("."))))
    lines = (
        " ".join((release, *(f"{key}:{low}-{high}" for key, (low, high) in sorted(announced[release].items()))))
        for release in ordered
    )
    path.write_text(COMMENT + "".join(f"{line}\n" for line in lines), encoding="utf-8")
