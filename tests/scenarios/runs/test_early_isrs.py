"""ISRs and acks of Kafka 0.8, end to end (kafka-behaviour §14)."""

from emulator.protocol.events import IsrChanged, IsrProposed, Produced
from tests.scenarios.runs.building import Played, Table, play, scenario

EARLY: Table = {"profile": "kafka-0.8", "strategy": "kafka-42"}


def bursts(max_messages: int) -> Played:
    """200 messages every 100 ms, and followers that are 20 ms away; the ISR is looked at every 530 ms."""
    config = {"replica.lag.time.max.ms": 530, "replica.lag.max.messages": max_messages}
    cluster = {"brokers": 4, "config": config, "network": {"latency": "20ms"}}
    load = {"topic": "orders", "producerRate": 2000, "stop": "10s"}
    idle = {"at": "12s", "action": "link.heal", "target": 3}  # the run goes on until then
    return play(scenario(rate=0, controller=3, cluster=cluster, workloads=[load], method=[idle], **EARLY))


def test_bursts_put_followers_out_that_are_as_quick_as_ever() -> None:
    """The reason for removing replica.lag.max.messages (KAFKA-1546): such followers flap."""
    played = bursts(100)
    out = played.of(IsrChanged, lambda event: event.kind == "shrink")
    back = played.of(IsrChanged, lambda event: event.kind == "expand")
    assert len(out) > 3
    assert len(back) >= len(out)
    assert all(
        max(event.overdue_us) < 530_000 for event in played.of(IsrProposed, lambda event: event.kind == "shrink")
    )
    assert sorted(played.state().isr) == [0, 1, 2]


def test_a_limit_above_the_bursts_leaves_them_in() -> None:
    assert bursts(1000).of(IsrChanged) == []


def test_acks_2_is_one_follower_and_not_all() -> None:
    """The other is cut off, and stays in the ISR for the lag time: acks=all would wait for that."""
    cut = {"at": "3s", "action": "link.cut", "target": 2, "peer": 0, "duration": "60s"}
    told: dict[str, int] = {}
    for acks in ("2", "all"):
        played = play(scenario(method=[cut], assignment=[[0, 1, 2]], acks=acks, horizon="40s", **EARLY))
        late = played.of(Produced, lambda event: event.outcome == "acked" and 4_000_000 < event.t_us < 9_000_000)
        told[acks] = len(late)
    assert told["2"] > 40
    assert told["all"] == 0
