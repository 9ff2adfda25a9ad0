"""Settings that change while the cluster runs (KIP-226): min.insync.replicas, on brokers and in the figures."""

import pytest

from emulator.protocol.events import Fault, FetcherStopped, HighWatermark, IsrChanged, LogStartMoved, Produced
from emulator.protocol.znodes import decode_config
from emulator.trace.events import ZkWritten
from tests.scenarios.runs.building import Played, Table, play, scenario
from tests.scenarios.runs.test_known_findings import tickets

LEAST = "min.insync.replicas"
DOWN: Table = {"at": "5s", "action": "broker.crash", "target": 2}


def change(at: str, least: int, topic: str | None = "orders") -> Table:
    return {"at": at, "action": "config.set", "config": {LEAST: least}, **({"topic": topic} if topic else {})}


def first_acks(played: Played, after_us: int, before_us: int) -> list[Produced]:
    return played.of(Produced, lambda e: e.error == "NONE" and after_us < e.t_us < before_us)


@pytest.mark.parametrize("topic", ["orders", None])
def test_it_is_obeyed_and_measured_from_then_on(topic: str | None) -> None:
    """Two of three are in sync: three are asked for at 30 s, two again at 40 s."""
    played = play(scenario(method=[DOWN, change("30s", 3, topic), change("40s", 2, topic)], horizon="1m"))
    assert first_acks(played, 25_000_000, 29_900_000) != []
    assert first_acks(played, 30_200_000, 40_000_000) == []
    assert first_acks(played, 40_000_000, 41_000_000) != []
    assert played.run.metrics["under_min_isr_s"] == pytest.approx(10, abs=0.01)


def test_a_topic_s_own_goes_before_that_of_the_brokers() -> None:
    played = play(scenario(method=[DOWN, change("20s", 2), change("30s", 3, None)], horizon="1m"))
    assert first_acks(played, 30_200_000, 40_000_000) != []
    assert played.run.metrics["under_min_isr_s"] == 0


def test_a_broker_s_own_goes_before_that_of_all() -> None:
    """Broker 0 leads. Until its own is removed it goes on with two in sync."""
    own: Table = {"at": "4s", "action": "config.set", "brokers": 0, "config": {LEAST: 1}}
    removed: Table = {"at": "30s", "action": "config.set", "brokers": "leader(orders-0)", "remove": [LEAST]}
    played = play(scenario(method=[own, DOWN, change("20s", 3, None), removed], horizon="1m"))
    assert first_acks(played, 25_000_000, 30_000_000) != []
    assert first_acks(played, 30_200_000, 60_000_000) == []


def test_a_leader_that_has_started_since_obeys_it_too() -> None:
    """It reads what was announced before it started."""
    bounce: list[Table] = [
        {"at": f"{at}s", "action": "broker.crash", "target": broker, "duration": "1s"}
        for broker, at in ((0, 10), (1, 25))
    ]
    played = play(scenario(method=[change("4s", 3), DOWN, *bounce], horizon="1m"))
    assert first_acks(played, 20_000_000, 60_000_000) == []
    assert first_acks(played, 2_000_000, 5_000_000) != []


def test_the_tool_keeps_the_other_settings() -> None:
    unclean: Table = {
        "at": "6s", "action": "config.set", "topic": "orders", "config": {"unclean.leader.election.enable": True}
    }  # fmt: skip
    played = play(scenario(method=[change("5s", 2), unclean]))
    written = played.of(ZkWritten, lambda e: e.path == "/config/topics/orders")
    assert decode_config(written[-1].data) == {LEAST: "2", "unclean.leader.election.enable": "true"}


def test_what_a_broker_keeps_for_how_long_changes_too() -> None:
    """From 32 s on broker 1 alone deletes what is older than two seconds. (LogManager does not look before 30 s.)"""
    brief: Table = {"at": "32s", "action": "config.set", "brokers": 1, "config": {"log.retention.ms": 2000}}
    settings = {"log.segment.bytes": 50_000, "log.retention.check.interval.ms": 1000}
    moved = play(scenario(method=[brief], config=settings, rate=50)).of(LogStartMoved)
    assert {event.node for event in moved} == {1}
    assert all(event.t_us > 32_000_000 for event in moved)


def test_settings_of_absent_brokers_and_topics_are_not_exercised() -> None:
    nobody: Table = {**change("5s", 1, None), "brokers": {"brokers": [1], "state": "down"}}
    run = play(scenario(method=[nobody])).run
    assert run.reason == "not exercised"
    assert "no broker is 1 and down" in str(run.explanation)


def test_the_trace_says_whose_settings_changed() -> None:
    whose: list[Table] = [
        {**change(f"{at}s", 1, None), "brokers": brokers}
        for at, brokers in ((4, 2), (5, "leader(orders-0)"), (6, {"mode": "all"}))
    ]
    told = [fault.detail for fault in play(scenario(method=whose)).of(Fault)]
    assert told == [f"brokers {who}: {LEAST}=1" for who in ("2", "leader(orders-0)", "each")]


def test_the_fetchers_of_a_broker_change_their_number() -> None:
    """No follower falls behind meanwhile; a number of fetchers that is out of range is refused."""
    fetchers: list[Table] = [
        {"at": f"{at}s", "action": "config.set", "config": {"num.replica.fetchers": wanted}}
        for at, wanted in ((5, 2), (10, 9), (15, 1))
    ]
    played = play(scenario(assignment=[(0, 1, 2)] * 4, method=fetchers, horizon="40s"))
    assert played.run.reason == "not exercised"
    assert "num.replica.fetchers=9, value should not be greater than double the current value 2" in " ".join(
        played.run.explanation.split()
    )
    refused = played.of(Fault)[1]
    assert (refused.t_us, f"(event {refused.seq})" in played.run.explanation) == (10_000_000, True)
    stopped = [event for event in played.of(FetcherStopped) if event.reason == "resized"]
    assert {event.node for event in stopped} == {1, 2}
    assert all(15_000_000 < event.t_us < 16_000_000 for event in stopped)
    assert played.of(IsrChanged) == []


@pytest.mark.parametrize(("profile", "known"), [("kafka-0.8", 2), ("kafka-2.3", 1)])
def test_before_kip_227_a_high_watermark_that_is_under_way_meanwhile_is_sent_again(profile: str, known: int) -> None:
    """kafka-0.8, seed 11058 of the default swarm as it was then: the answer with it is ignored, as the partition has
    come back to its thread, and nothing is written later. A session takes it for known (FetchSession, 2.3.1)."""
    holds: Table = {
        "when": {"message": "Fetch", "response": True, "to": [1], "since": "4100ms"},
        "action": "message.delay", "delay": {"latency": "2s"}, "duration": "1500ms",
    }  # fmt: skip
    resizes: Table = {"at": "5s", "action": "config.set", "config": {"num.replica.fetchers": 2}, "brokers": [1]}
    load: Table = {"topic": "orders", "producerRate": 4, "start": "3s", "stop": "4s"}
    played = play(
        scenario(
            brokers=3, controller=2, assignment=[(2, 0), (0, 1)], rate=0, size="0B", profile=profile,
            method=[holds, resizes, {"at": "9s", "action": "heal"}], workloads=[load], horizon="60s",
            expect=[{"converged": True, "within": "20s"}],
        )
    )  # fmt: skip
    learned = played.of(HighWatermark, lambda event: (event.node, event.partition) == (1, 1))
    assert [event.high_watermark for event in learned[:2]] == list(range(1, known + 1))
    assert tickets(played.run) == ["FetchSessionHandler.build (1.1.0 to 2.7.2)"] * (2 - known)
