"""The orders that Kafka's lists have from its sets and maps, as real clusters of 2.3.1 and 2.4.1 wrote them."""

import pytest
from attrs import evolve

from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.profiles import PROFILES
from tests.controller.lab import EXPIRY_US, Lab, run

TP = TopicPartition("orders", 0)
Ids = tuple[int, ...]


def policies(profile: str, pinned: int) -> ControllerPolicies:
    found = PROFILES[profile].policies
    protocol = found.wiki if PROFILES[profile].strategy == "wiki" else found.kip_455
    return evolve(found.controller, reassignment=protocol, pinned=pinned)


def written(lab: Lab, path: str) -> list[str]:
    lab.trace.flush()
    return [event.data for event in lab.events if isinstance(event, ZkWritten) and event.path == path and event.data]


@pytest.mark.parametrize(
    ("profile", "target", "widened"),
    [
        ("kafka-2.3", (1, 2, 3), (1, 2, 3, 0)),
        ("kafka-2.3", (0, 1, 3), (0, 1, 3, 2)),
        ("kafka-2.3", (2, 1, 3), (2, 1, 3, 0)),
        ("kafka-2.3", (3, 4, 5), (0, 5, 1, 2, 3, 4)),
        ("kafka-1.1", (3, 4, 5), (0, 5, 1, 2, 3, 4)),
        ("wiki-text", (3, 4, 5), (0, 1, 2, 3, 4, 5)),
        ("kafka-2.4", (3, 4, 5), (3, 4, 5, 0, 1, 2)),
    ],
)
def test_the_widened_list(profile: str, target: Ids, widened: Ids) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.reassign({TP: target})
        assert lab.assignment(TP) == widened
        assert lab.active.context.replicas(TP) == widened

    run(test, brokers=7, policies=policies(profile, pinned=6), joins=False)


@pytest.mark.parametrize(("profile", "leader"), [("kafka-2.3", 2), ("wiki-text", 1)])
def test_whom_a_widened_list_prefers(profile: str, leader: int) -> None:
    """Leader 0 of [0,1,2] dies while the partition moves to [2,1,3]. Real Kafka 2.3.1 elects 2, the first of [2,1,3,0],
    and keeps it."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.at_gate("wiki.4", "before", lambda at: lab.nodes[0].crash())
        await lab.reassign({TP: (2, 1, 3)})
        await lab.pass_time(EXPIRY_US)
        assert lab.state(TP).leader == leader

    run(test, brokers=5, policies=policies(profile, pinned=4), joins=False)


@pytest.mark.parametrize(
    ("profile", "isrs"),
    [
        ("kafka-2.3", [(0, 5, 1, 3, 4), (0, 5, 3, 4), (5, 3, 4)]),
        ("kafka-2.4", [(0, 5, 1, 3, 4), (0, 5, 3, 4), (5, 3, 4)]),
        ("wiki-text", [(5, 1, 2, 3, 4), (5, 2, 3, 4), (5, 3, 4)]),
    ],
)
def test_brokers_leave_an_isr_in_the_order_of_group_by(profile: str, isrs: list[Ids]) -> None:
    """Real Kafka 2.3.1 and 2.4.1 drop 2, 1 and 0, in that order, in all runs."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.reassign({TP: (3, 4, 5)})
        states = [znodes.LeaderAndIsr.decode(data, 0) for data in written(lab, znodes.state_path(TP))]
        assert [state.isr for state in states[-3:]] == isrs

    run(test, brokers=7, policies=policies(profile, pinned=6))


@pytest.mark.parametrize(
    ("chosen", "version"),
    [
        (ControllerPolicies(reassignment=Wiki()), 1),
        (ControllerPolicies(reassignment=Wiki(), topic_znodes=2), 2),
        (ControllerPolicies(reassignment=Kip455()), 2),
    ],
    ids=["2.3", "wiki under 2.4", "kip-455 under 2.3"],
)
def test_the_version_of_topic_znodes(chosen: ControllerPolicies, version: int) -> None:
    """Every controller writes the later of its release's version and the one that its protocol needs."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.reassign({TP: (1, 0)})
        await lab.reassign({TP: (1, 2)})
        found = written(lab, znodes.topic_path("orders"))
        assert [data.startswith(f'{{"version":{version},') for data in found] == [True] * len(found)
        empty = ',"adding_replicas":{},"removing_replicas":{}}' if version > 1 else "}"
        assert found[-1] == f'{{"version":{version},"partitions":{{"0":[1,2]}}' + empty

    run(test, brokers=4, policies=evolve(chosen, pinned=3))
