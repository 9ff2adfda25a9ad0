"""Where a broker is found."""

LISTENER = "kafka"
"""The port of the emulated network that every broker listens at."""
PORT = 9092
"""The number that znodes and metrics show for it."""


def host(broker: int) -> str:
    """The name of a broker's machine."""
    return f"broker-{broker}"
