"""A client that deletes the records of one partition, and appends and reads beside that.

A replica is paused meanwhile: as long as it is thought to be alive the request waits for it. Then the leader dies, and
comes back with a log that begins where it began before.
"""

from collections.abc import Mapping, Sequence

from attrs import define

from benchmarks.calibration.clients.base import (
    EARLIEST,
    LATEST,
    Asking,
    Producer,
    Scripted,
    Step,
    appended,
    fetched,
    found_offset,
    name,
)

DELETE = (21, 1)
WITHIN_MS = 1000
NUMBER = 0
PRODUCER = Producer(7, 0)

STEPS: Mapping[str, Sequence[Step]] = {
    "client": (
        (1, 0, "append numbered"), (1, 0, "append numbered"), *((1, 0, "append acks=all"),) * 6,
        (3, 0, "fetch 6"), (3, 1, "fetch 6"), (3, 0, "delete 1"), (3.5, 1, "fetch 0"), (3.5, 0, "earliest"),
        (6, 0, "append acks=1"), (6, 0, "append acks=1"), (6, 0, "append acks=1"), (6, 0, "fetch 6"),
        (6, 0, "delete 5"), (6, 0, "delete 9"), (6, 1, "delete 5"), (6, 3, "delete 5"), (6, 0, "delete 4"),
        (6, 0, "fetch 3"), (6, 0, "earliest"), (6, 1, "earliest"), (6, 0, "append numbered"), (6, 0, "delete -1"),
        (9.5, 0, "earliest"), (9.5, 1, "fetch 7"), (9.5, 1, "fetch 8"), (9.5, 0, "fetch 8"),
        (22, 0, "fetch 8"), (22, 0, "delete 10"), (22.5, 1, "fetch 10"),
        (36, 2, "fetch 9"), (36, 2, "fetch 10"), (36, 0, "delete 11"), (37, 2, "fetch 11"),
        (55, 1, "earliest"), (55, 1, "fetch 10"), (55, 1, "delete 12"), (55, 1, "delete 1000"),
        (55, 1, "append acks=all"), (55, 1, "append numbered"), (56, 2, "fetch 11"), (56, 2, "fetch 12"),
        (85, 0, "fetch 11"), (85, 0, "fetch 12"), (85, 0, "delete -1"), (85, 1, "delete -1"), (86, 1, "earliest"),
        (86, 1, "latest"), (86, 1, "append numbered"), (86, 1, "append acks=all"),
        *((87, broker, "fetch 0") for broker in range(3)), *((87, broker, "latest") for broker in range(3)),
        *((87, broker, "fetch 15") for broker in range(3)),
    ),
}  # fmt: skip


@define(eq=False)
class DeletingClient(Scripted):
    """The client."""

    topic = "orders"
    _sequence: int = 0

    def carry_out(self, broker: int, verb: str) -> Asking:
        what, _, more = verb.partition(" ")
        if what == "append":
            return (yield from self._append(broker, more))
        if what == "delete":
            return (yield from self._delete(broker, int(more)))
        if what == "fetch":
            return fetched((yield from self.fetch(broker, self.topic, NUMBER, int(more))))
        return found_offset((yield from self.offset(broker, self.topic, NUMBER, _TIMES[what])))

    def _append(self, broker: int, kind: str) -> Asking:
        acks = -1 if kind == "acks=all" else 1
        if kind != "numbered":
            return appended((yield from self.produce(broker, self.topic, NUMBER, acks=acks)))
        part = yield from self.produce(
            broker, self.topic, NUMBER, acks=acks, producer=PRODUCER, sequence=self._sequence
        )
        if name(part) == "NONE":
            self._sequence += 1
        return appended(part)

    def _delete(self, broker: int, offset: int) -> Asking:
        topics = [{"name": self.topic, "partitions": [{"partition_index": NUMBER, "offset": offset}]}]
        found = yield from self.ask(broker, DELETE, {"topics": topics, "timeout_ms": WITHIN_MS})
        if found is None:
            return ""
        [part] = found["topics"][0]["partitions"]
        return f"{name(part)}, low watermark {part['low_watermark']}"


_TIMES: Mapping[str, int] = {"earliest": EARLIEST, "latest": LATEST}
