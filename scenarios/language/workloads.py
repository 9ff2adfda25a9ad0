"""The load on a topic, in OpenMessaging Benchmark's words.

There is no batch rate beside ``producerRate`` and ``linger``: a producer sends one batch per partition every
linger, so 10 batches a second and partition are ``linger = "100ms"`` (readings §10). What else a producer can
be configured with is in ``config``, under Kafka's names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.kafka_settings import Config, Setting, settings_table
from scenarios.language.schema.kinds import (
    DURATION,
    SOME_TIME,
    Boolean,
    Choice,
    Integer,
    Kind,
    ListOf,
    Number,
    Schema,
    SizeOrInteger,
    as_tuple,
    refuse,
)
from scenarios.language.schema.table_reader import Checked, key
from scenarios.language.targets import CLIENT_NAME
from scenarios.language.topic_spec import TOPIC_NAME

_COUNT, _POSITIVE, _SWITCH = Integer(0), Integer(1), Boolean()
_REQUEST_TIMEOUT = Setting(
    "request.timeout.ms", _POSITIVE, 30_000, "how long a request may be unanswered before it has failed"
)
_RETRY_BACKOFF = Setting("retry.backoff.ms", _POSITIVE, 100, "pause before a request is tried again")

PRODUCER_SETTINGS = settings_table(
    Setting("enable.idempotence", _SWITCH, False, "whether records are numbered, so none is written twice (KIP-98)"),
    Setting("retries", _COUNT, 2**31 - 1, "how often a batch is sent again"),
    Setting("batch.size", _POSITIVE, 1_000_000, "bytes at which a batch is closed before its linger is over"),
    Setting("max.request.size", _POSITIVE, 1_048_576, "a batch is no larger; a larger message is not sent at all"),
    Setting("max.in.flight.requests.per.connection", _POSITIVE, 5, "requests that await their answer at a time"),
    _REQUEST_TIMEOUT,
    Setting("delivery.timeout.ms", _POSITIVE, 120_000, "a batch without a fate for longer is given up (KIP-91)"),
    _RETRY_BACKOFF,
)

CONSUMER_SETTINGS = settings_table(
    Setting("fetch.min.bytes", _POSITIVE, 1, "a fetch is answered when that much is there"),
    Setting("fetch.max.wait.ms", _COUNT, 500, "or after that time"),
    Setting("fetch.max.bytes", _POSITIVE, 52_428_800, "the largest number of bytes in a response to Fetch"),
    Setting(
        "max.partition.fetch.bytes",
        _POSITIVE,
        1_048_576,
        "the largest number of bytes of one partition in a response to Fetch",
    ),
    Setting("max.poll.records", _POSITIVE, 500, "most messages of one poll"),
    _REQUEST_TIMEOUT,
    _RETRY_BACKOFF,
)

PRODUCER_CONFIG = Config(
    PRODUCER_SETTINGS,
    {
        "acks": 'write acks = "all" beside config',
        "linger.ms": 'write linger = "100ms" beside config',
        "transactional.id": "emulated clients have no transactions (docs/understand/limits.md)",
        "buffer.memory": "a producer's buffer has no end (docs/understand/limits.md)",
    },
)
CONSUMER_CONFIG = Config(
    CONSUMER_SETTINGS,
    {
        "auto.offset.reset": 'write offset_reset = "earliest" beside config',
        "group.id": "a consumer is assigned its partitions; there are no groups (docs/understand/limits.md)",
        "isolation.level": "emulated clients have no transactions (docs/understand/limits.md)",
    },
)


_RESETS = ("latest", "earliest", "none")


@frozen(kw_only=True)
class ConsumerSpec(Checked):
    """A consumer of one topic, and how it reads."""

    topic: str = field(metadata=key(TOPIC_NAME, "the topic read"))
    partitions: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Integer(0), unique=True), "its partitions; absent = all that the topic has at the start"),
    )
    offset_reset: str = field(
        default="latest",
        metadata=key(
            Choice(_RESETS, "policy"),
            "auto.offset.reset: where it starts, and starts again when its position is out of range",
        ),
    )
    poll_us: int = field(
        default=0, metadata=key(DURATION, "time that the application spends on the messages of one poll", name="poll")
    )
    start_us: int = field(default=0, metadata=key(DURATION, "when it starts", name="start"))
    stop_us: int | None = field(
        default=None, metadata=key(SOME_TIME, "when it is closed; absent = when the run ends", name="stop")
    )
    config: Mapping[str, int | bool] = field(
        factory=dict, metadata=key(CONSUMER_CONFIG, "consumer settings under Kafka's names")
    )
    name: str = field(
        default="",
        metadata=key(CLIENT_NAME, 'its own name, for "client(NAME)" in targets; several may share it'),
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.stop_us is not None and self.stop_us <= self.start_us:
            raise BadInput("the consumer stops before it starts; write a later stop", where="stop")

    def setting(self, name: str) -> int:
        """A consumer setting: the one stated, else Kafka's default."""
        return int(self.config.get(name, CONSUMER_SETTINGS[name].default))


_ACKS = re.compile("all|-1|0|[1-9][0-9]{0,8}")


class Acks(Kind[str]):
    """Which replicas must have a batch. Whether numbers above 1 are allowed depends on the profile."""

    def read(self, value: object) -> str:
        text = str(value)
        if isinstance(value, bool) or not isinstance(value, (int, str)) or not _ACKS.fullmatch(text):
            raise refuse(value, '"0", "1" or "all"')
        return "all" if text == "-1" else text

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "integer", "minimum": -1}, {"type": "string", "pattern": f"^({_ACKS.pattern})$"}]}


ROUND_ROBIN, STICKY = "round-robin", "sticky"
MOST_IN_FLIGHT = 5
"""The number of batches of an idempotent producer that a broker remembers per partition."""

_acks = Acks()


def full_batch(batch_size: int, max_request_size: int, message_size: int) -> int:
    """The number of messages in a full batch: one at least, which is too large then. Sizes are in bytes."""
    return max(1, min(batch_size, max_request_size) // message_size)


@frozen(kw_only=True)
class WorkloadSpec(Checked):
    """The producers of one topic: how much they write, and how."""

    topic: str = field(metadata=key(TOPIC_NAME, "the topic written to"))
    producer_rate: int = field(
        metadata=key(Integer(1), "messages per second, over the whole topic", name="producerRate")
    )
    message_size: int = field(default=1024, metadata=key(SizeOrInteger(1), "bytes per message", name="messageSize"))
    keys: int | None = field(
        default=None,
        metadata=key(
            Integer(1, 1_000_000), "number of keys, used in turn, each to the partition of its hash; absent = no keys"
        ),
    )
    key_skew: float = field(
        default=0.0,
        metadata=key(
            Number(0, 3),
            "Zipf's exponent s: the n-th most used key comes 1 / n^s as often; the seed draws which; 0: in turn",
        ),
    )
    shares: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(
            ListOf(Integer(0)), "how much each partition gets beside the others, without keys; absent = all the same"
        ),
    )
    partitioner: str = field(
        default=ROUND_ROBIN,
        metadata=key(
            Choice((ROUND_ROBIN, STICKY), "partitioner"),
            "where messages without a key go: to each partition in turn, or one per batch as from 2.4 on (KIP-480)",
        ),
    )
    producers: int = field(
        default=1,
        metadata=key(Integer(1, 10_000), "how many producers share the rate", name="producersPerTopic"),
    )
    acks: str = field(
        default="all",
        metadata=key(
            _acks, "which replicas must have a batch before it is acknowledged: 0, 1 or all; in kafka-0.8 also a number"
        ),
    )
    linger_us: int = field(
        default=100_000,
        metadata=key(SOME_TIME, "how long a producer gathers messages into one batch", name="linger"),
    )
    start_us: int = field(default=0, metadata=key(DURATION, "when the load starts", name="start"))
    stop_us: int | None = field(
        default=None, metadata=key(SOME_TIME, "when it stops; absent = when the run ends", name="stop")
    )

    config: Mapping[str, int | bool] = field(
        factory=dict, metadata=key(PRODUCER_CONFIG, "producer settings under Kafka's names")
    )
    name: str = field(
        default="",
        metadata=key(CLIENT_NAME, 'its own name, for "client(NAME)" in targets; several may share it'),
    )

    def setting(self, name: str) -> int | bool:
        """A producer setting: the one stated, else Kafka's default."""
        return self.config.get(name, PRODUCER_SETTINGS[name].default)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.shares and (self.keys is not None or self.partitioner == STICKY or not any(self.shares)):
            raise BadInput(
                "shares are of messages without keys that are divided in turn; write neither keys nor the sticky "
                "partitioner, and one share above 0",
                where="shares",
            )
        if self.key_skew and self.keys is None:
            raise BadInput("there are no keys that could be used more or less often; write keys", where="key_skew")
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
        """The least delivery.timeout.ms that Kafka's client accepts."""
        return self.linger_us // 1000 + int(self.setting("request.timeout.ms"))

    @property
    def delivery_timeout_us(self) -> int:
        """The delivery timeout: the stated one; the default is raised for a longer linger, as Kafka's client does."""
        return 1000 * max(int(self.setting("delivery.timeout.ms")), self.least_delivery_ms)

    def _check_idempotence(self) -> None:
        """Refuse what Kafka's client refuses when it starts."""
        if self.acks != "all":
            raise BadInput('enable.idempotence needs all replicas in sync; write acks = "all"', where="acks")
        if not self.setting("retries"):
            raise BadInput("enable.idempotence needs retries; write 1 or more", where="config.retries")
        name = "max.in.flight.requests.per.connection"
        if int(self.setting(name)) > MOST_IN_FLIGHT:
            raise BadInput(f"enable.idempotence allows {MOST_IN_FLIGHT} at most; write no more", where=f"config.{name}")

    @property
    def required_acks(self) -> int:
        """The acks field of a produce request; -1: all."""
        return -1 if self.acks == "all" else int(self.acks)
