"""The content of ZooKeeper and the requests to the brokers, step by step, for the examples of the two documents."""

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kafka_6794 import Kafka6794, literal
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from controller.state_machines.rules import FOUR_STATES, SEVEN_STATES
from emulator.protocol import znodes
from emulator.protocol.assignments import among
from emulator.protocol.scala_order import set_order
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.profiles import PROFILES
from tests.controller.lab import Lab, run
from tests.controller.notes import Notes, check_golden, is_subsequence
from tests.controller.test_plan_hop import assignments

TP = TopicPartition("orders", 0)
Row = tuple[tuple[int, ...], int, tuple[int, ...]]


def policies(profile: str, protocol: ReassignmentProtocol, pinned: int) -> ControllerPolicies:
    rules = FOUR_STATES if profile == "wiki-text" else SEVEN_STATES
    return ControllerPolicies(reassignment=protocol, replicas=rules, pinned=pinned)


def table(notes: Notes) -> list[Row]:
    """AR, leader and ISR after each write to the topic's or the partition's znode, as the page's table has them."""
    rows: list[Row] = []
    for event in notes.events():
        if isinstance(event, ZkWritten):
            row = row_after(event, rows[-1] if rows else None)
            if row is not None:
                rows.append(row)
    return rows


def row_after(event: ZkWritten, last: Row | None) -> Row | None:
    before = last or ((0,), 0, (0,))
    if event.path == znodes.topic_path("orders"):
        return (znodes.decode_topic(event.data)[0], before[1], before[2])
    if event.path == znodes.state_path(TP):
        state = znodes.LeaderAndIsr.decode(event.data, 0)
        return (before[0], state.leader, state.isr)
    return None


async def move(lab: Lab, old: tuple[int, ...], new: tuple[int, ...]) -> tuple[Notes, list[Row]]:
    """Move the partition; the test acts as its leader and lets replicas join one by one, whenever the cluster
    is settled."""
    whole = Notes(lab)
    await lab.create_topic("orders", {0: old})
    notes = Notes(lab)
    await lab.reassign({TP: new})
    while lab.active.context.reassignments:
        state, replicas = lab.state(TP), lab.assignment(TP)
        await lab.write_isr(TP, set_order((*state.isr, next(r for r in replicas if r not in state.isr))))
    return notes, table(whole)


@pytest.mark.parametrize("profile", ["kafka-2.3", "wiki-text"])
def test_the_pages_example(profile: str) -> None:
    """{1,2,3} -> {4,5,6}: the page's rows, in its order, are among those that ZooKeeper went through; and
    nothing but what the golden file says was written or sent."""
    protocol = PROFILES[profile].policies.wiki

    async def test(lab: Lab) -> None:
        notes, rows = await move(lab, (1, 2, 3), (4, 5, 6))
        old, wide, new = (1, 2, 3), protocol.widened((1, 2, 3), (4, 5, 6)), (4, 5, 6)
        all_in_sync = set_order(wide)
        left = among(all_in_sync, new)
        page = [(old, 1, old), (wide, 1, all_in_sync), (wide, 4, all_in_sync), (wide, 4, left), (new, 4, left)]
        assert is_subsequence(page, rows)
        check_golden(f"wiki-{profile}-123-to-456", notes.text())

    run(test, brokers=7, policies=policies(profile, protocol, pinned=0), joins=False)


@pytest.mark.parametrize("profile", ["kafka-2.3", "wiki-text"])
def test_a_leader_that_stays(profile: str) -> None:
    """{0,1,2} -> {0,1,3}: step 7 sends to OAR and RAR in Kafka's code, to RAR alone on the page."""
    protocol = PROFILES[profile].policies.wiki

    async def test(lab: Lab) -> None:
        notes, _ = await move(lab, (0, 1, 2), (0, 1, 3))
        check_golden(f"wiki-{profile}-012-to-013", notes.text())

    run(test, brokers=5, policies=policies(profile, protocol, pinned=4), joins=False)


def test_the_tickets_example() -> None:
    """(0,1,2) -> (3,4,5): KAFKA-6794's five assignments, and the leader moves with the last."""

    async def test(lab: Lab) -> None:
        notes, rows = await move(lab, (0, 1, 2), (3, 4, 5))
        assignments = list(dict.fromkeys(row[0] for row in rows))
        assert assignments == [(0, 1, 2), (0, 1, 2, 3), (0, 2, 3, 4), (0, 3, 4, 5), (3, 4, 5)]
        leaders = [(row[0], row[1]) for row in rows]
        assert {leader for assignment, leader in leaders if assignment != (3, 4, 5)} == {0}
        assert rows[-1] == ((3, 4, 5), 3, (3, 4, 5))
        check_golden("kafka-6794-012-to-345", notes.text())

    run(test, brokers=7, policies=policies("kafka-2.3", Kafka6794(), pinned=6), joins=False)


@pytest.mark.parametrize(
    ("name", "protocol"), [("width-2", Kafka6794(width=2)), ("grow-then-shrink", Kafka6794(surplus=literal))]
)
def test_relatives_of_the_tickets_example(name: str, protocol: Kafka6794) -> None:
    async def test(lab: Lab) -> None:
        notes, rows = await move(lab, (0, 1, 2), (3, 4, 5))
        hops = assignments((0, 1, 2), (3, 4, 5), 0, protocol.width, protocol.surplus)
        assert list(dict.fromkeys(row[0] for row in rows)) == [(0, 1, 2), *hops]
        check_golden(f"{name}-012-to-345", notes.text())

    run(test, brokers=7, policies=policies("kafka-2.3", protocol, pinned=6), joins=False)


PLANS = {
    "one-swapped": ((0, 1, 2), (0, 1, 3)),
    "leader-replaced": ((0, 1, 2), (1, 3, 4)),
    "all-replaced": ((0, 1, 2), (3, 4, 5)),
    "reordered": ((0, 1, 2), (2, 1, 0)),
    "grown": ((0, 1), (0, 1, 2)),
    "shrunk": ((0, 1, 2), (1, 2)),
    "to-one": ((0, 1, 2), (1,)),
}


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize(
    "protocol",
    [Wiki(), Kafka6794(), Kafka6794(width=2), Kafka6794(width=None), Kafka6794(surplus=literal), Kip455()],
    ids=["wiki", "kafka-6794", "width-2", "width-all", "grow-then-shrink", "kip-455"],
)
def test_every_plan_ends_where_it_should(protocol: ReassignmentProtocol, plan: str) -> None:
    old, new = PLANS[plan]

    async def test(lab: Lab) -> None:
        notes, _ = await move(lab, old, new)
        state = lab.state(TP)
        assert lab.assignment(TP) == new == lab.active.context.replicas(TP)
        assert sorted(state.isr) == sorted(new)
        assert state.leader == (old[0] if old[0] in new else new[0])
        assert lab.data("/admin/reassign_partitions") is None
        gone = [r for r in old if r not in new]
        stopped = [b for b, lines in notes.requests().items() if "StopReplica delete orders-0" in lines]
        assert stopped == gone
        steps = [step.removesuffix(" before") for step in notes.steps() if step.endswith(" before")]
        if protocol.procedure.name == "wiki":
            assert steps == list(protocol.procedure.steps)
        elif protocol.procedure.name == "kip-455":
            assert list(dict.fromkeys(steps)) == list(protocol.procedure.steps)
            assert steps.count("kip-455.check") == (1 if set(new) <= set(old) else 2), "before the wait and after it"

    run(test, brokers=7, policies=policies("kafka-2.3", protocol, pinned=6), joins=False)
