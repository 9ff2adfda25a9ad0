"""Transactional producers, and what a consumer that reads what is committed is given meanwhile.

The coordinator dies while three transactions are open: one is committed by the next coordinator, one lasts too long,
and of one another instance takes over. A fourth ends while the leader of its partition is dead, and so its coordinator
cannot write its marker; then the coordinator moves, and the next one writes it when the leader is back.
"""

from collections.abc import Mapping, Sequence

from attrs import define, field

from benchmarks.calibration.clients.base import ANYONE, Asking, Producer, Scripted, Step, appended, fetched, name

INIT, ADD, END = (22, 1), (24, 1), (26, 1)
TOPIC, STATE = "orders", "__transaction_state"
TIMEOUTS_MS: Mapping[str, int] = {"times-out": 15_000}
LONG_MS = 300_000

STEPS: Mapping[str, Sequence[Step]] = {
    "commits": (
        (1, 3, "coordinator"), (1, 0, "init"),
        (1.5, 0, "init if needed"), (1.5, 0, "add 0"), (1.5, 3, "produce 0"), (1.5, 3, "read 0"),
        (10, 0, "commit"), (10, 1, "add 1"), (10, 1, "commit"), (10, 3, "coordinator"), (10, 3, "produce 0"),
        (24, 3, "coordinator"), (24, 1, "add 1"), (24, 3, "produce 1"), (24, 3, "read 0"), (24, 3, "read 1"),
        (24, 1, "commit"), (26, 3, "read 0"), (26, 3, "read 1"), (27, 1, "commit"), (27, 1, "abort"),
        (27, 3, "produce 0"), (27, 3, "read 0"), (28, 1, "add 0"), (28, 1, "abort"), (30, 3, "read 0"),
    ),
    "times-out": (
        (2, 0, "init"), (2, 0, "add 2"), (2, 3, "produce 2"), (2, 3, "read 2"), (24, 3, "read 2"),
        (25, 1, "add 2"), (25, 1, "commit"), (25, 3, "produce 2"), (25, 1, "init"), (25, 1, "add 2"),
        (25, 3, "produce 2"), (25, 1, "commit"), (28, 3, "read 2"),
    ),
    "fenced": (
        (3, 0, "init"), (3, 0, "add 3"), (3, 3, "produce 3"),
        (24.5, 1, "init"), (26, 1, "init"), (26, 1, "add 3 as before"), (26, 1, "commit as before"),
        (26, 3, "produce 3 as before"), (26, 1, "add 3"), (26, 3, "produce 3"), (26, 1, "commit"), (29, 3, "read 3"),
    ),
    "held": (
        (45, 1, "init"), (46, 1, "init if needed"), (46, 1, "add 4"), (46, 2, "produce 4"), (46, 2, "read 4"),
        (66, 1, "commit"), (66, 1, "add 4"), (66, 1, "init"), (66, 2, "read 4"),
        (90, 3, "coordinator"), (90, 1, "commit"), (90, 0, "commit"), (90, 0, "add 4"), (90, 0, "init"),
        (125, 0, "commit"), (125, 2, "read 4"), (125, 0, "add 4"), (125, 2, "produce 4"), (125, 0, "abort"),
        (128, 2, "read 4"),
    ),
}  # fmt: skip


@define(eq=False)
class TransactionalProducer(Scripted):
    """A producer, whose transactional id is its name, and the consumer of its partitions."""

    topic = STATE
    _now: Producer = ANYONE
    _before: Producer = ANYONE
    _sequences: dict[tuple[Producer, int], int] = field(factory=dict)

    def carry_out(self, broker: int, verb: str) -> Asking:
        if verb == "init if needed":  # a broker may have had to get producer ids first (3.6)
            return None if self._now != ANYONE else (yield from self._init(broker))
        words = verb.split()
        producer = self._before if verb.endswith("as before") else self._now
        if words[0] == "coordinator":
            return (yield from self.coordinator(broker, self.who, 1))
        if words[0] == "init":
            return (yield from self._init(broker))
        if words[0] in ("commit", "abort"):
            body = {**self._identity(producer), "committed": words[0] == "commit"}
            return name((yield from self.ask(broker, END, body)))
        number = int(words[1])
        if words[0] == "add":
            return (yield from self._add(broker, number, producer))
        if words[0] == "read":
            return fetched((yield from self.fetch(broker, TOPIC, number, 0, committed=True)))
        return (yield from self._produce(broker, number, producer))

    def _init(self, broker: int) -> Asking:
        body = {"transactional_id": self.who, "transaction_timeout_ms": TIMEOUTS_MS.get(self.who, LONG_MS)}
        found = yield from self.ask(broker, INIT, body)
        if name(found) != "NONE":
            return name(found)
        self._before = self._now
        self._now = Producer(found["producer_id"], found["producer_epoch"], self.who)
        kept = " of the same producer" * (self._now.id == self._before.id)
        return f"NONE, epoch {self._now.epoch}{kept}"

    def _add(self, broker: int, number: int, producer: Producer) -> Asking:
        body = {**self._identity(producer), "topics": [{"name": TOPIC, "partitions": [number]}]}
        found = yield from self.ask(broker, ADD, body)
        return "" if found is None else name(found["results"][0]["results"][0])

    def _produce(self, broker: int, number: int, producer: Producer) -> Asking:
        sequence = self._sequences.get((producer, number), 0)
        part = yield from self.produce(broker, TOPIC, number, producer=producer, sequence=sequence)
        if name(part) == "NONE":
            self._sequences[producer, number] = sequence + 1
        return appended(part)

    def _identity(self, producer: Producer) -> Mapping[str, object]:
        return {"transactional_id": self.who, "producer_id": producer.id, "producer_epoch": producer.epoch}
