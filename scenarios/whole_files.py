"""Text files that are written as a whole: a full disk or a killed process leaves the earlier file, or none."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from scenarios.errors import BadInput


def check_target(target: Path, such_as: str) -> None:
    """Refuse a file that ``save`` could not write, before the work is done.

    Args:
        such_as: a name of such a file, for the message.

    Raises: BadInput.
    """
    if target.is_dir():
        raise BadInput(f"is a folder; name a file, as {such_as}", source=str(target))
    if not target.parent.is_dir():
        raise BadInput(f"there is no folder {target.parent}; make it, or name another", source=str(target))
    if not os.access(target.parent, os.W_OK):
        raise BadInput("cannot be written (Permission denied); name another folder", source=str(target))


def save(target: Path, text: str) -> None:
    """Write the file; an earlier one stays until the new one is whole. Raises: BadInput."""
    try:
        place = Path(os.path.realpath(target))  # a link stays one
        if place.exists() and not place.is_file():
            _write_to(place, text)  # /dev/stdout is written to, and not replaced
        else:
            _put_in_place(place, text)
    except OSError as error:
        what = f"cannot be written ({error.strerror}); make room, or name another file"
        raise BadInput(what, source=str(target)) from error


def _write_to(place: Path, text: str) -> None:
    """Write to a device or a pipe. Raises: OSError, also for a pipe without a reader, where to open it would wait."""
    opened = os.open(place, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(opened, True)
    with open(opened, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _put_in_place(place: Path, text: str) -> None:
    staged = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    try:
        staged.write_text(text, encoding="utf-8", newline="\n")
        staged.replace(place)
    finally:
        staged.unlink(missing_ok=True)
