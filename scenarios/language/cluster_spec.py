"""The cluster of a scenario: brokers 0 to n-1, their racks, the network between them, ZooKeeper."""

from __future__ import annotations

from attrs import Factory, field, frozen

from emulator.protocol.configs import ConfigValue
from emulator.protocol.placement import rack_of
from scenarios.errors import BadInput
from scenarios.language.kafka_settings import BROKER_CONFIG
from scenarios.language.messages import SERVED
from scenarios.language.schema.kinds import (
    BROKER_ID,
    DURATION,
    RATE,
    REPLICAS,
    SIGMA,
    SOME_TIME,
    Choice,
    Integer,
    ListOf,
    MapOf,
    Text,
    as_tuple,
)
from scenarios.language.schema.table_reader import Block, Checked, key
from scenarios.profiles.profile import SCALA_2_12, SCALA_2_13

MOST_BROKERS = 10_000
MOST_LOG_DIRS = 64

DRAWN, ALIGNED = "drawn", "aligned"

SERVICE_TIMES = MapOf(DURATION, SERVED)
"""Service times by the names of ``SERVED``."""


@frozen(kw_only=True)
class CardSpec(Checked):
    """The network card of some brokers, where it differs from that of the others."""

    brokers: tuple[int, ...] = field(converter=as_tuple, metadata=key(REPLICAS, "the brokers that have this card"))
    egress: int | None = field(
        default=None, metadata=key(RATE, "bandwidth out of each of them; absent = that of the other brokers")
    )
    ingress: int | None = field(
        default=None, metadata=key(RATE, "bandwidth into each of them; absent = that of the other brokers")
    )


@frozen(kw_only=True)
class NetworkSpec(Checked):
    """Links between brokers: one-way delay, its jitter, and each broker's bandwidth (bytes per second)."""

    latency_us: int = field(default=500, metadata=key(DURATION, "one-way delay of a link", name="latency"))
    jitter_us: int = field(
        default=0, metadata=key(DURATION, "the delay varies at random by up to this, up or down", name="jitter")
    )
    sigma: float = field(
        default=0.0, metadata=key(SIGMA, "spread of a lognormal delay with the median `latency`; 0 = none")
    )
    egress: int | None = field(default=None, metadata=key(RATE, "bandwidth out of a broker; absent = unlimited"))
    ingress: int | None = field(default=None, metadata=key(RATE, "bandwidth into a broker; absent = unlimited"))
    cards: tuple[CardSpec, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Block(CardSpec)), "brokers with a bandwidth of their own"),
    )


@frozen(kw_only=True)
class DiskSpec(Checked):
    """The disks under the log directories. Each serves its appends and reads in the order in which they arrive."""

    read: int | None = field(default=None, metadata=key(RATE, "bytes read per second; absent = reads take no time"))
    write: int | None = field(
        default=None, metadata=key(RATE, "bytes appended per second; absent = appends take no time")
    )
    latency_us: int = field(
        default=0, metadata=key(DURATION, "additional time of each append and read", name="latency")
    )

    writeback_us: int | None = field(
        default=None,
        metadata=key(
            SOME_TIME,
            "age at which the operating system writes new data to the disk by itself; absent = never",
            name="writeback",
        ),
    )


@frozen(kw_only=True)
class ZooKeeperSpec(Checked):
    """ZooKeeper as a broker sees it: round trip, pipelining, session timeout."""

    rtt_us: int = field(default=1_000, metadata=key(DURATION, "round trip of a request", name="rtt"))
    max_in_flight: int = field(default=10, metadata=key(Integer(1), "most requests that one client pipelines"))
    session_timeout_us: int | None = field(
        default=None,
        metadata=key(SOME_TIME, "silence after which a session expires", name="session_timeout"),
    )


@frozen(kw_only=True)
class ClusterSpec(Checked):
    """Brokers, racks, settings, network and ZooKeeper."""

    brokers: int = field(metadata=key(Integer(1, MOST_BROKERS), "how many brokers; their ids are 0 to n-1"))
    controller: int | None = field(
        default=None,
        metadata=key(BROKER_ID, "the broker that is controller at first; absent = the one that wins the election"),
    )
    racks: int = field(default=1, metadata=key(Integer(1), "how many racks; broker b is in rack b modulo racks"))
    rack_names: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(
            ListOf(Text()),
            "the rack of each broker, in the order of their ids, where they do not alternate; instead of `racks`",
        ),
    )
    log_dirs: int = field(
        default=1,
        metadata=key(Integer(1, MOST_LOG_DIRS), "log directories of each broker, each on its own disk: /data/0, ..."),
    )
    disk: DiskSpec = field(
        default=Factory(DiskSpec), metadata=key(Block(DiskSpec), "the disks under the log directories")
    )
    config: dict[str, ConfigValue] = field(
        default=Factory(dict), metadata=key(BROKER_CONFIG, "broker settings under Kafka's names")
    )
    network: NetworkSpec = field(
        default=Factory(NetworkSpec), metadata=key(Block(NetworkSpec), "links between the brokers")
    )
    service: dict[str, int] = field(
        default=Factory(dict),
        metadata=key(
            SERVICE_TIMES,
            "how long requests occupy a request handler thread, by message, and for each partition that one names",
        ),
    )
    zk: ZooKeeperSpec = field(default=Factory(ZooKeeperSpec), metadata=key(Block(ZooKeeperSpec), "ZooKeeper"))
    scala: str | None = field(
        default=None,
        metadata=key(
            Choice((SCALA_2_12, SCALA_2_13), "Scala"),
            "the build of the brokers, kafka_2.12 or kafka_2.13 (since 2.4), whose order sets and maps have; absent = "
            "that of the release's usual download: 2.13 since 2.6",
        ),
    )
    phases: str = field(
        default=DRAWN,
        metadata=key(
            Choice((DRAWN, ALIGNED), "phases"),
            "drawn: the periodic work of each broker, its pings and ZooKeeper's ticks come at instants of their own, "
            "drawn from the seed; aligned: all count from the start",
        ),
    )

    @property
    def log_dir_names(self) -> tuple[str, ...]:
        """The log directories of each broker."""
        return tuple(f"/data/{number}" for number in range(self.log_dirs))

    @property
    def rack_of(self) -> dict[int, str]:
        """The rack of each broker; empty where they have none."""
        if self.rack_names:
            return dict(enumerate(self.rack_names))
        return {broker: rack_of(broker, self.racks) for broker in range(self.brokers)} if self.racks > 1 else {}

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.rack_names and len(self.rack_names) != self.brokers:
            raise BadInput(
                f"{len(self.rack_names)} racks for {self.brokers} brokers; write one each", where="rack_names"
            )
        if self.rack_names and self.racks > 1:
            raise BadInput("the rack of each broker is stated already; keep one of both", where="racks")
        if self.controller is not None and self.controller >= self.brokers:
            raise BadInput(
                f"broker {self.controller} does not exist; write an id from 0 to {self.brokers - 1}",
                where="controller",
            )
        self._check_cards()

    def _check_cards(self) -> None:
        seen: list[int] = []
        for index, card in enumerate(self.network.cards):
            where = f"network.cards[{index}].brokers"
            for broker in card.brokers:
                if broker >= self.brokers:
                    raise BadInput(
                        f"broker {broker} does not exist; write ids from 0 to {self.brokers - 1}", where=where
                    )
                if broker in seen:
                    raise BadInput(f"broker {broker} has a card already; name each broker once", where=where)
                seen.append(broker)
