"""The quick start of a short command, besides importing only what it uses: ``quick_start``, for a process that is this
program's alone.

**Generated methods are kept.** attrs writes ``__init__``, ``__eq__`` and so on as source text, and compiles it whenever
a class is made: 0.3 ms for each of some 350 classes, Trio's among them, a quarter of the time of a short run. Python
keeps no .pyc file of such code. ``KeptCode`` does, in a file beside this module's own .pyc file: attrs' module gets a
``compile`` that looks there first. A text that is not in the file is compiled as usual, so the file is never stale. An
attrs that does not look up ``compile`` starts more slowly and is otherwise the same. The texts themselves, which attrs
keeps for debuggers, are not kept: two megabytes.

**Named tuples share what they compile.** For each of some 370 ``NamedTuple`` classes Python compiles the text of
``__new__``, and the text of each annotation on its own: most of the time that such a class takes. ``KeptCode`` keeps
the former and has each of the latter once.

**Fields are found by name.** For each class attrs makes another one, a tuple of its fields with a property and a
function for each of them, so that ``fields(C).x`` works: two megabytes, too. Here one class does this for all.

**The cyclic garbage collector runs less often**, and not at the end of the process. Importing makes 100,000 objects
that stay. By default it looks at them again and again, and twice more when the interpreter ends: a tenth of a short
run.
"""

from __future__ import annotations

import collections
import gc
import marshal
import os
import sys
import typing
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any
from zlib import crc32

from scenarios.cli.program import main

ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000


@contextmanager
def quick_start(*, lasting_hashes: bool = True) -> Iterator[None]:
    """Start quickly: a context around the whole program, before attrs or Trio is imported. ``lasting_hashes``: see
    ``KeptCode``."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS)
    kept = KeptCode(None if __spec__ is None else __spec__.cached, lasting_hashes=lasting_hashes)
    import attr._make

    kept.serve(attr._make)
    kept.serve_named_tuples()
    try:
        yield
    finally:
        kept.save()
        gc.freeze()


def program() -> int:
    """``main``, in a process that ends after it. Returns the exit code."""
    with quick_start():
        return main()


class KeptCode:
    """Code objects by the file name under which they are compiled, or by their text, kept in a file.

    Args:
        pyc: a .pyc file. The file is beside it and named after it, so that each version of Python has its own; None:
            nothing is kept.
        lasting_hashes: the hash of a value is the same in every process as far as its class goes, and not its texts.
            Without it the classes of values with a hash are compiled as ever.
    """

    def __init__(self, pyc: str | None, *, lasting_hashes: bool = True) -> None:
        self._lasting_hashes = lasting_hashes
        self._path = None if pyc is None else f"{pyc}.methods"
        self._code = self._read()
        """The code in the file that was not used yet."""
        self._new: dict[str, tuple[bytes, bytes]] = {}
        self._expressions: dict[tuple[str, str, str], CodeType] = {}

    def _read(self) -> dict[str, tuple[bytes, bytes]]:
        """The content of the file: code with the digest of its text."""
        if self._path is not None:
            with suppress(OSError, EOFError, ValueError, TypeError), open(self._path, "rb") as file:
                found = marshal.load(file)
                return found if isinstance(found, dict) else {}
        return {}

    def serve(self, module: ModuleType) -> None:
        """Let the calls of ``compile`` in this module be served from here, no text be kept for debuggers, and one class
        have the fields of each other one."""
        vars(module)["compile"] = self.compile
        vars(module)["_make_attr_tuple_class"] = lambda _name, _names: Fields
        vars(module)["linecache"] = SimpleNamespace(cache=_Forgetful())

    def serve_named_tuples(self) -> None:
        """Let ``collections.namedtuple`` and the annotations of ``typing`` be served from here. A Python whose modules
        do not look these names up starts more slowly and is otherwise the same."""
        vars(collections)["eval"] = self._evaluate
        vars(typing)["compile"] = self._compile_once

    def _evaluate(self, source: str | CodeType, *namespaces: Any) -> Any:
        """Python's ``eval``."""
        code = self._compile_once(source, "<string>", "eval") if isinstance(source, str) else source
        return eval(code, *namespaces)

    def _compile_once(self, source: str, filename: str, mode: str) -> CodeType:
        """Python's ``compile`` of an expression, which is the same for everyone who writes it."""
        found = self._expressions.get((source, filename, mode))
        if found is None:
            found = self._kept(f"{filename} {source}", source, filename, mode)
            self._expressions[source, filename, mode] = found
        return found

    def compile(self, source: str, filename: str, mode: str) -> CodeType:
        """Python's ``compile``, except that the hash of a class's name becomes one that is always the same."""
        written, source = source, _with_lasting_hash(source, filename)
        if source != written and not self._lasting_hashes:
            plain: CodeType = compile(written, filename, mode)
            return plain
        return self._kept(filename, source, filename, mode)

    def _kept(self, key: str, source: str, filename: str, mode: str) -> CodeType:
        digest = blake2b(f"{sys.version}\0{mode}\0{source}".encode(), digest_size=16).digest()
        known, code = self._code.pop(key, (b"", b""))
        if known == digest:
            found: CodeType = marshal.loads(code)
            return found
        made: CodeType = compile(source, filename, mode)
        self._new[key] = digest, marshal.dumps(made)
        return made

    def save(self) -> None:
        """Write the file if there is something new, as Python writes .pyc files: where it may and can, and whole."""
        if not self._new or self._path is None or sys.dont_write_bytecode:
            return
        kept = self._read()
        together = {**kept, **self._new}
        if together == kept:
            return  # a text that was asked for twice
        unfinished = f"{self._path}.{os.getpid()}"
        with suppress(OSError):
            with open(unfinished, "wb") as file:
                marshal.dump(together, file)
            os.replace(unfinished, self._path)


class Fields(tuple[Any, ...]):
    """The fields of a class (``attrs.fields``), by position and by name."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        for found in self:
            if found.name == name:
                return found
        raise AttributeError(name)


class _Forgetful(dict[str, object]):
    """Takes every entry and keeps none."""

    def setdefault(self, _: str, value: object = None) -> object:
        return value


def _with_lasting_hash(source: str, filename: str) -> str:
    """The text with another number where attrs has put the hash of the class's name into ``__hash__``: Python's hash of
    a text differs from process to process."""
    before, mark, after = source.partition("hash((")
    number, comma, rest = after.partition(",")
    if not number.strip().removeprefix("-").isdecimal():
        return source
    return f"{before}{mark}{crc32(filename.encode())}{comma}{rest}"
