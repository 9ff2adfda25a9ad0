"""The settings of the emulated ensemble, and its address."""

from attrs import frozen

from emulator.network import Delay, Network
from emulator.network.route import Port

ZOOKEEPER = -1
"""The machine id of the ensemble. ``ZkWritten`` names it as the client where ZooKeeper itself is the writer."""

PORT = "zookeeper"

SIZE = 100
"""Bytes of any message. The routes to ZooKeeper have no bandwidth limit, so the value has no effect."""


@frozen
class ZkSpec:
    """Times in virtual microseconds.

    Attributes:
        rtt_us: round trip between any machine and the ensemble; ``jitter_us`` is the largest deviation of each way.
        session_timeout_us: zookeeper.session.timeout.ms (6 s until Kafka 2.5). The client pings after a third of it in
            silence and closes a connection after two thirds without an answer.
        max_in_flight: zookeeper.max.in.flight.requests.
        tick_us: the server looks for expired sessions so often (tickTime), so a session lives for up to one tick more
            than its timeout.
        tick_phase_us: when it looks for the first time. It looks at multiples of ``tick_us`` by a clock of its own
            (SessionTrackerImpl.roundToInterval, 3.4), whose start has nothing to do with that of the brokers.
        write_us: how long the ensemble needs for one write; writes wait for each other.
        read_us: how long it needs for one read; what a session asks waits for what it asked before.
        retry_min_us, retry_max_us: the range of the pause before a client connects again, drawn uniformly.
    """

    rtt_us: int = 1_000
    jitter_us: int = 100
    session_timeout_us: int = 6_000_000
    max_in_flight: int = 10
    tick_us: int = 2_000_000
    tick_phase_us: int = 0
    write_us: int = 0
    read_us: int = 0
    retry_min_us: int = 100_000
    retry_max_us: int = 1_000_000


def lay_routes(network: Network, machine: int, spec: ZkSpec) -> None:
    """Give the routes between ``machine`` and ZooKeeper the latency of ``spec`` and no bandwidth limit."""
    for source, target in ((machine, ZOOKEEPER), (ZOOKEEPER, machine)):
        route = network.route(source, target)
        route.set_delay(Delay(spec.rtt_us // 2, spec.jitter_us))
        route.egress = route.ingress = Port(None)
