"""The topics that a member of a consumer group subscribes to. A coordinator reads nothing else of a member's metadata:
this is their beginning (ConsumerProtocolSubscription, version 0)."""

from struct import Struct, error

_SHORT, _INT = Struct(">h"), Struct(">i")


class UnknownSubscription(Exception):
    """The metadata do not begin as the consumers' protocol says."""


def subscribed_topics(metadata: bytes) -> tuple[str, ...]:
    """The topics in a member's ``metadata``. Raises: UnknownSubscription."""
    try:
        (count,) = _INT.unpack_from(metadata, _SHORT.size)
        place, topics = _SHORT.size + _INT.size, []
        for _ in range(count):
            (length,) = _SHORT.unpack_from(metadata, place)
            place += _SHORT.size
            if length < 0 or place + length > len(metadata):
                raise UnknownSubscription(f"a topic of {length} bytes at byte {place}")
            topics.append(metadata[place : place + length].decode())
            place += length
    except (error, UnicodeDecodeError) as wrong:
        raise UnknownSubscription(str(wrong)) from wrong
    return tuple(topics)
