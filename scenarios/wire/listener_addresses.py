"""The addresses of a served cluster: the port at which each broker listens, and the address that it tells clients."""

from __future__ import annotations

from collections.abc import Sequence

from scenarios.errors import BadInput
from scenarios.wire.apis.base import Address

MOST_PORT = 65535
PORT, ADVERTISED = "--port", "--advertised"


def written(address: Address) -> str:
    """An address as Kafka's settings have it, ``HOST:PORT``."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def read_ports(text: str, where: str = PORT) -> int | tuple[int, ...]:
    """The value of ``--port``: the port of the first broker, or one for each. Raises: BadInput."""
    first, *more = [_port(each, where) for each in text.split(",")]
    return (first, *more) if more else first


def ports_of(ports: int | Sequence[int] | None, brokers: int, where: str = PORT) -> tuple[int, ...]:
    """The port of each of so many brokers, in the order of their ids; 0: any free one. Raises: BadInput."""
    if ports is None:
        return (0,) * brokers
    if isinstance(ports, int):
        last = ports + brokers - 1
        if ports < 1:
            raise BadInput(f"{ports} is no port; write a number from 1 to {MOST_PORT}", where=where)
        if last > MOST_PORT:
            what = f"{brokers} brokers have the ports from {ports} to {last}, and there is none after {MOST_PORT}"
            raise BadInput(f"{what}; write at most {MOST_PORT + 1 - brokers}", where=where)
        return tuple(range(ports, last + 1))
    if len(ports) != brokers:
        raise BadInput(
            f"{len(ports)} ports for {brokers} brokers; write one for each, or that of the first", where=where
        )
    for number, port in enumerate(ports):
        if not isinstance(port, int) or not 1 <= port <= MOST_PORT:
            raise BadInput(f"{port!r} is no port; write a number from 1 to {MOST_PORT}", where=where)
        if port in ports[:number]:
            raise BadInput(f"two brokers have the port {port}; write another one for each", where=where)
    return tuple(ports)


def read_advertised(text: str) -> tuple[Address, ...]:
    """The value of ``--advertised``: ``HOST:PORT`` for each broker, with commas between. Raises: BadInput."""
    return advertised_of(text.split(","))


def advertised_of(texts: Sequence[str]) -> tuple[Address, ...]:
    """The addresses of ``HOST:PORT`` (``[HOST]:PORT`` where the host has colons). Raises: BadInput."""
    return tuple(map(_address, texts))


def check_advertised(advertised: Sequence[Address], brokers: int) -> None:
    """Refuse addresses that are not those of all brokers. Raises: BadInput."""
    if advertised and len(advertised) != brokers:
        raise BadInput(f"{len(advertised)} addresses for {brokers} brokers; write one for each", where=ADVERTISED)
    for number, (host, port) in enumerate(advertised):
        if (host, port) in advertised[:number]:
            raise BadInput(f"two brokers have the address {host}:{port}; write another one for each", where=ADVERTISED)


def _address(text: str) -> Address:
    host, colon, port = text.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not colon or not host or any(letter.isspace() or letter in "/,@" for letter in host):
        raise BadInput(f"{text!r} is no address; write HOST:PORT, such as localhost:19092", where=ADVERTISED)
    return host, _port(port, ADVERTISED)


def _port(text: str, where: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= MOST_PORT):
        raise BadInput(f"{text!r} is no port; write a number from 1 to {MOST_PORT}", where=where)
    return int(text)
