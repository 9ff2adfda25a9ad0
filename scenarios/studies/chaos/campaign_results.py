"""The results of a campaign in its folder: one line of JSON for each seed, appended as it is done.

The first line says what the seeds are drawn from. Lines are written to the disk before their seeds are reported, and a
half-written line of a killed process is dropped when the campaign goes on: each seed is in the file once.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Generic, Protocol, TypeVar

from attrs import define, field

from scenarios.errors import BadInput
from scenarios.reading import MOST_BYTES, decoded, parse_json

NAME = "results.jsonl"


class ResultLine(Protocol):
    """One result, which is one line of the file."""

    def to_line(self) -> str: ...


Line = TypeVar("Line", bound=ResultLine)


@define(eq=False)
class CampaignResults(Generic[Line]):
    """The file of results, open for one campaign at a time.

    Attributes:
        root: the campaign's folder.
        identity: the file and settings that its seeds are drawn from, and the code that runs them.
        from_line: reads a line. Raises: BadInput, ValueError, KeyError or TypeError for one that is not whole.
    """

    root: Path
    identity: Mapping[str, object]
    from_line: Callable[[str], Line]
    _file: IO[bytes] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Open the file. Raises: BadInput where the folder cannot be written, or holds something else."""
        from scenarios.runs.dataset.manifest import NAME as DATA_SET  # with Arrow, which seeds have no use for

        try:
            self.root.mkdir(parents=True, exist_ok=True)
            if (self.root / DATA_SET).exists() and not (self.root / NAME).exists():
                raise BadInput("holds a data set; name another folder", source=str(self.root))
            self._file = (self.root / NAME).open("a+b")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._begin()
        except BlockingIOError:
            raise BadInput("another campaign writes there now; name another folder", source=str(self.root)) from None
        except OSError as error:
            what = f"cannot be written ({error.strerror or error}); make room, or name another folder"
            raise BadInput(what, source=str(self.root)) from None

    def _begin(self) -> None:
        """Check that the file is this campaign's, and drop a half-written line at its end."""
        self._file.seek(0)
        head = self._file.readline(MOST_BYTES)
        own = json.dumps(dict(self.identity)) + "\n"
        if own.encode().startswith(head) and not head.endswith(b"\n"):  # new, or killed in its first line
            self._file.truncate(0)
            self._append(own)
            return
        try:
            found = parse_json(decoded(head, "a campaign's"))
            different = [name for name, value in self.identity.items() if found.get(name) != value]
        except (BadInput, ValueError, AttributeError):
            raise BadInput("is no campaign's; name another folder", source=str(self.root / NAME)) from None
        if different:
            raise BadInput(f"holds a campaign {self._other(found, different)}", source=str(self.root))
        end = len(head)
        for line in iter(partial(self._file.readline, MOST_BYTES), b""):
            if not line.endswith(b"\n"):
                break
            end += len(line)
        self._file.truncate(end)

    def _other(self, found: Mapping[str, object], different: Sequence[str]) -> str:
        """The error for a folder with another campaign. A different profile is named first: the scenario follows it."""
        another = "name another folder"
        if "code" in different or "version" in different:
            return f"that another version of the program has begun, or one with other plug-ins; {another}"
        if found.get("clients") != self.identity.get("clients"):
            return f"{'with' if found.get('clients') else 'without'} --clients; {another}"
        if "rate" in different:
            return f"with --rate {found.get('rate')}; give that option, or {another}"
        if "profile" in different:
            return f"of profile {found.get('profile')!r}, not {self.identity['profile']!r}; {another}"
        if "scenario" in different:
            return f"of another scenario (its file, --bug or --set are not the same); {another}"
        if "search" in different:
            return f"of --search {found.get('search')}; give that option, or {another}"
        leans = "with --lean; give that option too" if found.get("leans") else "without --lean; leave that option out"
        return f"{leans}, or {another}"

    def read(self) -> Iterator[Line]:
        """The results in the file, in the order in which they were written. Raises: BadInput."""
        self._file.seek(0)
        self._file.readline()
        for number, line in enumerate(iter(partial(self._file.readline, MOST_BYTES), b""), start=2):
            try:
                yield self.from_line(decoded(line, "a campaign's"))
            except (BadInput, ValueError, KeyError, TypeError):
                raise BadInput(f"line {number} is corrupt; delete it", source=str(self.root / NAME)) from None

    def add(self, results: Iterable[Line]) -> None:
        """Append results; when this returns they are on the disk. Raises: BadInput when it is full."""
        try:
            self._append("".join(f"{one.to_line()}\n" for one in results))
        except OSError as error:
            raise BadInput(f"cannot be written ({error.strerror}); make room", source=str(self.root)) from None

    def _append(self, text: str) -> None:
        """Append a text, without the file's buffer: a text that a full disk refuses would be written again when the
        file is closed."""
        self._file.seek(0, os.SEEK_END)
        data = memoryview(text.encode())
        while data:
            data = data[os.write(self._file.fileno(), data) :]
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
