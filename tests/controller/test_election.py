"""Which broker is the controller: epochs, pinning, fencing, zombies, expiry (kafka-behaviour §3)."""

from itertools import pairwise

import pytest

from controller.errors import StateChangeFailed
from controller.policies import ControllerPolicies
from controller.reassignment.by_znode import ByZnode
from emulator.metrics.metric_events import GaugeSet
from emulator.metrics.metrics import short_name
from emulator.protocol.events import ControllerElected, ControllerResigned, ControlRequest
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONTROLLER, REASSIGN_PARTITIONS, encode_reassignment, encode_topic
from emulator.trace.events import ZkWritten
from emulator.zookeeper import NoNode
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)


SOON_US = 1_000_000
"""Much less than a session lives."""


async def ask_for_move(lab: Lab) -> None:
    """Request a move without waiting until the cluster is settled, which it never is while the controller is paused."""
    await lab.operator.create(REASSIGN_PARTITIONS, encode_reassignment({TP: (0, 1, 3)}))
    await lab.world.sleep(SOON_US)


def believers(lab: Lab) -> list[int]:
    """The brokers that believe to be the controller."""
    return [c.id for c in lab.controllers.values() if c.is_active]


def test_exactly_one_is_elected() -> None:
    async def test(lab: Lab) -> None:
        assert len(lab.of(ControllerElected)) == 1
        assert believers(lab) == [lab.active.id]
        assert lab.active.epoch == 1
        assert lab.data("/controller_epoch") == "1"

    run(test, brokers=5)


@pytest.mark.parametrize("pinned", range(4))
def test_the_first_controller_can_be_pinned_the_second_cannot(pinned: int) -> None:
    async def test(lab: Lab) -> None:
        assert lab.active.id == pinned
        lab.nodes[pinned].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.active.id != pinned
        assert [e.controller_epoch for e in lab.of(ControllerElected)] == [1, 2]

    run(test, brokers=4, policies=ControllerPolicies(pinned=pinned))


def test_deleting_the_znode_makes_the_controller_resign_and_everybody_compete() -> None:
    async def test(lab: Lab) -> None:
        await lab.operator.delete("/controller")
        await lab.settle()
        [resigned] = lab.of(ControllerResigned)
        first, second = lab.of(ControllerElected)
        assert first.seq < resigned.seq
        assert resigned.node == first.node
        assert second.controller_epoch == 2
        assert believers(lab) == [second.node]

    run(test)


def test_a_controller_that_has_resigned_remembers_nothing() -> None:
    """Since KAFKA-4447 (0.10.2)."""

    async def test(lab: Lab) -> None:
        old = lab.active
        assert old.context.brokers
        lab.zookeeper.expire(old.id)
        await lab.settle()
        assert lab.active is not old
        assert (old.context.brokers, old.context.epoch) == ({}, 0)

    run(test)


def test_an_expired_session_ends_the_term() -> None:
    async def test(lab: Lab) -> None:
        old = lab.active
        lab.zookeeper.expire(old.id)
        await lab.pass_time(EXPIRY_US)
        assert [e.controller_epoch for e in lab.of(ControllerElected)][-1] >= 2
        assert believers(lab) == [lab.active.id]
        assert lab.data(f"/brokers/ids/{old.id}") is not None, "the broker is registered again"
        assert not old.is_active or old.epoch > 1

    run(test)


def test_a_zombies_write_fails_and_it_resigns() -> None:
    """A gate stops it for longer than its session lasts; the next controller continues; the first one's next
    write is refused."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        zombie = lab.active
        lab.at_gate("wiki.2", "before", lambda at: at.process.pause())
        await ask_for_move(lab)
        await lab.world.sleep(EXPIRY_US)
        assert lab.active is not zombie
        assert sorted(believers(lab)) == sorted([zombie.id, lab.active.id]), "it does not know yet"
        assert lab.assignment(TP) == (0, 1, 3), "the new controller has finished the move"
        notes = Notes(lab)
        zombie.process.resume()
        await lab.pass_time(EXPIRY_US)
        assert believers(lab) == [lab.active.id]
        assert zombie.epoch == 0
        assert [e.node for e in lab.of(ControllerResigned)] == [zombie.id]
        written = [e for e in notes.events() if isinstance(e, ZkWritten) and e.client == zombie.id]
        assert [e.path for e in written] == [f"/brokers/ids/{zombie.id}"]
        assert lab.state(TP).controller_epoch == 2

    run(test, brokers=5, policies=ControllerPolicies(pinned=4))


def test_the_fence_alone_stops_a_controller_whose_session_lives() -> None:
    """The epoch is raised by another client without a notification: the next fenced write fails, and the controller
    reads /controller."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        old = lab.active
        lab.at_gate("wiki.1", "before", lambda at: at.process.pause())
        await ask_for_move(lab)
        await lab.operator.set("/controller_epoch", "9")
        await lab.operator.delete("/controller")
        await lab.world.sleep(SOON_US)
        assert lab.of(ControllerElected)[-1].controller_epoch == 10
        notes = Notes(lab)
        old.process.resume()
        await lab.settle()
        assert not old.is_active
        assert not [e for e in notes.events() if isinstance(e, ZkWritten) and e.client == old.id]

    run(test, brokers=5, policies=ControllerPolicies(pinned=4))


def test_a_broker_that_does_not_answer_gets_its_requests_again() -> None:
    """Every 100 ms, in order, until its registration is gone; then its queue is dropped."""

    async def test(lab: Lab) -> None:
        lab.nodes[0].crash()
        await lab.create_topic("orders", {0: (1, 0)})
        tries = [e for e in lab.of(ControlRequest) if e.broker == 0 and e.detail == "orders-0"]
        assert len(tries) > 50
        assert {e.api for e in tries} == {"LeaderAndIsr"}
        pauses = [b.t_us - a.t_us for a, b in pairwise(tries)]
        assert all(100_000 <= pause < 105_000 for pause in pauses)
        assert tries[-1].t_us < EXPIRY_US
        assert lab.state(TP).isr == (1,)

    run(test, brokers=3, policies=ControllerPolicies(pinned=2))


def test_a_controller_that_resigns_drops_its_queued_requests() -> None:
    """The broker is down, so its requests are retried; after the resignation none of the old controller epoch
    is sent."""

    async def test(lab: Lab) -> None:
        lab.nodes[0].crash()
        await lab.operator.create("/brokers/topics/orders", encode_topic({0: (1, 0)}))
        await lab.world.sleep(SOON_US)
        assert [e.broker for e in lab.of(ControlRequest)][-3:] == [0, 0, 0]
        await lab.operator.delete("/controller")
        await lab.pass_time(EXPIRY_US)
        [resigned] = lab.of(ControllerResigned)
        later = [e for e in lab.of(ControlRequest) if e.seq > resigned.seq]
        assert {e.controller_epoch for e in later} == {2}
        assert lab.state(TP).isr == (1,)

    run(test, brokers=3, policies=ControllerPolicies(pinned=2))


@pytest.mark.parametrize("error", [StateChangeFailed("a failover that fails"), NoNode("/")], ids=["ours", "zookeeper"])
def test_a_controller_whose_failover_fails_resigns(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """It resigns and deletes /controller; a broker, possibly itself, is elected with the next epoch and succeeds."""
    failing = [error]
    honest = ByZnode.resume

    async def resume(moves: ByZnode) -> None:
        if failing:
            raise failing.pop()
        await honest(moves)

    monkeypatch.setattr(ByZnode, "resume", resume)

    async def test(lab: Lab) -> None:
        assert [e.controller_epoch for e in lab.of(ControllerElected)] == [1, 2]
        assert [e.controller_epoch for e in lab.of(ControllerResigned)] == [1]
        assert believers(lab) == [lab.active.id]
        await lab.create_topic("orders", {0: (0, 1, 2)})
        assert lab.state(TP).controller_epoch == 2

    run(test)


def test_a_controller_whose_failover_fails_once_it_is_replaced_does_not_resign(monkeypatch: pytest.MonkeyPatch) -> None:
    """KafkaController.triggerControllerMove, 2.1 to 3.9. Its next term has channels of its own (addNewBroker): what a
    broker has not answered in the first keeps no request of the second waiting, and is sent all the same."""
    failing = [StateChangeFailed("the partition is another controller's")]
    honest = ByZnode.resume

    async def test(lab: Lab) -> None:
        async def resume(moves: ByZnode) -> None:
            if failing:
                error = failing.pop()
                await lab.world.sleep(SOON_US)
                raise error
            await honest(moves)

        monkeypatch.setattr(ByZnode, "resume", resume)
        shown: list[Deviated] = []
        lab.trace.fold(Deviated, shown.append)
        stuck = lab.controllers[2].process
        stuck.pause()
        await lab.operator.delete(CONTROLLER)
        await lab.world.sleep(SOON_US // 2)
        lost = lab.active
        term = lost.epoch
        await lab.operator.delete(CONTROLLER)
        await lab.world.sleep(SOON_US)
        while lab.active is not lost:
            await lab.operator.delete(CONTROLLER)
            await lab.world.sleep(SOON_US // 4)
        assert lost.epoch not in (0, term)
        assert term not in [event.controller_epoch for event in lab.of(ControllerResigned)]
        assert [(one.ticket, one.replica) for one in shown] == [("KafkaController.triggerControllerMove", lost.id)]
        sent = [(event.controller_epoch, event.broker) for event in lab.of(ControlRequest) if event.node == lost.id]
        assert (lost.epoch, 2) in sent
        stuck.resume()
        await lab.settle()
        received = [request.controller_epoch for broker, request in lab.received if broker == 2]
        assert {term, lost.epoch} <= set(received)

    run(test)


def test_a_controller_that_gives_up_shows_so_before_its_znode_is_gone() -> None:
    async def test(lab: Lab) -> None:
        old = lab.active
        await old.trigger_controller_move()
        shown = [e for e in lab.of(GaugeSet) if e.node == old.id and short_name(e.metric) == "ActiveControllerCount"]
        [deleted] = [e for e in lab.of(ZkWritten) if (e.path, e.op) == (CONTROLLER, "delete")]
        assert [event.value for event in shown if event.seq < deleted.seq] == [1, 0]

    run(test)


def test_control_requests_name_their_cause() -> None:
    """Each goes back to an event of the same controller that came before it."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.reassign({TP: (0, 1, 3)})
        for request in lab.of(ControlRequest):
            assert 0 < request.cause < request.seq
            cause = lab.events[request.cause - 1]
            assert type(cause).__name__ in {"Step", "ControlRequest"}

    run(test, brokers=4)
