"""Each action of the model, once, with its visible effect."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    BrokerRegistered,
    ControllerElected,
    ControllerResigned,
    ControlResponse,
    Fault,
    FetcherStopped,
    IsrChanged,
    LeaderElected,
    LogLoaded,
    MoveFinished,
    MovesListed,
    MovesVerified,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    PartitionFailureCleared,
    Produced,
)
from emulator.trace.events import Step, ZkSession, ZkWritten
from scenarios.language import all_actions
from tests.scenarios.runs.building import EXECUTE, HEAL, TP, Played, Table, play, scenario


def story(*method: Table, **more: Any) -> Played:
    """Brokers 0 and 1 have orders-0, led by 0; broker 3 is controller."""
    more = {"brokers": 4, "controller": 3, "assignment": [[0, 1]], "rollbacks": HEAL, **more}
    played = play(scenario(method=method, **more))
    assert played.run.violations == (), played.run.explanation
    assert [fault.action for fault in played.of(Fault)][: len(method)] == [entry["action"] for entry in method]
    return played


def act(action: str, target: object = None, at: str = "3s", **more: object) -> Table:
    entry: Table = {"at": at, "action": action, **more}
    return entry if target is None else {**entry, "target": target}


def times(events: Iterable[Any]) -> list[float]:
    return [round(event.t_us / 1e6, 2) for event in events]


# -- brokers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["process", "host"])
def test_broker_crash(kind: str) -> None:
    """A host's crash loses what was not flushed: all but what the topic began with."""
    played = story(act("broker.crash", 1, kind=kind, duration="10s"))
    assert [(event.node, event.kind) for event in played.of(NodeCrashed)] == [(1, kind)]
    assert times(played.of(NodeStarted, lambda event: event.incarnation == 2)) == [13.0]
    loaded = played.of(LogLoaded, lambda event: event.node == 1)[-1]
    assert (loaded.log_end_offset == 64) is (kind == "host")
    assert sorted(played.state().isr) == [0, 1]


def test_broker_stop_leaves_at_once() -> None:
    """It closes its session; a crashed one's has to expire first."""
    stopped = story(act("broker.stop", 0))
    crashed = story(act("broker.crash", 0))
    gone = [times(p.of(LeaderElected, lambda event: event.selector == "offline"))[0] for p in (stopped, crashed)]
    assert gone[0] < 3.1
    assert 3 + 4 < gone[1] < 3 + 8.1, "6 s after its last ping, at ZooKeeper's next tick"
    assert [event.kind for event in stopped.of(NodeCrashed)] == ["stop"]


def test_broker_controlled_shutdown() -> None:
    """Leadership goes first; see test_controlled_shutdown.py for the rest."""
    played = story(act("broker.controlled_shutdown", 0, duration="5s"))
    [elected] = played.of(LeaderElected, lambda event: event.selector != "new")
    [end] = played.of(NodeCrashed)
    assert (elected.selector, elected.leader, end.kind) == ("controlled-shutdown", 1, "stop")
    assert 3_000_000 < elected.t_us < end.t_us < 3_500_000
    assert times(played.of(NodeStarted, lambda event: event.incarnation == 2)) == [8.0]


def test_broker_start() -> None:
    played = story(act("broker.stop", 1), act("broker.start", 1, at="5s"), act("broker.start", 1, at="6s"))
    assert times(played.of(NodeStarted, lambda event: event.incarnation > 1)) == [5.0], "a running one is left alone"
    assert sorted(played.state().isr) == [0, 1]


def test_broker_pause_and_resume() -> None:
    """A pause that is shorter than the session's timeout moves no leadership; its producer waits."""
    played = story(act("broker.pause", 0), act("broker.resume", 0, at="6s"))
    assert [event.selector for event in played.of(LeaderElected)] == ["new"]
    acknowledged = times(played.of(Produced))
    assert not [t for t in acknowledged if 3.05 < t < 6]
    assert len([t for t in acknowledged if 6 <= t < 6.1]) > 20


def test_a_session_expires_while_its_broker_is_paused() -> None:
    """When it goes on, it is leader in its own view only, finds its session expired, registers again and follows."""
    played = story(act("broker.pause", 0, duration="20s"))
    [expired] = played.of(ZkSession, lambda event: event.state == "expired")
    assert 3 + 4 < expired.t_us / 1e6 <= 3 + 8, "6 s after its last ping, at ZooKeeper's next tick"
    assert [event.leader for event in played.of(LeaderElected)] == [0, 1]
    assert [event.node for event in played.of(BrokerRegistered) if event.t_us > 23_000_000] == [0]
    assert (played.state().leader, sorted(played.state().isr)) == (1, [0, 1])


def test_controller_crash() -> None:
    played = story(act("controller.crash", duration="10s"))
    assert [event.node for event in played.of(NodeCrashed)] == [3]
    assert [event.controller_epoch for event in played.of(ControllerElected)] == [1, 2]


# -- links ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["both", "to", "from"])
def test_link_cut(direction: str) -> None:
    """Either way, the follower cannot fetch: it leaves the ISR and comes back."""
    played = story(act("link.cut", 1, direction=direction, duration="20s"))
    assert [event.kind for event in played.of(IsrChanged)] == ["shrink", "expand"]
    assert played.of(ZkSession, lambda event: event.state == "expired") == [], "ZooKeeper is another peer"


def test_link_cut_of_one_peer() -> None:
    played = story(act("link.cut", 1, peer=2, duration="20s"))
    assert played.of(IsrChanged) == [], "brokers 1 and 2 have nothing to say to each other"


def test_link_heal() -> None:
    played = story(act("link.cut", 1), act("link.heal", 1, at="20s"))
    shrunk, expanded = played.of(IsrChanged)
    assert shrunk.t_us < 20_000_000 < expanded.t_us < 25_000_000


@pytest.mark.parametrize("direction", ["both", "to", "from"])
def test_link_cut_from_zookeeper(direction: str) -> None:
    """The session expires; healed, the broker registers again."""
    played = story(act("link.cut", 0, peer="zookeeper", direction=direction, duration="20s"))
    assert len(played.of(ZkSession, lambda event: event.state == "expired")) == 1
    assert [event.leader for event in played.of(LeaderElected)] == [0, 1]
    assert [event.node for event in played.of(BrokerRegistered) if event.t_us > 23_000_000] == [0]
    assert sorted(played.state().isr) == [0, 1]


def test_link_delay() -> None:
    """Batches are acknowledged later by the detour that the follower's fetches take."""
    delay = {"latency": "200ms"}
    played = story(act("link.delay", 1, delay=delay, peer=0, duration="10s"))
    during = [event.latency_us for event in played.of(Produced) if 5_000_000 < event.t_us < 13_000_000]
    after = [event.latency_us for event in played.of(Produced) if event.t_us > 14_000_000]
    assert min(during) > 190_000
    assert max(after) < 50_000


# -- ZooKeeper --------------------------------------------------------------------------------------------------


def test_zk_expire() -> None:
    """The controller's session: another takes over at once, and it joins again as a broker."""
    played = story(act("zk.expire", "controller"))
    assert [event.node for event in played.of(ControllerResigned)] == [3]
    first, second = played.of(ControllerElected)
    assert (first.node, second.node != 3) == (3, True)
    assert second.t_us < 3_100_000
    assert played.of(BrokerRegistered)[-1].node == 3


def test_a_session_that_expires_as_its_broker_starts_is_followed_by_another_once_the_controller_has_resigned() -> None:
    """Here the broker still reads the settings of its topics, in 2.4 and with eight of them."""
    gone = act("broker.crash", [0, 1], at="2s", duration="20s")
    expire = {"when": {"step": "failover.F1", "edge": "before"}, "action": "zk.expire", "target": "controller"}
    topics = [{"name": f"t{number}", "assignment": [[0, 1]]} for number in range(8)]
    played = play(scenario(brokers=2, controller=0, topics=topics, rate=0, profile="kafka-2.4", method=[gone, expire]))
    [resigned] = played.of(ControllerResigned)
    last = played.of(ZkSession, lambda event: event.client == resigned.node and event.state == "created")[-1]
    assert played.run.violations == ()
    assert resigned.seq < last.seq


# -- fetchers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cause", ["append", "truncate"])
def test_fetcher_fail_partition(cause: str) -> None:
    """The partition leaves its thread, the others go on; the leader epoch after brings it back (KIP-461).

    A follower truncates when it gets a new leader: for that broker 0 goes down first.
    """
    method = [act("fetcher.fail_partition", 2, partition="orders-0", cause=cause)]
    if cause == "truncate":
        method.append(act("broker.stop", 0, at="4s", duration="5s"))
    method.append(act("broker.stop", "leader(orders-0)", at="30s", duration="5s"))
    played = play(scenario(brokers=4, controller=3, assignment=[[0, 1, 2]] * 3, method=method, rollbacks=HEAL))
    [failed] = played.of(PartitionFailed)
    assert (failed.node, failed.topic, failed.partition) == (2, "orders", 0)
    [back] = played.of(PartitionFailureCleared)
    assert (back.node, back.partition, back.reason) == (2, 0, "epoch")
    assert failed.t_us < 4_500_000 < 30_000_000 < back.t_us
    assert {event.partition for event in played.of(IsrChanged, lambda event: event.kind == "shrink")} == {0}
    assert sorted(played.state().isr) == [0, 1, 2]
    assert played.run.passed, played.run.explanation


@pytest.mark.parametrize(
    ("profile", "behind"), [("kafka-2.3", {0}), ("kafka-1.1", {0, 1, 2}), ("kafka-0.8", {0, 1, 2})]
)
def test_kafka_8346_an_unexpected_error(profile: str, behind: set[int]) -> None:
    """Since KIP-461 one partition falls behind; before, the thread died and all did."""
    fails = act("fetcher.fail_partition", 2, partition="orders-0", cause="unexpected")
    lag = {"replica.lag.time.max.ms": 2_000}
    wanted = scenario(brokers=4, controller=3, assignment=[[0, 1, 2]] * 3, method=[fails], config=lag)
    played = play(wanted, profile=profile)
    died = played.of(FetcherStopped, lambda event: event.reason == "died")
    assert [event.fetcher for event in died] == (["ReplicaFetcherThread-0-0"] if len(behind) > 1 else [])
    assert {event.partition for event in played.of(IsrChanged, lambda event: event.kind == "shrink")} == behind


@pytest.mark.parametrize("cause", ["append", "unexpected"])
def test_fetcher_fail_partition_needs_a_fetcher(cause: str) -> None:
    played = play(scenario(method=[act("fetcher.fail_partition", 0, partition="orders-0", cause=cause)]))
    assert played.run.reason == "not exercised"
    assert "broker 0 leads orders-0, no fetcher appends to it" in str(played.run.explanation)


# -- the operator -----------------------------------------------------------------------------------------------


def test_reassign_execute() -> None:
    played = story(EXECUTE, plan={0: [2, 1]})
    assert (played.assignment(), played.state().leader) == ((2, 1), 2)


def test_reassign_cancel_and_reassign_list() -> None:
    """A copy that takes eight seconds, listed and cancelled after one; see test_reassign_api.py for the rest."""
    copying = {"plan": {0: [1, 2]}, "strategy": "kip-455", "size": "64MiB"}
    asked = (act("reassign.list"), act("reassign.cancel"), act("reassign.list", at="4s"))
    played = story({**EXECUTE, "throttle": "8MB/s"}, *asked, **copying)
    listed = [(event.partitions, event.detail) for event in played.of(MovesListed)]
    assert listed == [(1, "orders-0: replicas [1, 2, 0], adding [2], removing [0]"), (0, "")]
    # The order of before is lost (kafka-behaviour §6.2): 1 comes first now, and leadership is brought to it.
    assert (played.assignment(), played.state().leader) == ((1, 0), 1)
    assert [event.t_us > 3_000_000 for event in played.of(MoveFinished)] == [True]


def test_reassign_verify() -> None:
    """See test_throttles.py for the rest."""
    played = story(EXECUTE, act("reassign.verify", at="9s"), plan={0: [2, 1]})
    assert [(event.done, event.open, event.lifted) for event in played.of(MovesVerified)] == [(1, 0, False)]


@pytest.mark.parametrize("wrong", [[], [1, 1], [1, -1]])
def test_reassign_mistake(wrong: list[int]) -> None:
    """The controller refuses it: refusals_have_reasons looks at the answer, and nothing moves."""
    mistake = act("reassign.mistake", partition="orders-0", replicas=wrong)
    played = story(mistake, profile="kafka-2.4", strategy="kip-455")
    assert played.assignment(TP) == (0, 1)
    assert not [written for written in played.of(ZkWritten) if written.t_us > 3_000_000 and "/topics/" in written.path]


def test_topic_create() -> None:
    topic = {"name": "late", "assignment": [[2, 1]], "config": {"min.insync.replicas": 2}}
    played = story(act("topic.create", topic=topic))
    late = TP._replace(topic="late")
    assert (played.assignment(late), played.state(late).leader, played.state(late).isr) == ((2, 1), 2, (2, 1))
    assert [event.selector for event in played.of(LeaderElected)] == ["new", "new"]


def test_topic_delete_and_topic_expand() -> None:
    """See test_topics.py for the rest; here the one only acts upon the topic of the other."""
    expand = {"at": "2s", "action": "topic.expand", "topic": "orders", "partitions": 2}
    delete = {"at": "3s", "action": "topic.delete", "topic": "orders"}
    played = play(scenario(method=[expand, delete], expect=[{"assignment": {"orders-0": [], "orders-1": []}}]))
    assert played.run.passed, played.run.explanation
    assert [event.detail for event in played.of(Fault)] == ["orders to 2 partitions", "orders"]


def test_election_preferred() -> None:
    """See test_preferred_elections.py for the rest."""
    bounce = act("broker.stop", 0), act("broker.start", 0, at="4s")
    played = story(*bounce, act("election.preferred", at="20s"))
    assert [(e.selector, e.leader) for e in played.of(LeaderElected)][-1] == ("preferred", 0)


def test_config_set() -> None:
    """See test_settings.py and test_unclean_election.py for the rest."""
    played = story(act("config.set", topic="orders", config={"min.insync.replicas": 2}))
    written = played.of(ZkWritten, lambda event: event.path == "/config/topics/orders")
    assert written[-1].data == '{"version":1,"config":{"min.insync.replicas":"2"}}'


# -- gates ------------------------------------------------------------------------------------------------------

GATE = {"step": "move.start", "edge": "after"}


def test_gate_hold_and_release() -> None:
    played = story(
        act("gate.hold", gate=GATE, at="1s"), EXECUTE, act("gate.release", gate=GATE, at="9s"), plan={0: [2, 1]}
    )
    assert_held(played, until=9.0)


def test_gate_hold_for_a_time() -> None:
    assert_held(story(act("gate.hold", gate=GATE, at="1s", duration="8s"), EXECUTE, plan={0: [2, 1]}), until=9.0)


def assert_held(played: Played, until: float) -> None:
    steps = {(event.step, event.edge): event.t_us / 1e6 for event in played.of(Step)}
    assert steps["wiki.3", "after"] < 2.1
    assert until <= steps["wiki.4", "before"] < until + 0.1
    assert played.assignment() == (2, 1)


# -- changes of role that fail -------------------------------------------------------------------------------------


def refusals(played: Played, node: int) -> int:
    """How many changes of role a broker has answered with an error."""
    return sum(len(e.refused) for e in played.of(ControlResponse) if e.node == node and e.api == "LeaderAndIsr")


def test_broker_fail_start_replica() -> None:
    """The first request is refused and nothing is remembered of it, so the next one, of the same epoch, succeeds (up
    to 2.3 the next one has the epoch from before, under which the leader refuses to be read: KAFKA-9212)."""
    fault = act("broker.fail_start_replica", 2, at="1s", partition="orders-0")
    played = story(fault, EXECUTE, plan={0: (0, 2)}, profile="kafka-2.4")
    assert refusals(played, 2) == 1
    assert played.of(BecameFollower, lambda e: e.node == 2)[0].leader_epoch == 1
    assert played.state().isr == (0, 2)


def test_broker_ignore_become_leader() -> None:
    """It stays a follower in spite of the LeaderAndIsr; it leads after the next one, here because the old leader is
    offline."""
    fault = act("broker.ignore_become_leader", 1, at="1s", partition="orders-0")
    played = story(fault, act("broker.crash", 0, duration="20s"))
    assert refusals(played, 1) == 1
    assert [e.node for e in played.of(BecameLeader)] == [0, 1]
    assert played.state().leader == 1


# -- all of them ------------------------------------------------------------------------------------------------


def test_every_action_has_its_test() -> None:
    """A test here, or in the room of the faults, performs it by its name, or the one that it ends."""
    rooms = (Path(__file__).parent, Path(__file__).parents[1] / "faults")
    tests = "".join(file.read_text() for room in rooms for file in room.glob("test_*.py"))
    ends = {action.undo.name for action in all_actions().values() if action.undo is not None}
    assert [name for name in all_actions() if f'"{name}"' not in tests and name not in ends] == []
