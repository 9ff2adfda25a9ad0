"""Effects of a late or lost message on a cluster: the old leader's window, and answers of ZooKeeper that never come."""

import pytest

from brokers.partition.isr import AlterIsrItem
from brokers.replica_manager.alter_isr import ZkIsrManager
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.events import (
    BecameLeader,
    BrokerRegistered,
    ControllerElected,
    ControllerResigned,
    Fault,
    IsrChanged,
    IsrUpdateFailed,
    LeaderElected,
    Produced,
    ReplicaStopped,
)
from emulator.trace.events import ZkWritten
from tests.scenarios.runs.building import EXECUTE, TP, Played, Table, play, scenario

STATE = znodes.state_path(TP)
CUT = "message.cut"
NOBODY_HERE = -2


# -- C77 --------------------------------------------------------------------------------------------------------------


def old_leader_hears_late(acks: str, strategy: str = "wiki", profile: str = "kafka-2.4") -> Played:
    """orders-0 moves from 0, 1, 2 to 1, 2, 3; from the election of the new leader on, the controller's queue for broker
    0 sends nothing for 10 s."""
    elected = {"step": "move.leader", "edge": "before"}
    held = {"message": "UpdateMetadata", "to": 0, "partition": "orders-0", "since": elected}
    hold = {"when": held, "action": "message.hold", "duration": "10s"}
    expect = [{"within": "1m", what: {"orders-0": [1, 2, 3]}} for what in ("assignment", "isr")]
    wanted = scenario(
        brokers=6, controller=5, plan={0: [1, 2, 3]}, method=[EXECUTE, hold], acks=acks, rate=100, expect=expect,
        strategy=strategy, profile=profile,
    )  # fmt: skip
    return play(wanted)


def window(played: Played) -> tuple[int, int]:
    """From the new leader's election to the old one's end, in virtual microseconds."""
    elected = played.of(LeaderElected, lambda event: event.leader == 1)[0]
    stopped = played.of(ReplicaStopped, lambda event: event.node == 0)[0]
    return elected.t_us, stopped.t_us


SHAPES = ["wiki", "kip-455"]


@pytest.mark.parametrize("strategy", SHAPES)
def test_C77_acks_1_to_the_old_leader_is_accepted_then_lost(strategy: str) -> None:
    played = old_leader_hears_late("1", strategy)
    played.run.assert_expectations()
    begin, end = window(played)
    assert 9_900_000 < end - begin < 10_100_000
    late = played.of(Produced, lambda event: begin < event.t_us < end)
    assert {(event.leader, event.error) for event in late} == {(0, "NONE")}, "no response sent the producer elsewhere"
    assert played.lost_batches("1") >= len(late) >= 95


@pytest.mark.parametrize("strategy", SHAPES)
def test_C77_acks_all_is_never_acknowledged_by_the_old_leader(strategy: str) -> None:
    played = old_leader_hears_late("all", strategy)
    played.run.assert_expectations()
    begin, end = window(played)
    assert played.lost_batches("all") == played.lost_batches("1") == 0
    assert played.of(Produced, lambda event: begin < event.t_us < end) == []
    after = played.of(Produced, lambda event: event.t_us > end)
    assert {(event.leader, event.error) for event in after} == {(1, "NONE")}
    assert any(event.attempts > 1 for event in after), "what 0 took and could not acknowledge was sent to 1 again"


@pytest.mark.parametrize("strategy", SHAPES)
def test_C77_before_kafka_9198_the_producer_goes_on_waiting(strategy: str) -> None:
    """The old leader gets no LeaderAndIsr, and StopReplica completes no delayed produce request: each one ends with its
    timeout."""
    played = old_leader_hears_late("all", strategy, "kafka-2.3")
    played.run.assert_expectations()
    begin, _end = window(played)
    after = played.of(Produced, lambda event: event.t_us > begin)
    waited = after[0]
    assert waited.t_us - begin > 29_000_000, "the old leader's answer comes with request.timeout.ms"
    assert (waited.leader, waited.attempts, waited.latency_us > 29_000_000) == (1, 2, True)


@pytest.mark.parametrize("strategy", SHAPES)
def test_C77_without_the_delay_nothing_to_speak_of_is_lost(strategy: str) -> None:
    wanted = scenario(
        brokers=6, controller=5, plan={0: [1, 2, 3]}, method=[EXECUTE], acks="1", rate=100, strategy=strategy
    )
    assert play(wanted).lost_batches("1") <= 1


# -- answers of ZooKeeper that never come (kafka-behaviour §3 and §7.6) ------------------------------------------------


LEADER_ENDS: tuple[Table, ...] = ({"at": "6s", "action": "broker.stop", "target": 0, "duration": "5s"},)


def lost_answer(when: Table, *before: Table) -> Played:
    """Brokers 0 and 1 have orders-0, led by 0; broker 3 is controller. The write of ``when`` takes effect, and its
    answer is lost with the connection."""
    cut = {"when": when, "action": CUT}
    return play(scenario(brokers=4, controller=3, assignment=[[0, 1]], method=[*before, cut], horizon="1m"))


def test_a_lost_answer_of_a_controllers_write_names_the_znode_that_was_waited_for() -> None:
    """Every write of a controller is in a multi, after the check of its epoch."""
    played = lost_answer({"zk": "setData", "path": STATE, "from": "controller", "since": "5s"}, *LEADER_ENDS)
    assert played.run.passed, played.run.explanation
    [fault] = played.of(Fault, lambda event: event.action == CUT)
    assert fault.detail == f"answer ZooKeeper -> 3: /controller_epoch, {STATE}"


def test_a_broker_takes_the_znode_that_its_own_session_has_made_for_its_registration() -> None:
    restart: Table = {"at": "6s", "action": "broker.stop", "target": 1, "duration": "5s"}
    played = lost_answer({"zk": "create", "path": "/brokers/ids/1", "since": "7s"}, restart)
    assert played.run.passed, played.run.explanation
    assert len(played.of(Fault, lambda event: event.action == CUT)) == 1
    path = "/brokers/ids/1"
    assert [event.op for event in played.of(ZkWritten, lambda e: e.path == path)] == ["create", "delete", "create"]
    assert len(played.of(BrokerRegistered, lambda event: event.node == 1)) == 2


def follower_away() -> Table:
    return {"at": "3s", "action": "link.cut", "target": 1, "peer": 0, "duration": "20s"}


LEADERS_WRITE = {"zk": "setData", "path": STATE, "from": 0}


@pytest.mark.parametrize(("kind", "occurrence"), [("shrink", 1), ("expand", 2)])
def test_a_leader_takes_its_own_isr_write_for_done(kind: str, occurrence: int) -> None:
    """BADVERSION, and the znode has the data that it tried to write (KAFKA-1382)."""
    played = lost_answer({**LEADERS_WRITE, "occurrence": occurrence}, follower_away())
    assert played.run.passed, played.run.explanation
    [fault] = played.of(Fault, lambda event: event.action == CUT)
    assert fault.detail.startswith("answer ZooKeeper -> 0: /brokers/topics/orders")
    changed = played.of(IsrChanged)
    assert [(event.kind, event.zk_version) for event in changed] == [("shrink", 1), ("expand", 2)]
    assert changed[occurrence - 1].t_us > fault.t_us + 100_000, "known after a reconnection"
    assert len(played.of(ZkWritten, lambda event: event.path == STATE)) == 3, "created; shrunk; expanded: each once"
    assert played.of(IsrUpdateFailed) == []


def test_without_that_comparison_the_leader_is_fenced_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    submit = ZkIsrManager.submit

    def without(self: ZkIsrManager, item: AlterIsrItem) -> None:
        self.compares = False
        submit(self, item)

    monkeypatch.setattr(ZkIsrManager, "submit", without)
    played = lost_answer(LEADERS_WRITE, follower_away())
    assert len(played.of(IsrUpdateFailed)) > 1
    assert played.of(IsrChanged) == []


def test_an_isr_write_that_another_was_faster_than_fails_until_a_leader_and_isr_comes() -> None:
    """The leader's expansion waits at ZooKeeper while the controller drops another follower; its LeaderAndIsr reaches
    the leader late. Until then the ISR in memory stays as it was, and every further write fails too (7.6)."""
    expansion = {**LEADERS_WRITE, "edge": "before", "occurrence": 2}
    hold = {"when": expansion, "action": "message.hold", "duration": "2s"}
    stop = {"when": expansion, "action": "broker.stop", "target": 2}
    told = {"message": "LeaderAndIsr", "to": 0, "since": "10s"}
    late = {"when": told, "action": "message.hold", "duration": "20s"}
    wanted = scenario(
        brokers=4, controller=3, assignment=[[0, 1, 2]], method=[follower_away(), hold, stop, late], horizon="1m",
    )  # fmt: skip
    played = play(wanted)
    assert played.run.passed, played.run.explanation
    written = played.of(ZkWritten, lambda event: event.path == STATE)
    assert [event.client for event in written] == [3, 0, 3, 0], "created, shrunk, broker 2 dropped, broker 1 back"
    failed = played.of(IsrUpdateFailed)
    [epoch_1] = played.of(BecameLeader, lambda event: event.leader_epoch == 1)
    assert len(failed) > 1
    assert all(written[2].t_us + 1_900_000 < event.t_us < epoch_1.t_us for event in failed)
    isrs = [(event.kind, event.isr, event.leader_epoch) for event in played.of(IsrChanged)]
    assert isrs == [("shrink", (0, 2), 0), ("expand", (0, 1), 1)]


def test_the_controller_s_shrink_is_written_once_and_sent() -> None:
    """The multi took effect; sent again it meets BADVERSION, and the replica is gone from the ISR that is then read."""
    when = {"zk": "setData", "path": STATE, "from": "controller"}
    stop = {"at": "3s", "action": "broker.stop", "target": 1}
    played = lost_answer(when, stop)
    assert played.run.passed, played.run.explanation
    written = played.of(ZkWritten, lambda event: event.path == STATE)
    assert [(event.op, event.client) for event in written] == [("create", 3), ("setData", 3)]
    assert (played.state().isr, played.state().leader_epoch) == ((0,), 1)
    assert [event.leader_epoch for event in played.of(BecameLeader)] == [0, 1], "the leader received the new epoch"
    assert played.of(ControllerResigned) == []


ELECTION = {"zk": "multi", "path": "/controller", "since": "2s"}


def test_the_election_s_lost_answer_is_taken_for_success() -> None:
    crash = {"at": "3s", "action": "controller.crash"}
    played = lost_answer(ELECTION, crash)
    assert played.run.passed, played.run.explanation
    [cut] = [event for event in played.of(Fault) if event.action == CUT]
    winner = int(cut.detail.split()[3].rstrip(":"))
    elected = played.of(ControllerElected)
    assert [event.controller_epoch for event in elected] == [1, 2]
    assert elected[1].node == winner
    assert elected[1].t_us > cut.t_us + 100_000
    assert played.of(ControllerResigned) == []
    epochs = played.of(ZkWritten, lambda event: event.path == znodes.CONTROLLER_EPOCH)
    assert [event.data for event in epochs] == ["0", "1", "2"]


def test_without_a_second_look_the_winner_would_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    look = KafkaZkClient.controller

    async def sees_only_others(store: KafkaZkClient) -> int:
        found = await look(store)
        return NOBODY_HERE if found == store.zk._process.node.id else found

    monkeypatch.setattr(KafkaZkClient, "controller", sees_only_others)
    played = lost_answer(ELECTION, {"at": "3s", "action": "controller.crash"})
    assert [event.controller_epoch for event in played.of(ControllerElected)] == [1]
    epochs = played.of(ZkWritten, lambda event: event.path == znodes.CONTROLLER_EPOCH)
    assert [event.data for event in epochs] == ["0", "1", "2"], "elected, and no broker knows"
