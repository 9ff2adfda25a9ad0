"""The output of commands: results on standard output, everything else on standard error.

A reader that stops reading (``| head``) is no failure: the rest is dropped, and the exit code is not changed.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from math import inf

from scenarios.errors import BadInput

UNWATCHED_S = 60.0
"""The time between two lines of progress where standard error is no terminal."""


IN_ASCII = {
    "≥": ">=", "≤": "<=", "≠": "!=", "…": "...", "⇒": "=>", "⇔": "<=>", "→": "->", "−": "-", "·": "*", "×": "x",
    "µ": "u", "∧": "and", "∨": "or", "∈": "in", "∉": "not in",
}  # fmt: skip
"""Stands for characters of the program's own sentences: the escape of ≥ before a number reads as more digits."""


def prepare() -> None:
    """Make characters that the terminal cannot show print as ``IN_ASCII`` says, or as escapes, instead of an error."""
    codecs.register_error("understudy", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="understudy")


def _spelled(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    character = error.object[error.start]
    spelled = IN_ASCII.get(character) or character.encode("ascii", "backslashreplace").decode()
    return spelled, error.start + 1


def say(text: str = "") -> None:
    """Print a line of the result on standard output. Raises BadInput when it cannot be written (a full disk)."""
    with _written():
        print(visible(text))


def show() -> None:
    """Flush standard output: long commands call it between their parts. Raises BadInput as ``say`` does."""
    if sys.stdout is not None:  # as it is when the shell closed it
        with _written():
            sys.stdout.flush()


class _Settings:
    """The settings of this process. ``quiet``: progress is not shown. ``shown_s``: the time when it was last shown."""

    quiet = False
    shown_s = -inf


def be_quiet(quiet: bool) -> None:
    """Set whether progress is hidden (``--quiet``)."""
    _Settings.quiet, _Settings.shown_s = quiet, -inf


def progress(text: str) -> None:
    """Print a line on standard error about work that goes on, unless ``--quiet`` keeps it back. Where standard error is
    no terminal, as in a log, it is printed once a minute at most."""
    now_s = time.monotonic()
    if _is_watched() or now_s - _Settings.shown_s >= UNWATCHED_S:
        _Settings.shown_s = now_s
        told(text)


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def told(text: str) -> None:
    """Print a line on standard error about something that was done, unless ``--quiet`` hides it."""
    if not _Settings.quiet:
        note(text)


def note(text: str) -> None:
    """Print an error, a line on standard error."""
    if sys.stderr is None:
        return
    with suppress(OSError):  # standard error is closed too
        print(visible(text), file=sys.stderr, flush=True)


RED, PLAIN = "\033[31m", "\033[0m"
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys and does not show: control characters except tab and the end of a line, and those
that change the direction of the text after them."""


def visible(text: str) -> str:
    """The text with the characters that a terminal would obey as escapes, as JSON writes them. Titles, keys and paths
    are other people's, and may hold such characters. The two codes of ``red`` stay."""
    if not _UNSEEN.search(text):
        return text
    if _in_colours():
        parts = re.split(f"({re.escape(RED)}|{re.escape(PLAIN)})", text)
        return "".join(part if part in (RED, PLAIN) else _UNSEEN.sub(_escaped, part) for part in parts)
    return _UNSEEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def red(text: str) -> str:
    """``text`` in red, where standard output is a terminal that shows colours (https://no-color.org)."""
    return f"{RED}{text}{PLAIN}" if _in_colours() else text


def _in_colours() -> bool:
    if os.environ.get("FORCE_COLOR"):
        return True
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and sys.stdout is not None and sys.stdout.isatty()


def table(rows: Sequence[tuple[str, ...]], indent: str = "  ") -> list[str]:
    """Rows of cells as aligned lines; the last cell of a row is not padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


@contextmanager
def _written() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        _discard()
    except OSError as error:
        _discard()
        raise BadInput(f"standard output cannot be written ({error.strerror}); make room for it") from error


def _discard() -> None:
    """Discard all further output, the interpreter's own last flush included."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
