"""Who may make a chunk of a data set count: the one who removes its claim.

Which runs make a chunk depends on how long runs take, so a chunk that was given up is dealt again in other pieces. Its
first worker may still be at it: on an executor that the driver lost, or after the driver was killed and its sweep was
resumed. Each chunk has a claim, a file below the data set. Removing a file succeeds once: a worker does it before it
writes what makes the chunk count, the driver before it deals the chunk's runs again.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from scenarios.errors import BadInput
from scenarios.runs.dataset.writer import cannot_write

_FOLDER = "_claims"
_LOOK_S = 0.2
_COMMIT_S = 10.0
"""More than the time between the removal of a claim and the end of the one file that is written then."""


class Revoked(BaseException):
    """The driver does not wait for this chunk any more. That is no failure of a run, so no ``Exception``."""


def begin(root: Path) -> Path:
    """Take the data set over from every earlier sweep, one that was killed or one that still runs: what it has handed
    out is revoked, and it gets no more claims. Returns the folder of this sweep's claims. Raises: BadInput."""
    left = sorted((root / _FOLDER).glob("*/*"))
    for path in left:
        _remove(path)
    if left:
        time.sleep(_LOOK_S)  # for a worker that removed its claim just before
    shutil.rmtree(root / _FOLDER, ignore_errors=True)
    mine = root / _FOLDER / secrets.token_hex(8)
    try:
        mine.mkdir(parents=True)
    except OSError as error:
        raise cannot_write(root, error) from error
    return mine


def claim(folder: Path) -> str:
    """A new claim of the sweep that began with ``folder``. Raises: BadInput when another sweep has taken over, or the
    folder cannot be written."""
    path, root = folder / secrets.token_hex(8), folder.parent.parent
    try:
        path.touch(exist_ok=False)
    except FileNotFoundError as error:
        what = "another sweep writes here now, so this one ends; wait for it, or name another folder"
        raise BadInput(what, source=str(root)) from error
    except OSError as error:
        raise cannot_write(root, error) from error
    return str(path)


def use(path: str, is_written: Callable[[], bool]) -> None:
    """For the worker that is about to make a chunk count. Raises: Revoked, unless its twin did so already."""
    if not _remove(Path(path)) and not is_written():
        raise Revoked


def revoke(path: str, is_written: Callable[[], bool]) -> bool:
    """For the driver: whether the chunk counts after all. If not, it never will."""
    if _remove(Path(path)):
        return False
    until = time.monotonic() + _COMMIT_S
    while not is_written() and time.monotonic() < until:
        time.sleep(_LOOK_S)
    return is_written()


def end(folder: Path) -> None:
    """Remove the claims of the sweep that began with ``folder``, of which none is left when it has ended."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # another sweep's are there
        folder.parent.rmdir()


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True
