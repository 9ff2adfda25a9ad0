"""Auto leader rebalance: when it checks, what it counts, and what prevents it (kafka-behaviour §4)."""

import pytest
from attrs import evolve

from controller.operations.rebalance import AutoRebalance, preferred_could_lead
from controller.policies import ControllerPolicies
from emulator.protocol.events import ControllerElected, LeaderElected
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step, ZkWritten
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
CHANGED = '{"version":1,"partitions":[{"topic":"orders","partition":0}]}'
EVERY_US = 20_000_000
OFTEN = AutoRebalance(interval_us=EVERY_US)
PINNED_3 = ControllerPolicies(pinned=3, auto_rebalance=OFTEN)


async def come_back(lab: Lab, *, in_sync: bool = True) -> None:
    """Broker 0 crashes and returns: it is in sync again, and leads only partitions without other replicas."""
    lab.nodes[0].crash()
    await lab.pass_time(EXPIRY_US)
    lab.restart(0)
    await lab.pass_time(1_000_000)
    for tp in lab.active.context.partitions():
        isr = lab.state(tp).isr
        if in_sync and 0 in lab.assignment(tp) and 0 not in isr:
            await lab.write_isr(tp, (*isr, 0))


def preferred(lab: Lab) -> list[TopicPartition]:
    found = [event for event in lab.of(LeaderElected) if event.selector == "preferred"]
    return [TopicPartition(event.topic, event.partition) for event in found]


def test_leadership_comes_back() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1, 0)})
        await come_back(lab)
        assert lab.state(TP).leader == 1
        await lab.pass_time(EVERY_US)
        assert lab.state(TP).leader == 0
        assert preferred(lab) == [TP]

    run(test, brokers=4, policies=PINNED_3)


def test_switched_off_it_does_not() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await come_back(lab)
        await lab.pass_time(5 * EVERY_US)
        assert lab.state(TP).leader == 1

    run(test, brokers=4, policies=evolve(PINNED_3, auto_rebalance=evolve(OFTEN, enabled=False)))


@pytest.mark.parametrize(("percentage", "acts"), [(0, True), (24, True), (25, False), (100, False)])
def test_the_share_has_to_be_larger_than_the_limit(percentage: int, acts: bool) -> None:
    """One of the four partitions that prefer broker 0 is led elsewhere: the others have no other replica."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (0,), 2: (0,), 3: (0,), 4: (1, 2)})
        await come_back(lab)
        await lab.pass_time(EVERY_US)
        assert preferred(lab) == ([TP] if acts else [])

    run(test, brokers=4, policies=evolve(PINNED_3, auto_rebalance=evolve(OFTEN, percentage=percentage)))


def test_the_first_look_is_five_seconds_after_an_election() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await come_back(lab)
        lab.nodes[3].crash()
        await lab.pass_time(EXPIRY_US)
        second = lab.of(ControllerElected)[-1]
        [elected] = [event for event in lab.of(LeaderElected) if event.selector == "preferred"]
        assert second.controller_epoch == elected.controller_epoch == 2
        assert 5_000_000 < elected.t_us - second.t_us < 5_100_000

    run(test, brokers=4, policies=evolve(PINNED_3, auto_rebalance=AutoRebalance()))


def test_the_next_look_counts_from_the_end_of_the_last() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        for _ in range(2):
            await come_back(lab)
            await lab.pass_time(EVERY_US)
        first, second = [event.t_us for event in lab.of(LeaderElected) if event.selector == "preferred"]
        assert (second - first) % EVERY_US < 100_000

    run(test, brokers=4, policies=PINNED_3)


def test_a_controller_that_has_resigned_checks_no_more() -> None:
    async def test(lab: Lab) -> None:
        old = lab.active
        lab.zookeeper.expire(old.id)
        await lab.pass_time(EXPIRY_US)
        assert old is not lab.active
        await lab.create_topic("orders", {0: (0, 1)})
        await come_back(lab)
        await lab.pass_time(3 * EVERY_US)
        assert {event.controller_epoch for event in lab.of(LeaderElected) if event.selector == "preferred"} == {2}

    run(test, brokers=4, policies=PINNED_3)


def test_a_controller_elected_again_looks_as_often_as_one() -> None:
    """The timer of its first term is gone; broker 0 is too slow to win."""
    looks: list[int] = []

    async def test(lab: Lab) -> None:
        def noting(_context: object, _tp: TopicPartition) -> bool:
            looks.append(lab.world.now)
            return False

        rule = evolve(OFTEN, eligible=noting)
        for controller in lab.controllers.values():
            controller.rebalance.settings = rule
        await lab.create_topic("orders", {0: (0, 1)})
        state = lab.state(TP)
        await lab.operator.set("/brokers/topics/orders/partitions/0/state", evolve(state, leader=1).encode())
        await lab.operator.create("/isr_change_notification/isr_change_", CHANGED, sequential=True)
        await lab.pass_time(EVERY_US // 2)
        lab.controllers[0].process.pause()
        await lab.operator.delete("/controller")
        await lab.world.sleep(1_000_000)
        lab.controllers[0].process.resume()
        await lab.pass_time(3 * EVERY_US)
        assert (lab.active.id, lab.active.epoch) == (1, 2)
        second = lab.of(ControllerElected)[-1].t_us
        gaps = [round((at - second) / 1_000_000) for at in looks if at > second]
        assert gaps == [5, 25, 45]

    run(test, brokers=2, policies=evolve(PINNED_3, pinned=1), joins=False)


@pytest.mark.parametrize("during_moves", [False, True])
def test_until_kafka_10149_a_move_anywhere_keeps_leadership_where_it_is(during_moves: bool) -> None:
    """The move waits for a dead broker; when that returns and the move ends, leadership comes back."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1, 2)})
        lab.nodes[4].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.reassign({TopicPartition("orders", 1): (1, 4)})
        await come_back(lab)
        await lab.pass_time(2 * EVERY_US)
        assert preferred(lab) == ([TP] if during_moves else [])
        lab.restart(4)
        await lab.pass_time(2 * EVERY_US)
        assert preferred(lab) == [TP]

    rebalance = evolve(OFTEN, during_moves=during_moves)
    run(test, brokers=5, policies=evolve(PINNED_3, auto_rebalance=rebalance))


def test_a_preferred_replica_that_is_down_is_not_tried() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        lab.nodes[0].crash()
        await lab.pass_time(EXPIRY_US + 2 * EVERY_US)
        assert [event for event in lab.of(Step) if event.step == "preferred.1"] == []

    run(test, brokers=4, policies=PINNED_3)


def test_a_topic_to_be_deleted_stays_as_it_is() -> None:
    """It waits for a dead replica and has no leader: that does not count as an imbalance."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await come_back(lab, in_sync=False)
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        notes = Notes(lab)
        await lab.pass_time(2 * EVERY_US)
        assert lab.state(TP).leader == -1
        assert notes.steps() == []

    run(test, brokers=4, policies=PINNED_3, joins=False)


@pytest.mark.parametrize(("rule", "tries"), [(OFTEN, True), (evolve(OFTEN, eligible=preferred_could_lead), False)])
def test_whether_a_replica_out_of_sync_is_tried(rule: AutoRebalance, tries: bool) -> None:
    """Before KAFKA-9866 it is, in vain."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await come_back(lab, in_sync=False)
        await lab.pass_time(EVERY_US)
        assert bool([event for event in lab.of(Step) if event.step == "preferred.1"]) == tries
        assert lab.state(TP).leader == 1

    run(test, brokers=4, policies=evolve(PINNED_3, auto_rebalance=rule), joins=False)


def test_a_balanced_cluster_is_left_alone() -> None:
    """No step, no write, no request, however often the controller looks; and the world is settled in between."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1, 0)})
        received, written = len(lab.received), len(lab.of(ZkWritten))
        await lab.pass_time(10 * EVERY_US)
        assert len(lab.received) == received
        assert len(lab.of(ZkWritten)) == written
        assert lab.world.foreground == 0

    run(test, brokers=4, policies=PINNED_3)
