"""The one exception for bad input: a scenario file, a command line, a data set or a setting that cannot be used.

Its text is one line, ``FILE:LINE key.path: what is wrong; what would be right``. The command line ends with
exit code 2 on it (readings §10), so every error that a user can correct has to be a BadInput.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

EXIT_CODE = 2


class BadInput(Exception):
    """Input that cannot be used. ``where`` is the key path (``method[2].when.step``), ``source`` the file, ``line``
    its line."""

    exit_code = EXIT_CODE

    def __init__(self, what: str, *, where: str = "", source: str = "", line: int | None = None) -> None:
        super().__init__(what)
        self.what = " ".join(what.split())
        self.where = where
        self.source = source
        self.line = line

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source or 'line '}{':' if self.source else ''}{self.line}"
        prefix = " ".join(part for part in (place, self.where) if part)
        return " ".join((f"{prefix}: {self.what}" if prefix else self.what).split())

    def under(self, parent: str) -> BadInput:
        """The same error seen from one level up: ``parent`` is put before its key path."""
        return self._moved(where=join_path(parent, self.where))

    def in_file(self, source: str) -> BadInput:
        """The same error with the file it comes from, unless it names one already."""
        return self._moved(source=self.source or source)

    def _moved(self, *, where: str | None = None, source: str | None = None) -> BadInput:
        return type(self)(
            self.what,
            where=self.where if where is None else where,
            source=self.source if source is None else source,
            line=self.line,
        )


@contextmanager
def answered(code: str) -> Iterator[None]:
    """A BadInput raised inside gets Kafka's error ``code`` added, which a cluster would answer with."""
    try:
        yield
    except BadInput as error:
        raise BadInput(
            f"{error.what} (Kafka: {code})", where=error.where, source=error.source, line=error.line
        ) from None


def join_path(parent: str, child: str) -> str:
    """``topics[0]`` and ``name`` make ``topics[0].name``; ``method`` and ``[2]`` make ``method[2]``."""
    if not parent or not child:
        return parent or child
    return f"{parent}{child}" if child.startswith("[") else f"{parent}.{child}"


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that is most like ``word``, None when none is close."""
    from difflib import get_close_matches

    by_folded = {choice.casefold(): choice for choice in choices}
    found = get_close_matches(word.casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The second half of a message about an unknown name: the nearest choice, or all of them when none is
    near."""
    names = list(choices)
    near = nearest(word, names)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"known: {', '.join(names)}" if names else "nothing is known here"
