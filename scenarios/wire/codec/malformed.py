"""The errors of the decoder. No other exception leaves it, whatever the bytes."""

from __future__ import annotations


class MalformedFrame(ValueError):
    """The bytes are no message of Kafka's protocol.

    Attributes:
        path: the field that is wrong, as in ``topics[0].partitions[2].records``; empty for the frame as a whole.
        problem: the error in the field.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


class UnsupportedVersion(MalformedFrame):
    """A request of an API, or a version of one, that the codec does not know.

    Its header is read as far as all versions agree: a broker answers an ApiVersions request of a version that it does
    not know, and closes the connection for any other.

    Attributes:
        api_key: the API's number in the frame.
        version: the version in the frame.
        correlation_id: the correlation id in the frame.
    """

    def __init__(self, api_key: int, version: int, correlation_id: int, problem: str) -> None:
        super().__init__("", problem)
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id


def short(left: int, fields: tuple[tuple[int, str], ...], prefix: str) -> MalformedFrame:
    """The error for a frame that ends inside one of ``fields``.

    Args:
        left: the number of bytes that are left.
        fields: the end of each field, counted from where ``left`` bytes begin, and its name.
        prefix: the path of what contains them.
    """
    end, name = next(field for field in fields if field[0] > left)
    return MalformedFrame(prefix + name, f"the frame ends {end - left} bytes before the end of this field")


def bad_length(path: str, length: int, left: int, what: str = "bytes") -> MalformedFrame:
    """The error for a length or a count that is negative, or more than the frame has left."""
    if length == -1:
        return MalformedFrame(path, "null, which this field cannot be in this version")
    if length < 0:
        return MalformedFrame(path, f"a length of {length} {what}")
    return MalformedFrame(path, f"a length of {length} {what}, but only {left} bytes are left in the frame")


def too_many(path: str, limit: int) -> MalformedFrame:
    """The error for a frame whose arrays have more elements than it may have."""
    return MalformedFrame(path, f"the arrays of this frame have more than {limit} elements together")
