"""A controller that has been replaced and does not know it, with fenced writes (KAFKA-6082) and without."""

from collections.abc import Callable

import pytest

from controller.controller import Controller
from controller.fencing import Fenced, Fencing, Unfenced
from controller.policies import ControllerPolicies
from emulator.protocol.events import ControllerElected, ControllerResigned
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, encode_reassignment, topic_path
from emulator.trace.events import ZkWritten
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes, write

TP = TopicPartition("orders", 0)
SOON_US = 1_000_000
"""Much less than a session lives."""


def policies(fencing: Fencing, pinned: int | None = 4) -> ControllerPolicies:
    return ControllerPolicies(fencing=fencing, pinned=pinned)


def believers(lab: Lab) -> list[int]:
    return [c.id for c in lab.controllers.values() if c.is_active]


def writes_of(notes: Notes, controller: Controller) -> list[str]:
    return [write(e) for e in notes.events() if isinstance(e, ZkWritten) and e.client == controller.id]


async def replaced_before_its_write(lab: Lab) -> tuple[Controller, Notes]:
    """The controller is paused before it writes a move's first assignment; /controller is deleted, another broker takes
    over and completes the move; then the first one resumes, its session intact."""
    await lab.create_topic("orders", {0: (0, 1, 2)})
    zombie = lab.active
    lab.at_gate("wiki.1", "before", lambda at: at.process.pause())
    await lab.operator.create(REASSIGN_PARTITIONS, encode_reassignment({TP: (0, 1, 3)}))
    await lab.world.sleep(SOON_US)
    await lab.operator.delete("/controller")
    await lab.world.sleep(SOON_US)
    assert lab.active is not zombie
    assert (lab.assignment(TP), lab.data(REASSIGN_PARTITIONS)) == ((0, 1, 3), None)
    notes = Notes(lab)
    zombie.process.resume()
    await lab.settle()
    return zombie, notes


def test_a_fenced_zombie_writes_nothing_and_resigns() -> None:
    async def test(lab: Lab) -> None:
        zombie, notes = await replaced_before_its_write(lab)
        assert writes_of(notes, zombie) == []
        assert lab.assignment(TP) == (0, 1, 3)
        assert [e.node for e in lab.of(ControllerResigned)] == [zombie.id]
        assert believers(lab) == [lab.active.id]

    run(test, brokers=5, policies=policies(Fenced()))


def test_an_unfenced_zombie_undoes_what_its_successor_has_written() -> None:
    """It overwrites the assignment of the finished move; only the state znode, which has the controller epoch, makes it
    stop. It goes on until it hears of its successor. The assignment is not repaired."""

    async def test(lab: Lab) -> None:
        zombie, notes = await replaced_before_its_write(lab)
        assert writes_of(notes, zombie)[0] == "zk setData topic orders 0: {0,1,3,2}"
        assert lab.assignment(TP) == (0, 1, 3, 2), "the assignment of a move that is over"
        assert lab.active.context.replicas(TP) == (0, 1, 3), "its successor knows nothing of it"
        assert lab.state(TP).controller_epoch == 2, "written by a newer controller: refused"
        assert believers(lab) == [lab.active.id], "the watch on /controller has told it in the end"

    run(test, brokers=5, policies=policies(Unfenced()))


@pytest.mark.parametrize("fencing", [Fenced(), Unfenced()], ids=["fenced", "unfenced"])
def test_a_zombies_requests_bear_its_own_epoch(fencing: Fencing) -> None:
    """Requests in its queues are sent when it resumes; brokers recognise them by the controller epoch."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        zombie = lab.active
        lab.at_gate("wiki.4", "before", lambda at: at.process.pause())
        await lab.operator.create(REASSIGN_PARTITIONS, encode_reassignment({TP: (0, 1, 3)}))
        await lab.world.sleep(SOON_US)
        await lab.operator.delete("/controller")
        await lab.world.sleep(SOON_US)
        before = len(lab.received)
        zombie.process.resume()
        await lab.world.sleep(SOON_US)
        late = [message for _, message in lab.received[before:] if message.controller_id == zombie.id]
        assert [m.controller_epoch for m in late if isinstance(m, LeaderAndIsrRequest)] != []
        assert {message.controller_epoch for message in late} == {1}
        await lab.settle()
        assert believers(lab) == [lab.active.id]

    run(test, brokers=5, policies=policies(fencing))


# -- elections ----------------------------------------------------------------------------------------------------


def at_the_first_write(lab: Lab, path: str, do: Callable[[int], object]) -> None:
    """``do(client)`` in the instant after the next write of ``path``."""
    done: list[int] = []

    def see(event: ZkWritten) -> None:
        if event.path == path and event.op == "create" and not done:
            done.append(event.client)
            lab.world.call_later(0, lambda _: do(event.client))

    lab.trace.fold(ZkWritten, see)


def test_an_unfenced_controller_that_pauses_between_the_two_writes_of_its_election_gets_a_later_epoch() -> None:
    """/controller is written, the epoch not yet raised; its session expires; its successor takes epoch 2; it resumes,
    raises the epoch to 3, and acts as controller until it hears that its session has expired."""

    async def test(lab: Lab) -> None:
        paused: list[int] = []

        def pause(client: int) -> None:
            paused.append(client)
            lab.controllers[client].process.pause()

        at_the_first_write(lab, "/controller", pause)
        notes = Notes(lab)
        await lab.operator.delete("/controller")
        await lab.world.sleep(SOON_US)
        [first] = paused
        assert lab.data("/controller_epoch") == "1", "not raised yet"
        await lab.operator.delete("/controller")
        await lab.world.sleep(SOON_US)
        second = lab.active
        assert (second.id != first, second.epoch) == (True, 2)
        lab.controllers[first].process.resume()
        await lab.settle()
        elected = [(e.node, e.controller_epoch) for e in notes.events() if isinstance(e, ControllerElected)]
        assert elected[:2] == [(second.id, 2), (first, 3)]
        assert lab.active is second, "ZooKeeper names the one with the older epoch"
        assert (second.epoch, lab.data("/controller_epoch")) == (2, "3")

    run(test, brokers=3, policies=policies(Unfenced(), None))


def test_a_fenced_election_is_one_write() -> None:
    async def test(lab: Lab) -> None:
        notes = Notes(lab)
        await lab.operator.delete("/controller")
        await lab.settle()
        written = [e for e in notes.events() if isinstance(e, ZkWritten) and e.path.startswith("/controller")]
        assert [(e.path, e.op) for e in written] == [
            ("/controller", "delete"),
            ("/controller", "create"),
            ("/controller_epoch", "setData"),
        ]
        assert written[1].t_us == written[2].t_us
        assert written[1].client == written[2].client

    run(test, brokers=3, policies=policies(Fenced(), None))


@pytest.mark.parametrize(("fencing", "deleted"), [(Fenced(), False), (Unfenced(), True)], ids=["fenced", "unfenced"])
def test_an_unfenced_controller_that_gives_up_deletes_its_successors_znode(fencing: Fencing, deleted: bool) -> None:
    async def test(lab: Lab) -> None:
        old = lab.active
        old.process.pause()
        await lab.operator.delete("/controller")
        await lab.world.sleep(SOON_US)
        successor = lab.active
        assert successor is not old
        old.process.resume()
        notes = Notes(lab)
        await old.trigger_controller_move()
        await lab.pass_time(EXPIRY_US)
        gone = [e for e in notes.events() if isinstance(e, ZkWritten) and (e.path, e.op) == ("/controller", "delete")]
        assert [e.client for e in gone] == ([old.id] if deleted else [])
        assert believers(lab) == [lab.active.id]

    run(test, brokers=3, policies=policies(fencing, 0))


def test_every_write_of_a_term_is_asked_for_through_the_fence() -> None:
    """The topic's and the partitions' znodes of a whole move, with and without it, are the same ones."""

    async def test(lab: Lab) -> list[str]:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.reassign({TP: (1, 3, 4)})
        assert lab.data(topic_path("orders")) is not None
        return notes.writes()

    fenced, unfenced = (run(test, brokers=6, policies=policies(f, 5)) for f in (Fenced(), Unfenced()))
    assert fenced == unfenced
    assert len(fenced) > 6
