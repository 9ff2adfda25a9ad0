"""The operator's end of the socket of a live cluster (``scenarios.wire.gateway.control``)."""

from __future__ import annotations

import glob
import json
import os
import socket
import tempfile
from collections.abc import Mapping
from typing import Any

from scenarios.errors import BadInput

PREFIX = "understudy-"
"""Of the folder that each live cluster makes for its socket."""


def find() -> str:
    """The socket of the only cluster that this user serves. Raises: BadInput where there is none, or more than one."""
    pattern = os.path.join(glob.escape(tempfile.gettempdir()), f"{PREFIX}*", "control")
    found = [path for path in sorted(glob.glob(pattern)) if _listens(path)]
    if not found:
        raise BadInput("no cluster is served; start one with understudy serve FILE, or name its socket with --control")
    if len(found) > 1:
        raise BadInput(f"{len(found)} clusters are served; choose one: {', '.join(found)}", where="--control")
    return found[0]


def _listens(path: str) -> bool:
    try:
        with _connected(path):
            return os.stat(path).st_uid == os.getuid()
    except OSError:
        return False  # left behind by a run that was killed


def ask(path: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    """Have an operation performed, and return the answer. Raises: BadInput where no cluster answers."""
    try:
        with _connected(path) as line:
            line.sendall(json.dumps(operation).encode() + b"\n")
            answer = bytearray()
            while not answer.endswith(b"\n"):
                data = line.recv(65536)
                if not data:
                    # The run ended first, as it does after ``stop``.
                    return {"ok": True} if operation.get("action") == "stop" else _gone(path)
                answer += data
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; is the cluster still served?", where="--control") from None
    found: dict[str, Any] = json.loads(answer)
    return found


def _gone(path: str) -> dict[str, Any]:
    raise BadInput(f"{path}: the run has ended", where="--control")


def _connected(path: str) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(path)
    except OSError:
        line.close()
        raise
    return line
