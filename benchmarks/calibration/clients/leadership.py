"""Producers and consumers of one partition while its leader changes, stands still, or loses what it has.

Each case has a client that asks one thing after the other, and clients whose requests wait: for replicas, for records,
or for a broker that is paused. An idempotent producer repeats a batch until it is appended.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define

from benchmarks.calibration.clients.base import (
    LATEST,
    METADATA,
    TIMEOUT_MS,
    Asking,
    Producer,
    Scripted,
    Step,
    appended,
    fetched,
    found_offset,
    name,
)
from benchmarks.calibration.clients.partition import EPOCHS, metadata
from scenarios.wire.codec.records import read_batches

TOPIC, NUMBER = "orders", 0
PRODUCER = Producer(7, 0)
LONG_MS = 20_000
_METADATA = {"topics": [{"name": TOPIC}], "allow_auto_topic_creation": False}


def _all(at_s: float, *brokers: int) -> list[Step]:
    """Every way to append, at each of some brokers."""
    kinds = ("acks=0", "acks=1", "acks=all", "numbered")
    return [(at_s, broker, kind) for broker in brokers for kind in kinds]


def _read(at_s: float, *brokers: int, epochs: Sequence[int] = (0,), offset: int = 0, isr: bool = True) -> list[Step]:
    """Every way to read, at each of some brokers; without ``isr`` no metadata, which know of a new ISR late."""
    kinds = [f"fetch {offset}", "fetch 1000", *(f"fetch {offset} as of epoch {epoch}" for epoch in epochs), "latest"]
    kinds += [f"end of epoch {epoch}" for epoch in epochs] + ["metadata"] * isr
    return [(at_s, broker, kind) for broker in brokers for kind in kinds]


MOVES: Mapping[str, Sequence[Step]] = {
    "client": (
        *_all(1, 0, 1, 3), *_read(2.5, 0, 1, 3), *_all(10, 0, 1), *_read(12, 0, 1, 3),
        *_all(24, 0, 1, 2), *_read(25, 0, 1, 2, 3), *_all(36, 1, 2, 3), (36, 2, "numbered again"),
        *_read(37, 1, 2, 3, epochs=(0, 1, 2), offset=11),
    ),
    "waiting producer": ((5, 0, "acks=all for long"),),
    "waiting consumer": ((5.5, 0, "wait at 4"), (28.5, 1, "wait at 12")),
}  # fmt: skip
"""Broker 2 is paused; the leader, broker 0, is moved away; later the preferred replica leads."""

UNCLEAN: Mapping[str, Sequence[Step]] = {
    "client": (
        *_all(1, 0), *_read(2.5, 0), *_all(20, 0), *_all(20.5, 0), *_read(21, 0), *_all(48, 1), *_read(49, 1, 2),
        *_all(59, 1), (59, 1, "acks=all"), *_read(60, 1, epochs=(0, 1, 2, 3), offset=3),
        *_all(79, 1, 0), (79, 1, "numbered afresh"),
        *_read(80.5, 1, 0, epochs=(0, 1, 2, 3, 4), offset=3, isr=False),
        *_all(99, 0), (99, 0, "numbered afresh"), *_read(100, 0, 1, epochs=(0, 1, 3, 4, 5), offset=3),
    ),
}  # fmt: skip
"""Broker 0 alone has the last records and dies; broker 1, which has not got them, is elected; broker 0 comes back."""

PAUSES: Mapping[str, Sequence[Step]] = {
    "client": (
        *_all(1, 0), *_read(2, 0), *_all(3.5, 0), (3.5, 0, "numbered"), *_read(5.3, 0, 1, offset=4, isr=False),
        *_all(11, 0), *_read(12, 0, 1, offset=7, isr=False), *_all(13.5, 0), *_read(15.2, 0, offset=11, isr=False),
        *_all(21, 0), *_read(22, 0, offset=11, isr=False), *_all(26, 0), *_read(27, 0, 1, offset=18, isr=False),
        *_all(31, 0), *_read(32, 0, 1, 2, offset=18, isr=False), *_all(79, 1), *_read(80, 1, offset=25),
        *_all(95, 0, 1), *_read(97, 0, 1, 2, epochs=(0, 1), offset=25),
    ),
    "waiting producer": ((6, 0, "acks=all for long"), (16, 0, "acks=all for long")),
    "producer of a paused broker": ((82, 0, "acks=1"), (82, 0, "acks=all for long")),
}  # fmt: skip
"""One follower is paused, then the other, too, and the ISR is below min.insync.replicas; later the leader is paused."""


@define(eq=False)
class LeadershipClient(Scripted):
    """The clients."""

    topic = TOPIC
    _sequence: int = 0

    def carry_out(self, broker: int, verb: str) -> Asking:
        words = verb.split()
        number = int(words[-1]) if words[-1].isdigit() else -1
        match words[0]:
            case "acks=0":
                return (yield from self._append_unanswered(broker))
            case "acks=1" | "acks=all":
                return (yield from self._append(broker, words))
            case "numbered":
                return (yield from self._append_numbered(broker, words[-1]))
            case "fetch":
                epoch = number if "epoch" in words else -1
                part = yield from self.fetch(broker, TOPIC, NUMBER, int(words[1]), epoch=epoch)
                return fetched(part, together=True)
            case "wait":
                return _first((yield from self.fetch(broker, TOPIC, NUMBER, number, wait_ms=LONG_MS)))
            case "latest":
                return found_offset((yield from self.offset(broker, TOPIC, NUMBER, LATEST)))
            case "end":
                return (yield from self._end_of_epoch(broker, number))
        found = yield from self.ask(broker, METADATA, _METADATA)
        return "" if found is None else metadata(found)

    def _append_unanswered(self, broker: int) -> Asking:
        """A broker that refuses it ends the connection, and does not answer what comes next."""
        found = yield from self.ask(broker, METADATA, _METADATA, (self.produces, self.produce_body(TOPIC, NUMBER, 0)))
        return "" if found is None else "the connection goes on"

    def _append(self, broker: int, words: Sequence[str]) -> Asking:
        acks = 1 if words[0] == "acks=1" else -1
        timeout_ms = LONG_MS if "long" in words else TIMEOUT_MS
        return appended((yield from self.produce(broker, TOPIC, NUMBER, acks=acks, timeout_ms=timeout_ms)))

    def _append_numbered(self, broker: int, how: str) -> Asking:
        """``again``: the last batch that was appended. ``afresh``: as a producer that begins with a new epoch."""
        producer, sequence = PRODUCER, self._sequence - (how == "again")
        if how == "afresh":
            producer, sequence = Producer(PRODUCER.id, PRODUCER.epoch + 1), 0
        part = yield from self.produce(broker, TOPIC, NUMBER, producer=producer, sequence=sequence)
        if name(part) == "NONE" and how == "numbered":
            self._sequence += 1
        return appended(part) and f"sequence {sequence}, {appended(part)}"

    def _end_of_epoch(self, broker: int, epoch: int) -> Asking:
        of = [{"partition": NUMBER, "current_leader_epoch": -1, "leader_epoch": epoch}]
        found = yield from self.ask(broker, EPOCHS, {"replica_id": -2, "topics": [{"topic": TOPIC, "partitions": of}]})
        if found is None:
            return ""
        [part] = found["topics"][0]["partitions"]
        return f"{name(part)}, epoch {part['leader_epoch']} to {part['end_offset']}"


def _first(part: Mapping[str, Any] | None) -> str:
    """The answer to a fetch that waits: how many records it gets by then is chance."""
    found = list(read_batches(part["records"])) if part and part["records"] else []
    return name(part) + "".join(f", records from {each.base_offset} of epoch {each.leader_epoch}" for each in found[:1])
