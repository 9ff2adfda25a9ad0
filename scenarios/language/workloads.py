"""The load on a topic, in OpenMessaging Benchmark's words.

There is no batch rate beside `producerRate` and `linger`: a producer sends one batch per partition every
linger, so 10 batches a second and partition are `linger = "100ms"` (readings §10). What else a producer can
be told has Kafka's names and stands in `config`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.client_configs import PRODUCER_CONFIG, PRODUCER_SETTINGS
from scenarios.language.configs import ConfigValue
from scenarios.language.kinds import DURATION, SOME_TIME, Choice, Integer, Kind, Schema, SizeOrInteger, refuse
from scenarios.language.names import TOPIC_NAME
from scenarios.language.reader import key

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


ROUND_ROBIN, STICKY = "round-robin", "sticky"
MOST_IN_FLIGHT = 5
"""What a broker remembers of an idempotent producer."""

_acks = Acks()


def _canonical_acks(value: str | int) -> str:
    return _acks.read(value)


@frozen(kw_only=True)
class WorkloadSpec:
    """The producers of one topic: how much they write, and how."""

    topic: str = field(metadata=key(TOPIC_NAME, "the topic written to"))
    producer_rate: int = field(
        metadata=key(Integer(1), "messages per second over the whole topic", name="producerRate")
    )
    message_size: int = field(default=1024, metadata=key(SizeOrInteger(1), "bytes per message", name="messageSize"))
    keys: int | None = field(
        default=None,
        metadata=key(
            Integer(1, 1_000_000), "that many keys take turns, each in the partition of its hash; absent = no keys"
        ),
    )
    partitioner: str = field(
        default=ROUND_ROBIN,
        metadata=key(
            Choice((ROUND_ROBIN, STICKY), "partitioner"),
            "where messages without a key go: in turn, or as in clients of 2.4 (KIP-480)",
        ),
    )
    producers: int = field(
        default=1,
        metadata=key(Integer(1, 10_000), "how many producers share the rate", name="producersPerTopic"),
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

    config: Mapping[str, ConfigValue] = field(
        factory=dict, metadata=key(PRODUCER_CONFIG, "producer settings under Kafka's names")
    )

    def setting(self, name: str) -> ConfigValue:
        """A producer setting: the one stated, else Kafka's default."""
        return self.config.get(name, PRODUCER_SETTINGS[name].default)

    def __attrs_post_init__(self) -> None:
        if self.producers > self.producer_rate:
            raise BadInput(
                f"{self.producers} producers cannot share {self.producer_rate} messages a second; write fewer",
                where="producersPerTopic",
            )
        if self.setting("enable.idempotence"):
            self._check_idempotence()
        if self.stop_us is not None and self.stop_us <= self.start_us:
            raise BadInput("the load stops before it starts; write a later stop", where="stop")
        if self.config.get("delivery.timeout.ms", self.least_delivery_ms) < self.least_delivery_ms:
            raise BadInput(
                f"Kafka wants linger and request.timeout.ms together; write {self.least_delivery_ms} or more",
                where="config.delivery.timeout.ms",
            )

    @property
    def least_delivery_ms(self) -> int:
        """Before that, no batch may expire."""
        return self.linger_us // 1000 + int(self.setting("request.timeout.ms"))

    @property
    def delivery_timeout_us(self) -> int:
        """As stated; Kafka's default gives way to a longer linger."""
        return 1000 * max(int(self.setting("delivery.timeout.ms")), self.least_delivery_ms)

    def _check_idempotence(self) -> None:
        """As Kafka's client refuses to start."""
        if self.acks != "all":
            raise BadInput('enable.idempotence needs acks = "all"', where="acks")
        if not self.setting("retries"):
            raise BadInput("enable.idempotence needs retries; write 1 or more", where="config.retries")
        name = "max.in.flight.requests.per.connection"
        if int(self.setting(name)) > MOST_IN_FLIGHT:
            raise BadInput(f"enable.idempotence allows {MOST_IN_FLIGHT} at most", where=f"config.{name}")

    @property
    def required_acks(self) -> int:
        """The field of a produce request; -1: all."""
        return -1 if self.acks == "all" else int(self.acks)
