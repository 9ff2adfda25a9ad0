"""The plan of one application: what a driver is asked to do, as one JSON object (docs/use/clients-under-chaos.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from scenarios.chaos.block_draws import Draws

PRODUCE, CONSUME, TRANSACT = "produce", "consume", "transact"
TOPIC, GROUP = "orders", "readers"
ACKS, IDEMPOTENCE = "acks", "enable.idempotence"
IN_FLIGHT = "max.in.flight.requests.per.connection"
REQUEST_TIMEOUT, SESSION_TIMEOUT = "request.timeout.ms", "session.timeout.ms"
ISOLATION, COMMITTED, UNCOMMITTED = "isolation.level", "read_committed", "read_uncommitted"
OF_A_GROUP = ("group.id", "auto.offset.reset", "enable.auto.commit", SESSION_TIMEOUT, "heartbeat.interval.ms")
"""Settings of a consumer that is the member of a group."""
RECORDS_PER_S = 100
RECORDS_OF_TRANSACTION = 4
ABORTED = 5
"""One of so many transactions is aborted by the application itself."""


@frozen(kw_only=True)
class ApplicationPlan:
    """One application of a run.

    Attributes:
        role: produce, consume, or transact (a producer of transactions).
        name: its client.id, and the first part of the value of each of its records.
        partitions: the number of partitions of the topic; a producer writes to all of them in turn.
        rate: records in each second of real time.
        settings: settings of the client by their names in Kafka, without the addresses.
    """

    role: str
    name: str
    partitions: int
    rate: int = RECORDS_PER_S
    topic: str = TOPIC
    settings: Mapping[str, Any] = field(factory=dict)

    def to_line(self, servers: str) -> str:
        """The line that the driver gets. ``servers``: the addresses of the brokers."""
        settings = {"bootstrap.servers": servers, "client.id": self.name, **self.settings}
        table = {"role": self.role, "name": self.name, "topic": self.topic, "partitions": self.partitions}
        if self.role != CONSUME:
            table["rate"] = self.rate
        if self.role == TRANSACT:
            table |= {"records": RECORDS_OF_TRANSACTION, "aborted": ABORTED}
        return json.dumps({**table, "settings": settings}) + "\n"

    def without(self, names: tuple[str, ...]) -> ApplicationPlan:
        """A copy without settings that the client does not have."""
        return evolve(self, settings={name: value for name, value in self.settings.items() if name not in names})

    @property
    def acks_all(self) -> bool:
        return self.settings.get(ACKS) == "all"

    @property
    def idempotent(self) -> bool:
        return bool(self.settings.get(IDEMPOTENCE))

    @property
    def keeps_order(self) -> bool:
        """Whether the client promises that records of a partition stay in the order in which they were sent."""
        return self.idempotent or self.settings.get(IN_FLIGHT) == 1

    @property
    def reads_committed(self) -> bool:
        return self.settings.get(ISOLATION) == COMMITTED

    @property
    def words(self) -> str:
        """The settings that a seed draws, in short."""
        shown = (ACKS, IDEMPOTENCE, IN_FLIGHT, REQUEST_TIMEOUT, ISOLATION, SESSION_TIMEOUT)
        found = [f"{name}={self.settings[name]}" for name in shown if name in self.settings]
        return f"{self.role} {' '.join(found)}"


def draw_plans(seed: int, partitions: int, rate: float) -> tuple[ApplicationPlan, ...]:
    """The applications of a seed: a producer, with transactions or without, and the member of a group that reads.

    Args:
        rate: virtual seconds for each second. The brokers' times of sessions and transactions are virtual, and clients
            keep them alive in real time.
    """
    draws = Draws.of(seed, "clients")
    transacts = draws.sub("transactions").chance(0.3)
    writer = _transacting(partitions, rate) if transacts else _producing(draws.sub("producer"), partitions)
    patience = draws.sub("patience").weighted(((2, None), (1, 1_500), (1, 4_000)))
    if patience is not None:
        writer = evolve(writer, settings={**writer.settings, REQUEST_TIMEOUT: patience})
    committed = transacts or draws.sub("isolation").chance(0.3)
    reader = ApplicationPlan(
        role=CONSUME,
        name="reader",
        partitions=partitions,
        settings={
            "group.id": GROUP,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            ISOLATION: COMMITTED if committed else UNCOMMITTED,
            SESSION_TIMEOUT: round(draws.sub("session").choice((6_000, 10_000)) * max(1.0, rate)),
            "heartbeat.interval.ms": 1_000,
        },
    )
    return writer, reader


def _producing(draws: Draws, partitions: int) -> ApplicationPlan:
    ways: tuple[tuple[int, dict[str, Any]], ...] = (
        (4, {ACKS: "all", IDEMPOTENCE: True}),
        (3, {ACKS: "all", IDEMPOTENCE: False}),
        (2, {ACKS: "all", IDEMPOTENCE: False, IN_FLIGHT: 1}),
        (1, {ACKS: 1, IDEMPOTENCE: False}),
        (1, {ACKS: 0, IDEMPOTENCE: False}),
    )
    return ApplicationPlan(role=PRODUCE, name="writer", partitions=partitions, settings=draws.weighted(ways))


def _transacting(partitions: int, rate: float) -> ApplicationPlan:
    settings = {
        ACKS: "all", IDEMPOTENCE: True, "transactional.id": "writer",
        "transaction.timeout.ms": round(15_000 * max(1.0, rate)),
    }  # fmt: skip
    return ApplicationPlan(role=TRANSACT, name="writer", partitions=partitions, settings=settings)
