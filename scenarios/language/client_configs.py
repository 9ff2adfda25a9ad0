"""Settings of Kafka's clients under their own names, with the defaults of the clients of 2.3, whatever release the
brokers are of: clients are upgraded by themselves."""

from __future__ import annotations

from scenarios.language.configs import LONG_MAX, Config, Setting, settings_table
from scenarios.language.kinds import Boolean, Integer

_COUNT, _POSITIVE, _SWITCH = Integer(0), Integer(1), Boolean()
_REQUEST_TIMEOUT = Setting("request.timeout.ms", _POSITIVE, 30_000, "a request unanswered for longer has failed")
_RETRY_BACKOFF = Setting("retry.backoff.ms", _POSITIVE, 100, "pause before a request is tried again")

PRODUCER_SETTINGS = settings_table(
    Setting("enable.idempotence", _SWITCH, False, "are records numbered, so that none is written twice (KIP-98)"),
    Setting("retries", _COUNT, 2**31 - 1, "how often a batch is sent again"),
    Setting("batch.size", _POSITIVE, LONG_MAX, "bytes at which a batch is closed before its linger is over"),
    Setting("max.in.flight.requests.per.connection", _POSITIVE, 5, "requests that await their answer at a time"),
    _REQUEST_TIMEOUT,
    Setting("delivery.timeout.ms", _POSITIVE, 120_000, "a batch without a fate for longer is given up (KIP-91)"),
    _RETRY_BACKOFF,
)

CONSUMER_SETTINGS = settings_table(
    Setting("fetch.min.bytes", _POSITIVE, 1, "a fetch is answered when that much is there"),
    Setting("fetch.max.wait.ms", _COUNT, 500, "or after that time"),
    Setting("fetch.max.bytes", _POSITIVE, 52_428_800, "most bytes of a whole fetch"),
    Setting("max.partition.fetch.bytes", _POSITIVE, 1_048_576, "most bytes of one partition in a fetch"),
    Setting("max.poll.records", _POSITIVE, 500, "most messages of one poll"),
    _REQUEST_TIMEOUT,
    _RETRY_BACKOFF,
)

PRODUCER_CONFIG = Config(
    PRODUCER_SETTINGS,
    {
        "acks": 'write acks = "all" beside config',
        "linger.ms": 'write linger = "100ms" beside config',
        "transactional.id": "there are no transactions (docs/limits.md)",
        "buffer.memory": "a producer's buffer has no end (docs/limits.md)",
    },
)
CONSUMER_CONFIG = Config(
    CONSUMER_SETTINGS,
    {
        "auto.offset.reset": 'write offset_reset = "earliest" beside config',
        "group.id": "a consumer is assigned its partitions; there are no groups (docs/limits.md)",
        "isolation.level": "there are no transactions (docs/limits.md)",
    },
)
