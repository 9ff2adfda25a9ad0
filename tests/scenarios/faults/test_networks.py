"""The network in groups, cards that flap, and a slow ZooKeeper, as a cluster feels them."""

from itertools import pairwise
from typing import Any

import pytest

from emulator.protocol.events import Fault, RoutesChanged
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.errors import BadInput
from scenarios.language import Scenario
from tests.scenarios.runs.building import TP, Played, Table, play, scenario


def wanted(*method: Table, **more: Any) -> Scenario:
    standard: Table = {"brokers": 5, "controller": 4, "rate": 50, "size": "0B", "horizon": "4m"}
    return scenario(**{**standard, **more}, method=method)


def run(*method: Table, **more: Any) -> Played:
    return play(wanted(*method, **more))


def expired(played: Played) -> list[int]:
    return [event.client for event in played.of(ZkSession) if event.state == "expired"]


def partition(**keys: object) -> Table:
    return {"at": "5s", "action": "network.partition", "duration": "30s", **keys}


def test_the_side_without_zookeeper_loses_its_sessions_and_its_leaderships() -> None:
    played = run(partition(groups=[[0, 1], [2, 3, 4, "zookeeper"]]))
    assert sorted(expired(played)) == [0, 1]
    assert played.of(Fault)[0].detail == "0, 1 | 2, 3, 4, ZooKeeper, for 30s"
    assert sorted(played.state(TP).isr) == [0, 1, 2]
    assert not played.run.violations


def test_three_groups_that_all_reach_zookeeper_stay_brokers_and_leave_the_isr() -> None:
    played = run(partition(groups=[[0], [1], [2]]))
    assert expired(played) == []
    cut = played.of(RoutesChanged)[0]
    assert len(cut.sources) == 6
    assert sorted(played.state(TP).isr) == [0, 1, 2]


def test_one_way_loses_what_an_earlier_group_sends() -> None:
    """Followers ask and hear nothing: the leader's answers are lost, so they leave the ISR all the same."""
    played = run(partition(groups=[[0], [1, 2]], one_way=True))
    cut = played.of(RoutesChanged)[0]
    assert list(zip(cut.sources, cut.targets, strict=True)) == [(0, 1), (0, 2)]
    assert played.of(Fault)[0].detail.startswith("0 -/> 1, 2")
    assert sorted(played.state(TP).isr) == [0, 1, 2]


def test_groups_are_drawn_by_the_seed_and_the_end_heals_the_same() -> None:
    drawn = set()
    for seed in range(6):
        played = run(partition(into=2, zookeeper=True, duration="2s"), seed=seed, rate=0)
        drawn.add(played.of(Fault)[0].detail)
        cut, healed = played.of(RoutesChanged)
        assert sorted(zip(cut.sources, cut.targets, strict=True)) == sorted(
            zip(healed.sources, healed.targets, strict=True)
        )
        assert not played.stage.cluster.network.disturbed
    assert len(drawn) >= 5


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "write groups = "),
        ({"groups": [[0, 1]]}, "one group is cut from nothing"),
        ({"groups": [[0, 1], [1, 2]]}, "method[0].groups[1]: 1 is in two groups"),
        ({"groups": [[0], ["zookeper"]]}, "did you mean 'zookeeper'?"),
        ({"groups": [[0], [9]]}, "broker 9 does not exist"),
        ({"into": 9}, "there are only 5 brokers"),
        ({"groups": [[0], [1]], "zookeeper": True}, 'put "zookeeper" into one of them'),
    ],
)
def test_groups_that_are_refused(keys: Table, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        run(partition(**keys))
    assert said in str(refused.value)


def test_a_card_flaps_with_drawn_periods_and_the_session_lives_while_these_are_short() -> None:
    flap: Table = {
        "at": "5s",
        "action": "host.flap",
        "target": 1,
        "down": "200ms..2s",
        "up": "1s..3s",
        "duration": "40s",
    }
    played = run(flap)
    turns = played.of(RoutesChanged)
    downs = [up.t_us - down.t_us for down, up in zip(turns[::2], turns[1::2], strict=False) if down.cut]
    assert 8 < len(downs) < 25
    assert all(200_000 <= down <= 2_000_000 for down in downs[:-1])
    assert len(set(downs)) > 5
    assert expired(played) == []
    assert not played.stage.cluster.network.disturbed
    assert sorted(played.state(TP).isr) == [0, 1, 2]
    longer = run({**flap, "down": "9s..12s", "up": "8s..12s"})
    assert set(expired(longer)) == {1}, "longer than the session timeout"


def test_heal_ends_the_flapping() -> None:
    flap: Table = {"at": "5s", "action": "host.flap", "target": 1, "down": "100ms", "up": "100ms"}
    played = run(flap, {"at": "8s", "action": "heal"})
    assert played.run.passed
    assert max(event.t_us for event in played.of(RoutesChanged)) <= 8_000_000
    assert not played.stage.cluster.network.disturbed


def writes_ms(played: Played) -> list[float]:
    """The distances between the writes to ZooKeeper after the 5th second."""
    times = [event.t_us / 1000 for event in played.of(ZkWritten) if event.t_us > 5_000_000]
    return [later - earlier for earlier, later in pairwise(times) if later > earlier]


def test_a_slow_zookeeper_does_one_write_after_the_other_and_no_session_expires() -> None:
    stop: Table = {"at": "5s", "action": "broker.stop", "target": 0}
    slow: Table = {"at": "4s", "action": "zookeeper.slow", "write": "300ms", "read": "50ms", "duration": "60s"}
    quick, slowed = run(stop, rate=0), run(slow, stop, rate=0)
    assert min(writes_ms(slowed)) >= 300 > min(writes_ms(quick))
    assert expired(slowed) == []
    assert slowed.stage.cluster.zookeeper.server.spec.write_us == 0
    assert [played.state(TP).leader for played in (quick, slowed)] == [1, 1]


def test_deleting_the_controllers_znode_elects_another_one() -> None:
    """As ``delete /controller`` in ZooKeeper's shell: the epoch grows, no broker stops."""
    played = run({"at": "5s", "action": "controller.resign"}, controller=None)
    epochs = [event for event in played.of(ZkWritten) if event.path == "/controller_epoch" and event.t_us > 5_000_000]
    assert len(epochs) == 1
    assert expired(played) == []
    assert played.run.passed


def test_a_znode_that_is_not_there_is_not_deleted() -> None:
    gone: Table = {"at": "5s", "action": "zk.delete", "path": "/admin/reassign_partitions"}
    assert run(gone).run.reason == "not exercised"
    assert run({**gone, "optional": True}).run.passed
    with pytest.raises(BadInput) as refused:
        run({**gone, "path": "/brokers/ids/*"})
    assert "write its whole path" in str(refused.value)
