"""Writing TOML: what `tomllib` reads, no more. Tables of the top level get headers, whatever is below stays
inline."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

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
    return f"{_key(name)} = {_value(value)}\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("-inf" if value < 0 else "inf")
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    assert isinstance(value, (list, tuple)), "kinds dump nothing but TOML's types"
    return f"[{', '.join(_value(item) for item in value)}]"


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped as well.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
