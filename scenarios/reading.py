"""Files and texts from outside, read within limits: the bytes of a file, and the TOML and JSON in a text. No content
and no size of a file costs more than a few seconds and 200 MB.

Code that reads a file which a person names does it here; tests/house has the list of the few places that do not. Raises
``BadInput``, one line, for a file that does not exist, is no file, is too large, or does not have the form.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import select
import stat
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from scenarios.errors import BadInput
from scenarios.units import LARGEST

MOST_BYTES = 1 << 25
"""The most bytes of a text; half of it if the text is not ASCII, since Python then needs up to four bytes for each
character."""
MOST_TOML_LETTERS = 8_000_000
"""The most letters of a TOML text. Python reads a text in double quotes letter by letter: 8 MB take more than half a
CPU second, and 33 MB would take five."""
MOST_IN_TOML, MOST_IN_JSON = 400_000, 1_000_000
"""The most values, keys and lines of a text. In TOML each takes some ten microseconds to parse and to find, in JSON a
tenth of that, and up to 100 bytes: all 100,000 partitions of a large cluster fit in a plan."""
MOST_NESTED = 64
"""The most lists and tables in each other: code that goes over a document calls itself that often."""
MOST_IN_KEY = 16
"""The most names in a dotted key. Each is a table in a table, for which the parser of TOML needs a kilobyte."""
MOST_LETTERS = 1 << 16
"""The most letters of a key or a text."""
SILENT_S = 3.0
"""The longest time for which a pipe may give nothing."""
_CHUNK = 1 << 20
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""The flags for opening a file: without O_NONBLOCK, opening a pipe waits for its writer."""

_OBJECT = re.compile(r"^[ \t]*+\{", re.MULTILINE)
_AFTER_OBJECT = re.compile(r"\s*+(\{)|[ \t\r]*+(?:\Z|\n\s*+(?![\]},:\"]))")
"""The end of an object: another one, the end of the text, or a line that is no part of it."""
_DOTTED = re.compile(r"""(?:[\w-]++|"(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+')(?:[ \t]*+(\.)[ \t]*+)?+""", re.ASCII)


def check_file(path: Path, wanted: str) -> None:
    """Refuse a path that is no file, for a reader that opens it itself: it would wait at a pipe."""
    opened_file(path, wanted).close()


def opened_file(path: Path, wanted: str) -> BinaryIO:
    """A file of any size, for a reader that reads it piece by piece."""
    try:
        opened = os.open(path, _READ)
        if stat.S_ISREG(os.fstat(opened).st_mode):
            return open(opened, "rb")
        os.close(opened)
    except (OSError, ValueError) as error:
        raise unreadable(error, wanted, str(path)) from None
    raise BadInput(f"is no file; name {wanted}", source=str(path))


def read_bytes(path: Path, wanted: str, *, source: str = "", most: int = MOST_BYTES) -> bytes:
    """The content of a file, or what comes through a pipe.

    Args:
        wanted: what the file should be, for the message: ``a scenario file``.
        source: the file as messages name it; "": its path.
        most: the largest size.
    """
    source = source or str(path)
    found = bytearray()
    try:
        opened = os.open(path, _READ)
        try:
            waits = not stat.S_ISREG(os.fstat(opened).st_mode)
            while len(found) <= most and (data := _next(opened, waits=waits)):
                found += data
        finally:
            os.close(opened)
    except (OSError, ValueError) as error:
        raise unreadable(error, wanted, source) from None
    if len(found) > most:
        raise _too_large(most, wanted).in_file(source)
    return bytes(found)


def _too_large(most: int, wanted: str) -> BadInput:
    return BadInput(f"is larger than {most // 1_000_000} MB; name {wanted}")


def read_beside(folder: Path, name: object, wanted: str, such_as: str, *, most: int = MOST_BYTES) -> bytes:
    """The content of a file that a scenario names, in the scenario's own folder or below it. A scenario comes from
    others, and may not show other files of this machine.

    Args:
        such_as: a name of such a file, for the message.
    """
    if not isinstance(name, str):
        raise BadInput(f'a file is named by a text in quotes; write one such as "{such_as}"')
    path = folder / name
    if "\0" not in name and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise BadInput(f"{name!r} is outside of the scenario's folder; copy it there")
    try:
        return read_bytes(path, wanted, most=most)
    except BadInput as error:
        raise BadInput(f"{name!r} {error.what}") from None


def decoded(data: bytes, wanted: str) -> str:
    """The text in UTF-8, or in UTF-16 with its byte order mark, as ``>`` of Windows PowerShell writes it."""
    if len(data) > MOST_BYTES // 2 and not data.isascii():
        raise _too_large(MOST_BYTES // 2, wanted)
    try:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return data.decode("utf-16")
        return data.decode("utf-8-sig")  # editors on Windows begin a file with a byte order mark
    except UnicodeDecodeError:
        raise BadInput(f"is not UTF-8 text; name {wanted}") from None


def _next(opened: int, *, waits: bool) -> bytes:
    """The next bytes; none at the end. Raises: OSError, also where nothing comes."""
    if waits and not select.select([opened], [], [], SILENT_S)[0]:
        raise TimeoutError(0, "nothing comes out of it")
    return os.read(opened, _CHUNK)


def unreadable(error: OSError | ValueError, wanted: str, source: str) -> BadInput:
    """The error for a file that cannot be opened; ValueError is Python's for a name with a NUL in it."""
    why = error.strerror if isinstance(error, OSError) else "its name has a character that no file can have"
    return BadInput(f"cannot be read ({why}); name {wanted}", source=source)


def read_text(path: Path, wanted: str, *, source: str = "") -> str:
    """The text of a file in UTF-8."""
    data = read_bytes(path, wanted, source=source)
    try:
        return decoded(data, wanted)
    except BadInput as error:
        raise error.in_file(source or str(path)) from None


def parse_toml(text: str, *, long: str = "") -> dict[str, Any]:
    """The table in a TOML text.

    Args:
        long: a key whose text may be of any length.

    Raises: BadInput, and TOMLDecodeError where the form is broken.
    """
    if len(text) > MOST_TOML_LETTERS:
        raise BadInput(f"holds more than {MOST_TOML_LETTERS // 1_000_000} MB of TOML; leave some out")
    _check_amount(text, MOST_IN_TOML, "\n,=[{\\", 8 * text.count("."))
    for line in text.splitlines():
        if line.count(".") >= MOST_IN_KEY:
            _check_dots(line)
    found: dict[str, Any] = _parsed(tomllib.loads, text)
    check_document(found, long=long)
    return found


def parse_json(text: str, *, long: str = "") -> Any:
    """The value in a JSON text; ``long`` as for ``parse_toml``.

    Raises: BadInput, and JSONDecodeError where the form is broken.
    """
    _check_amount(text, MOST_IN_JSON, ",:[{\\")
    found = _parsed(json.loads, text)
    check_document(found, long=long)
    return found


def parse_json_objects(text: str) -> list[tuple[int, Any]]:
    """The JSON objects in a text that has other lines too, each with the place at which it begins. An object begins a
    line, or follows another one; in a text without such lines the first brace begins one.

    Raises: BadInput, and JSONDecodeError where the form of an object is broken.
    """
    _check_amount(text, MOST_IN_JSON, ",:[{\\")
    decoder, found = json.JSONDecoder(), list[tuple[int, Any]]()
    begin = line.end() - 1 if (line := _OBJECT.search(text)) else text.find("{")
    while begin >= 0:
        value, end = _parsed(partial(decoder.raw_decode, idx=begin), text)
        check_document(value)
        found.append((begin, value))
        after = _AFTER_OBJECT.match(text, end)
        if after is None:
            raise json.JSONDecodeError("Extra data", text, end)
        line = _OBJECT.search(text, after.end())
        begin = after.end() - 1 if after[1] else line.end() - 1 if line else -1
    return found


def _check_amount(text: str, most: int, marks: str, amount: int = 0) -> None:
    if len(text) > MOST_BYTES or amount + sum(map(text.count, marks)) > most:
        raise BadInput(f"holds more than {MOST_BYTES // 1_000_000} MB or {most:,} values; leave some out")


def _check_dots(line: str) -> None:
    """Refuse a key of very many names."""
    names = 0
    for match in _DOTTED.finditer(line):
        names = names + 1 if match[1] else 0
        if names >= MOST_IN_KEY:
            raise BadInput(f"a key of more than {MOST_IN_KEY} names; write a shorter one")


def _parsed(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except RecursionError:
        raise _nested() from None
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise BadInput(f"a number of thousands of digits; write at most {LARGEST}") from None


def _nested() -> BadInput:
    return BadInput(f"lists or tables in each other, more than {MOST_NESTED} deep; write it flatter")


def check_document(document: object, *, long: str = "") -> None:
    """Refuse a parsed document that is nested too deeply, or has a number or a text that is too large."""
    levels: list[Iterator[tuple[str, object]]] = [iter([("", document)])]
    while levels:
        for key, value in levels[-1]:
            if isinstance(value, (dict, list)):
                if len(levels) > MOST_NESTED:
                    raise _nested()
                levels.append(_inside(key, value))
                break
            if isinstance(value, str):
                _check_text(value, any_length=bool(long) and key == long)
            elif isinstance(value, int) and not -LARGEST <= value <= LARGEST:
                raise BadInput(f"the number is too large; write at most {LARGEST}", where=key)
        else:
            levels.pop()


def _inside(key: str, value: dict[str, object] | list[object]) -> Iterator[tuple[str, object]]:
    """The items of a table or a list, each with the key that it is under."""
    if isinstance(value, list):
        yield from ((key, item) for item in value)
    else:
        for name, item in value.items():
            _check_text(name)
            yield name, item


def _check_text(text: str, *, any_length: bool = False) -> None:
    if len(text) > MOST_LETTERS and not any_length:
        raise BadInput(f"a text of {len(text):,} characters; write at most {MOST_LETTERS:,}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput("half of a character (a surrogate); write the whole character") from None
