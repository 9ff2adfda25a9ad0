"""A producer and a consumer of one partition, which ask every broker, whether it leads or not.

A round asks each broker to append a batch with acks 0, 1 and all, and one of an idempotent producer, which repeats a
batch until it has succeeded; then, when the followers have had time to fetch, for records, offsets, epochs and
metadata.
"""

from collections.abc import Generator, Mapping
from typing import Any

from attrs import define

from benchmarks.calibration.clients.base import (
    ANYONE,
    LATEST,
    METADATA,
    Api,
    Client,
    Producer,
    Talk,
    Wish,
    appended,
    fetched,
    found_offset,
    name,
)
from emulator.protocol.errors import Errors
from scenarios.language import Scenario

ASKED_AT = "asked-at-"
"""The tags of a case that say when a round begins: in seconds after the method has begun."""

READS_AFTER_S = 1.5
EPOCHS: Api = (23, 3)
TOPIC, NUMBER = "orders", 0
PRODUCER = Producer(7, 0)
_METADATA = {"topics": [{"name": TOPIC}], "allow_auto_topic_creation": False}


def rounds(scenario: Scenario) -> list[float]:
    """The seconds at which rounds begin; empty where a case asks nothing."""
    return sorted(float(tag.removeprefix(ASKED_AT)) for tag in scenario.tags if tag.startswith(ASKED_AT))


@define(eq=False)
class PartitionClient(Client):
    """The client of the rounds."""

    produces = (0, 8)
    _sequence: int = 0

    def talk(self) -> Talk:
        brokers = range(self.scenario.cluster.brokers)
        for at_s in rounds(self.scenario):
            yield at_s
            for broker in brokers:
                yield from self._produce(broker, f"{at_s:g} s")
            yield at_s + READS_AFTER_S
            for broker in brokers:
                yield from self._read(broker, f"{at_s:g} s")

    def _produce(self, broker: int, when: str) -> Talk:
        yield from self._append_unanswered(broker, f"{when}: acks=0")
        for acks in (1, -1):
            yield from self._append(broker, f"{when}: acks={'all' if acks < 0 else acks}", acks, -1)
        error = yield from self._append(broker, f"{when}: sequence {self._sequence}", -1, self._sequence)
        if error == Errors.NONE.name:
            self._sequence += 1

    def _append_unanswered(self, broker: int, what: str) -> Talk:
        """A broker that refuses it ends the connection, and does not answer what comes next."""
        body = self.produce_body(TOPIC, NUMBER, 0)
        found = yield from self.ask(broker, METADATA, _METADATA, (self.produces, body))
        self.note(broker, TOPIC, what, "" if found is None else "the connection goes on")

    def _append(self, broker: int, what: str, acks: int, sequence: int) -> Generator[Wish, bytes | None, str]:
        """The name of the error."""
        producer = ANYONE if sequence < 0 else PRODUCER
        part = yield from self.produce(broker, TOPIC, NUMBER, acks=acks, producer=producer, sequence=sequence)
        self.note(broker, TOPIC, what, appended(part))
        return name(part)

    def _read(self, broker: int, when: str) -> Talk:
        for epoch in (-1, 0):
            for offset in (0, 1000):
                part = yield from self.fetch(broker, TOPIC, NUMBER, offset, epoch=epoch)
                self._note_read(broker, f"{when}: fetch {offset} as of epoch {epoch}", fetched(part))
        part = yield from self.offset(broker, TOPIC, NUMBER, LATEST)
        self._note_read(broker, f"{when}: latest offset", found_offset(part))
        of = [{"partition": NUMBER, "current_leader_epoch": -1, "leader_epoch": 0}]
        found = yield from self.ask(broker, EPOCHS, {"replica_id": -2, "topics": [{"topic": TOPIC, "partitions": of}]})
        if found is not None:
            [part] = found["topics"][0]["partitions"]
            words = f"{name(part)}, epoch {part['leader_epoch']} to {part['end_offset']}"
            self._note_read(broker, f"{when}: end of epoch 0", words)
        found = yield from self.ask(broker, METADATA, _METADATA)
        self.note(broker, TOPIC, f"{when}: metadata", "" if found is None else metadata(found))

    def _note_read(self, broker: int, what: str, words: str) -> None:
        """Note an answer; a broker that gives none is noted with its metadata alone."""
        if words:
            self.note(broker, TOPIC, what, words)


def metadata(found: Mapping[str, Any]) -> str:
    [topic] = found["topics"]
    brokers = sorted(each["node_id"] for each in found["brokers"])
    parts = [
        f"{name(each)}, leader {each['leader_id']}, epoch {each['leader_epoch']}, replicas {each['replica_nodes']}, "
        f"ISR {sorted(each['isr_nodes'])}, offline {sorted(each['offline_replicas'])}"
        for each in topic["partitions"]
    ]
    return f"brokers {brokers}, controller {found['controller_id']}, {name(topic)}: {'; '.join(parts)}"
