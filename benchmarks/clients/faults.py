"""The faults, each as what is done to a served cluster while the applications run."""

import time
from collections.abc import Callable

from attrs import frozen

from scenarios.testing.kafka import KafkaServer

PARTITION = "orders-0"
LEADER = f"leader({PARTITION})"
OFFSETS = "__consumer_offsets-0"
BEFORE_S = 3.0
"""The applications run undisturbed for so long, once both have begun."""
SOON_S = 60.0


@frozen
class Fault:
    """One fault.

    Attributes:
        name: the name for ``--fault``.
        words: the fault in words, for readers.
        seconds: how long the producer sends.
        perform: called ``BEFORE_S`` after both applications have begun.
    """

    name: str
    words: str
    seconds: float
    perform: Callable[[KafkaServer], object]


def leader_dies(server: KafkaServer) -> None:
    server.crash(LEADER)
    led(server, by_other_than=0)


def leader_moves(server: KafkaServer) -> None:
    server.reassign(PARTITION, [1, 2, 0])
    server.until(lambda: server.state(PARTITION)["replicas"] == [1, 2, 0], SOON_S)
    server.act("election.preferred")


def too_few_in_sync(server: KafkaServer) -> None:
    server.crash(1)
    server.crash(2)
    server.until(lambda: server.state(PARTITION)["isr"] == [0], SOON_S)
    time.sleep(3)
    server.start(1)
    server.start(2)


def unclean_election(server: KafkaServer) -> None:
    server.act("config.set", topic="orders", config={"min.insync.replicas": 1})
    server.crash(1)
    server.crash(2)
    server.until(lambda: server.state(PARTITION)["isr"] == [0], SOON_S)
    time.sleep(2)
    server.act("config.set", topic="orders", config={"unclean.leader.election.enable": True})
    server.crash(0)
    server.start(1)
    server.start(2)
    led(server, by_other_than=0)


def coordinator_dies(server: KafkaServer) -> None:
    server.crash(f"leader({OFFSETS})")


def leader_pauses(server: KafkaServer) -> None:
    server.act("broker.pause", LEADER, duration="30s")


def metadata_is_stale(server: KafkaServer) -> None:
    server.act("link.cut", "controller", peer=2, direction="from", duration="10s")
    server.reassign(PARTITION, [1, 2, 0])
    time.sleep(1)
    server.act("election.preferred")


def controller_dies(server: KafkaServer) -> None:
    server.reassign(PARTITION, [1, 2, 0])
    server.crash("controller")


def requests_are_cut(server: KafkaServer) -> None:
    server.act("link.cut", "client(producer)", peer=0, direction="from", duration="10s")


def answers_are_cut(server: KafkaServer) -> None:
    server.act("link.cut", "client(producer)", peer=0, direction="to", duration="10s")


def led(server: KafkaServer, by_other_than: int) -> None:
    """Wait until another broker leads."""
    server.until(lambda: server.state(PARTITION)["leader"] not in (-1, by_other_than), SOON_S)


FAULTS = (
    Fault("leader-dies", "the leader is killed; the others have to find out by ZooKeeper", 16, leader_dies),
    Fault("leader-moves", "another broker becomes leader while all brokers run", 10, leader_moves),
    Fault("under-min-isr", "two of three brokers are killed until the ISR has shrunk", 25, too_few_in_sync),
    Fault("unclean-election", "the last broker in the ISR is killed; one that is behind leads", 30, unclean_election),
    Fault("coordinator-dies", "the group's coordinator is killed", 18, coordinator_dies),
    Fault("leader-pauses", "the leader stands still for 30 s", 45, leader_pauses),
    Fault("stale-metadata", "the leader changes, and the controller cannot reach one broker", 18, metadata_is_stale),
    Fault("controller-dies", "the controller is killed as a move begins", 18, controller_dies),
    Fault("requests-cut", "nothing of the producer arrives at the leader for 10 s", 25, requests_are_cut),
    Fault("answers-cut", "nothing of the leader arrives at the producer for 10 s", 25, answers_are_cut),
)  # fmt: skip
