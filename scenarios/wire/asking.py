"""The operator's end of the socket of a live cluster (``scenarios.wire.gateway.control_server``)."""

from __future__ import annotations

import glob
import json
import os
import socket
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from scenarios.errors import BadInput
from scenarios.reading import MOST_BYTES, parse_json

PREFIX = "understudy-"
"""The first part of the name of the folder that each live cluster makes for its socket."""
CONNECT_S = 3.0
PATIENCE_S = 60.0
"""The longest wait for an answer. Most operations are answered at once, but one of the operator's tools can take its
time."""


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


def ask(path: str, operation: Mapping[str, Any], *, patience_s: float = PATIENCE_S) -> dict[str, Any]:
    """Have an operation performed, and return the answer. Raises: BadInput where no cluster answers in time."""
    ends_s = time.monotonic() + patience_s
    answer = bytearray()
    try:
        with _connected(path) as line:
            line.settimeout(patience_s)
            line.sendall(json.dumps(operation).encode() + b"\n")
            while not answer.endswith(b"\n") and len(answer) <= MOST_BYTES:
                line.settimeout(max(ends_s - time.monotonic(), 0.001))
                data = line.recv(65536)
                if not data:
                    # The run ended first, as it does after ``stop``.
                    return {"ok": True} if operation.get("action") == "stop" else _gone(path)
                answer += data
    except TimeoutError:
        what = f"no answer in {patience_s:g} s: its process does not run, or is at it still (wait longer: --timeout)"
        raise BadInput(f"{path}: {what}", where="--control") from None
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}; is the cluster still served?", where="--control") from None
    return _read(bytes(answer), path)


def _read(answer: bytes, path: str) -> dict[str, Any]:
    try:
        found = parse_json(answer.decode())
    except (BadInput, ValueError):
        found = None
    if not isinstance(found, dict) or not found.keys() & {"ok", "error"}:
        raise BadInput(f"{path}: what answers is no cluster; name the socket that serve names", where="--control")
    return found


def _gone(path: str) -> dict[str, Any]:
    raise BadInput(f"{path}: the run has ended; start another with 'understudy serve'", where="--control")


def _connected(path: str) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(CONNECT_S)
    try:
        line.connect(path)
    except OSError:
        line.close()
        raise
    return line
