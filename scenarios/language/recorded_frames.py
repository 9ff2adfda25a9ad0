"""The ``frames`` of a scenario: requests of real clients in a recorded live run (``replay --to-scenario``)."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.schema.kinds import Integer, Kind, Schema, Text, at, instance_of
from scenarios.language.schema.table_reader import Block, Checked, key
from scenarios.reading import read_beside

_KEY = "frames"
MOST_BYTES = 24_000_000
"""The most bytes of a log: a few bytes can be inflated to any number. In a scenario a log becomes a third longer."""

LATEST_US = 1 << 60
"""The latest time of day of a recording, in the year 38505."""


@frozen(kw_only=True)
class Frames(Checked):
    """The log of clients' requests (``scenarios.wire.recording.log``), in the file of the scenario itself."""

    data: str = field(metadata=key(Text(), "the log, compressed with zlib, in base64"))
    api_versions: str = field(default="3.0", metadata=key(Text(), "the API versions that brokers announced to them"))
    clock_us: int = field(
        default=0,
        metadata=key(
            Integer(0, LATEST_US), "the time of day at which the brokers' clocks began, in microseconds since 1970"
        ),
    )

    def log(self) -> bytes:
        """The log. Raises: BadInput."""
        inflating = zlib.decompressobj()
        try:
            log = inflating.decompress(base64.b64decode(self.data, validate=True), MOST_BYTES)
            if not inflating.eof and len(log) < MOST_BYTES:
                raise ValueError("cut short")
        except (ValueError, zlib.error):
            raise BadInput(
                "is not a compressed log in base64; write it with replay --to-scenario", where=f"{_KEY}.data"
            ) from None
        if not inflating.eof:
            raise BadInput(f"holds more than {MOST_BYTES // 1_000_000} MB; record a shorter run", where=f"{_KEY}.data")
        return log


_block = Block(Frames)


def _read(folder: Path, name: object) -> bytes:
    return read_beside(folder, name, "a file of replay --to-scenario", "incident.frames", most=MOST_BYTES)


class FramesKind(Kind[Frames]):
    """Frames in place; ``with_frames_file`` has replaced those in a file before."""

    def read(self, value: object) -> Frames:
        frames: Frames = _block.read(value)
        return frames

    def checked(self, value: object) -> Frames:
        return instance_of(value, Frames)

    def dump(self, value: Frames) -> object:
        return _block.dump(value)

    def schema(self) -> Schema:
        by_file: Schema = {
            "type": "object",
            "properties": {
                "file": {"type": "string", "description": "a file beside the scenario, of replay --to-scenario"},
                "api_versions": {"type": "string"},
                "clock_us": {"type": "integer"},
            },
            "required": ["file"],
            "additionalProperties": False,
        }
        return {"oneOf": [_block.schema(), by_file]}


FRAMES = FramesKind()


def compressed(log: bytes) -> str:
    """A log as ``Frames.data``."""
    return base64.b64encode(zlib.compress(log, 9)).decode()


def with_frames_file(document: Mapping[str, object], folder: Path) -> dict[str, object]:
    """The document with a ``frames.file``, relative to ``folder``, replaced by its content. Raises: BadInput."""
    frames = document.get(_KEY)
    if not isinstance(frames, Mapping) or "file" not in frames:
        return dict(document)
    if "data" in frames:
        raise BadInput("frames are in a file or in place; keep 'file' or 'data'", where=f"{_KEY}.file")
    data = at(f"{_KEY}.file", partial(_read, folder), frames["file"])
    rest = {other: value for other, value in frames.items() if other != "file"}
    return {**document, _KEY: {"data": compressed(data), **rest}}
