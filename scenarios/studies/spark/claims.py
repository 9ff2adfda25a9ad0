"""The claims by which a chunk of a data set counts: the process that removes a chunk's claim decides.

The runs of a chunk depend on how long runs take, so a chunk that is given up is divided again in another way. Its first
worker may still be working: on an executor that the driver lost, or after the driver was killed and its sweep was
resumed. Each chunk has a claim, a file below the data set, and removing a file succeeds once. A worker removes it
before it writes the file that makes the chunk count, the driver before it hands out the chunk's runs again.
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
"""More than the time between the removal of a claim and the end of writing the one file after it."""


class Revoked(BaseException):
    """The driver does not wait for this chunk any more. That is no failure of a run, so no ``Exception``."""


def begin(root: Path) -> Path:
    """Take the data set over from every earlier sweep, killed or still running: the claims that it has handed out are
    revoked, and it gets no more. Returns the folder of this sweep's claims. Raises: BadInput."""
    left = sorted((root / _FOLDER).glob("*/*"))
    for path in left:
        _remove(path)
    if left:
        time.sleep(_LOOK_S)  # for a worker that has removed its claim just now
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
    """Remove the claim, for a worker that is about to make its chunk count. Raises: Revoked, unless its twin has made
    the chunk count already."""
    if not _remove(Path(path)) and not is_written():
        raise Revoked


def revoke(path: str, is_written: Callable[[], bool]) -> bool:
    """Remove the claim, for the driver. Returns whether the chunk counts already. If not, it never will."""
    if _remove(Path(path)):
        return False
    until = time.monotonic() + _COMMIT_S
    while not is_written() and time.monotonic() < until:
        time.sleep(_LOOK_S)
    return is_written()


def end(folder: Path) -> None:
    """Remove the claims of the sweep that began with ``folder``, which has ended."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # another sweep's are there
        folder.parent.rmdir()


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True
