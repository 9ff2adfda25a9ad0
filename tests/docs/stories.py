"""Outputs on pages: the stories of docs/use/stories.md, each with a scenario file, commands, and the lines of their
output that answer; the first run of README.md; a bug of the museum; and docs/use/forecast.md.

``python -m tests.docs.stories`` runs the commands again and renews the lines. A line is found again by its words,
whatever its numbers have become; one whose words have changed has to be written by hand.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import structlog
from attrs import frozen

from scenarios.cli.program import main
from tests.docs.pages import Fenced, fenced, path_of

PAGE = "stories.md"
LEFT_OUT = "..."
"""A line of its own where the page leaves out lines of the output."""
_FILE = re.compile(r"\b\w+\.toml\b")
_NUMBER = re.compile(r"[\d,]*\d(?:\.\d+)?")
_PASSING = re.compile(r"\([\d.]+ s here, [\d,]+ events\)|(?<=\d{6}) +\d+(?= )|\b[0-9a-f]{12}$")
"""Parts of an output that say nothing of the answer: the time that a run took, the numbers of events, digests."""


@frozen
class Story:
    """Commands, and what the page shows of their output; of those that need a scenario its text and its file's name."""

    name: str
    scenario: Fenced | None
    commands: tuple[str, ...]
    shown: Fenced

    def output(self, folder: Path) -> list[str]:
        """The output of the commands, run one after the other in this folder."""
        if self.scenario is not None:
            (folder / self.name).write_text(self.scenario.text, encoding="utf-8")
        return [line for command in self.commands for line in _printed(command, folder)]


def stories() -> list[Story]:
    """The stories of the page, in order."""
    blocks = (fenced(PAGE, language) for language in ("toml", "sh", "text"))
    return [
        Story(_FILE.findall(commands.text)[0], scenario, tuple(commands.text.splitlines()), shown)
        for scenario, commands, shown in zip(*blocks, strict=True)
    ]


def of_other_pages() -> list[Story]:
    """The run of the README's scenario, and the bug that the museum's page shows."""
    [scenario], [run] = fenced("README.md", "toml"), fenced("README.md", "text")
    [bug] = fenced("museum.md", "text")
    [large], forecast = fenced("forecast.md", "toml"), fenced("forecast.md", "text")
    command = fenced("forecast.md", "sh")[0].text.strip()
    return [
        Story("mine.toml", scenario, ("./understudy run mine.toml",), run),
        Story("museum", None, ("./understudy museum KAFKA-7128",), bug),
        Story("big.toml", large, (command,), forecast[0]),
        Story("big.toml", large, ("./understudy validate big.toml --set strategy.throttle=100MB/s",), forecast[1]),
    ]


def unlike(shown: Sequence[str], printed: Sequence[str]) -> Iterator[str]:
    """The lines of the page that the output does not have, in its order; how long a run took does not matter."""
    rest = iter([_steady(line) for line in printed])
    for line in shown:
        if line != LEFT_OUT and _steady(line) not in rest:
            yield line
            return


def renewed(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The page's lines with the numbers of the output.

    Raises: ValueError for a line whose words the output does not have.
    """
    rest, found = iter(printed), []
    for line in shown:
        if line == LEFT_OUT:
            found.append(line)
            continue
        match = next((new for new in rest if _words(new) == _words(line)), None)
        if match is None:
            raise ValueError(f"the output has no such line any more: {line}")
        found.append(match)
    return found


def _steady(line: str) -> str:
    return _PASSING.sub("", line)


def _words(line: str) -> list[str]:
    return _NUMBER.sub("0", _steady(line)).split()


def _printed(command: str, folder: Path) -> list[str]:
    words = shlex.split(command, comments=True)
    assert words[0] == "./understudy", command
    out, before = StringIO(), structlog.get_config()
    with chdir(folder), redirect_stdout(out), redirect_stderr(StringIO()):
        main(words[1:])
    structlog.configure(**before)
    return out.getvalue().splitlines()


def write() -> None:
    """Renew the outputs on the pages."""
    for story in (*stories(), *of_other_pages()):
        page = path_of(story.shown.page)
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            lines = renewed(story.shown.text.splitlines(), story.output(Path(folder)))
        before = f"```text\n{story.shown.text}```"
        assert text.count(before) == 1, f"{story.name}: the same output stands there twice"
        text = text.replace(before, "```text\n" + "".join(f"{line}\n" for line in lines) + "```")
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
