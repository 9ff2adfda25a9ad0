"""Broker and topic settings under Kafka's own names, with the defaults of Kafka 2.3 (kafka-behaviour §10);
profiles say which of them other releases change.

A key that is not here is refused with a suggestion; a few that Kafka has and this file sets elsewhere say
where.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.schema.kinds import Boolean, Integer, Kind, Schema, Text, at
from scenarios.language.schema.reader import Reader, refuse_unknown

ConfigValue = int | bool
"""What a broker has; a topic has lists of replicas, too, as texts."""


@frozen
class Setting:
    """One Kafka setting; durations are integers in the unit that its name ends with, as in
    server.properties."""

    name: str
    kind: Kind[Any]
    default: Any
    help: str


def settings_table(*settings: Setting) -> Mapping[str, Setting]:
    """By name."""
    return {setting.name: setting for setting in settings}


LONG_MAX = 2**63 - 1
WEEK_MS = 7 * 24 * 3600 * 1000
_LIMIT = Integer(-1)
_COUNT, _POSITIVE, _SWITCH = Integer(0), Integer(1), Boolean()

BROKER_SETTINGS = settings_table(
    Setting("min.insync.replicas", _POSITIVE, 1, "acks=all needs that many replicas in sync"),
    Setting("unclean.leader.election.enable", _SWITCH, False, "may a replica out of sync become leader"),
    Setting("delete.topic.enable", _SWITCH, True, "may topics be deleted; else requests for it are dropped"),
    Setting("replica.lag.time.max.ms", _POSITIVE, 10_000, "a follower not caught up for longer leaves the ISR"),
    Setting("replica.lag.max.messages", _POSITIVE, 4_000, "a follower further behind leaves the ISR; kafka-0.8 only"),
    Setting("num.replica.fetchers", _POSITIVE, 1, "fetcher threads per source broker"),
    Setting("replica.fetch.wait.max.ms", _COUNT, 500, "how long an empty fetch waits at the leader"),
    Setting("replica.fetch.min.bytes", _COUNT, 1, "a fetch is answered at once when that much is there"),
    Setting("replica.fetch.max.bytes", _POSITIVE, 1_048_576, "most bytes of one partition in a fetch"),
    Setting("replica.fetch.response.max.bytes", _POSITIVE, 10_485_760, "most bytes of a whole fetch"),
    Setting("replica.fetch.backoff.ms", _COUNT, 1_000, "pause of a partition after an error"),
    Setting("replica.socket.timeout.ms", _POSITIVE, 30_000, "a fetch unanswered for longer has failed"),
    Setting(
        "replica.high.watermark.checkpoint.interval.ms",
        _POSITIVE,
        5_000,
        "how often high watermarks are saved",
    ),
    Setting("log.segment.bytes", Integer(14), 1 << 30, "a segment of a log ends before it would be larger"),
    Setting("log.roll.ms", _POSITIVE, WEEK_MS, "a segment ends when its first batch is older"),
    Setting("log.retention.bytes", _LIMIT, -1, "old segments go while the log is that large without them; -1: never"),
    Setting("log.retention.ms", _LIMIT, WEEK_MS, "segments go whose newest batch is older; -1: never"),
    Setting("log.retention.check.interval.ms", _POSITIVE, 300_000, "how often old segments are looked for"),
    Setting("log.flush.interval.messages", _POSITIVE, LONG_MAX, "unflushed records of a log that bring a flush"),
    Setting("log.flush.interval.ms", _COUNT, LONG_MAX, "time since a log's last flush that brings one"),
    Setting("log.flush.scheduler.interval.ms", _POSITIVE, LONG_MAX, "how often logs to flush by time are looked for"),
    Setting("log.segment.delete.delay.ms", _COUNT, 60_000, "how long a deleted log stays on the disk, renamed"),
    Setting("controller.socket.timeout.ms", _POSITIVE, 30_000, "a control request unanswered for longer is resent"),
    Setting("auto.leader.rebalance.enable", _SWITCH, True, "does leadership go back to preferred replicas by itself"),
    Setting("leader.imbalance.per.broker.percentage", _COUNT, 10, "the share led elsewhere that is too much"),
    Setting("leader.imbalance.check.interval.seconds", _POSITIVE, 300, "how often the controller looks at the shares"),
    Setting("controlled.shutdown.enable", _SWITCH, True, "does a broker ask the controller before it ends"),
    Setting("controlled.shutdown.max.retries", _POSITIVE, 3, "how often it asks before it ends all the same"),
    Setting("controlled.shutdown.retry.backoff.ms", _COUNT, 5_000, "pause after each failure"),
    Setting("request.timeout.ms", _POSITIVE, 30_000, "a request unanswered for longer has failed"),
    Setting("leader.replication.throttled.rate", _POSITIVE, LONG_MAX, "bytes/s to throttled followers (KIP-73)"),
    Setting("follower.replication.throttled.rate", _POSITIVE, LONG_MAX, "bytes/s from throttled leaders (KIP-73)"),
    Setting("leader.reassignment.throttled.rate", _POSITIVE, LONG_MAX, "bytes/s to replicas being added (KIP-542)"),
    Setting("follower.reassignment.throttled.rate", _POSITIVE, LONG_MAX, "bytes/s of replicas being added (KIP-542)"),
    Setting(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        _POSITIVE,
        LONG_MAX,
        "bytes/s between the log directories of a broker",
    ),
    Setting("replication.quota.window.num", _POSITIVE, 11, "samples in the throttle's window"),
    Setting("replication.quota.window.size.seconds", _POSITIVE, 1, "length of one sample"),
)

_REPLICA = re.compile(r"\d+:\d+", re.ASCII)


def _check_list(text: str) -> None:
    """As ThrottledReplicaListValidator does (2.3)."""
    if text.strip() != "*" and not all(_REPLICA.fullmatch(item.strip()) for item in text.split(",") if item.strip()):
        raise BadInput(f'{text!r} lists no replicas; write "*", or partition:broker with commas between, as "0:1,0:2"')


_REPLICA_LIST = Text(_check_list, "a list of replicas")
TOPIC_SETTINGS = settings_table(
    BROKER_SETTINGS["min.insync.replicas"],
    BROKER_SETTINGS["unclean.leader.election.enable"],
    Setting("leader.replication.throttled.replicas", _REPLICA_LIST, "", 'who sends under the rate: "*" or "0:1,0:2"'),
    Setting("follower.replication.throttled.replicas", _REPLICA_LIST, "", "who receives under the rate"),
    Setting("segment.bytes", Integer(14), 1 << 30, "a segment of a log ends before it would be larger"),
    Setting("segment.ms", _POSITIVE, WEEK_MS, "a segment ends when its first batch is older"),
    Setting("retention.bytes", _LIMIT, -1, "old segments go while the log is that large without them; -1: never"),
    Setting("retention.ms", _LIMIT, WEEK_MS, "segments go whose newest batch is older; -1: never"),
    Setting("flush.messages", _POSITIVE, LONG_MAX, "unflushed records of a log that bring a flush"),
    Setting("flush.ms", _COUNT, LONG_MAX, "time since its last flush that brings one, if such logs are looked for"),
)
QUOTA_RATES = tuple(name for name in BROKER_SETTINGS if name.endswith((".throttled.rate", ".io.max.bytes.per.second")))
"""Those that Kafka keeps for each broker by itself; the default of all brokers has no effect on them (2.3)."""
BROKERS_NAMES = {
    "segment.bytes": "log.segment.bytes",
    "segment.ms": "log.roll.ms",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
}
"""What brokers call a topic's setting, where that is another name."""
DYNAMIC_BROKER_SETTINGS = settings_table(
    *(
        BROKER_SETTINGS[name]
        for name in (
            "min.insync.replicas", "unclean.leader.election.enable", *BROKERS_NAMES.values(), *QUOTA_RATES,
            "num.replica.fetchers",
        )
    )
)  # fmt: skip
"""Those of brokers that can be changed while they run (KIP-226, 2.3)."""
DYNAMIC_SETTINGS = {**TOPIC_SETTINGS, **DYNAMIC_BROKER_SETTINGS}

_ELSEWHERE = {
    "file.delete.delay.ms": 'write "log.segment.delete.delay.ms" = 60000 in cluster.config',
    "zookeeper.session.timeout.ms": 'write session_timeout = "6s" in cluster.zk',
    "zookeeper.connection.timeout.ms": 'write session_timeout = "6s" in cluster.zk',
    "zookeeper.max.in.flight.requests": "write max_in_flight = 10 in cluster.zk",
    "broker.rack": "write cluster.racks = N",
    "default.replication.factor": "write replication_factor in the topic",
    "num.partitions": "write partitions in the topic",
}


@frozen
class Config(Kind[dict[str, Any]]):
    """A table of settings by Kafka's names; only those that the file states are kept. ``elsewhere``: for names that
    Kafka has, what to do instead."""

    free_keys = True
    settings: Mapping[str, Setting]
    elsewhere: Mapping[str, str] = field(factory=lambda: _ELSEWHERE)

    def read(self, value: object) -> dict[str, Any]:
        table = Reader(value).table
        self._refuse_bare_dots(table)
        refuse_unknown(table, self.settings, self.elsewhere)
        return {name: at(name, self.settings[name].kind.read, found) for name, found in table.items()}

    def _refuse_bare_dots(self, table: Mapping[str, object]) -> None:
        """TOML takes the dots of a bare `min.insync.replicas` for tables within tables."""
        for name, found in table.items():
            meant = next((setting for setting in self.settings if setting.startswith(f"{name}.")), None)
            if meant is not None and isinstance(found, Mapping):
                raise BadInput(f'names of Kafka hold dots; write it in quotes, such as "{meant}" = ...', where=name)

    def schema(self) -> Schema:
        return {
            "type": "object",
            "properties": {
                setting.name: {
                    **setting.kind.schema(),
                    "default": setting.default,
                    "description": setting.help,
                }
                for setting in self.settings.values()
            },
            "additionalProperties": False,
        }


BROKER_CONFIG = Config(BROKER_SETTINGS)
DYNAMIC_CONFIG = Config(DYNAMIC_SETTINGS)
TOPIC_CONFIG = Config(TOPIC_SETTINGS)
