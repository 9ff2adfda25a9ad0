"""The operator asks for preferred leaders, by ZooKeeper or by the API, as the profile's tool does (KIP-460)."""

import pytest

from emulator.protocol.events import ElectionAnswered, LeaderElected
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import PREFERRED_REPLICA_ELECTION
from emulator.trace.events import Step, ZkWritten
from tests.scenarios.runs.building import Played, Table, at_step, play, scenario

QUIET = {"auto.leader.rebalance.enable": False}
BOUNCE: Table = {"at": "5s", "action": "broker.crash", "target": 0, "duration": "15s"}
ELECT: Table = {"at": "40s", "action": "election.preferred"}
BOTH = [[0, 1, 2], [1, 2, 3]]
TWO = TopicPartition("orders", 1)


def elected(played: Played) -> list[tuple[int, int]]:
    """Partition and leader of each preferred election."""
    return [(e.partition, e.leader) for e in played.of(LeaderElected, lambda e: e.selector == "preferred")]


def answers(played: Played) -> dict[int, str]:
    return {event.partition: event.error for event in played.of(ElectionAnswered)}


def wishes(played: Played) -> int:
    return len(played.of(ZkWritten, lambda e: e.path == PREFERRED_REPLICA_ELECTION and e.op == "create"))


@pytest.mark.parametrize(
    ("profile", "by_znode"), [("kafka-0.8", True), ("kafka-1.1", True), ("kafka-2.3", True), ("kafka-2.4", False)]
)
def test_the_profile_s_tool(profile: str, by_znode: bool) -> None:
    wanted = scenario(assignment=BOTH, method=[BOUNCE, ELECT], config=QUIET, profile=profile, strategy="wiki", rate=0)
    played = play(wanted)
    assert played.run.passed, played.run.explanation
    # In 1.1 to 2.1 a partition that its preferred replica leads is elected again (KIP-183, 2.2).
    assert elected(played) == ([(0, 0), (1, 1)] if profile == "kafka-1.1" else [(0, 0)])
    assert wishes(played) == by_znode
    # The answer to a request for all partitions leaves out those that need no election.
    assert answers(played) == ({} if by_znode else {0: "NONE"})


@pytest.mark.parametrize("via", ["zk", "api"])
def test_the_entry_chooses(via: str) -> None:
    entry = {**ELECT, "via": via, "partitions": ["orders-0", "orders-1"]}
    played = play(scenario(assignment=BOTH, method=[BOUNCE, entry], config=QUIET))
    assert played.run.passed, played.run.explanation
    assert elected(played) == [(0, 0)]
    assert wishes(played) == (via == "zk")
    assert answers(played) == ({} if via == "zk" else {0: "NONE", 1: "NONE"})  # 2.4: ELECTION_NOT_NEEDED (KIP-460)


DOWN: Table = {"at": "5s", "action": "broker.crash", "target": 0}
BY_API: Table = {**ELECT, "via": "api"}


def test_a_failure_is_reported_and_fails_the_run_unless_it_is_expected() -> None:
    refused = play(scenario(assignment=BOTH, method=[DOWN, BY_API], config=QUIET))
    assert refused.run.reason == "not exercised"
    assert "orders-0: PREFERRED_LEADER_NOT_AVAILABLE" in refused.run.explanation
    expected = {**BY_API, "expect_error": "PREFERRED_LEADER_NOT_AVAILABLE"}
    assert play(scenario(assignment=BOTH, method=[DOWN, expected], config=QUIET)).run.passed
    missed = play(scenario(assignment=BOTH, method=[BOUNCE, expected], config=QUIET))
    assert "was expected and not answered" in missed.run.explanation


@pytest.mark.parametrize("edge", ["before", "after"])
@pytest.mark.parametrize("via", ["zk", "api"])
def test_the_controller_dies_in_the_middle(via: str, edge: str) -> None:
    """The next controller finishes the elections in ZooKeeper; a client of the API sends its request again."""
    crash = at_step("preferred.1", edge, "controller.crash")
    played = play(scenario(assignment=BOTH, method=[BOUNCE, {**ELECT, "via": via}, crash], config=QUIET))
    assert played.run.passed, played.run.explanation
    assert elected(played) == [(0, 0)]
    assert (played.state().leader, played.state(TWO).leader) == (0, 1)
    assert played.stage.cluster.zookeeper.tree.get(PREFERRED_REPLICA_ELECTION) is None


def test_a_second_request_meanwhile_is_refused() -> None:
    """Of those by ZooKeeper; the first is held up at its step."""
    gate = {"step": "preferred.1", "edge": "before"}
    hold: Table = {"at": "1s", "action": "gate.hold", "gate": gate, "duration": "60s"}
    again = {**ELECT, "at": "50s"}
    wanted = scenario(assignment=BOTH, method=[hold, BOUNCE, ELECT, again], config=QUIET)
    played = play(wanted)
    assert "another preferred election is in progress" in played.run.explanation
    assert played.state().leader == 0
    accepted = {**again, "expect_error": "UNKNOWN_SERVER_ERROR"}
    assert play(scenario(assignment=BOTH, method=[hold, BOUNCE, ELECT, accepted], config=QUIET)).run.passed


def test_by_itself_after_a_while() -> None:
    """The rebalance of a run that lasts long enough; the horizon does not have to wait for it."""
    late: Table = {"at": "320s", "action": "broker.stop", "target": 6}
    played = play(scenario(assignment=BOTH, method=[BOUNCE, late], horizon="10m", rate=1))
    assert elected(played) == [(0, 0)]
    [step] = played.of(Step, lambda e: e.step == "preferred.1" and e.edge == "before")
    assert 305_000_000 < step.t_us < 306_000_000
    short = play(scenario(assignment=BOTH, method=[BOUNCE], rate=1))
    assert elected(short) == []
    assert short.run.virtual_s < 60
