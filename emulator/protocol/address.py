"""The address of a broker."""

LISTENER = "kafka"
"""The port of the emulated network that every broker serves."""
PORT = 9092
"""The port number in znodes and metrics."""


def host(broker: int) -> str:
    """The host name of a broker's machine."""
    return f"broker-{broker}"
