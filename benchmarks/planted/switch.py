"""Bugs switched on and off in a running program: the code of the functions that they change is exchanged.

It uses the standard library alone, since it also runs in processes of other checkouts.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple


class Edit(NamedTuple):
    """One change: the text ``old``, which occurs once in ``file``, becomes ``new``."""

    file: str
    old: str
    new: str


class Stale(Exception):
    """An edit does not fit the code as it is."""


def spans(text: str, edits: Sequence[Edit]) -> list[tuple[int, int, str]]:
    """Where each edit begins and ends in ``text``, and what comes there, last first.
    Raises: Stale where an old text does not occur exactly once, or two overlap."""
    found = []
    for edit in edits:
        times = text.count(edit.old)
        if times != 1:
            line = edit.old.strip().splitlines()[0].strip()
            raise Stale(f"{edit.file} has {times or 'no'} text {line!r}...; exactly one is wanted")
        start = text.index(edit.old)
        found.append((start, start + len(edit.old), edit.new))
    found.sort(reverse=True)
    for (start, _, _), (_, end, _) in pairwise(found):
        if end > start:
            raise Stale(f"{edits[0].file}: two edits overlap at {text[start:end].strip()!r}")
    return found


def patched(text: str, edits: Sequence[Edit]) -> str:
    """``text`` after the edits. Raises: Stale."""
    for start, end, new in spans(text, edits):
        text = text[:start] + new + text[end:]
    return text


def changed_functions(file: str, text: str, edits: Sequence[Edit]) -> dict[str, CodeType]:
    """The new code of the functions that the edits change, by qualified name.
    Raises: Stale where they do not fit, or change what is not inside a function; SyntaxError."""
    before, after = (compile(source, file, "exec") for source in (text, patched(text, edits)))
    old, new = dict(_functions(before)), dict(_functions(after))
    if _shape(before, whole=False) != _shape(after, whole=False) or list(old) != list(new):
        raise Stale(f"{file}: an edit changes more than the inside of functions")
    return {name: code for name, code in new.items() if _shape(code) != _shape(old[name])}


def _functions(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """The functions of a module and its classes, without those inside functions."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & inspect.CO_OPTIMIZED:
                yield inner.co_qualname, inner
            else:
                yield from _functions(inner)


def _shape(code: CodeType, *, whole: bool = True) -> tuple[Any, ...]:
    """The instructions of code, without its line numbers. ``whole``: with the functions in it."""
    consts = tuple(
        (_shape(one, whole=whole) if whole or not one.co_flags & inspect.CO_OPTIMIZED else one.co_qualname)
        if isinstance(one, CodeType)
        else (type(one), one)
        for one in code.co_consts
    )
    return (code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable, consts)


def function(file: str, name: str) -> FunctionType:
    """The live function of a module. Raises: Stale where it cannot be reached."""
    found: Any = import_module(file.removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
        found = getattr(found, "fget", None) or getattr(found, "__func__", found)
    found = inspect.unwrap(found)
    if not isinstance(found, FunctionType):
        raise Stale(f"{file}: {name} is not a function that can be exchanged")
    return found


class Switch:
    """The bugs of a running program, all off at first. ``root``: the checkout that it runs."""

    def __init__(self, root: Path, bugs: Mapping[str, Sequence[Edit]]) -> None:
        self._bugs = bugs
        files = dict.fromkeys(edit.file for edits in bugs.values() for edit in edits)
        self._texts = {file: (root / file).read_text(encoding="utf-8") for file in files}
        self._originals: list[tuple[FunctionType, CodeType]] = []

    def set(self, names: Sequence[str]) -> None:
        """Switch these on, and all others off. Raises: Stale."""
        for changed, code in self._originals:
            changed.__code__ = code
        self._originals.clear()
        edits = [edit for name in names for edit in self._bugs[name]]
        for file in dict.fromkeys(edit.file for edit in edits):
            of_file = [edit for edit in edits if edit.file == file]
            for name, code in changed_functions(file, self._texts[file], of_file).items():
                live = function(file, name)
                self._originals.append((live, live.__code__))
                live.__code__ = code
