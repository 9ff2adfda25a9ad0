"""How a scenario names a place in a partition's log."""

from __future__ import annotations

from emulator.protocol.delete_records import TO_HIGH_WATERMARK
from scenarios.language.schema.kinds import Integer, Kind, Schema, refuse

END = "end"
"""All that is committed."""


class OffsetOrEnd(Kind[int]):
    """An offset, or "end": the high watermark of the moment, which is TO_HIGH_WATERMARK in requests."""

    def read(self, value: object) -> int:
        if value == END:
            return TO_HIGH_WATERMARK
        if isinstance(value, str):
            raise refuse(value, f'an offset from 0, or "{END}"')
        return Integer(0).read(value)

    def checked(self, value: object) -> int:
        return TO_HIGH_WATERMARK if value == TO_HIGH_WATERMARK else self.read(value)

    def dump(self, value: int) -> object:
        return END if value == TO_HIGH_WATERMARK else value

    def schema(self) -> Schema:
        return {"anyOf": [Integer(0).schema(), {"const": END}]}
