"""The old leader of a KIP-455 move gets no request in B3 and leads on in its own view until StopReplica reaches it."""

import pytest

from emulator.protocol.events import Appended, BecameLeader, IsrUpdateFailed, Produced, ReplicaStopped
from tests.scenarios.runs.building import EXECUTE, Played, play, scenario

HELD_US = 5_000_000


def held(acks: str) -> Played:
    """The controller waits for five seconds between B3, which makes 1 the leader, and B4, which stops 0."""
    gate = {"step": "kip-455.B4", "edge": "before"}
    hold = {"at": "1s", "action": "gate.hold", "gate": gate, "duration": "7s"}
    wanted = scenario(
        assignment=[[0, 1, 2]], plan={0: [1, 2, 3]}, method=[hold, EXECUTE], strategy="kip-455", profile="kafka-2.4",
        rate=100, acks=acks, config={"min.insync.replicas": 2, "replica.lag.time.max.ms": 1_000},
    )  # fmt: skip
    return play(wanted)


def window(played: Played) -> tuple[int, int]:
    """From when 1 leads to when 0 is stopped."""
    [led] = [event.t_us for event in played.of(BecameLeader) if event.node == 1 and event.leader_epoch == 2]
    stopped = [event.t_us for event in played.of(ReplicaStopped) if event.node == 0]
    return led, stopped[0]


@pytest.mark.parametrize("acks", ["1", "all"])
def test_two_leaders_in_two_epochs(acks: str) -> None:
    """acks=1: what 0 acknowledges in the window is lost. acks=all: 0 acknowledges nothing, since no follower fetches
    from it and its ISR write fails on the newer zkVersion. Nothing else is lost, and no checker objects."""
    played = held(acks)
    led, stopped = window(played)
    assert stopped - led > HELD_US
    refused = played.of(IsrUpdateFailed, lambda event: led < event.t_us < stopped)
    assert {event.node for event in refused} == {0}
    acknowledged = [
        event
        for event in played.of(Produced)
        if event.error == "NONE" and event.leader == 0 and led + 200_000 < event.t_us < stopped
    ]
    assert played.run.violations == (), played.run.explanation
    assert played.lost_batches("all") == 0
    if acks == "1":
        appended = [e for e in played.of(Appended) if e.node == 0 and e.leader and led + 100_000 < e.t_us < stopped]
        assert {event.leader_epoch for event in appended} == {1}
        assert len(acknowledged) > 10
        assert played.lost_batches("1") >= len(acknowledged)
    else:
        assert acknowledged == []
