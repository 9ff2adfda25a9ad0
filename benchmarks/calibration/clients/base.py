"""The base of the clients of the cases: the same requests in the same order, on real Kafka and here."""

import struct
from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar

from attrs import define, field, frozen

from benchmarks.calibration.facts import Answer
from emulator.protocol.errors import Errors
from emulator.protocol.records import NO_PRODUCER_ID, TRANSACTIONAL, write_records
from scenarios.language import Scenario
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.codec.records import checked, read_batches
from scenarios.wire.released_versions import released

PRODUCE, FETCH, LIST_OFFSETS, METADATA, FIND_COORDINATOR = (0, 7), (1, 11), (2, 5), (3, 8), (10, 2)
"""APIs and versions, which every release since 2.3 has; earlier ones are asked in the newest that they know."""

CONSUMER = -1
LATEST, EARLIEST = -1, -2
MOST_BYTES = 1 << 20
TIMEOUT_MS = 500
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
Asking = Generator[Wish, bytes | None, Any]


@frozen
class Producer:
    """The identity of a producer that numbers its batches."""

    id: int = NO_PRODUCER_ID
    epoch: int = -1
    transactional_id: str | None = None


ANYONE = Producer()


@define(eq=False)
class Client:
    """One client.

    Attributes:
        produces: the version of Produce that it sends.
        now_ms: the time that its records get.
        release: the release of the brokers.
        answers: what it was answered; a broker that does not answer is noted too.
    """

    produces: ClassVar[Api] = PRODUCE
    scenario: Scenario
    now_ms: Callable[[], int]
    release: str
    answers: list[Answer] = field(factory=list)

    def talk(self) -> Talk:
        """The requests, each as an ``Ask`` for which the frame that answers it is sent back, None if there is none."""
        raise NotImplementedError

    # -- requests -----------------------------------------------------------------------------------------------------

    def ask(
        self,
        broker: int,
        api: Api,
        body: Mapping[str, Any],
        *before: tuple[Api, Mapping[str, Any]],
        client_id: str = "calibration",
    ) -> Asking:
        """The answer; None where there is none."""
        api = self._known(api)
        asked = (*((self._known(each), what) for each, what in before), (api, body))
        frames = tuple(encode_request(*each, number, client_id, what) for number, (each, what) in enumerate(asked, 1))
        answer = yield Ask(broker, frames, api)
        return None if answer is None else decode_response(*api, answer)[1]

    def _known(self, api: Api) -> Api:
        """The API in a version that the brokers know."""
        key, version = api
        return key, min(version, released(self.release)[key][1])

    def produce(
        self,
        broker: int,
        topic: str,
        number: int,
        *,
        acks: int = -1,
        producer: Producer = ANYONE,
        sequence: int = -1,
        size: int = 1,
        timeout_ms: int = TIMEOUT_MS,
    ) -> Asking:
        """Have a batch of one record appended, of so many bytes; the answer of the partition."""
        body = {**self.produce_body(topic, number, acks, producer, sequence, size), "timeout_ms": timeout_ms}
        found = yield from self.ask(broker, self.produces, body)
        return None if found is None else found["responses"][0]["partition_responses"][0]

    def produce_body(
        self, topic: str, number: int, acks: int, producer: Producer = ANYONE, sequence: int = -1, size: int = 1
    ) -> Mapping[str, Any]:
        records = self._batch(producer, sequence, size)
        return {
            "transactional_id": producer.transactional_id, "acks": acks, "timeout_ms": TIMEOUT_MS,
            "topic_data": [{"name": topic, "partition_data": [{"index": number, "records": records}]}],
        }  # fmt: skip

    def _batch(self, producer: Producer, sequence: int, size: int) -> bytes:
        attributes = 0 if producer.transactional_id is None else TRANSACTIONAL
        written = write_records(
            [(None, b"x" * size)],
            self.now_ms(),
            attributes=attributes,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
        )
        batch = bytearray(written)
        struct.pack_into(">i", batch, _SEQUENCE_AT, sequence)
        return checked(batch)

    def fetch(
        self,
        broker: int,
        topic: str,
        number: int,
        offset: int,
        *,
        epoch: int = -1,
        committed: bool = False,
        wait_ms: int = 0,
    ) -> Asking:
        """Ask for records, and wait for one of them up to ``wait_ms``; the answer of the partition."""
        place = {"partition": number, "current_leader_epoch": epoch, "fetch_offset": offset}
        place["partition_max_bytes"] = MOST_BYTES
        body = {
            "replica_id": CONSUMER, "max_wait_ms": wait_ms, "min_bytes": int(wait_ms > 0), "max_bytes": MOST_BYTES,
            "isolation_level": int(committed), "session_id": 0, "session_epoch": -1,
            "topics": [{"topic": topic, "partitions": [place]}], "forgotten_topics_data": [], "rack_id": "",
        }  # fmt: skip
        found = yield from self.ask(broker, FETCH, body)
        return None if found is None else found["responses"][0]["partitions"][0]

    def offset(self, broker: int, topic: str, number: int, time: int) -> Asking:
        """Ask for the offset of a time; the answer of the partition."""
        place = {"partition_index": number, "current_leader_epoch": -1, "timestamp": time}
        body = {"replica_id": CONSUMER, "isolation_level": 0, "topics": [{"name": topic, "partitions": [place]}]}
        found = yield from self.ask(broker, LIST_OFFSETS, body)
        return None if found is None else found["topics"][0]["partitions"][0]

    def coordinator(self, broker: int, key: str, kind: int) -> Asking:
        """Ask for the coordinator of a group (0) or a transactional id (1); the answer in words."""
        found = yield from self.ask(broker, FIND_COORDINATOR, {"key": key, "key_type": kind})
        return "" if found is None else f"{name(found)}, {found['node_id']}"

    # -- words --------------------------------------------------------------------------------------------------------

    def note(self, who: int | str, topic: str, what: str, words: str) -> None:
        self.answers.append(Answer(who, topic, f"{what}: {words or 'no answer'}"))


Step = tuple[float, int, str]
"""The second, the broker that is asked, and what it is asked."""


@define(eq=False)
class Scripted(Client):
    """A client whose requests are a list.

    Attributes:
        who: its name.
        topic: the topic that its answers are about.
        steps: its requests; one that names the second of the one before follows as soon as that is answered.
    """

    who: str = field(kw_only=True)
    topic: ClassVar[str]
    steps: Sequence[Step] = field(kw_only=True)

    def talk(self) -> Talk:
        last_s = -1.0
        for at_s, broker, verb in self.steps:
            if at_s != last_s:
                yield at_s
            last_s = at_s
            words = yield from self.carry_out(broker, verb)
            if words is not None:
                self.note(self.who, self.topic, f"{at_s:g} s, broker {broker}: {verb}", words)

    def carry_out(self, broker: int, verb: str) -> Asking:
        """Ask ``broker`` for what ``verb`` says; the answer in words, None where there was nothing to ask for."""
        raise NotImplementedError


def name(part: Mapping[str, Any] | None, key: str = "error_code") -> str:
    """The name of the error in an answer; "" for none."""
    return "" if part is None else Errors(part[key]).name


def appended(part: Mapping[str, Any] | None) -> str:
    return "" if part is None else f"{name(part)}, offset {part['base_offset']}, start {part['log_start_offset']}"


def found_offset(part: Mapping[str, Any] | None) -> str:
    return "" if part is None else f"{name(part)}, offset {part['offset']}, epoch {part['leader_epoch']}"


def fetched(part: Mapping[str, Any] | None, *, together: bool = False) -> str:
    """The answer to a fetch, with the offsets and leader epochs of batches; ``together``: those of one epoch once."""
    if part is None:
        return ""
    found = read_batches(part["records"]) if part["records"] else ()
    batches = [f"{each.base_offset} of epoch {each.leader_epoch}{' (marker)' * each.is_control}" for each in found]
    if together:
        groups = groupby(found, lambda each: each.leader_epoch)
        batches = [f"{', '.join(str(each.base_offset) for each in batch)} of epoch {epoch}" for epoch, batch in groups]
    aborted = [each["first_offset"] for each in part["aborted_transactions"] or ()]
    return (
        f"{name(part)}, high watermark {part['high_watermark']}, last stable {part['last_stable_offset']}, "
        f"start {part['log_start_offset']}, {', '.join(batches) or 'no records'}"
    ) + (f", aborted from {aborted}" if aborted else "")
