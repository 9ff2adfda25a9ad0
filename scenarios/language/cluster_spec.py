"""The cluster of a scenario: its brokers, their racks, the network between them, ZooKeeper."""

from __future__ import annotations

from collections.abc import Sequence

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
MOST_ID = (1 << 31) - 1
"""The largest broker.id."""

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

    broker_ids: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Integer(0, MOST_ID), unique=True), "the ids of the brokers, ascending; absent = 0 to n-1"),
    )
    brokers: int = field(
        default=0,
        metadata=key(Integer(1, MOST_BROKERS), "how many brokers; absent = as many as `broker_ids` has"),
    )
    controller: int | None = field(
        default=None,
        metadata=key(BROKER_ID, "the broker that is controller at first; absent = the one that wins the election"),
    )
    racks: int = field(
        default=1, metadata=key(Integer(1), "how many racks; the n-th broker, from 0 on, is in rack n modulo racks")
    )
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
    def ids(self) -> Sequence[int]:
        """The ids of the brokers, in ascending order."""
        return self.broker_ids or range(self.brokers)

    @property
    def rack_of(self) -> dict[int, str]:
        """The rack of each broker; empty where they have none."""
        if self.rack_names:
            return dict(zip(self.ids, self.rack_names, strict=True))
        return {id: rack_of(place, self.racks) for place, id in enumerate(self.ids)} if self.racks > 1 else {}

    def check_broker(self, broker: int, where: str) -> None:
        """Refuse a broker that there is not. Raises: BadInput."""
        if broker not in self.ids:
            raise BadInput(f"broker {broker} does not exist; write {self.known_ids}", where=where)

    @property
    def known_ids(self) -> str:
        """The ids, for a message."""
        if self.broker_ids:
            return f"one of {', '.join(map(str, self.broker_ids))}"
        return f"an id from 0 to {self.brokers - 1}"

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.brokers and not self.broker_ids:
            raise BadInput("the key 'brokers' is missing; add it, or broker_ids")
        if not self.brokers:
            object.__setattr__(self, "brokers", len(self.broker_ids))
        self._check_ids()
        if self.rack_names and len(self.rack_names) != self.brokers:
            raise BadInput(
                f"{len(self.rack_names)} racks for {self.brokers} brokers; write one each", where="rack_names"
            )
        if self.rack_names and self.racks > 1:
            raise BadInput("the rack of each broker is stated already; keep one of both", where="racks")
        if self.controller is not None:
            self.check_broker(self.controller, "controller")
        self._check_cards()

    def _check_ids(self) -> None:
        if self.broker_ids and len(self.broker_ids) != self.brokers:
            raise BadInput(
                f"{self.brokers} brokers, but {len(self.broker_ids)} ids; leave 'brokers' out or make them agree",
                where="brokers",
            )
        if list(self.broker_ids) != sorted(self.broker_ids):
            ascending = ", ".join(map(str, sorted(self.broker_ids)))
            raise BadInput(f"the ids do not ascend; write [{ascending}]", where="broker_ids")

    def _check_cards(self) -> None:
        seen: list[int] = []
        for index, card in enumerate(self.network.cards):
            where = f"network.cards[{index}].brokers"
            for broker in card.brokers:
                self.check_broker(broker, where)
                if broker in seen:
                    raise BadInput(f"broker {broker} has a card already; name each broker once", where=where)
                seen.append(broker)
