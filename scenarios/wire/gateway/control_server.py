"""The socket for operations from another terminal: each line is a JSON object, and is answered by one line.

It is a Unix socket in a folder that only its owner can enter.
"""

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Callable

import trio
from attrs import define, field

from scenarios.errors import BadInput
from scenarios.wire.gateway.pending_operations import PendingOperations
from scenarios.wire.operations.performing import Answer

MOST_BYTES = 1 << 20
"""The most bytes of an operation: a plan with every partition of a large cluster has fewer."""


NAME = "control"
LONGEST_PATH = 103
"""The longest path of a Unix socket, in bytes, that all systems take: sun_path has 104 with its end on macOS, 108 on
Linux."""


def _short_folder() -> str:
    """A new folder whose socket has a path that is short enough: among the temporary files, or else in /tmp."""
    folder = tempfile.mkdtemp(prefix="understudy-")
    if len(os.fsencode(os.path.join(folder, NAME))) <= LONGEST_PATH:
        return folder
    os.rmdir(folder)
    return tempfile.mkdtemp(prefix="understudy-", dir="/tmp")


@define(eq=False)
class ControlServer:
    """Listens from its creation on, and serves in ``serve``.

    Attributes:
        path: the path of the socket.
    """

    operations: PendingOperations
    log: Callable[[str], object]
    path: str = field(init=False)
    _folder: str = field(init=False)
    _listener: trio.socket.SocketType = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._folder = _short_folder()
        self.path = os.path.join(self._folder, NAME)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen()
        self._listener = trio.socket.from_stdlib_socket(listener)

    def close(self) -> None:
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def serve(self) -> None:
        """Answer operators, each as long as it stays connected."""
        async with trio.open_nursery() as operators:
            while True:
                try:
                    operator, _ = await self._listener.accept()
                except (trio.ClosedResourceError, OSError):
                    return
                operators.start_soon(self._talk, operator)

    async def _talk(self, operator: trio.socket.SocketType) -> None:
        with operator:
            try:
                await self._answer_lines(operator)
            except OSError:
                pass  # the operator has gone
            except Exception as error:
                self.log(f"an operator's connection: {type(error).__name__}: {error}; closed")

    async def _answer_lines(self, operator: trio.socket.SocketType) -> None:
        buffer = bytearray()
        while data := await operator.recv(65536):
            buffer += data
            while (end := buffer.find(b"\n")) >= 0:
                line = buffer[:end].decode("utf-8", "replace")
                del buffer[: end + 1]
                await _send(operator, await self._perform(line))
            if len(buffer) > MOST_BYTES:
                await _send(operator, {"error": f"an operation has at most {MOST_BYTES} bytes"})
                return

    async def _perform(self, line: str) -> Answer:
        try:
            return await self.operations.perform(line)
        except BadInput as error:
            return {"error": str(error)}


async def _send(operator: trio.socket.SocketType, answer: Answer) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[await operator.send(data) :]
