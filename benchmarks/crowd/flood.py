"""``python -m benchmarks.crowd.flood HOST:PORT N``: N connections send requests without end, and read the answers."""

import selectors
import socket
import struct
import sys
from collections.abc import Callable

from scenarios.wire.codec import encode_request

Read = Callable[[int], bytes]
_FRAME = encode_request(3, 1, 1, "crowd", {"topics": []})
REQUEST = struct.pack(">i", len(_FRAME)) + _FRAME
AT_ONCE = 5000
"""Requests that a client tries to send at once."""


def main(address: str, connections: int) -> None:
    """Until the process is killed."""
    host, _, port = address.partition(":")
    data = memoryview(REQUEST * AT_ONCE)
    selector = selectors.DefaultSelector()
    places: dict[socket.socket, int] = {}
    for _ in range(connections):
        client = socket.create_connection((host, int(port)))
        client.setblocking(False)
        places[client] = 0
        selector.register(client, selectors.EVENT_READ | selectors.EVENT_WRITE, client)
    while True:
        for key, events in selector.select():
            client = key.data
            if events & selectors.EVENT_READ:
                client.recv(1 << 18)
            if events & selectors.EVENT_WRITE:
                places[client] = (places[client] + client.send(data[places[client] :])) % len(data)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
