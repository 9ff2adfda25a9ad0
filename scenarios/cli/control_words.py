"""The words of ``ctl`` as an operation: an action, its target, and keys as in a scenario file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.errors import BadInput, did_you_mean
from scenarios.reading import parse_json, parse_toml, read_text

STATE, REQUESTS, STOP, WAIT = "state", "requests", "stop", "wait"
_KEY = re.compile(r"([A-Za-z_][A-Za-z_0-9.]*)=(.*)", re.DOTALL)
_IDS = re.compile(r"-?\d{1,9}(,-?\d{1,9})*", re.ASCII)
SHORT = {"crash": "broker.crash", "start": "broker.start", "heal": "heal", "reassign": "reassign.execute"}
"""The short words for actions: those that would fit several actions, or none."""


def operation(words: Sequence[str], folder: Path) -> dict[str, Any]:
    """The operation that the words mean.

    Args:
        folder: the folder of files that the words name.

    Raises: BadInput.
    """
    words = list(words[0].split() if len(words) == 1 and not words[0].startswith("{") else words)
    if not words:
        raise BadInput("no action is given; try: understudy ctl state")
    if words[0].startswith("{"):
        return _given(words)
    keys = [match for word in words[1:] if (match := _KEY.fullmatch(word))]
    rest = [word for word in words[1:] if not _KEY.fullmatch(word)]
    table = {match[1]: _value(match[2]) for match in keys}
    if words[0] == WAIT:
        return {"action": WAIT, **table, **({"until": " ".join(rest)} if rest else {})}
    if words[0] in (STATE, REQUESTS, STOP):
        return _of_run(words[0], rest, table)
    name = _name(words[0])
    if name.startswith("reassign.") and rest:
        table["plan"] = _plan(rest, folder)
    elif rest:
        table["target"] = _target(" ".join(rest))
    return {"action": name, **table}


def _given(words: Sequence[str]) -> dict[str, Any]:
    try:
        found = parse_json(" ".join(words))
    except ValueError as error:
        raise BadInput(f"this is no JSON ({error}); write an object, or words") from None
    if not isinstance(found, dict) or "action" not in found:
        raise BadInput('this operation has no action; write one, as in {"action": "broker.crash", "target": 1}')
    return found


def _of_run(name: str, rest: Sequence[str], table: Mapping[str, Any]) -> dict[str, Any]:
    if table or len(rest) > (name == STATE):
        wrong = next(iter(table), None) or rest[-1]
        words = "at most one partition" if name == STATE else "nothing more"
        raise BadInput(f"{name} takes {words}, and not {wrong!r}")
    return {"action": name, **({"partition": rest[0]} if rest else {})}


def _name(word: str) -> str:
    """The action that a word means: its name, a short word, or the last part of one name only."""
    from scenarios.language.actions import all_actions

    names = list(all_actions())
    if word in names:
        return word
    if word in SHORT:
        return SHORT[word]
    ending = [name for name in names if name.rpartition(".")[2] == word]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise BadInput(f"{word!r} could be {', '.join(ending)}; write the whole name")
    raise BadInput(f"unknown action {word!r}; {did_you_mean(word, [*names, *SHORT, STATE, REQUESTS, STOP, WAIT])}")


def _target(words: str) -> Any:
    """The target: ids, or a role as in a scenario file."""
    if _IDS.fullmatch(words):
        ids = [int(part) for part in words.split(",")]
        return ids[0] if len(ids) == 1 else ids
    return words


def _value(text: str) -> Any:
    """The value of a text that is TOML; any other text as it is, so that no shell needs two kinds of quotes."""
    try:
        return parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _plan(words: Sequence[str], folder: Path) -> Any:
    """The reassignment JSON of a file."""
    if len(words) > 1:
        raise BadInput(f"one file with a plan is meant, and not {' '.join(words)!r}")
    text = read_text(folder / words[0], "a reassignment JSON file", source=words[0])
    try:
        return parse_json(text)
    except BadInput as error:
        raise error.in_file(words[0]) from None
    except ValueError as error:
        raise BadInput(f"broken JSON: {error}; correct it", source=words[0]) from None
