"""The load on a topic, in OpenMessaging Benchmark's words.

There is no batch rate beside `producerRate` and `linger`: a producer sends one batch per partition every
linger, so 10 batches a second and partition are `linger = "100ms"` (readings §10).
"""

from __future__ import annotations

import re

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.model.kinds import DURATION, SOME_TIME, Integer, Kind, Schema, SizeOrInteger, refuse
from scenarios.model.names import TOPIC_NAME
from scenarios.model.reader import key

_ACKS = re.compile("all|-1|0|[1-9][0-9]*")


class Acks(Kind[str]):
    """Who must have a batch. Of the numbers above 1 the profile says whether it has them."""

    def read(self, value: object) -> str:
        text = str(value)
        if isinstance(value, bool) or not isinstance(value, (int, str)) or not _ACKS.fullmatch(text):
            raise refuse(value, '"0", "1" or "all"')
        return "all" if text == "-1" else text

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "integer", "minimum": -1}, {"type": "string", "pattern": f"^({_ACKS.pattern})$"}]}


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
        default="all",
        converter=_canonical_acks,
        metadata=key(_acks, "who must have a batch: 0, 1 or all; in kafka-0.8 also a number of replicas"),
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
        """The field of a produce request; -1: all."""
        return -1 if self.acks == "all" else int(self.acks)
