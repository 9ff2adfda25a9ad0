"""Machines whose clocks differ by hours: Kafka's brokers never compare each other's clocks, so nothing changes."""

from emulator.protocol.events import NodeStarted
from emulator.trace.events import ZkWritten
from scenarios.language.files import load
from scenarios.runs.runner import Stage

HOUR_US = 3_600_000_000


def played(skews: dict[int, int]) -> tuple[Stage, list[str]]:
    """The stage after the run, and the znodes that were written about brokers and the controller."""
    stage = Stage(load("leader-dies-mid-move"))
    stamps: list[str] = []

    def skew(event: NodeStarted) -> None:
        stage.cluster.nodes[event.node].skew_us = skews.get(event.node, 0)

    def see(event: ZkWritten) -> None:
        if "timestamp" in event.data:
            stamps.append(event.data)

    stage.cluster.trace.fold(NodeStarted, skew)
    stage.cluster.trace.fold(ZkWritten, see)
    stage.play()
    return stage, stamps


def test_skewed_clocks_change_stamps_and_nothing_else() -> None:
    straight, stamps = played({})
    skewed, other_stamps = played({0: 3 * HOUR_US, 1: -2 * HOUR_US, 4: HOUR_US})
    assert len(stamps) == len(other_stamps)
    assert stamps != other_stamps
    end_us = straight.world.now
    assert skewed.world.now == end_us
    assert skewed.measures.finish(end_us) == straight.measures.finish(end_us)
    assert skewed.checkers.finish() == straight.checkers.finish() == []
