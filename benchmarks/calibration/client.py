"""The client of the cases that ask brokers for data: the same requests in the same order, on real Kafka and here.

A round asks each broker to append a batch with acks 0, 1 and all, and one of an idempotent producer, which repeats a
batch until it has succeeded; then, when the followers have had time to fetch, for records, offsets, epochs and
metadata. A broker is asked whether it leads or not.
"""

import struct
from collections.abc import Callable, Generator, Mapping
from typing import Any

from attrs import define, field, frozen

from benchmarks.calibration.facts import Answer
from emulator.protocol.errors import Errors
from emulator.protocol.records import write_records
from scenarios.language import Scenario
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.codec.records import checked, read_batches

ASKED_AT = "asked-at-"
"""The tags of a case that say when a round begins: in seconds after the method has begun."""

READS_AFTER_S = 1.5
PRODUCE, FETCH, LIST_OFFSETS, METADATA, EPOCHS = (0, 8), (1, 11), (2, 5), (3, 8), (23, 3)
"""APIs and versions, which every release since 2.4 has."""

TOPIC, NUMBER = "orders", 0
TIMEOUT_MS = 500
CONSUMER = -1
LATEST = -1
PRODUCER = 7
NO_PRODUCER = -1
_SEQUENCE_AT = 53
"""The place of the sequence number in a batch."""


Api = tuple[int, int]
"""The number of an API, and a version."""


@frozen
class Ask:
    """Frames that go to a broker on a connection of their own, of which the last one is answered.

    Attributes:
        api: the API and the version of that one.
    """

    broker: int
    frames: tuple[bytes, ...]
    api: Api


Wish = Ask | float
"""Something to ask for, or the second to wait for."""
Talk = Generator[Wish, bytes | None, None]


@define(eq=False)
class Client:
    """One client.

    Attributes:
        now_ms: the time that its records get.
        answers: what it was answered; a broker that does not answer is noted too.
    """

    scenario: Scenario
    now_ms: Callable[[], int]
    answers: list[Answer] = field(factory=list)
    _sequence: int = 0

    def talk(self) -> Talk:
        """The requests, each as an ``Ask`` for which the frame that answers it is sent back, None if there is none."""
        brokers = range(self.scenario.cluster.brokers)
        for at_s in rounds(self.scenario):
            yield at_s
            for broker in brokers:
                yield from self._produce(broker, f"{at_s:g} s")
            yield at_s + READS_AFTER_S
            for broker in brokers:
                yield from self._read(broker, f"{at_s:g} s")

    def _produce(self, broker: int, when: str) -> Talk:
        for acks in (0, 1, -1):
            yield from self._append(broker, f"{when}: acks={'all' if acks < 0 else acks}", acks, NO_PRODUCER)
        error = yield from self._append(broker, f"{when}: sequence {self._sequence}", -1, self._sequence)
        if error == Errors.NONE:
            self._sequence += 1

    def _append(self, broker: int, what: str, acks: int, sequence: int) -> Generator[Wish, bytes | None, int]:
        """The error."""
        body = {
            "transactional_id": None, "acks": acks, "timeout_ms": TIMEOUT_MS,
            "topic_data": [{"name": TOPIC, "partition_data": [{"index": NUMBER, "records": self._batch(sequence)}]}],
        }  # fmt: skip
        if acks == 0:
            # Not answered: a broker that refuses it ends the connection, and does not answer what comes next.
            found = yield from self._ask(broker, METADATA, _METADATA, (PRODUCE, body))
            self._note(broker, what, "" if found is None else "the connection goes on")
            return 0
        found = yield from self._ask(broker, PRODUCE, body)
        if found is None:
            self._note(broker, what, "")
            return -1
        [part] = found["responses"][0]["partition_responses"]
        error = Errors(part["error_code"])
        self._note(broker, what, f"{error.name}, offset {part['base_offset']}, start {part['log_start_offset']}")
        return error

    def _batch(self, sequence: int) -> bytes:
        if sequence < 0:
            return checked(write_records([(None, b"x")], self.now_ms()))
        batch = bytearray(write_records([(None, b"x")], self.now_ms(), producer_id=PRODUCER, producer_epoch=0))
        struct.pack_into(">i", batch, _SEQUENCE_AT, sequence)
        return checked(batch)

    def _read(self, broker: int, when: str) -> Talk:
        for epoch in (-1, 0):
            for offset in (0, 1000):
                yield from self._fetch(broker, f"{when}: fetch {offset} as of epoch {epoch}", epoch, offset)
        part: Mapping[str, Any]
        place = {"partition_index": NUMBER, "current_leader_epoch": -1, "timestamp": LATEST}
        body = {"replica_id": CONSUMER, "isolation_level": 0, "topics": [{"name": TOPIC, "partitions": [place]}]}
        found = yield from self._ask(broker, LIST_OFFSETS, body)
        if found is not None:
            [part] = found["topics"][0]["partitions"]
            words = f"{_name(part)}, offset {part['offset']}, epoch {part['leader_epoch']}"
            self._note(broker, f"{when}: latest offset", words)
        of = [{"partition": NUMBER, "current_leader_epoch": -1, "leader_epoch": 0}]
        found = yield from self._ask(broker, EPOCHS, {"replica_id": -2, "topics": [{"topic": TOPIC, "partitions": of}]})
        if found is not None:
            [part] = found["topics"][0]["partitions"]
            words = f"{_name(part)}, epoch {part['leader_epoch']} to {part['end_offset']}"
            self._note(broker, f"{when}: end of epoch 0", words)
        found = yield from self._ask(broker, METADATA, _METADATA)
        self._note(broker, f"{when}: metadata", "" if found is None else _metadata(found))

    def _fetch(self, broker: int, what: str, epoch: int, offset: int) -> Talk:
        place = {
            "partition": NUMBER,
            "current_leader_epoch": epoch,
            "fetch_offset": offset,
            "partition_max_bytes": 1 << 20,
        }
        body = {
            "replica_id": CONSUMER, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "isolation_level": 0,
            "session_id": 0, "session_epoch": -1, "topics": [{"topic": TOPIC, "partitions": [place]}],
            "forgotten_topics_data": [], "rack_id": "",
        }  # fmt: skip
        found = yield from self._ask(broker, FETCH, body)
        if found is not None:
            [part] = found["responses"][0]["partitions"]
            words = (
                f"{_name(part)}, high watermark {part['high_watermark']}, last stable {part['last_stable_offset']}, "
            )
            words += f"start {part['log_start_offset']}, {_records(part['records'])}"
            self._note(broker, what, words)

    def _ask(
        self,
        broker: int,
        api: tuple[int, int],
        body: Mapping[str, Any],
        *before: tuple[tuple[int, int], Mapping[str, Any]],
    ) -> Generator[Wish, bytes | None, dict[str, Any] | None]:
        asked = (*before, (api, body))
        frames = tuple(
            encode_request(*each, number, "calibration", what) for number, (each, what) in enumerate(asked, 1)
        )
        answer = yield Ask(broker, frames, api)
        return None if answer is None else decode_response(*api, answer)[1]

    def _note(self, broker: int, what: str, words: str) -> None:
        self.answers.append(Answer(broker, TOPIC, f"{what}: {words or 'no answer'}"))


_METADATA = {"topics": [{"name": TOPIC}], "allow_auto_topic_creation": False}


def rounds(scenario: Scenario) -> list[float]:
    """The seconds at which rounds begin; empty where a case asks nothing."""
    return sorted(float(tag.removeprefix(ASKED_AT)) for tag in scenario.tags if tag.startswith(ASKED_AT))


def _name(part: Mapping[str, Any]) -> str:
    return Errors(part["error_code"]).name


def _records(records: bytes | None) -> str:
    """The offsets and leader epochs of batches."""
    found = read_batches(records) if records else []
    return ", ".join(f"{each.base_offset} of epoch {each.leader_epoch}" for each in found) or "no records"


def _metadata(found: Mapping[str, Any]) -> str:
    [topic] = found["topics"]
    brokers = sorted(each["node_id"] for each in found["brokers"])
    parts = [
        f"{_name(each)}, leader {each['leader_id']}, epoch {each['leader_epoch']}, replicas {each['replica_nodes']}, "
        f"ISR {sorted(each['isr_nodes'])}, offline {sorted(each['offline_replicas'])}"
        for each in topic["partitions"]
    ]
    return f"brokers {brokers}, controller {found['controller_id']}, {_name(topic)}: {'; '.join(parts)}"
