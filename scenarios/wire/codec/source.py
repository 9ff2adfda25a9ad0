"""Python source that is built line by line and compiled to a function."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any


class Source:
    """Lines of a function, with names for its variables that occur once."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._indent = 0
        self._names = count()

    def line(self, text: str) -> None:
        self._lines.append("    " * self._indent + text)

    def name(self, hint: str) -> str:
        return f"{hint}_{next(self._names)}"

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Put what is written inside into the block of ``head``, as in ``for i in range(n):``."""
        self.line(head)
        self._indent += 1
        yield
        self._indent -= 1

    def compiled(self, function: str, about: str, names: dict[str, Any]) -> Callable[..., Any]:
        """Compile the generated source and return the function called ``function``.

        Args:
            function: its name in the source.
            about: the file's name in a traceback, which shows the source's lines too.
            names: the names of the modules around it that the source may use.
        """
        text = "\n".join(self._lines) + "\n"
        where = f"<{about}>"
        linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
        made: dict[str, Any] = dict(names)
        exec(compile(text, where, "exec"), made)
        compiled: Callable[..., Any] = made[function]
        return compiled
