"""KAFKA-9212: up to 2.3.1 an epoch that is raised alone does not get into the controller's memory, and so not into what
it sends next."""

from collections.abc import Sequence
from typing import TypeVar

import pytest

from controller.policies import ControllerPolicies
from emulator.protocol import znodes
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr
from tests.controller.lab import Lab, run

TP = TopicPartition("orders", 0)
Epochs = list[int]
T = TypeVar("T", LeaderAndIsrRequest, UpdateMetadataRequest)


def told(lab: Lab, kind: type[T], broker: int, since: int = 0) -> list[tuple[int, int, tuple[int, ...]]]:
    """Leader epoch, version and ISR in each request of a kind to a broker."""
    sent: list[T] = [request for to, request in lab.received[since:] if to == broker and isinstance(request, kind)]
    return [(s.leader_epoch, s.zk_version, s.isr) for request in sent for s in request.partitions]


def policies(remembers: bool) -> ControllerPolicies:
    return ControllerPolicies(remembers_bumps=remembers, pinned=4)


@pytest.mark.parametrize("remembers", [False, True], ids=["2.3.1", "2.4.1"])
def test_a_widened_list(remembers: bool) -> None:
    """The znode has epoch 1 in version 1. Step 2's LeaderAndIsr names them; the UpdateMetadata beside it, and the
    LeaderAndIsr that says "new", have those of the memory."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        since = len(lab.received)
        await lab.reassign({TP: (1, 2, 3)})
        new, old = (1, 1, (0, 1, 2)), (0, 0, (0, 1, 2))
        remembered = new if remembers else old
        assert told(lab, LeaderAndIsrRequest, 0, since) == [new]
        assert told(lab, LeaderAndIsrRequest, 3, since) == [new, remembered]
        assert told(lab, UpdateMetadataRequest, 0, since) == [remembered, remembered]
        assert lab.active.context.leadership_info[TP].leader_epoch == remembered[0]

    run(test, brokers=5, policies=policies(remembers), joins=False)


@pytest.mark.parametrize("remembers", [False, True], ids=["2.3.1", "2.4.1"])
@pytest.mark.parametrize(
    ("target", "epochs"),
    [((0, 2, 1), [[0, 0], [1, 1]]), ((0, 1), [[0, 2, 2], [1, 2, 2]])],
    ids=["reordered", "shrunk"],
)
def test_a_list_that_does_not_grow(target: Sequence[int], epochs: list[Epochs], remembers: bool) -> None:
    """Step 7 raises the epoch, as the leader stays. Where no broker leaves the ISR, the end of the move announces the
    old epoch; otherwise what step 8 writes is remembered."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        since = len(lab.received)
        await lab.reassign({TP: tuple(target)})
        found = [epoch for epoch, _, _ in told(lab, UpdateMetadataRequest, 0, since)]
        assert found[-len(epochs[remembers]) :] == epochs[remembers]

    run(test, brokers=5, policies=policies(remembers), joins=False)


def test_a_change_of_the_isr_brings_the_memory_up_to_date() -> None:
    """The leader's notification makes the controller read the znode (processIsrChangeNotification)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.reassign({TP: (1, 2, 3)})
        assert lab.active.context.leadership_info[TP].leader_epoch == 0
        data = znodes.encode_isr_change([TP])
        await lab.operator.create("/isr_change_notification/isr_change_", data, sequential=True)
        await lab.settle()
        assert lab.active.context.leadership_info[TP] == LeaderAndIsr(0, 1, (0, 1, 2), 1, 1)

    run(test, brokers=5, policies=policies(remembers=False), joins=False)
