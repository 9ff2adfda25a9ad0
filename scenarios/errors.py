"""The one exception for bad input: a scenario file, a command line, a data set or a setting that cannot be used.

Its text is one line, ``FILE:LINE:COLUMN key.path: what is wrong; what would be right``. The command line ends with
exit code 2 on it (readings §10), so every error that a user can correct has to be a BadInput. Where several things are
wrong, ``Together`` collects them, so that all can be corrected at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, ParamSpec, TypeVar

EXIT_CODE = 2
Arguments = ParamSpec("Arguments")
T = TypeVar("T")


class BadInput(Exception):
    """Input that cannot be used. Its text is that of the first error.

    Attributes:
        where: the key path (``method[2].when.step``).
        source: the file.
        line, column: the place in the file, counted from 1; None: not known.
        others: the other errors.
    """

    exit_code = EXIT_CODE

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        source: str = "",
        line: int | None = None,
        column: int | None = None,
        others: Iterable[BadInput] = (),
    ) -> None:
        self.what = " ".join(shortened(what).split())
        super().__init__(self.what)
        self.where = where
        self.source = source
        self.line = line
        self.column = column
        self.others = tuple(others)

    def __str__(self) -> str:
        place = self.source
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
            place += "" if self.column is None else f":{self.column}"
        prefix = " ".join(shortened(part) for part in (place, self.where) if part)
        return " ".join((f"{prefix}: {self.what}" if prefix else self.what).split())

    @property
    def all(self) -> tuple[BadInput, ...]:
        """All errors, each an error of its own."""
        return (self._changed(others=()), *self.others)

    def each(self, change: Callable[[BadInput], BadInput]) -> BadInput:
        """A copy with ``change`` applied to each error."""
        first, *others = map(change, self.all)
        return first._changed(others=others)

    def under(self, parent: str) -> BadInput:
        """A copy as seen from one level up: ``parent`` is put before the key paths."""
        return self.each(lambda one: one._changed(where=join_path(parent, one.where)))

    def in_file(self, source: str) -> BadInput:
        """A copy with the file that the errors come from, unless they name one already."""
        return self.each(lambda one: one._changed(source=one.source or source))

    def at_place(self, line: int, column: int) -> BadInput:
        """A copy with its place in the file."""
        return self._changed(line=line, column=column)

    def answering(self, code: str) -> BadInput:
        """A copy with Kafka's error ``code``, which a cluster would answer with."""
        return self.each(lambda one: one._changed(what=f"{one.what} (Kafka: {code})"))

    def saying(self, said: str, instead: str) -> BadInput:
        """A copy with other words where the errors have ``said``."""
        return self.each(lambda one: one._changed(what=one.what.replace(said, instead)))

    def _changed(self, **changes: Any) -> BadInput:
        names = ("what", "where", "source", "line", "column", "others")
        return type(self)(**{**{name: getattr(self, name) for name in names}, **changes})


class UnknownKey(BadInput):
    """A key that its table does not have. It is the last part of ``where``."""

    @property
    def key(self) -> str:
        return self.where.rpartition(".")[2]

    def noting(self, note: str) -> BadInput:
        """A copy with a note about the key."""
        return self._changed(what=f"{self.what} ({note})")


class PartFailed(Exception):
    """A part of the program, or a plug-in, raised an exception. Its text names it, the exception and the line.

    Attributes:
        part: its name.
    """

    def __init__(self, part: str, what: str) -> None:
        super().__init__(part, what)
        self.part = part
        self.what = what

    def __str__(self) -> str:
        return f"{self.part} failed: {self.what}"


LONGEST = 1000
"""The most characters of a message, which may quote a text of any length."""


def shortened(text: str) -> str:
    """The text; if it is too long, its beginning and its end, where a message says what would be right."""
    half = (LONGEST - 5) // 2
    return text if len(text) <= LONGEST else f"{text[:half]} ... {text[-half:]}"


MOST_WRONG = 20
"""The most errors that are collected. The rest is not read: suggestions for 200,000 unknown keys would take minutes."""


class Together:
    """Collects what is wrong with several things, up to ``MOST_WRONG``.

    Example:
        >>> wrong = Together()
        >>> for path in paths:
        ...     wrong.attempt(check, path)
        >>> wrong.refuse()
    """

    def __init__(self) -> None:
        self._found: list[BadInput] = []

    def attempt(self, read: Callable[Arguments, T], *args: Arguments.args, **kwargs: Arguments.kwargs) -> T | None:
        """The result of ``read``; None if it raises BadInput, which is kept (``add``)."""
        try:
            return read(*args, **kwargs)
        except BadInput as error:
            self.add(error)
            return None

    def add(self, error: BadInput) -> None:
        """Keep ``error``. Raises: BadInput with all errors so far, if these are enough."""
        self._found += error.all
        if len(self._found) > MOST_WRONG:
            self._found[MOST_WRONG:] = [BadInput("more may be wrong; correct these first")]
            self.refuse()

    def refuse(self) -> None:
        """Raise BadInput with all errors; return if there are none."""
        if self._found:
            first, *others = self._found
            raise first._changed(others=others)


@contextmanager
def answered(code: str) -> Iterator[None]:
    """A BadInput raised inside gets Kafka's error ``code`` added, which a cluster would answer with."""
    try:
        yield
    except BadInput as error:
        raise error.answering(code) from None


def join_path(parent: str, child: str) -> str:
    """The path of a key below another: ``topics[0]`` and ``name`` make ``topics[0].name``; ``method`` and ``[2]`` make
    ``method[2]``."""
    if not parent or not child:
        return parent or child
    return f"{parent}{child}" if child.startswith("[") else f"{parent}.{child}"


MOST_COMPARED = 2000
"""The most partitions of a large cluster that are compared with a name: 10 ms."""
CONTAINED = 3
"""The fewest letters of a part of a name that show which name is meant."""


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that is most like ``word``, or else the only one that contains it, as KAFKA-9539 does 9539; None where
    there is none."""
    from difflib import get_close_matches

    by_folded = {choice.casefold(): choice for choice in islice(choices, MOST_COMPARED)}
    found = get_close_matches(word.casefold(), list(by_folded), n=1, cutoff=0.6)
    if not found and len(word) >= CONTAINED:
        found = [choice for choice in by_folded if word.casefold() in choice]
        found = found if len(found) == 1 else []
    return by_folded[found[0]] if found else None


ALL_NAMED, FIRST_NAMED = 24, 12
"""The number of names up to which all are shown, and the number that is shown of more."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The second half of a message about an unknown name: the nearest choice; when none is near, all of them, or where
    they are too many for a line the first ones."""
    names = list(dict.fromkeys(choices))
    near = nearest(word, names)
    if near is not None:
        return f"did you mean {near!r}?"
    shown = names if len(names) <= ALL_NAMED else names[:FIRST_NAMED]
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return f"known: {', '.join(shown)}{more}" if names else "there are none"
