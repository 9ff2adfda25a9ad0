"""From a file to a plain document: TOML, or JSON of the same shape, with errors that name file and line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from scenarios.errors import BadInput

_TOML_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}); name a scenario file", source=str(path)) from None
    except UnicodeDecodeError:
        raise BadInput("is not UTF-8 text; name a scenario file", source=str(path)) from None


def parse_document(text: str, source: str) -> Mapping[str, object]:
    """The document in `text`: JSON when `source` ends in .json, else TOML."""
    return _parse_json(text, source) if source.endswith(".json") else _parse_toml(text, source)


def _parse_toml(text: str, source: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        what = _TOML_PLACE.sub("", str(error))
        raise BadInput(f"broken TOML: {what}; mend the syntax", source=source, line=line) from None


def _parse_json(text: str, source: str) -> Mapping[str, object]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(
            f"broken JSON: {error.msg}; mend the syntax", source=source, line=error.lineno
        ) from None
    if not isinstance(document, Mapping):
        raise BadInput("the file holds no table; write a scenario object", source=source)
    return document
