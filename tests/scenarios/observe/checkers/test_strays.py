"""Which replicas beyond the assignment ``converged`` holds against the release."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.znodes import CONTROLLER, broker_path, encode_broker, encode_controller
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.converged import LED, NO_STRAYS, Converged
from tests.scenarios.observe.checkers.written_history import WrittenHistory


class Cluster(WrittenHistory):
    """Brokers 0 to 3, each with a replica of ``orders-0``; broker 3 is the controller."""

    def __init__(self) -> None:
        super().__init__("converged")
        for node in range(4):
            self.emit(e.NodeStarted, node, 1)
            self.emit(ZkWritten, node, "create", broker_path(node), 0, 0, encode_broker(node, 0))
            self.loaded(node)
        self.elected(3)

    def elected(self, node: int) -> None:
        self.emit(ZkWritten, node, "create", CONTROLLER, 0, 0, encode_controller(node, 0))

    def broken(self, condition: str) -> list[str]:
        checker = self.checkers.get(Converged)
        assert checker is not None
        return [found for name, found in checker.broken(self.world.now, probed=False) if name == condition]


@pytest.fixture
def run() -> Cluster:
    return Cluster()


def test_a_replica_that_its_controller_should_have_stopped(run: Cluster) -> None:
    run.assigned((0, 1, 2, 3))
    run.assigned((1, 2, 3))
    assert run.broken(NO_STRAYS) == ["orders-0: broker 0 still has a replica, assigned to [1, 2, 3]"]


def test_one_that_its_controller_may_not_have_come_to_stays_excused_when_others_leave(run: Cluster) -> None:
    run.assigned((0, 1, 2, 3))
    run.assigned((1, 2, 3))
    run.elected(2)
    run.assigned((2, 3))
    assert run.broken(NO_STRAYS) == ["orders-0: broker 1 still has a replica, assigned to [2, 3]"]


def test_a_leader_whose_process_is_another_by_now_has_to_be_told(run: Cluster) -> None:
    run.assigned((0, 1, 2, 3))
    run.state(0, (0, 1, 2, 3), 0)
    run.leads(0, 0)
    assert run.broken(LED) == []
    run.emit(e.NodeCrashed, 0, 1, "process")
    run.emit(e.NodeStarted, 0, 2)
    assert run.broken(LED) == ["orders-0: broker 0 does not lead in epoch 0"]
