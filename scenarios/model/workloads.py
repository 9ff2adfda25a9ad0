"""The load on a topic, in OpenMessaging Benchmark's words.

There is no batch rate beside `producerRate` and `linger`: a producer sends one batch per partition every
linger, so 10 batches a second and partition are `linger = "100ms"` (readings §10).
"""

from __future__ import annotations

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.model.kinds import DURATION, SOME_TIME, Integer, Kind, Schema, SizeOrInteger, refuse
from scenarios.model.names import TOPIC_NAME
from scenarios.model.reader import key

_ACKS = {0: "0", 1: "1", -1: "all", "0": "0", "1": "1", "-1": "all", "all": "all"}


class Acks(Kind[str]):
    def read(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, (int, str)) or value not in _ACKS:
            raise refuse(value, '"0", "1" or "all"')
        return _ACKS[value]

    def schema(self) -> Schema:
        return {"enum": ["0", "1", "all", 0, 1, -1]}


_acks = Acks()


def _canonical_acks(value: str | int) -> str:
    return _acks.read(value)


@frozen(kw_only=True)
class WorkloadSpec:
    """A producer on one topic, its messages spread evenly over the partitions."""

    topic: str = field(metadata=key(TOPIC_NAME, "the topic written to"))
    producer_rate: int = field(
        metadata=key(Integer(1), "messages per second over the whole topic", name="producerRate")
    )
    message_size: int = field(
        default=1024, metadata=key(SizeOrInteger(1), "bytes per message", name="messageSize")
    )
    acks: str = field(
        default="all", converter=_canonical_acks, metadata=key(_acks, "who must have a batch: 0, 1 or all")
    )
    linger_us: int = field(
        default=100_000,
        metadata=key(SOME_TIME, "how long messages are gathered into one batch", name="linger"),
    )
    start_us: int = field(default=0, metadata=key(DURATION, "when the load begins", name="start"))
    stop_us: int | None = field(
        default=None, metadata=key(SOME_TIME, "when it ends; absent = with the run", name="stop")
    )

    def __attrs_post_init__(self) -> None:
        if self.stop_us is not None and self.stop_us <= self.start_us:
            raise BadInput("the load stops before it starts; write a later stop", where="stop")

    @property
    def required_acks(self) -> int:
        """The field of a produce request: 0, 1 or -1."""
        return -1 if self.acks == "all" else int(self.acks)
