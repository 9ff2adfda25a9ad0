""""""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping

from scenarios.errors import BadInput
from scenarios.reading import parse_json, parse_toml

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(document: Mapping[str, object]) -> str:
    """The document as TOML text; key order is kept, save that plain values come before tables as TOML
    needs."""
    plain = {name: value for name, value in document.items() if not _has_header(value)}
    blocks = ["".join(_assignment(name, value) for name, value in plain.items())]
    for name, value in document.items():
        if isinstance(value, Mapping):
            blocks.append(_block(f"[{_key(name)}]", value))
        elif _has_header(value):
            blocks += [_block(f"[[{_key(name)}]]", table) for table in value]  # type: ignore[attr-defined]
    return "\n".join(block for block in blocks if block)


def _has_header(value: object) -> bool:
    tables = isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    return tables or isinstance(value, Mapping)


def _block(header: str, table: Mapping[str, object]) -> str:
    return f"{header}\n" + "".join(_assignment(name, value) for name, value in table.items())


def _assignment(name: str, value: object) -> str:
    return f"{_key(name)} = {write_value(value)}\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def write_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("-inf" if value < 0 else "inf")
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(name)} = {write_value(item)}" for name, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    assert isinstance(value, (list, tuple)), "kinds dump nothing but TOML's types"
    return f"[{', '.join(write_value(item) for item in value)}]"


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped as well.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_TOML_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")

_IN_WORDS = {
    "Invalid value": "a value is missing here, or a text has no quotes",
    "Illegal character '\\n'": "a text has no quotes at its end",
    "Cannot overwrite a value": "this key is there already",
    "Invalid statement": "no key and no [table] begins here",
}
"""The messages of ``tomllib``, each with words that name the mistake."""


LONG = "data"
"""The key whose text may have any length: that of ``frames``."""


def parse_document(text: str, source: str) -> Mapping[str, object]:
    """The document in ``text``: JSON when ``source`` ends in .json, else TOML."""
    try:
        return _parse_json(text, source) if is_json(source) else _parse_toml(text, source)
    except BadInput as error:
        raise error.in_file(source) from None


def is_json(source: str) -> bool:
    """Whether the file is JSON, by its name."""
    return source.endswith(".json")


def _parse_toml(text: str, source: str) -> Mapping[str, object]:
    try:
        return parse_toml(text, long=LONG)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        column = int(place[2]) if place and place[2] else None
        what = _TOML_PLACE.sub("", str(error))
        what = _IN_WORDS.get(what, what)
        raise BadInput(f"broken TOML: {what}; correct the syntax", source=source, line=line, column=column) from None


def _parse_json(text: str, source: str) -> Mapping[str, object]:
    try:
        document = parse_json(text, long=LONG)
    except json.JSONDecodeError as error:
        what = f"broken JSON: {error.msg}; correct the syntax"
        raise BadInput(what, source=source, line=error.lineno, column=error.colno) from None
    if not isinstance(document, Mapping):
        raise BadInput("the file holds no table; write a scenario object", source=source)
    return document
