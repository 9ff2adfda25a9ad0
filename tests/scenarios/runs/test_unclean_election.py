"""UncleanLeaderElectionTest of Kafka 2.4.1, C29 and C31, and what an unclean election costs."""

import pytest

from emulator.protocol.events import LeaderElected, Produced
from scenarios.errors import BadInput
from tests.scenarios.runs.building import Played, Table, play, scenario

KEY = "unclean.leader.election.enable"
FOLLOWER_DOWN: Table = {"at": "5s", "action": "broker.crash", "target": 1, "duration": "35s"}
LEADER_DOWN: Table = {"at": "30s", "action": "broker.crash", "target": 0}
LEADER_BACK: Table = {"at": "90s", "action": "broker.start", "target": 0}
SWITCH: Table = {"at": "60s", "action": "config.set", "config": {KEY: True}}
OFFLINE_US = (45_000_000, 60_000_000)
"""The follower is back by then, the leader's session has expired, and no setting has changed."""


def story(*more: Table, settings: dict[str, object] | None = None, topic: dict[str, object] | None = None) -> Played:
    """RF 2: the follower is down, records are written, the leader goes down, the follower comes up."""
    entries = sorted((FOLLOWER_DOWN, LEADER_DOWN, *more), key=lambda entry: int(str(entry["at"])[:-1]))
    wanted = scenario(
        brokers=4, controller=3, assignment=[[0, 1]], method=entries, config=settings,
        topics=[{"name": "orders", "assignment": [[0, 1]], "size": "64KiB", "config": topic or {}}],
    )  # fmt: skip
    return play(wanted)


def acknowledged(played: Played, between: tuple[int, int]) -> list[Produced]:
    return played.of(Produced, lambda e: e.error == "NONE" and between[0] < e.t_us < between[1])


CLEAN = [({}, {}), ({KEY: True}, {KEY: False})]


@pytest.mark.parametrize(("settings", "topic"), CLEAN, ids=["disabled", "disabled by topic override"])
def test_C29_unclean_leader_election_disabled(settings: dict[str, object], topic: dict[str, object]) -> None:
    """The partition has no leader and nothing is acknowledged; the old leader returns, leads, and has lost nothing."""
    played = story(LEADER_BACK, settings=settings, topic=topic)
    assert played.run.passed
    assert acknowledged(played, (31_000_000, 90_000_000)) == []
    assert [e.leader for e in played.of(LeaderElected, lambda e: e.t_us > 30_000_000)] == [0]
    assert played.run.metrics["offline_s"] == pytest.approx(50, abs=10)
    assert played.lost_batches("all") == played.lost_batches("1") == 0


@pytest.mark.parametrize("settings", [{KEY: True}, {}])
def test_enabled_it_elects_any_live_replica(settings: dict[str, object]) -> None:
    """By the brokers' setting, and by the topic's."""
    played = story(LEADER_BACK, settings=settings, topic={} if settings else {KEY: True})
    [elected, *_] = played.of(LeaderElected, lambda e: e.t_us > 30_000_000)
    assert (elected.leader, elected.isr, elected.unclean) == (1, (1,), True)
    assert played.lost_batches("all") > 0
    assert sorted(played.state().isr) == [0, 1]


@pytest.mark.parametrize("topic", ["orders", None])
def test_switched_on_while_there_is_no_leader(topic: str | None) -> None:
    """For the topic or for all brokers: until then nothing is acknowledged, then the election costs records."""
    played = story({**SWITCH, **({"topic": topic} if topic else {})}, LEADER_BACK)
    assert acknowledged(played, OFFLINE_US) == []
    [elected, *_] = played.of(LeaderElected, lambda e: e.t_us > 30_000_000)
    assert (elected.leader, elected.unclean) == (1, True)
    assert 60_000_000 < elected.t_us < 60_100_000
    assert acknowledged(played, (61_000_000, 80_000_000)) != []
    assert played.lost_batches("all") > 0
    assert played.run.passed, played.run.explanation


def test_switched_on_for_all_brokers_it_does_not_overrule_the_topic() -> None:
    played = story(SWITCH, LEADER_BACK, topic={KEY: False})
    assert [e.leader for e in played.of(LeaderElected, lambda e: e.t_us > 30_000_000)] == [0]


def test_a_controller_elected_later_knows_the_setting() -> None:
    """A broker that has started since as well: it reads what was announced before."""
    early = {**SWITCH, "at": "1s"}
    bounce = {"at": "2s", "action": "broker.crash", "target": 3, "duration": "1s"}
    played = story(early, bounce, LEADER_BACK)
    [elected, *_] = played.of(LeaderElected, lambda e: e.t_us > 30_000_000)
    assert (elected.leader, elected.unclean) == (1, True)


@pytest.mark.parametrize("bad", ["invalid", "true", 1])
def test_C31_invalid_topic_override(bad: object) -> None:
    with pytest.raises(BadInput, match=KEY):
        scenario(topics=[{"name": "orders", "assignment": [[0, 1]], "config": {KEY: bad}}])
    with pytest.raises(BadInput, match=KEY):
        scenario(method=[{**SWITCH, "config": {KEY: bad}}])
