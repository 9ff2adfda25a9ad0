"""The limits of copies: the throttle's quotas, network cards, disks, and fetches that carry so many bytes each."""

from __future__ import annotations

from enum import Enum
from math import inf
from typing import TYPE_CHECKING

from attrs import frozen

from scenarios.errors import BadInput
from scenarios.units import MICROSECONDS

if TYPE_CHECKING:
    from scenarios.language import Scenario

LARGEST_ID = 2_000
"""The largest broker id: the arithmetic has a row for each id below it."""


class LimitKind(Enum):
    """Something of which a broker has a limited amount, in words."""

    LEADER_QUOTA = "throttle as a leader"
    FOLLOWER_QUOTA = "throttle as a follower"
    EGRESS = "network card, outwards"
    INGRESS = "network card, inwards"
    READS = "disk, reading"
    WRITES = "disk, writing"


KINDS = tuple(LimitKind)


@frozen
class Capacities:
    """The limits of a cluster, apart from throttles. Rates are in bytes per second, and infinite where there is none.

    Attributes:
        egress, ingress: those of each broker's network card.
        read, write: those of one disk; ``disks`` of them are in each broker.
        round_trip_s: the time of a fetch without its bytes.
        response, partition: the most bytes of a fetch response, and of one partition in it.
        fetchers: num.replica.fetchers.
        wait_s: how long a fetch waits for data at the leader.
        backoff_s: how long a fetcher waits whose partitions are all held back.
        window_s, sample_s: the window of quotas, and one sample of it.
    """

    egress: tuple[float, ...]
    ingress: tuple[float, ...]
    read: float
    write: float
    disks: int
    round_trip_s: float
    response: int
    partition: int
    fetchers: int
    wait_s: float
    backoff_s: float
    window_s: float
    sample_s: float

    @property
    def has_cards(self) -> bool:
        """Whether anything but a throttle can be full."""
        return min(*self.egress, *self.ingress, self.read, self.write) < inf

    def asked_by(self, copies: int) -> int:
        """The bytes that the fetchers of one broker ask another for at a time, while it copies so many partitions."""
        threads = min(self.fetchers, copies)
        return threads * min(self.response, self.partition * -(-copies // threads))

    def fetched(self, leader: int, follower: int, copies: int) -> float:
        """The most bytes per second that these fetchers get: one fetch after the other in each."""
        asked = self.asked_by(copies)
        slowest = min(self.egress[leader], self.ingress[follower], self.read)
        threads = min(self.fetchers, copies)
        return asked / (self.round_trip_s + asked / threads / slowest)


def capacities_of(scenario: Scenario) -> Capacities:
    network, disk, settings = scenario.cluster.network, scenario.cluster.disk, scenario.settings()
    largest = max(scenario.cluster.ids)
    if largest > LARGEST_ID:
        raise BadInput(
            f"a forecast is made for ids up to {LARGEST_ID}, and there is a broker {largest}; number them from 0",
            where="cluster.broker_ids",
        )
    brokers = range(largest + 1)
    cards = {broker: card for card in network.cards for broker in card.brokers}

    def of(side: str) -> tuple[float, ...]:
        own = (getattr(cards[broker], side) if broker in cards else None for broker in brokers)
        return tuple(float(rate or getattr(network, side) or inf) for rate in own)

    def number(name: str) -> int:
        return int(settings[name])

    return Capacities(
        egress=of("egress"),
        ingress=of("ingress"),
        read=float(disk.read or inf),
        write=float(disk.write or inf),
        disks=scenario.cluster.log_dirs,
        round_trip_s=2 * (network.latency_us + disk.latency_us) / MICROSECONDS["s"],
        response=number("replica.fetch.response.max.bytes"),
        partition=number("replica.fetch.max.bytes"),
        fetchers=number("num.replica.fetchers"),
        wait_s=number("replica.fetch.wait.max.ms") / 1000,
        backoff_s=number("replica.fetch.backoff.ms") / 1000,
        window_s=float(number("replication.quota.window.num") * number("replication.quota.window.size.seconds")),
        sample_s=float(number("replication.quota.window.size.seconds")),
    )
