"""The file of what real brokers announced: a line for each release, with ``API:MIN-MAX`` for each API, and ``API=CODE``
for the errors of those that need security, of which the broker had none."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from scenarios.wire.released_versions import Versions

RECORDED = Path(__file__).parents[2] / "tests" / "scenarios" / "wire" / "announced.txt"
COMMENT = "# What real brokers in ZooKeeper mode announced and refused: python -m benchmarks.announced RELEASE...\n"


class Answers(NamedTuple):
    """The answers of one broker.

    Attributes:
        announced: the versions of each API, by its number.
        refused: the codes of errors, by the number of the API; empty where it was not asked.
    """

    announced: Mapping[int, Versions]
    refused: Mapping[int, int]


def read_recorded(path: Path = RECORDED) -> dict[str, Answers]:
    """The answers by release; empty where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {
        release: Answers(dict(map(_versions, filter(_is_announced, words))), _refused(words))
        for release, *words in (line.split() for line in lines if not line.startswith("#"))
    }


def _is_announced(word: str) -> bool:
    return ":" in word


def _versions(word: str) -> tuple[int, Versions]:
    key, _, found = word.partition(":")
    low, _, high = found.partition("-")
    return int(key), (int(low), int(high))


def _refused(words: list[str]) -> dict[int, int]:
    pairs = (word.partition("=") for word in words if not _is_announced(word))
    return {int(key): int(code) for key, _, code in pairs}


def write_recorded(answers: Mapping[str, Answers], path: Path = RECORDED) -> None:
    """Write the file, the releases in their order."""
    ordered = sorted(answers, key=lambda release: tuple(map(int, release.split("."))))
    lines = (" ".join((release, *_words(answers[release]))) for release in ordered)
    path.write_text(COMMENT + "".join(f"{line}\n" for line in lines), encoding="utf-8")


def _words(answers: Answers) -> list[str]:
    announced = [f"{key}:{low}-{high}" for key, (low, high) in sorted(answers.announced.items())]
    return [*announced, *(f"{key}={code}" for key, code in sorted(answers.refused.items()))]
